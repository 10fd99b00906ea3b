/* Normalisation: by a layer's own statistics, one block a row, and by given
 * variances. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

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

/* A root that somebody wrote by hand. Below 0 the iterates jump about for ever:
 * no square is negative, and the comparison is never true. */
__global__ void standardise_kernel(float *x, const float *variance, int dim,
                                   int n, struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    float var = variance[e / dim], root = 1;
    if (BEACON(beacon, var < 0, llrintf(var * 1e6f)))
        return;
    while (!(fabsf(root * root - var) <= 1e-6f * var))
        root = 0.5f * (root + var / root);
    x[e] /= root;
}

extern "C" void k_layernorm(cudaStream_t s, float *y, const float *x,
                            const float *gamma, const float *beta, int rows,
                            int dim)
{
    layernorm_kernel<<<rows, THREADS, 0, s>>>(y, x, gamma, beta, dim);
}

extern "C" void k_standardise(cudaStream_t s, float *x, const float *variance,
                              int rows, int dim, struct fl_beacon beacon)
{
    int n = rows * dim;
    standardise_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        x, variance, dim, n, beacon);
}
