/* Single-head attention in its textbook pieces: scores, padding mask, softmax,
 * weighted sum. One kernel a piece, as eager-mode frameworks launch them. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

__global__ void attention_scores_kernel(float *score, const float *q,
                                        const float *k, int seq, int dim,
                                        float scale, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int j = e % seq, i = e / seq % seq, b = e / (seq * seq);
    const float *qr = q + (b * seq + i) * dim, *kr = k + (b * seq + j) * dim;
    float sum = 0;
    for (int d = 0; d < dim; d++)
        sum += qr[d] * kr[d];
    score[e] = sum * scale;
}

__global__ void attention_mask_kernel(float *score, const int64_t *length,
                                      int seq, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n && e % seq >= length[e / (seq * seq)])
        score[e] = -1e9f;
}

/* score[b,i,j] += bias[bucket[b,j]] */
__global__ void attention_bias_kernel(float *score, const float *bias,
                                      const int64_t *bucket, int seq,
                                      int64_t buckets, int n,
                                      struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int j = e % seq, b = e / (seq * seq);
    int64_t k = bucket[b * seq + j];
    if (BEACON(beacon, k < 0 || k >= buckets, k))
        return;
    score[e] += bias[k];
}

__global__ void softmax_kernel(float *x, int cols)
{
    float *row = x + (size_t)blockIdx.x * cols;
    float top = -INFINITY, sum = 0;

    for (int c = threadIdx.x; c < cols; c += THREADS)
        top = fmaxf(top, row[c]);
    top = block_reduce(top, reduce_max());
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += row[c] = expf(row[c] - top);
    sum = block_reduce(sum, reduce_sum());
    for (int c = threadIdx.x; c < cols; c += THREADS)
        row[c] /= sum;
}

__global__ void attention_apply_kernel(float *y, const float *p,
                                       const float *v, int seq, int dim, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int d = e % dim, row = e / dim, b = row / seq;
    const float *pr = p + (size_t)row * seq, *vb = v + (size_t)b * seq * dim;
    float sum = 0;
    for (int j = 0; j < seq; j++)
        sum += pr[j] * vb[j * dim + d];
    y[e] = sum;
}

extern "C" void k_attention_scores(cudaStream_t s, float *score,
                                   const float *q, const float *k, int batch,
                                   int seq, int dim, float scale)
{
    int n = batch * seq * seq;
    attention_scores_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        score, q, k, seq, dim, scale, n);
}

extern "C" void k_attention_mask(cudaStream_t s, float *score,
                                 const int64_t *length, int batch, int seq)
{
    int n = batch * seq * seq;
    attention_mask_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        score, length, seq, n);
}

extern "C" void k_attention_bias(cudaStream_t s, float *score,
                                 const float *bias, const int64_t *bucket,
                                 int batch, int seq, int64_t buckets,
                                 struct fl_beacon beacon)
{
    int n = batch * seq * seq;
    attention_bias_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        score, bias, bucket, seq, buckets, n, beacon);
}

extern "C" void k_softmax(cudaStream_t s, float *x, int rows, int cols)
{
    softmax_kernel<<<rows, THREADS, 0, s>>>(x, cols);
}

extern "C" void k_attention_apply(cudaStream_t s, float *y, const float *p,
                                  const float *v, int batch, int seq, int dim)
{
    int n = batch * seq * dim;
    attention_apply_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        y, p, v, seq, dim, n);
}
