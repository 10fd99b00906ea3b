/* Faults that ruin the context: which code each gives, what it does to other
 * work, and what is no fault. */
#include <pthread.h>

#include "faults.cuh"

RULE(fault, null_write, REPORT, "a store to address 0: 700")
{
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
}

__global__ void read_at(const volatile int *p, int *out) { *out = *p; }
RULE(fault, null_read, REPORT, "a load from address 0: 700")
{
    read_at<<<1, 1>>>(nullptr, device_array<int>(1));
    EXPECT(finish(), cudaErrorIllegalAddress);
}

RULE(fault, wild_write, REPORT, "a store to an address nobody has: 700")
{
    fault_illegal<<<1, 1>>>((int *)(uintptr_t)0x87654320);
    EXPECT(finish(), cudaErrorIllegalAddress);
}

__global__ void far_index(int *p, long long i) { p[i] = 1; }
RULE(fault, far_out_of_bounds, REPORT,
     "an index that is billions off: 700")
{
    far_index<<<1, 1>>>(device_array<int>(16), -(1ll << 32));
    EXPECT(finish(), cudaErrorIllegalAddress);
}

RULE(fault, host_pointer, DERIVED,
     "a kernel that follows a pageable host pointer: 700")
{
    int pageable = 0, supported = 0;
    cudaDeviceGetAttribute(&supported, cudaDevAttrPageableMemoryAccess, 0);
    if (supported) rule_skip("the device reads pageable memory");
    fault_illegal<<<1, 1>>>(&pageable);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(pageable, 0);
}

__global__ void touch(unsigned *p, int n)
{
    int i = threadIdx.x;
    if (i < n) ((volatile unsigned *)p)[i] = ((volatile unsigned *)p)[i];
}
RULE(fault, near_overrun_silent, REPORT,
     "653 bytes past a 360-byte allocation are read and written unnoticed")
{
    unsigned *p = device_array<unsigned>(90);
    OK(cudaMemset(p, 0, 360));
    touch<<<1, 256>>>(p, 253);
    OK(finish());
}

__global__ void look_before(const char *p, int *out)
{
    *out = ((const volatile char *)p)[-96];
}
RULE(fault, near_underrun_silent, REPORT,
     "a read 96 bytes before an allocation goes unnoticed")
{
    char *a = device_array<char>(96), *b = device_array<char>(96);
    int *out = device_array<int>(1);
    look_before<<<1, 1>>>(b, out);
    OK(finish());
    (void)a;
}

RULE(fault, misaligned_store, REPORT,
     "an access at an address that is no multiple of its size: 716")
{
    EXPECT(commit_misaligned(), cudaErrorMisalignedAddress);
}

__global__ void bump(char *p)
{
    atomicAdd((unsigned long long *)p, 1ull);
}
RULE(fault, misaligned_atomic, REPORT, "a misaligned atomic: 716")
{
    char *p = device_array<char>(64);
    OK(cudaMemset(p, 0, 64));
    bump<<<1, 1>>>(p + 8);
    OK(finish());
    bump<<<1, 1>>>(p + 4);
    EXPECT(finish(), cudaErrorMisalignedAddress);
}

__global__ void vector_load(const char *p, int4 *out)
{
    *out = *(const int4 *)p;
}
RULE(fault, misaligned_vector, REPORT,
     "a 16-byte load from a view that is 4 bytes off: 716")
{
    int4 *out = device_array<int4>(1);
    vector_load<<<1, 1>>>(device_array<char>(64) + 4, out);
    EXPECT(finish(), cudaErrorMisalignedAddress);
}

RULE(fault, trap, REPORT, "__trap: 719")
{
    EXPECT(commit_trap(), cudaErrorLaunchFailure);
}

RULE_ENV(fault, time_limit, HEADER, "SIMGPU_TIME_LIMIT_MS=10",
         "a kernel that runs for longer than the device allows: 702")
{
    EXPECT(commit_endless(), cudaErrorLaunchTimeout);
}

RULE(fault, no_time_limit_to_be_met, DERIVED,
     "a device without a time limit says so, and a long kernel ends well")
{
    int limited = 1;
    OK(cudaDeviceGetAttribute(&limited, cudaDevAttrKernelExecTimeout, 0));
    if (limited) rule_skip("the device sets kernels a time limit");
    gate g;
    hold<<<1, 1>>>(g.device, 1 << 18);
    OK(finish());
}

RULE(fault, stack_overflow, OPEN, "recursion deeper than the stack: 714")
{
    EXPECT(commit_overflow(), cudaErrorHardwareStackError);
}

RULE(fault, barrier_number, OPEN, "a barrier number above 15: 715")
{
    EXPECT(commit_barrier(), cudaErrorIllegalInstruction);
}

RULE(fault, atomic_on_local_memory, OPEN,
     "an atomic through a generic pointer to local memory: 717")
{
    EXPECT(commit_space(), cudaErrorInvalidAddressSpace);
}

__global__ void breakpoint() { __brkpt(); }
RULE(fault, breakpoint, OPEN, "__brkpt without a debugger: 719")
{
    breakpoint<<<1, 1>>>();
    EXPECT(finish(), cudaErrorLaunchFailure);
}

RULE(fault, assertion, HEADER, "a failed assert: 710")
{
    EXPECT(commit_assert(), cudaErrorAssert);
}

RULE(fault, call_of_host_function, REPORT,
     "calling the address of a host function: 718")
{
    EXPECT(commit_call(), cudaErrorInvalidPc);
}

__global__ void divide(int a, int b, int *out) { *out = a / b; }
RULE(fault, division_by_zero_is_none, REPORT,
     "integer division by zero is no fault and gives all ones")
{
    int *out = device_array<int>(1);
    divide<<<1, 1>>>(5, 0, out);
    OK(finish());
    EXPECT(read_int(out), -1);
}

__global__ void shared_index(int i)
{
    extern __shared__ int buffer[];
    ((volatile int *)buffer)[i] = 1;
}
RULE(fault, far_shared_index, REPORT,
     "an index far outside shared memory: 700 or 719")
{
    shared_index<<<1, 1, 64>>>(1 << 20);
    EXPECT_EITHER(finish(), cudaErrorIllegalAddress, cudaErrorLaunchFailure);
}

RULE(fault, use_after_free, OPEN,
     "a kernel that uses a large allocation after its cudaFree: 700")
{
    nothing<<<1, 1>>>(); /* loads the module, whose variables need room too */
    int *p = device_array<int>(16 << 20);
    OK(cudaFree(p));
    fault_illegal<<<1, 1>>>(p);
    EXPECT(finish(), cudaErrorIllegalAddress);
}

RULE(fault, earlier_work_is_kept, DERIVED,
     "what kernels wrote before the fault is visible in mapped memory")
{
    void *h = nullptr;
    int *d = nullptr;
    OK(cudaHostAlloc(&h, sizeof(int), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&d, h, 0));
    *(volatile int *)h = 0;
    put<<<1, 1>>>(d, 42);
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(*(volatile int *)h, 42);
}

RULE(fault, later_work_is_dropped, DERIVED,
     "kernels queued behind the fault never run")
{
    void *h = nullptr;
    int *d = nullptr;
    OK(cudaHostAlloc(&h, sizeof(int), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&d, h, 0));
    *(volatile int *)h = 0;
    fault_illegal<<<1, 1>>>(nullptr);
    put<<<1, 1>>>(d, 42);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(*(volatile int *)h, 0);
}

RULE(fault, first_one_stays, REPORT,
     "a second, different fault is not reported: the first code stays")
{
    EXPECT(commit_misaligned(), cudaErrorMisalignedAddress);
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(finish(), cudaErrorMisalignedAddress);
}

RULE(fault, later_launch_refused, HEADER,
     "a launch on a ruined context returns the code at once")
{
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    EXPECT(cudaLaunchKernel((const void *)nothing, 1, 1, nullptr, 0, 0),
           cudaErrorIllegalAddress);
}

RULE(fault, seen_in_other_streams, HEADER,
     "a fault in one stream is returned by calls on another")
{
    cudaStream_t a, b;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    fault_illegal<<<1, 1, 0, a>>>(nullptr);
    EXPECT(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
    EXPECT(cudaStreamSynchronize(b), cudaErrorIllegalAddress);
    EXPECT(cudaStreamQuery(b), cudaErrorIllegalAddress);
}

static void *from_thread(void *code)
{
    void *p;
    *(cudaError_t *)code = cudaMalloc(&p, 16);
    return nullptr;
}
RULE(fault, seen_in_other_threads, HEADER,
     "a fault is returned by calls of every host thread")
{
    cudaError_t code = cudaSuccess;
    pthread_t t;
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    pthread_create(&t, nullptr, from_thread, &code);
    pthread_join(t, nullptr);
    EXPECT(code, cudaErrorIllegalAddress);
}

RULE(fault, seen_by_polling_an_event, REPORT,
     "an event recorded behind the fault never completes: its query returns "
     "the code")
{
    cudaEvent_t e;
    char *p = device_array<char>(64);
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    fault_misaligned<<<1, 1>>>(p);
    cudaEventRecord(e);
    EXPECT(poll(e), cudaErrorMisalignedAddress);
    EXPECT(cudaEventSynchronize(e), cudaErrorMisalignedAddress);
    EXPECT(cudaStreamQuery(0), cudaErrorMisalignedAddress);
}

RULE(fault, completed_events_answer_with_it_too, REPORT,
     "once the context is ruined every event's query returns the code, also "
     "of those that had completed")
{
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    OK(cudaEventRecord(e));
    OK(cudaEventSynchronize(e));
    OK(cudaEventQuery(e));
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    EXPECT(cudaEventQuery(e), cudaErrorIllegalAddress);
}

RULE(fault, names_survive, DERIVED,
     "names and texts can be asked for on a ruined context")
{
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    EXPECT_TEXT(cudaGetErrorName(cudaErrorAssert), "cudaErrorAssert");
}

RULE(fault, versions_survive, OPEN,
     "device count, attributes and versions can be asked for on a ruined "
     "context")
{
    int n = 0;
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    OK(cudaGetDeviceCount(&n));
    OK(cudaRuntimeGetVersion(&n));
    OK(cudaDriverGetVersion(&n));
    OK(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
}
