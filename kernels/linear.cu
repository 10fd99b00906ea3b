/* Fully connected layers: a product tiled through shared memory, and the two
 * products of its gradient. The tile is 16 x 16; edges are masked, so every
 * shape works. */
#include "kernels.h"
#include "launch_shape.cuh"

#define TILE 16

/* c[m,n] = a[m,k] * b[k,n] with both operands given by strides, which covers
 * the plain product and the transposed ones. */
__global__ void matmul_kernel(float *c, const float *a, const float *b,
                              const float *bias, int m, int n, int k,
                              int a_row, int a_col, int b_row, int b_col)
{
    __shared__ float ta[TILE][TILE + 1], tb[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;

    for (int k0 = 0; k0 < k; k0 += TILE) {
        int ka = k0 + tx, kb = k0 + ty;
        ta[ty][tx] = row < m && ka < k ? a[row * a_row + ka * a_col] : 0;
        tb[ty][tx] = kb < k && col < n ? b[kb * b_row + col * b_col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += ta[ty][i] * tb[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = bias ? sum + bias[col] : sum;
}

static void matmul(cudaStream_t s, float *c, const float *a, const float *b,
                   const float *bias, int m, int n, int k, int a_row,
                   int a_col, int b_row, int b_col)
{
    dim3 block(TILE, TILE), grid(blocks_for(n, TILE), blocks_for(m, TILE));
    matmul_kernel<<<grid, block, 0, s>>>(c, a, b, bias, m, n, k, a_row, a_col,
                                         b_row, b_col);
}

extern "C" void k_linear(cudaStream_t s, float *y, const float *x,
                         const float *w, const float *b, int rows, int in,
                         int out)
{
    matmul(s, y, x, w, b, rows, out, in, in, 1, out, 1);
}

extern "C" void k_linear_grad_input(cudaStream_t s, float *dx, const float *dy,
                                    const float *w, int rows, int in, int out)
{
    matmul(s, dx, dy, w, NULL, rows, in, out, out, 1, 1, out);
}

extern "C" void k_linear_grad_weight(cudaStream_t s, float *dw, const float *x,
                                     const float *dy, int rows, int in,
                                     int out)
{
    matmul(s, dw, x, dy, NULL, in, out, rows, 1, in, out, 1);
}
