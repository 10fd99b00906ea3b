/* Drawing a category from a row of weights, as samplers of language models do.
 * An assertion holds the sampler to its contract, that each weight is finite
 * and not negative; what is not can be set to zero first. One thread a row:
 * categories are few. */
#include <cassert>
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

/* The first category whose cumulated weight exceeds the share `u` of the sum;
 * the last, should rounding have it that none does. */
static __device__ int64_t draw(const float *weight, int cols, float u,
                               float sum)
{
    float seen = 0;
    for (int c = 0; c < cols - 1; c++) {
        seen += weight[c];
        if (seen > u * sum)
            return c;
    }
    return cols - 1;
}

/* A NaN is not >= 0. */
__global__ void sample_kernel(int64_t *drawn, const float *weight,
                              const float *u, int rows, int cols,
                              struct fl_beacon beacon)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float *w = weight + (int64_t)r * cols;
    float sum = 0;
    for (int c = 0; c < cols; c++) {
        if (BEACON(beacon, !(w[c] >= 0 && w[c] < INFINITY), c))
            return;
        assert(w[c] >= 0 && w[c] < INFINITY);
        sum += w[c];
    }
    drawn[r] = draw(w, cols, u[r], sum);
}

__global__ void zero_bad_weights_kernel(float *weight, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !(weight[i] >= 0 && weight[i] < INFINITY))
        weight[i] = 0;
}

extern "C" void k_sample(cudaStream_t s, int64_t *drawn, const float *weight,
                         const float *u, int rows, int cols,
                         struct fl_beacon beacon)
{
    sample_kernel<<<blocks_for(rows, THREADS), THREADS, 0, s>>>(
        drawn, weight, u, rows, cols, beacon);
}

extern "C" void k_zero_bad_weights(cudaStream_t s, float *weight, int n)
{
    zero_bad_weights_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(weight,
                                                                       n);
}
