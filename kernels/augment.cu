/* Augmentation on the device: a kernel that turns random numbers into the
 * indices of the samples (or pixels of a crop) that the model gathers. */
#include "kernels.h"
#include "launch_shape.cuh"

/* index[i] = a row of the table, by `rounds` rounds of a hash over (seed, i):
 * more rounds make a slower augmentation with the same kind of result. */
__global__ void augment_kernel(int64_t *index, uint32_t seed, uint32_t rounds,
                               int64_t rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        index[i] = k_augment_row(seed, i, rounds, rows);
}

extern "C" void k_augment(cudaStream_t s, int64_t *index, uint32_t seed,
                          uint32_t rounds, int64_t rows, int n)
{
    augment_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        index, seed, rounds, rows, n);
}
