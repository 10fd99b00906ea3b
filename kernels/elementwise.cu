/* One thread an element: fills, sums, scaling, bias, activation. */
#include "kernels.h"
#include "launch_shape.cuh"

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

extern "C" void k_gelu(cudaStream_t s, float *y, const float *x, int n)
{
    gelu_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(y, x, n);
}
