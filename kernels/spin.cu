/* A kernel of adjustable length for measurements. Arithmetic, not a clock: the
 * work is the same on every device, and a healthy run does it in full. */
#include "kernels.h"

__global__ void spin_kernel(uint32_t *out, uint32_t rounds)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, v = t;

#pragma unroll 1
    for (uint32_t r = 0; r < rounds; r++)
        v = (v ^ v >> 15) * 0x2c1b3c6du; /* no closed form to fold it into */
    out[t] += v; /* keeps the loop: the result is needed */
}

extern "C" void k_spin(cudaStream_t s, uint32_t *out, unsigned blocks,
                       unsigned threads, uint32_t rounds)
{
    spin_kernel<<<blocks, threads, 0, s>>>(out, rounds);
}
