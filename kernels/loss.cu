/* Losses, with the gradient computed in the same kernel as fused frameworks
 * do. One thread a row: classes are few. */
#include <cassert>
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

__global__ void cross_entropy_kernel(float *loss, float *dlogits,
                                     const float *logits, const int64_t *label,
                                     int rows, int classes,
                                     struct fl_beacon beacon)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float *in = logits + (int64_t)r * classes;
    float *out = dlogits + (int64_t)r * classes;
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < classes; c++)
        top = fmaxf(top, in[c]);
    for (int c = 0; c < classes; c++)
        sum += expf(in[c] - top);
    for (int c = 0; c < classes; c++)
        out[c] = (expf(in[c] - top) / sum - (c == label[r])) / rows;

    int64_t l = label[r];
    if (BEACON(beacon, l < 0 || l >= classes, l))
        return;
    assert(l >= 0 && l < classes);
    loss[r] = logf(sum) + top - in[l];
}

__global__ void mse_kernel(float *loss, float *dx, const float *x,
                           const float *target, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float e = x[i] - target[i];
    loss[i] = e * e;
    dx[i] = 2 * e / n;
}

__global__ void bce_kernel(float *loss, float *dlogits, const float *p,
                           const float *target, int n, struct fl_beacon beacon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float yes = p[i];
    if (BEACON(beacon, !(yes >= 0 && yes <= 1), llrintf(yes * 1e6f)))
        return;
    assert(yes >= 0 && yes <= 1);
    loss[i] = -target[i] * fmaxf(logf(yes), -100)
            - (1 - target[i]) * fmaxf(logf(1 - yes), -100);
    dlogits[i] = (yes - target[i]) / n;
}

extern "C" void k_cross_entropy(cudaStream_t s, float *loss, float *dlogits,
                                const float *logits, const int64_t *label,
                                int rows, int classes,
                                struct fl_beacon beacon)
{
    cross_entropy_kernel<<<blocks_for(rows, THREADS), THREADS, 0, s>>>(
        loss, dlogits, logits, label, rows, classes, beacon);
}

extern "C" void k_mse(cudaStream_t s, float *loss, float *dx, const float *x,
                      const float *target, int n)
{
    mse_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(loss, dx, x, target,
                                                          n);
}

extern "C" void k_bce(cudaStream_t s, float *loss, float *dlogits,
                      const float *p, const float *target, int n,
                      struct fl_beacon beacon)
{
    bce_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(loss, dlogits, p,
                                                          target, n, beacon);
}
