/* Grid arithmetic and the two block-wide reductions that several operator
 * families share. */
#ifndef LAUNCH_SHAPE_CUH
#define LAUNCH_SHAPE_CUH

#include "kernels.h"

#define THREADS K_THREADS

static inline unsigned blocks_for(int n, int per_block)
{
    return (unsigned)((n + per_block - 1) / per_block);
}

/* Reduces `v` over a block of THREADS threads; every thread gets the result.
 * The order is fixed, so the value is the same in every run. */
template <typename T, typename Op>
static __device__ T block_reduce(T v, Op op)
{
    __shared__ T part[THREADS];
    int t = threadIdx.x;

    part[t] = v;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] = op(part[t], part[t + half]);
        __syncthreads();
    }
    v = part[0];
    __syncthreads(); /* part may be used again by the next call */
    return v;
}

struct reduce_sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

struct reduce_max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

#endif
