/* The kernels' arithmetic once more, on the CPU: what the oracles compare
 * device results with. Written independently of kernels/ (plain loops, double
 * accumulators), same shapes and meaning; see kernels/kernels.h. */
#ifndef SCENARIOS_REFERENCE_H
#define SCENARIOS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void ref_linear(float *y, const float *x, const float *w, const float *b,
                int rows, int in, int out);
void ref_linear_grad_input(float *dx, const float *dy, const float *w,
                           int rows, int in, int out);
void ref_linear_grad_weight(float *dw, const float *x, const float *dy,
                            int rows, int in, int out);
void ref_attention(float *y, const float *q, const float *k, const float *v,
                   const int64_t *length, int batch, int seq, int dim);
void ref_softmax(float *x, int rows, int cols);
void ref_layernorm(float *y, const float *x, const float *gamma,
                   const float *beta, int rows, int dim);
void ref_gelu(float *y, const float *x, int n);
/* Mean loss over the rows; dlogits may be NULL. */
float ref_cross_entropy(float *dlogits, const float *logits,
                        const int64_t *label, int rows, int classes);
float ref_mse(float *dx, const float *x, const float *target, int n);
void ref_index_select(float *y, const float *table, const int64_t *index,
                      int n, int dim);
void ref_sgd(float *w, const float *dw, float rate, int n);

/* |a[i] - b[i]| <= tolerance * (1 + |b[i]|) for all i. A NaN is not close to
 * anything. */
bool all_close(const float *a, const float *b, size_t n, float tolerance);

#endif
