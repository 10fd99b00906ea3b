/* Layer normalisation, one block a row. */
#include "kernels.h"
#include "launch_shape.cuh"

__global__ void layernorm_kernel(float *y, const float *x, const float *gamma,
                                 const float *beta, int dim)
{
    const float *in = x + (size_t)blockIdx.x * dim;
    float *out = y + (size_t)blockIdx.x * dim;
    float sum = 0, square = 0;

    for (int d = threadIdx.x; d < dim; d += THREADS)
        sum += in[d];
    float mean = block_reduce(sum, reduce_sum()) / dim;
    for (int d = threadIdx.x; d < dim; d += THREADS)
        square += (in[d] - mean) * (in[d] - mean);
    float var = block_reduce(square, reduce_sum()) / dim;
    float inv = rsqrtf(var + 1e-5f);
    for (int d = threadIdx.x; d < dim; d += THREADS)
        out[d] = (in[d] - mean) * inv * gamma[d] + beta[d];
}

extern "C" void k_layernorm(cudaStream_t s, float *y, const float *x,
                            const float *gamma, const float *beta, int rows,
                            int dim)
{
    layernorm_kernel<<<rows, THREADS, 0, s>>>(y, x, gamma, beta, dim);
}
