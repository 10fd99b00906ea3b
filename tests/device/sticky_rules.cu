/* On a ruined context every later call returns the fault's code: each call for
 * one code, and all of them for every code. And what a reset brings back. */
#include "faults.cuh"

/* What a program may call once its context is gone, made ready before. */
struct afterwards {
    void *device, *host;
    int word;
    cudaStream_t stream;
    cudaEvent_t event;
    /* where calls put what they make */
    void *p;
    size_t n, m;
    int i;
    float ms;
    cudaStream_t new_stream;
    cudaEvent_t new_event;
    cudaPointerAttributes attributes;
    cudaFuncAttributes function;
};
static afterwards prepare()
{
    afterwards a = {};
    OK(cudaMalloc(&a.device, 4096));
    OK(cudaMallocHost(&a.host, 4096));
    OK(cudaStreamCreate(&a.stream));
    OK(cudaEventCreate(&a.event));
    return a;
}
static void no_op(void *) {}
static void no_callback(cudaStream_t, cudaError_t, void *) {}
__device__ int variable;

/* name, basis, expression over `a` */
#define LATER_CALLS(X)                                                         \
    X(launch, HEADER, cudaLaunchKernel((const void *)nothing, 1, 1, nullptr, 0, 0)) \
    X(launch_in_stream, HEADER, cudaLaunchKernel((const void *)nothing, 1, 1,  \
                                         nullptr, 0, a.stream))                \
    X(launch_cooperative, HEADER, cudaLaunchCooperativeKernel(                 \
        (const void *)nothing, 1, 1, nullptr, 0, 0))                           \
    X(malloc, REPORT, cudaMalloc(&a.p, 64))                                    \
    X(malloc_host, OPEN, cudaMallocHost(&a.p, 64))                             \
    X(malloc_managed, OPEN, cudaMallocManaged(&a.p, 64))                       \
    X(malloc_async, HEADER, cudaMallocAsync(&a.p, 64, a.stream))               \
    X(malloc_pitch, OPEN, cudaMallocPitch(&a.p, &a.n, 64, 4))                  \
    X(free, REPORT, cudaFree(a.device))                                        \
    X(free_null, REPORT, cudaFree(nullptr))                                    \
    X(free_host, OPEN, cudaFreeHost(a.host))                                   \
    X(free_async, HEADER, cudaFreeAsync(a.device, a.stream))                   \
    X(memcpy_in, HEADER, cudaMemcpy(a.device, &a.word, 4, cudaMemcpyHostToDevice)) \
    X(memcpy_out, REPORT, cudaMemcpy(&a.word, a.device, 4, cudaMemcpyDeviceToHost)) \
    X(memcpy_within, HEADER, cudaMemcpy(a.device, (char *)a.device + 64, 4,    \
                                cudaMemcpyDeviceToDevice))                     \
    X(memcpy_async, HEADER, cudaMemcpyAsync(a.device, a.host, 4,               \
                                    cudaMemcpyHostToDevice, a.stream))         \
    X(memcpy_2d, HEADER, cudaMemcpy2D(a.device, 64, a.host, 64, 16, 2,         \
                              cudaMemcpyHostToDevice))                         \
    X(memcpy_symbol, HEADER, cudaMemcpyToSymbol(variable, &a.word, 4))         \
    X(memset, HEADER, cudaMemset(a.device, 0, 4))                              \
    X(memset_async, HEADER, cudaMemsetAsync(a.device, 0, 4, a.stream))         \
    X(mem_info, OPEN, cudaMemGetInfo(&a.n, &a.m))                              \
    X(pointer_attributes, OPEN, cudaPointerGetAttributes(&a.attributes, a.device)) \
    X(symbol_address, OPEN, cudaGetSymbolAddress(&a.p, variable))              \
    X(device_synchronize, HEADER, cudaDeviceSynchronize())                     \
    X(stream_synchronize, HEADER, cudaStreamSynchronize(a.stream))             \
    X(stream_query, HEADER, cudaStreamQuery(a.stream))                         \
    X(stream_create, OPEN, cudaStreamCreate(&a.new_stream))                    \
    X(stream_destroy, OPEN, cudaStreamDestroy(a.stream))                       \
    X(stream_wait_event, HEADER, cudaStreamWaitEvent(a.stream, a.event, 0))    \
    X(event_create, OPEN, cudaEventCreate(&a.new_event))                       \
    X(event_record, HEADER, cudaEventRecord(a.event, a.stream))                \
    X(event_query, REPORT, cudaEventQuery(a.event))                            \
    X(event_synchronize, REPORT, cudaEventSynchronize(a.event))                \
    X(event_elapsed, OPEN, cudaEventElapsedTime(&a.ms, a.event, a.event))      \
    X(host_function, OPEN, cudaLaunchHostFunc(a.stream, no_op, nullptr))       \
    X(callback, OPEN, cudaStreamAddCallback(a.stream, no_callback, nullptr, 0)) \
    X(get_device, REPORT, cudaGetDevice(&a.i))                                 \
    X(func_attributes, OPEN, cudaFuncGetAttributes(&a.function, nothing))      \
    X(occupancy, OPEN, cudaOccupancyMaxActiveBlocksPerMultiprocessor(          \
        &a.i, nothing, 32, 0))                                                 \
    X(get_limit, OPEN, cudaDeviceGetLimit(&a.n, cudaLimitStackSize))

#define LATER(what, basis, call)                                           \
    RULE(sticky, what, basis,                                            \
         "on a ruined context " #call " returns the code")                 \
    {                                                                      \
        afterwards a = prepare(); (void)a;                                 \
        EXPECT(commit_illegal(), cudaErrorIllegalAddress);                 \
        EXPECT(call, cudaErrorIllegalAddress);                             \
        EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);               \
        EXPECT(call, cudaErrorIllegalAddress);                             \
    }
LATER_CALLS(LATER)
#undef LATER

/* The whole list, for every code. */
static void all_return(cudaError_t code, cudaError_t (*commit)())
{
    afterwards a = prepare();
    EXPECT(commit(), code);
#define LATER(what, basis, call) EXPECT(call, code);
    LATER_CALLS(LATER)
#undef LATER
    EXPECT(finish(), code);
}

#define EVERY_CALL(what, code, commit)                                     \
    RULE(sticky, what, HEADER,                                           \
         "after " #code " every later call returns it")                    \
    {                                                                      \
        all_return(code, commit);                                          \
    }
EVERY_CALL(code_700, cudaErrorIllegalAddress, commit_illegal)
EVERY_CALL(code_710, cudaErrorAssert, commit_assert)
EVERY_CALL(code_716, cudaErrorMisalignedAddress, commit_misaligned)
EVERY_CALL(code_718, cudaErrorInvalidPc, commit_call)
EVERY_CALL(code_719, cudaErrorLaunchFailure, commit_trap)

/* ---- reset -------------------------------------------------------------------------- */

RULE(reset, after_fault, OPEN,
     "cudaDeviceReset after a fault succeeds and gives a context that works")
{
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    int *p = device_array<int>(1);
    put<<<1, 1>>>(p, 3);
    OK(finish());
    EXPECT(read_int(p), 3);
}

RULE(reset, frees_allocations, REPORT,
     "cudaDeviceReset frees what was allocated: the old pointer is refused")
{
    int *p = device_array<int>(100);
    OK(cudaDeviceReset());
    EXPECT(cudaFree(p), cudaErrorInvalidValue);
    cudaGetLastError();
    int *q = device_array<int>(1);
    put<<<1, 1>>>(q, 4);
    OK(finish());
}

RULE(reset, destroys_streams_and_events, DERIVED,
     "streams and events made before a reset are refused after it")
{
    cudaStream_t s;
    cudaEvent_t e;
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&e));
    OK(cudaDeviceReset());
    OK(cudaFree(0));
    EXPECT_EITHER(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle,
                  cudaErrorContextIsDestroyed);
    EXPECT_EITHER(cudaEventQuery(e), cudaErrorInvalidResourceHandle,
                  cudaErrorContextIsDestroyed);
}

RULE(reset, without_context, HEADER,
     "cudaDeviceReset before anything else succeeds")
{
    OK(cudaDeviceReset());
    OK(cudaDeviceReset());
}

RULE(reset, variables_start_again, DERIVED,
     "device variables have their initial values after a reset")
{
    int v = 5;
    OK(cudaMemcpyToSymbol(variable, &v, sizeof v));
    OK(cudaDeviceReset());
    OK(cudaMemcpyFromSymbol(&v, variable, sizeof v));
    EXPECT(v, 0);
}
