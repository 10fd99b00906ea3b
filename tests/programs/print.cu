// Prints from the device; the test compares the output.
#include <cstdio>

__global__ void speak(int round)
{
    printf("round %d, block %d, thread %d: %5.2f %s\n", round, blockIdx.x,
           threadIdx.x, threadIdx.x * 0.25, "apples");
}

int main()
{
    for (int i = 0; i < 2; i++) {
        speak<<<1, 2>>>(i);
        cudaDeviceSynchronize();
    }
    return cudaGetLastError();
}
