/* The optimizer's step: plain gradient descent. */
#include "kernels.h"
#include "launch_shape.cuh"

__global__ void sgd_kernel(float *w, const float *dw, float rate, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        w[i] -= rate * dw[i];
}

extern "C" void k_sgd(cudaStream_t s, float *w, const float *dw, float rate,
                      int n)
{
    sgd_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(w, dw, rate, n);
}
