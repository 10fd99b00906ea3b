// Device code in two files, linked by nvcc -rdc: a call and a variable cross
// the border.
#include <cstdio>

#include "two_files.cuh"

__global__ void call(int *out)
{
    *out = twice(20) + 2;
    atomicAdd(&counter, 1);
}

int main()
{
    int *out, v = 0, c = 0;
    cudaMalloc(&out, sizeof *out);
    call<<<1, 1>>>(out);
    if (cudaError_t e = cudaGetLastError()) {
        printf("launch: %s\n", cudaGetErrorName(e));
        return 2;
    }
    cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&c, counter, sizeof c);
    if (v != 42 || c != 6) printf("%d, counter %d\n", v, c);
    return v != 42 || c != 6 || cudaDeviceSynchronize();
}
