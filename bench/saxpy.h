/* y = a x + y, on the device and as a plain loop on the host: the yardstick
 * for how fast a device computes. */
#ifndef BENCH_SAXPY_H
#define BENCH_SAXPY_H

#include <cuda_runtime_api.h>

/* PTX instructions that a thread of the kernel executes, the return included
 * (counted by tests/plots/test_bench.py in what nvcc makes of it). */
#define SAXPY_INSTRUCTIONS 20

#ifdef __cplusplus
extern "C" {
#endif

void saxpy_device(cudaStream_t s, int n, float a, const float *x, float *y);
void saxpy_host(int n, float a, const float *x, float *y);

#ifdef __cplusplus
}
#endif
#endif
