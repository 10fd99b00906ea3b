/* See reference.h. Sums run in double, so that the reference is the better of
 * the two and the tolerance only has to cover the device's float rounding. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>

void ref_linear(float *y, const float *x, const float *w, const float *b,
                int rows, int in, int out)
{
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < out; o++) {
            double sum = b ? b[o] : 0;
            for (int i = 0; i < in; i++)
                sum += (double)x[r * in + i] * w[i * out + o];
            y[r * out + o] = (float)sum;
        }
}

void ref_linear_grad_input(float *dx, const float *dy, const float *w,
                           int rows, int in, int out)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < in; i++) {
            double sum = 0;
            for (int o = 0; o < out; o++)
                sum += (double)dy[r * out + o] * w[i * out + o];
            dx[r * in + i] = (float)sum;
        }
}

void ref_linear_grad_weight(float *dw, const float *x, const float *dy,
                            int rows, int in, int out)
{
    for (int i = 0; i < in; i++)
        for (int o = 0; o < out; o++) {
            double sum = 0;
            for (int r = 0; r < rows; r++)
                sum += (double)x[r * in + i] * dy[r * out + o];
            dw[i * out + o] = (float)sum;
        }
}

void ref_softmax(float *x, int rows, int cols)
{
    for (int r = 0; r < rows; r++) {
        float *row = x + (size_t)r * cols, top = row[0];
        double sum = 0;
        for (int c = 1; c < cols; c++)
            top = fmaxf(top, row[c]);
        for (int c = 0; c < cols; c++)
            sum += exp(row[c] - top);
        for (int c = 0; c < cols; c++)
            row[c] = (float)(exp(row[c] - top) / sum);
    }
}

void ref_attention(float *y, const float *q, const float *k, const float *v,
                   const int64_t *length, int batch, int seq, int dim)
{
    float *p = malloc(sizeof *p * (size_t)seq);

    for (int row = 0; row < batch * seq; row++) {
        int first = row / seq * seq;
        int64_t live = length ? length[row / seq] : seq;
        for (int j = 0; j < seq; j++) {
            double sum = 0;
            for (int d = 0; d < dim; d++)
                sum += (double)q[row * dim + d] * k[(first + j) * dim + d];
            p[j] = j < live ? (float)(sum / sqrt(dim)) : -1e9f;
        }
        ref_softmax(p, 1, seq);
        for (int d = 0; d < dim; d++) {
            double sum = 0;
            for (int j = 0; j < seq; j++)
                sum += (double)p[j] * v[(first + j) * dim + d];
            y[row * dim + d] = (float)sum;
        }
    }
    free(p);
}

void ref_layernorm(float *y, const float *x, const float *gamma,
                   const float *beta, int rows, int dim)
{
    for (int r = 0; r < rows; r++) {
        const float *in = x + (size_t)r * dim;
        double sum = 0, square = 0;
        for (int d = 0; d < dim; d++)
            sum += in[d];
        double mean = sum / dim;
        for (int d = 0; d < dim; d++)
            square += (in[d] - mean) * (in[d] - mean);
        double inv = 1 / sqrt(square / dim + 1e-5);
        for (int d = 0; d < dim; d++)
            y[r * dim + d] = (float)((in[d] - mean) * inv * gamma[d] + beta[d]);
    }
}

void ref_gelu(float *y, const float *x, int n)
{
    for (int i = 0; i < n; i++) {
        double v = x[i];
        y[i] = (float)(0.5 * v *
                       (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v))));
    }
}

float ref_cross_entropy(float *dlogits, const float *logits,
                        const int64_t *label, int rows, int classes)
{
    double loss = 0;

    for (int r = 0; r < rows; r++) {
        const float *row = logits + (size_t)r * classes;
        double top = row[0], sum = 0;
        for (int c = 1; c < classes; c++)
            top = fmax(top, row[c]);
        for (int c = 0; c < classes; c++)
            sum += exp(row[c] - top);
        loss -= row[label[r]] - top - log(sum);
        for (int c = 0; dlogits && c < classes; c++)
            dlogits[r * classes + c] =
                (float)((exp(row[c] - top) / sum - (c == label[r])) / rows);
    }
    return (float)(loss / rows);
}

float ref_mse(float *dx, const float *x, const float *target, int n)
{
    double loss = 0;

    for (int i = 0; i < n; i++) {
        double e = (double)x[i] - target[i];
        loss += e * e;
        if (dx)
            dx[i] = (float)(2 * e / n);
    }
    return (float)(loss / n);
}

void ref_index_select(float *y, const float *table, const int64_t *index,
                      int n, int dim)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; d < dim; d++)
            y[i * dim + d] = table[index[i] * dim + d];
}

void ref_sgd(float *w, const float *dw, float rate, int n)
{
    for (int i = 0; i < n; i++)
        w[i] -= rate * dw[i];
}

bool all_close(const float *a, const float *b, size_t n, float tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= tolerance * (1 + fabsf(b[i]))))
            return false;
    return true;
}
