/* Faults on demand: each commits one and returns what the host is told. */
#ifndef FAULTLAG_DEVICE_FAULTS_CUH
#define FAULTLAG_DEVICE_FAULTS_CUH

#include <assert.h>

#include "kernels.cuh"

namespace {

__global__ void fault_assertion(int x) { assert(x == 0); }

typedef int (*function)(int);
static int on_the_host(int x) { return x + 1; }
__global__ void fault_call(function f, int *out) { *out = f(3); }

/* 702: only a device that has a time limit, as one that drives a display has
 * (numba #9381), ends this. */
__global__ void fault_endless(volatile int *gate) { while (*gate == 0) { } }

/* 714: the header names the stack size limit as a cause; kokkos #2214 saw 719
 * where local memory was overrun. */
__device__ __noinline__ int descend(int n, int *out)
{
    volatile int frame[16];
    frame[n % 16] = n;
    if (n > 0) frame[(n + 1) % 16] = descend(n - 1, out);
    return frame[n % 16] + *out;
}
__global__ void recurse(int depth, int *out) { *out = descend(depth, out); }

/* 715: a barrier number above 15 is an illegal operand (PTX, bar.sync). */
__global__ void fault_barrier(int number)
{
    asm volatile("bar.sync %0;" : : "r"(number) : "memory");
}

/* 717: PTX atom works on global and shared memory only; taichi #6558 got 717
 * for one on local memory, on a P4, and nothing on newer devices. */
__global__ void fault_space(int *p, int local)
{
    int mine[2] = {1, 2};
    int *at = local ? &mine[local & 1] : p;
    atomicAdd(at, 1);
    *p = mine[0] + mine[1];
}

inline cudaError_t commit_illegal()
{
    fault_illegal<<<1, 1>>>(nullptr);
    return finish();
}
inline cudaError_t commit_misaligned()
{
    fault_misaligned<<<1, 1>>>(device_array<char>(64));
    return finish();
}
inline cudaError_t commit_trap() { fault_trap<<<1, 1>>>(); return finish(); }
inline cudaError_t commit_assert()
{
    text_begin(2);
    fault_assertion<<<1, 1>>>(1);
    cudaError_t e = finish();
    text_end();
    return e;
}
inline cudaError_t commit_endless()
{
    int limited = 0;
    OK(cudaDeviceGetAttribute(&limited, cudaDevAttrKernelExecTimeout, 0));
    if (!limited) rule_skip("the device sets kernels no time limit");
    fault_endless<<<1, 1>>>(gate().device);
    return finish();
}
inline cudaError_t commit_overflow()
{
    int *p = device_array<int>(1);
    OK(cudaMemset(p, 0, sizeof(int)));
    recurse<<<1, 1>>>(1 << 20, p);
    return finish();
}
inline cudaError_t commit_barrier()
{
    fault_barrier<<<1, 1>>>(16);
    return finish();
}
inline cudaError_t commit_space()
{
    fault_space<<<1, 1>>>(device_array<int>(1), 1);
    return finish();
}
inline cudaError_t commit_call()
{
    fault_call<<<1, 1>>>(on_the_host, device_array<int>(1));
    return finish();
}

} // namespace

#endif
