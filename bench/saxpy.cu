#include "bench/saxpy.h"

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" void saxpy_device(cudaStream_t s, int n, float a, const float *x,
                             float *y)
{
    saxpy<<<(n + 255) / 256, 256, 0, s>>>(n, a, x, y);
}
