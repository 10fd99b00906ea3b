/* Kernels and small helpers that several files of rules use. */
#ifndef FAULTLAG_DEVICE_KERNELS_CUH
#define FAULTLAG_DEVICE_KERNELS_CUH

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"

namespace {

__global__ void nothing() {}
__global__ void put(int *p, int value) { *p = value; }
__global__ void add_one(int *p) { *p += 1; }
__global__ void fill(int *p, int n, int value)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) p[i] = value;
}

/* Faults, by code. */
__global__ void fault_illegal(int *p) { *(volatile int *)p = 1; } /* 700 */
__global__ void fault_misaligned(char *p)
{
    *(volatile int *)(p + 2) = 1;
}
__global__ void fault_trap() { __trap(); }

/* Spins until the host opens the gate, but not for ever. */
__global__ void hold(volatile int *gate, int limit)
{
    for (int i = 0; i < limit && *gate == 0; i++) { }
}

struct gate {
    volatile int *host;
    int *device;
    gate()
    {
        void *h = nullptr;
        if (cudaHostAlloc(&h, sizeof(int), cudaHostAllocMapped) != cudaSuccess)
            rule_skip("no mapped host memory");
        host = (volatile int *)h;
        *host = 0;
        cudaHostGetDevicePointer((void **)&device, h, 0);
    }
    void keep(cudaStream_t s = 0) { hold<<<1, 1, 0, s>>>(device, 1 << 24); }
    void open() { *host = 1; }
};

inline cudaError_t finish() { return cudaDeviceSynchronize(); }

/* Waits in small steps until an event has an answer other than "not ready". */
inline cudaError_t poll(cudaEvent_t e)
{
    cudaError_t r = cudaErrorNotReady;
    for (int i = 0; i < 20000 && r == cudaErrorNotReady; i++) {
        r = cudaEventQuery(e);
        if (r == cudaErrorNotReady) usleep(500);
    }
    return r;
}

template <typename T> T *device_array(size_t n)
{
    T *p = nullptr;
    OK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

inline int read_int(const int *p)
{
    int v = -12345;
    OK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

} // namespace

#endif
