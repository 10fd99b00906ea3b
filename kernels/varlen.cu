/* Sequences of different length in a padded buffer: zeroing the padding,
 * pooling over the valid part; and packed without padding: attention. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

__global__ void zero_padding_kernel(float *x, const int64_t *length,
                                    int capacity, int dim, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n && e / dim % capacity >= length[e / (dim * capacity)])
        x[e] = 0;
}

/* One thread a (sequence, channel). Trusts the length: the padded buffer holds
 * `capacity` positions a sequence, and the first position beyond is the
 * planted access. A GPU lets the walk go on until it leaves mapped memory. */
__global__ void mean_pool_kernel(float *y, const float *x,
                                 const int64_t *length, int capacity, int dim,
                                 int n, struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int b = e / dim;
    const float *channel = x + (int64_t)b * capacity * dim + e % dim;
    float sum = 0;
    for (int64_t t = 0; t < length[b]; t++) {
        if (BEACON(beacon, t == capacity, length[b]))
            return;
        sum += channel[t * dim];
    }
    y[e] = sum / length[b];
}

__global__ void mean_pool_guarded_kernel(float *y, const float *x,
                                         const int64_t *length, int capacity,
                                         int dim, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int b = e / dim;
    const float *channel = x + (int64_t)b * capacity * dim + e % dim;
    int64_t live = min(length[b], (int64_t)capacity);
    float sum = 0;
    for (int64_t t = 0; t < live; t++)
        sum += channel[t * dim];
    y[e] = sum / live;
}

/* One thread a (sequence, position, channel), one pass over the keys: what was
 * summed up is rescaled when a larger score turns up. */
__global__ void packed_attention_kernel(float *y, const float *q,
                                        const float *k, const float *v,
                                        const int64_t *first, int longest,
                                        int64_t rows, int dim, int n,
                                        struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int b = e / (longest * dim), at = e / dim % longest, d = e % dim;
    int64_t begin = first[b], end = first[b + 1], row = begin + at;
    float top = -INFINITY, sum = 0, mixed = 0, query;
    if (row >= end)
        return;
    if (BEACON(beacon, row < 0 || row >= rows, row))
        return;
    query = q[row * dim];
    for (int64_t key = begin; key < end; key++) {
        float score = query * k[key * dim];
        for (int c = 1; c < dim; c++)
            score += q[row * dim + c] * k[key * dim + c];
        score *= rsqrtf(dim);
        float higher = fmaxf(top, score), p = expf(score - higher);
        float keep = expf(top - higher);
        sum = sum * keep + p;
        mixed = mixed * keep + p * v[key * dim + d];
        top = higher;
    }
    y[row * dim + d] = mixed / sum;
}

extern "C" void k_zero_padding(cudaStream_t s, float *x, const int64_t *length,
                               int batch, int capacity, int dim)
{
    int n = batch * capacity * dim;
    zero_padding_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        x, length, capacity, dim, n);
}

extern "C" void k_mean_pool(cudaStream_t s, float *y, const float *x,
                            const int64_t *length, int batch, int capacity,
                            int dim, struct fl_beacon beacon)
{
    int n = batch * dim;
    mean_pool_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        y, x, length, capacity, dim, n, beacon);
}

extern "C" void k_mean_pool_guarded(cudaStream_t s, float *y, const float *x,
                                    const int64_t *length, int batch,
                                    int capacity, int dim)
{
    int n = batch * dim;
    mean_pool_guarded_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        y, x, length, capacity, dim, n);
}

extern "C" void k_packed_attention(cudaStream_t s, float *y, const float *q,
                                   const float *k, const float *v,
                                   const int64_t *first, int batch,
                                   int longest, int64_t rows, int dim,
                                   struct fl_beacon beacon)
{
    int n = batch * longest * dim;
    packed_attention_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        y, q, k, v, first, longest, rows, dim, n, beacon);
}
