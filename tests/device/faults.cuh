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
inline cudaError_t commit_call()
{
    fault_call<<<1, 1>>>(on_the_host, device_array<int>(1));
    return finish();
}

} // namespace

#endif
