/* The last-error slot: who writes it, who clears it, whose it is. */
#include "kernels.cuh"

#include <pthread.h>

RULE(slot, starts_empty, HEADER, "a new host thread has no last error")
{
    EXPECT(cudaPeekAtLastError(), cudaSuccess);
    EXPECT(cudaGetLastError(), cudaSuccess);
}

RULE(slot, get_resets, HEADER, "cudaGetLastError resets the slot")
{
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaSuccess);
}

RULE(slot, peek_keeps, HEADER, "cudaPeekAtLastError leaves the slot as it is")
{
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
}

RULE(slot, success_keeps, REPORT,
     "successful calls do not clear an earlier error")
{
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    OK(cudaFree(0));
    OK(finish());
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
}

RULE(slot, later_error_overwrites, DERIVED,
     "a later error takes the place of an earlier one")
{
    void *p;
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaSuccess);
}

RULE(slot, good_launch_keeps, OPEN,
     "a launch that succeeds does not clear the error of one that failed")
{
    cudaFree(0);
    nothing<<<0, 1>>>();
    nothing<<<1, 1>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    OK(finish());
}

RULE(slot, launch_error_latched, REPORT,
     "a launch error nobody asks for waits for the next check, however late")
{
    int *p = device_array<int>(1);
    nothing<<<0, 1>>>();
    for (int i = 0; i < 10; i++) put<<<1, 1>>>(p, i);
    OK(finish());
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT(read_int(p), 9);
}

RULE(slot, synchronise_does_not_return_it, REPORT,
     "cudaDeviceSynchronize does not return a latched launch error")
{
    nothing<<<0, 1>>>();
    OK(finish());
    OK(cudaStreamSynchronize(0));
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

RULE(slot, not_ready_not_kept, OPEN,
     "cudaErrorNotReady is returned but does not enter the slot")
{
    gate g;
    cudaEvent_t e;
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    g.keep();
    OK(cudaEventRecord(e));
    EXPECT(cudaEventQuery(e), cudaErrorNotReady);
    EXPECT(cudaPeekAtLastError(), cudaSuccess);
    EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
    EXPECT(cudaPeekAtLastError(), cudaSuccess);
    g.open();
    OK(finish());
}

RULE(slot, out_of_memory_latched, REPORT,
     "out of memory is latched and recoverable: later work succeeds")
{
    void *p;
    EXPECT(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
    int *q = device_array<int>(1);
    EXPECT(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    put<<<1, 1>>>(q, 7);
    OK(finish());
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(read_int(q), 7);
}

static void *other_thread(void *result)
{
    cudaError_t *r = (cudaError_t *)result;
    r[0] = cudaPeekAtLastError();
    cudaSetDevice(-1);
    r[1] = cudaPeekAtLastError();
    return nullptr;
}

RULE(slot, per_host_thread, HEADER,
     "each host thread has a slot of its own")
{
    void *p;
    cudaError_t r[2];
    pthread_t t;
    EXPECT(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
    pthread_create(&t, nullptr, other_thread, r);
    pthread_join(t, nullptr);
    EXPECT(r[0], cudaSuccess);
    EXPECT(r[1], cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
}

RULE(slot, asynchronous_fault_not_there_yet, REPORT,
     "cudaGetLastError after a launch does not wait for the kernel")
{
    gate g;
    g.keep();
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(cudaGetLastError(), cudaSuccess);
    g.open();
    EXPECT(finish(), cudaErrorIllegalAddress);
}

RULE(slot, fault_enters_when_reported, REPORT,
     "a fault enters the slot of the thread whose call reported it")
{
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(cudaPeekAtLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
}

RULE(slot, fault_not_cleared_by_get, OPEN,
     "cudaGetLastError does not clear an error that ruined the context")
{
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
}

RULE(slot, error_names_and_texts, REPORT,
     "names and texts of errors are those programs and logs quote")
{
    EXPECT_TEXT(cudaGetErrorName(cudaErrorIllegalAddress),
                "cudaErrorIllegalAddress");
    EXPECT_TEXT(cudaGetErrorString(cudaErrorIllegalAddress),
                "an illegal memory access was encountered");
    EXPECT_TEXT(cudaGetErrorString(cudaErrorAssert),
                "device-side assert triggered");
    EXPECT_TEXT(cudaGetErrorString(cudaErrorLaunchFailure),
                "unspecified launch failure");
    EXPECT_TEXT(cudaGetErrorString(cudaErrorInvalidConfiguration),
                "invalid configuration argument");
    EXPECT_TEXT(cudaGetErrorString(cudaErrorNotReady), "device not ready");
    EXPECT_TEXT(cudaGetErrorString(cudaSuccess), "no error");
    EXPECT_TEXT(cudaGetErrorName(cudaSuccess), "cudaSuccess");
}

RULE(slot, unknown_code_has_a_text, DERIVED,
     "a number that is no error is named as unrecognised")
{
    EXPECT_TEXT(cudaGetErrorName((cudaError_t)9999),
                "unrecognized error code");
    EXPECT_TEXT(cudaGetErrorString((cudaError_t)-1),
                "unrecognized error code");
}

RULE(slot, naming_does_not_touch_it, DERIVED,
     "cudaGetErrorName and cudaGetErrorString leave the slot alone")
{
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    cudaGetErrorName(cudaSuccess);
    cudaGetErrorString(cudaSuccess);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
}
