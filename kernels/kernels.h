/* The CUDA kernels of the scenarios, as plain C functions.
 *
 * Each function launches one kernel on `s` and, like most programs, looks at
 * no error: how the host learns of one is the strategy's business. Pointers
 * are device addresses, matrices are dense and row-major, indices are int64 as
 * deep-learning frameworks have them. Where a kernel may hold a planted fault
 * it takes a beacon (harness/beacon.h), which it fires just before the bad
 * access; healthy data never takes that branch. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stdbool.h>
#include <stdint.h>
#include <cuda_runtime_api.h>

#include "harness/beacon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads of a block where one thread does one element: element e belongs to
 * thread e % K_THREADS of block e / K_THREADS. */
#define K_THREADS 128

/* ---- gather.cu ---------------------------------------------------------- */
/* y[n,dim] = table[index[n], :]. Planted: index not in [0, rows). */
void k_index_select(cudaStream_t s, float *y, const float *table,
                    const int64_t *index, int n, int dim, int64_t rows,
                    struct fl_beacon beacon);
/* The same, with zeros for a bad index. */
void k_index_select_guarded(cudaStream_t s, float *y, const float *table,
                            const int64_t *index, int n, int dim,
                            int64_t rows);
/* y[n,dim] = x[by[0].index[n], by[1].index[n], ..., :], negative indices count
 * from the end, others are stopped by an assertion. Planted: a failing one. */
#define K_MAX_INDEX 2
struct k_index {
    const int64_t *index;
    int64_t size;
};
void k_index_assert(cudaStream_t s, float *y, const float *x,
                    const struct k_index *by, int n_index, int n, int dim,
                    struct fl_beacon beacon);
void k_clamp_i64(cudaStream_t s, int64_t *x, int64_t low, int64_t high, int n);
/* index[n]: 0 in the place of one not in [0, rows). */
void k_replace_i64(cudaStream_t s, int64_t *index, int64_t rows, int n);
/* range[2] = least and greatest of x[n]; one block. */
void k_range_i64(cudaStream_t s, int64_t *range, const int64_t *x, int n);
/* dtable[index[n], :] += dy[n,dim]. Planted: index not in [0, rows). */
void k_index_add(cudaStream_t s, float *dtable, const float *dy,
                 const int64_t *index, int n, int dim, int64_t rows,
                 struct fl_beacon beacon);
/* x[index[n], :] *= by. Planted: n == 0 makes a grid of no blocks. */
void k_index_scale(cudaStream_t s, float *x, const int64_t *index, float by,
                   int n, int dim);
/* y[n,dim] = scale * table[index[n], :]. Planted: an element's offset in the
 * table does not fit 32 bits. */
void k_dequantise(cudaStream_t s, float *y, const int8_t *table,
                  const int64_t *index, float scale, int n, int dim,
                  struct fl_beacon beacon);
/* The same, with offsets of 64 bits. */
void k_dequantise_wide(cudaStream_t s, float *y, const int8_t *table,
                       const int64_t *index, float scale, int n, int dim);

/* ---- mask.cu ------------------------------------------------------------ */
void k_mask_above(cudaStream_t s, uint8_t *mask, const float *x,
                  float threshold, int n);
/* index = positions where the mask is set, in order; count[0] = how many */
void k_compact(cudaStream_t s, int64_t *index, int32_t *count,
               const uint8_t *mask, int n);
/* mask[batch,seq]: position 0 of each sequence is set */
void k_keep_first(cudaStream_t s, uint8_t *mask, int batch, int seq);
/* y[batch,dim] = x[b, kept - 1, :], where the mask keeps the first `kept`
 * positions. Planted: kept == 0, so that kept - 1 is 2^32 - 1. */
void k_last_kept(cudaStream_t s, float *y, const float *x, const uint8_t *mask,
                 int batch, int seq, int dim, struct fl_beacon beacon);
/* In each block of K_PARTITION: kept positions first, then the others; each 32
 * must hold a kept one. Planted: without `barrier`, a count read too early. */
#define K_PARTITION 256
void k_partition(cudaStream_t s, int64_t *order, const uint8_t *mask,
                 int blocks, bool barrier, struct fl_beacon beacon);

/* ---- varlen.cu ---------------------------------------------------------- */
/* x[batch,capacity,dim] = 0 from length[b] on */
void k_zero_padding(cudaStream_t s, float *x, const int64_t *length, int batch,
                    int capacity, int dim);
/* y[batch,dim] = mean of x[b, 0..length[b], :]. Planted: length > capacity. */
void k_mean_pool(cudaStream_t s, float *y, const float *x,
                 const int64_t *length, int batch, int capacity, int dim,
                 struct fl_beacon beacon);
/* The same, with the length cut to the capacity. */
void k_mean_pool_guarded(cudaStream_t s, float *y, const float *x,
                         const int64_t *length, int batch, int capacity,
                         int dim);
/* Attention over packed sequences, each token over its own sequence's, as
 * fused kernels of variable length have it: sequence b holds the rows
 * [first[b], first[b + 1]) of q, k, v and y[rows,dim]. Planted: a row not in
 * [0, rows). */
void k_packed_attention(cudaStream_t s, float *y, const float *q,
                        const float *k, const float *v, const int64_t *first,
                        int batch, int longest, int64_t rows, int dim,
                        struct fl_beacon beacon);

/* ---- roi.cu ------------------------------------------------------------- */
/* box[n,4] (x0, y0, x1, y1), crop[n,4] (x, y, width, height), all of them
 * shares of the image: the box in the crop, in pixels of a map of size^2. */
void k_crop_boxes(cudaStream_t s, float *box, const float *crop, float size,
                  int boxes);
/* y[images * boxes_an_image, down, across] = the map of the box's image,
 * sampled at each bin's centre. Planted: a centre outside the map. */
void k_roi_align(cudaStream_t s, float *y, const float *map,
                 const float *boxes, int images, int boxes_an_image,
                 int height, int width, int down, int across,
                 struct fl_beacon beacon);

/* ---- augment.cu --------------------------------------------------------- */
/* index[i] = k_augment_row(seed, i, rounds, rows) */
void k_augment(cudaStream_t s, int64_t *index, uint32_t seed, uint32_t rounds,
               int64_t rows, int n);

#ifdef __CUDACC__
__host__ __device__
#endif
static inline int64_t k_augment_row(uint32_t seed, uint32_t i, uint32_t rounds,
                                    int64_t rows)
{
    uint32_t v = seed + i * 0x9e3779b9u;
    for (uint32_t r = 0; r < rounds; r++)
        v = (v ^ v >> 15) * 0x2c1b3c6du + i;
    return v % (uint32_t)rows;
}

/* ---- linear.cu ---------------------------------------------------------- */
/* y[rows,out] = x[rows,in] * w[in,out] + b[out]; b may be NULL */
void k_linear(cudaStream_t s, float *y, const float *x, const float *w,
              const float *b, int rows, int in, int out);
/* dx[rows,in] = dy[rows,out] * w[in,out]^T */
void k_linear_grad_input(cudaStream_t s, float *dx, const float *dy,
                         const float *w, int rows, int in, int out);
/* dw[in,out] = x[rows,in]^T * dy[rows,out] */
void k_linear_grad_weight(cudaStream_t s, float *dw, const float *x,
                          const float *dy, int rows, int in, int out);

/* ---- attention.cu ------------------------------------------------------- */
/* score[b,i,j] = scale * sum_d q[b,i,d] * k[b,j,d]; one head */
void k_attention_scores(cudaStream_t s, float *score, const float *q,
                        const float *k, int batch, int seq, int dim,
                        float scale);
/* score[b,i,j] = -1e9 where j >= length[b] */
void k_attention_mask(cudaStream_t s, float *score, const int64_t *length,
                      int batch, int seq);
/* score[b,i,j] += bias[bucket[b,j]]. Planted: bucket not in [0, buckets). */
void k_attention_bias(cudaStream_t s, float *score, const float *bias,
                      const int64_t *bucket, int batch, int seq,
                      int64_t buckets, struct fl_beacon beacon);
/* Softmax over rows of `cols`, in place, one block a row. */
void k_softmax(cudaStream_t s, float *x, int rows, int cols);
/* y[b,i,d] = sum_j p[b,i,j] * v[b,j,d] */
void k_attention_apply(cudaStream_t s, float *y, const float *p,
                       const float *v, int batch, int seq, int dim);

/* ---- norm.cu ------------------------------------------------------------ */
/* y = (x - mean) / sqrt(var + 1e-5) * gamma + beta, over rows of `dim` */
void k_layernorm(cudaStream_t s, float *y, const float *x, const float *gamma,
                 const float *beta, int rows, int dim);
/* x[rows,dim] /= sqrt(variance[rows]), the root by Newton's iteration until it
 * is good to a millionth. Planted: a variance below 0, whose iteration never
 * ends; the beacon has it in millionths. */
void k_standardise(cudaStream_t s, float *x, const float *variance, int rows,
                   int dim, struct fl_beacon beacon);

/* ---- elementwise.cu ----------------------------------------------------- */
void k_fill_f32(cudaStream_t s, float *x, float value, int n);
void k_fill_i64(cudaStream_t s, int64_t *x, int64_t value, int n);
void k_add(cudaStream_t s, float *y, const float *a, const float *b, int n);
void k_scale(cudaStream_t s, float *x, float by, int n);
/* y += a, four at a time; n % 4 == 0. Planted: `a` not 16-byte aligned. */
void k_add4(cudaStream_t s, float *y, const float *a, int n,
            struct fl_beacon beacon);
/* x *= x, on exactly `blocks` blocks. Planted: more threads than elements. */
void k_square(cudaStream_t s, float *x, int n, unsigned blocks,
              struct fl_beacon beacon);
/* The same, with the check. */
void k_square_guarded(cudaStream_t s, float *x, int n, unsigned blocks);
/* Triangular window over each of x[rows,length], a thread a position. Planted:
 * length above the device's limit of threads a block (1024). */
void k_window(cudaStream_t s, float *x, int rows, int length);
/* y[rows,cols] = x + bias[cols] */
void k_bias(cudaStream_t s, float *y, const float *x, const float *bias,
            int rows, int cols);
/* x = 1 / (1 + exp(-x)) */
void k_sigmoid(cudaStream_t s, float *x, int n);
void k_clamp_f32(cudaStream_t s, float *x, float low, float high, int n);
/* tanh form; y may be x */
void k_gelu(cudaStream_t s, float *y, const float *x, int n);

/* ---- loss.cu ------------------------------------------------------------ */
/* loss[r] = -log softmax(logits[r])[label[r]]; dlogits = its gradient / rows.
 * Asserts, as frameworks do, that label is in [0, classes). Planted: it is
 * not. */
void k_cross_entropy(cudaStream_t s, float *loss, float *dlogits,
                     const float *logits, const int64_t *label, int rows,
                     int classes, struct fl_beacon beacon);
/* loss[i] = (x - target)^2, dx = 2 (x - target) / n */
void k_mse(cudaStream_t s, float *loss, float *dx, const float *x,
           const float *target, int n);

/* Binary cross entropy of probabilities p, logarithms cut at -100: loss[i], and
 * dlogits = its gradient / n before the sigmoid that p came from. Asserts, as
 * frameworks do, that p is in [0, 1]. Planted: it is not; the beacon has p in
 * millionths. */
void k_bce(cudaStream_t s, float *loss, float *dlogits, const float *p,
           const float *target, int n, struct fl_beacon beacon);

/* ---- sample.cu ---------------------------------------------------------- */
/* drawn[r] = the first c with weight[r,0] + ... + weight[r,c] > u[r] * sum of
 * the row. Asserts that each weight is finite and not negative. Planted: one
 * is not. */
void k_sample(cudaStream_t s, int64_t *drawn, const float *weight,
              const float *u, int rows, int cols, struct fl_beacon beacon);
/* Such weights become zero; of a row of zeros the last category is drawn. */
void k_zero_bad_weights(cudaStream_t s, float *weight, int n);

/* ---- reduce.cu ---------------------------------------------------------- */
/* out[0] = sum(x) / divide_by; one block, so the order is fixed */
void k_mean(cudaStream_t s, float *out, const float *x, int n,
            float divide_by);
/* out[cols] = column sums of x[rows,cols] */
void k_column_sum(cudaStream_t s, float *out, const float *x, int rows,
                  int cols);
/* A sum split in parts, as a reduction over a workspace does it:
 * part[p,n] = x[n] * (p + 1) / (1 + ... + parts), and y[n] = sum of part[:,n],
 * which is x[n]. Planted: the workspace has been `freed`. */
void k_split(cudaStream_t s, float *part, const float *x, int parts, int n);
void k_join(cudaStream_t s, float *y, const float *part, int parts, int n,
            bool freed, struct fl_beacon beacon);

/* ---- optimizer.cu ------------------------------------------------------- */
void k_sgd(cudaStream_t s, float *w, const float *dw, float rate, int n);

/* ---- spin.cu ------------------------------------------------------------ */
/* Work of adjustable length: each thread does `rounds` rounds of a dependent
 * integer hash and adds the result to out[thread]. No clock, so the work is
 * the same everywhere, and no memory traffic to speak of. */
void k_spin(cudaStream_t s, uint32_t *out, unsigned blocks, unsigned threads,
            uint32_t rounds);

#ifdef __cplusplus
}
#endif
#endif
