/* Reductions with a fixed order of summation, so that a run can be compared
 * with the CPU's to the last few bits. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

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

/* part[p, n] = x[n] * weight of part p; the first half of a split sum. */
__global__ void split_kernel(float *part, const float *x, int parts, int n,
                             int total)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < total)
        part[e] = x[e % n] * (e / n + 1) / (parts * (parts + 1) / 2);
}

/* The other half. Whether the workspace has been freed only the host knows. */
__global__ void join_kernel(float *y, const float *part, int parts, int n,
                            int freed, struct fl_beacon beacon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int p = 0; p < parts; p++) {
        if (BEACON_UNSEEN(beacon, freed, p))
            return;
        sum += part[p * n + i];
    }
    y[i] = sum;
}

extern "C" void k_split(cudaStream_t s, float *part, const float *x, int parts,
                        int n)
{
    split_kernel<<<blocks_for(parts * n, THREADS), THREADS, 0, s>>>(
        part, x, parts, n, parts * n);
}

extern "C" void k_join(cudaStream_t s, float *y, const float *part, int parts,
                       int n, bool freed, struct fl_beacon beacon)
{
    join_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(y, part, parts, n,
                                                           freed, beacon);
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
