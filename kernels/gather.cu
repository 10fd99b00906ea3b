/* Selecting rows of a table by index: embedding look-ups, index_select, the
 * advanced indexing of frameworks. The plain form trusts its indices, the
 * asserting form is how PyTorch's index kernel does it, the guarded form is a
 * defence. */
#include <cassert>
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

#ifdef NDEBUG
#error "the assert of k_index_assert is what is being measured: no -DNDEBUG"
#endif

__global__ void index_select_kernel(float *y, const float *table,
                                    const int64_t *index, int n, int dim,
                                    int64_t rows, struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int64_t row = index[e / dim];
    if (BEACON(beacon, row < 0 || row >= rows, row))
        return;
    y[e] = table[row * dim + e % dim];
}

__global__ void index_select_guarded_kernel(float *y, const float *table,
                                            const int64_t *index, int n,
                                            int dim, int64_t rows)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int64_t row = index[e / dim];
    y[e] = row >= 0 && row < rows ? table[row * dim + e % dim] : 0;
}

/* x[index[0], index[1]] and so on: one index list a dimension, negative ones
 * count from the end. */
struct index_dims {
    int64_t sizes[K_MAX_INDEX], strides[K_MAX_INDEX];
    const int64_t *index[K_MAX_INDEX];
    int n;
};

__global__ void index_assert_kernel(float *y, const float *x,
                                    struct index_dims dims, int n, int dim,
                                    struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    const int64_t *sizes = dims.sizes;
    int64_t offset = e % dim;
    for (int i = 0; i < dims.n; i++) {
        int64_t index = dims.index[i][e / dim];
        if (BEACON(beacon, index < -sizes[i] || index >= sizes[i], index))
            return;
        assert(index >= -sizes[i] && index < sizes[i] && "index out of bounds");
        offset += (index < 0 ? index + sizes[i] : index) * dims.strides[i];
    }
    y[e] = x[offset];
}

__global__ void clamp_i64_kernel(int64_t *x, int64_t low, int64_t high, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = min(max(x[i], low), high);
}

__global__ void replace_i64_kernel(int64_t *index, int64_t rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        index[i] = index[i] >= 0 && index[i] < rows ? index[i] : 0;
}

struct reduce_least {
    __device__ int64_t operator()(int64_t a, int64_t b) const
    {
        return min(a, b);
    }
};

struct reduce_greatest {
    __device__ int64_t operator()(int64_t a, int64_t b) const
    {
        return max(a, b);
    }
};

__global__ void range_i64_kernel(int64_t *range, const int64_t *x, int n)
{
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        least = min(least, x[i]);
        greatest = max(greatest, x[i]);
    }
    least = block_reduce(least, reduce_least());
    greatest = block_reduce(greatest, reduce_greatest());
    if (threadIdx.x == 0) {
        range[0] = least;
        range[1] = greatest;
    }
}

/* The gradient of a look-up: rows met twice add up. Float atomics, so the last
 * bits depend on the order. */
__global__ void index_add_kernel(float *dtable, const float *dy,
                                 const int64_t *index, int n, int dim,
                                 int64_t rows, struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int64_t row = index[e / dim];
    if (BEACON(beacon, row < 0 || row >= rows, row))
        return;
    atomicAdd(&dtable[row * dim + e % dim], dy[e]);
}

/* Rows of a quantised table, the offset computed in 32 bits as in code that
 * was written for small ones. Spelled with unsigned arithmetic, since a signed
 * overflow would leave the compiler free to get it right. */
__global__ void dequantise_kernel(float *y, const int8_t *table,
                                  const int64_t *index, float scale, int n,
                                  int dim, struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int64_t row = index[e / dim];
    int32_t offset = (int32_t)((uint32_t)row * (uint32_t)dim + e % dim);
    if (BEACON(beacon, offset != row * dim + e % dim, row))
        return;
    y[e] = scale * table[offset];
}

__global__ void dequantise_wide_kernel(float *y, const int8_t *table,
                                       const int64_t *index, float scale,
                                       int n, int dim)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n)
        y[e] = scale * table[index[e / dim] * dim + e % dim];
}

__global__ void index_scale_kernel(float *x, const int64_t *index, float by,
                                   int n, int dim)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n)
        x[index[e / dim] * dim + e % dim] *= by;
}

extern "C" void k_index_select(cudaStream_t s, float *y, const float *table,
                               const int64_t *index, int n, int dim,
                               int64_t rows, struct fl_beacon beacon)
{
    index_select_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0, s>>>(
        y, table, index, n * dim, dim, rows, beacon);
}

extern "C" void k_index_select_guarded(cudaStream_t s, float *y,
                                       const float *table,
                                       const int64_t *index, int n, int dim,
                                       int64_t rows)
{
    index_select_guarded_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0,
                                  s>>>(y, table, index, n * dim, dim, rows);
}

extern "C" void k_index_assert(cudaStream_t s, float *y, const float *x,
                               const struct k_index *by, int n_index, int n,
                               int dim, struct fl_beacon beacon)
{
    struct index_dims dims = {};
    int64_t stride = dim;

    dims.n = n_index;
    for (int i = n_index - 1; i >= 0; i--) {
        dims.index[i] = by[i].index;
        dims.sizes[i] = by[i].size;
        dims.strides[i] = stride;
        stride *= by[i].size;
    }
    index_assert_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0, s>>>(
        y, x, dims, n * dim, dim, beacon);
}

extern "C" void k_clamp_i64(cudaStream_t s, int64_t *x, int64_t low,
                            int64_t high, int n)
{
    clamp_i64_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(x, low, high,
                                                                n);
}

extern "C" void k_replace_i64(cudaStream_t s, int64_t *index, int64_t rows,
                              int n)
{
    replace_i64_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(index, rows,
                                                                  n);
}

extern "C" void k_range_i64(cudaStream_t s, int64_t *range, const int64_t *x,
                            int n)
{
    range_i64_kernel<<<1, THREADS, 0, s>>>(range, x, n);
}

extern "C" void k_index_add(cudaStream_t s, float *dtable, const float *dy,
                            const int64_t *index, int n, int dim, int64_t rows,
                            struct fl_beacon beacon)
{
    index_add_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0, s>>>(
        dtable, dy, index, n * dim, dim, rows, beacon);
}

extern "C" void k_index_scale(cudaStream_t s, float *x, const int64_t *index,
                              float by, int n, int dim)
{
    index_scale_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0, s>>>(
        x, index, by, n * dim, dim);
}

extern "C" void k_dequantise(cudaStream_t s, float *y, const int8_t *table,
                             const int64_t *index, float scale, int n, int dim,
                             struct fl_beacon beacon)
{
    dequantise_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0, s>>>(
        y, table, index, scale, n * dim, dim, beacon);
}

extern "C" void k_dequantise_wide(cudaStream_t s, float *y,
                                  const int8_t *table, const int64_t *index,
                                  float scale, int n, int dim)
{
    dequantise_wide_kernel<<<blocks_for(n * dim, THREADS), THREADS, 0, s>>>(
        y, table, index, scale, n * dim, dim);
}
