/* Reductions with a fixed order of summation, so that a run can be compared
 * with the CPU's to the last few bits. */
#include "kernels.h"
#include "launch_shape.cuh"

__global__ void mean_kernel(float *out, const float *x, int n, float divide_by)
{
    float sum = 0;

    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += x[i];
    sum = block_reduce(sum, reduce_sum());
    if (threadIdx.x == 0)
        *out = sum / divide_by;
}

__global__ void column_sum_kernel(float *out, const float *x, int rows,
                                  int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < rows; r++)
        sum += x[r * cols + c];
    out[c] = sum;
}

extern "C" void k_mean(cudaStream_t s, float *out, const float *x, int n,
                       float divide_by)
{
    mean_kernel<<<1, THREADS, 0, s>>>(out, x, n, divide_by);
}

extern "C" void k_column_sum(cudaStream_t s, float *out, const float *x,
                             int rows, int cols)
{
    column_sum_kernel<<<blocks_for(cols, THREADS), THREADS, 0, s>>>(
        out, x, rows, cols);
}
