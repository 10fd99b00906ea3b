/* One thread an element: fills, sums, scaling, bias, activation. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

template <typename T>
__global__ void fill_kernel(T *x, T value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

__global__ void add_kernel(float *y, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a[i] + b[i];
}

/* Four elements a thread. A 16-byte access must be 16-byte aligned (PTX ISA,
 * "Alignment" of vectors). */
__global__ void add4_kernel(float *y, const float *a, int n,
                            struct fl_beacon beacon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4)
        return;
    float4 *to = (float4 *)y + i;
    if (BEACON_UNSEEN(beacon, (uintptr_t)a % 16, (uintptr_t)a % 16))
        return;
    float4 v = ((const float4 *)a)[i];
    to->x += v.x;
    to->y += v.y;
    to->z += v.z;
    to->w += v.w;
}

/* Written without `if (i < n)`, as by somebody who trusts the grid. */
__global__ void square_kernel(float *x, int n, struct fl_beacon beacon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (BEACON(beacon, i >= n, i))
        return;
    x[i] *= x[i];
}

__global__ void square_guarded_kernel(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}

/* One thread a position of the signal, one block a signal. */
__global__ void window_kernel(float *x)
{
    int i = threadIdx.x, length = blockDim.x;
    float ramp = (float)min(i, length - 1 - i) / length;
    x[blockIdx.x * length + i] *= 2 * ramp;
}

__global__ void scale_kernel(float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= by;
}

__global__ void bias_kernel(float *y, const float *x, const float *bias, int n,
                            int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + bias[i % cols];
}

/* tanh through exp: tanhf has a slow path that would double the kernel. */
__global__ void sigmoid_kernel(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1 / (1 + expf(-x[i]));
}

__global__ void clamp_f32_kernel(float *x, float low, float high, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = fminf(fmaxf(x[i], low), high);
}

__global__ void gelu_kernel(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i], u = 0.7978845608f * (v + 0.044715f * v * v * v);
        y[i] = v - v / (expf(2 * u) + 1);
    }
}

extern "C" void k_fill_f32(cudaStream_t s, float *x, float value, int n)
{
    fill_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(x, value, n);
}

extern "C" void k_fill_i64(cudaStream_t s, int64_t *x, int64_t value, int n)
{
    fill_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(x, value, n);
}

extern "C" void k_add(cudaStream_t s, float *y, const float *a, const float *b,
                      int n)
{
    add_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(y, a, b, n);
}

extern "C" void k_add4(cudaStream_t s, float *y, const float *a, int n,
                       struct fl_beacon beacon)
{
    add4_kernel<<<blocks_for(n / 4, THREADS), THREADS, 0, s>>>(y, a, n,
                                                               beacon);
}

extern "C" void k_square(cudaStream_t s, float *x, int n, unsigned blocks,
                         struct fl_beacon beacon)
{
    square_kernel<<<blocks, THREADS, 0, s>>>(x, n, beacon);
}

extern "C" void k_square_guarded(cudaStream_t s, float *x, int n,
                                 unsigned blocks)
{
    square_guarded_kernel<<<blocks, THREADS, 0, s>>>(x, n);
}

extern "C" void k_window(cudaStream_t s, float *x, int rows, int length)
{
    window_kernel<<<rows, length, 0, s>>>(x);
}

extern "C" void k_scale(cudaStream_t s, float *x, float by, int n)
{
    scale_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(x, by, n);
}

extern "C" void k_bias(cudaStream_t s, float *y, const float *x,
                       const float *bias, int rows, int cols)
{
    int n = rows * cols;
    bias_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(y, x, bias, n,
                                                           cols);
}

extern "C" void k_sigmoid(cudaStream_t s, float *x, int n)
{
    sigmoid_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(x, n);
}

extern "C" void k_clamp_f32(cudaStream_t s, float *x, float low, float high,
                            int n)
{
    clamp_f32_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(x, low, high,
                                                                n);
}

extern "C" void k_gelu(cudaStream_t s, float *y, const float *x, int n)
{
    gelu_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(y, x, n);
}
