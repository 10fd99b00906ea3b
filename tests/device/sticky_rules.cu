/* On a ruined context every later call returns the fault's code: each call for
 * one code, and all of them for every code. And what a reset brings back. */
#include <pthread.h>

#include "faults.cuh"

/* What a program may call once its context is gone, made ready before. */
struct afterwards {
    void *device, *host;
    int word;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    /* where calls put what they make */
    void *p;
    size_t n, m;
    int i;
    float ms;
    cudaStream_t new_stream;
    cudaEvent_t new_event;
    cudaGraphExec_t new_exec;
    cudaLaunchConfig_t config;
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
    OK(cudaGraphCreate(&a.graph, 0));
    OK(cudaGraphInstantiate(&a.exec, a.graph, 0));
    a.config.gridDim = a.config.blockDim = dim3(1);
    a.config.stream = a.stream;
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
    X(launch_extended, HEADER, cudaLaunchKernelExC(&a.config,                  \
        (const void *)nothing, nullptr))                                       \
    X(graph_launch, HEADER, cudaGraphLaunch(a.exec, a.stream))                 \
    X(graph_upload, OPEN, cudaGraphUpload(a.exec, a.stream))                   \
    X(graph_instantiate, OPEN, cudaGraphInstantiate(&a.new_exec, a.graph, 0))  \
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
    X(memcpy_from_symbol, HEADER, cudaMemcpyFromSymbol(&a.word, variable, 4))  \
    X(memset, HEADER, cudaMemset(a.device, 0, 4))                              \
    X(memset_async, HEADER, cudaMemsetAsync(a.device, 0, 4, a.stream))         \
    X(memset_2d, HEADER, cudaMemset2D(a.device, 64, 0, 16, 2))                 \
    X(host_register, OPEN, cudaHostRegister(&a, sizeof a, 0))                  \
    X(mem_info, OPEN, cudaMemGetInfo(&a.n, &a.m))                              \
    X(pointer_attributes, OPEN, cudaPointerGetAttributes(&a.attributes, a.device)) \
    X(symbol_address, OPEN, cudaGetSymbolAddress(&a.p, variable))              \
    X(device_synchronize, HEADER, cudaDeviceSynchronize())                     \
    X(stream_synchronize, HEADER, cudaStreamSynchronize(a.stream))             \
    X(stream_query, HEADER, cudaStreamQuery(a.stream))                         \
    X(stream_create, OPEN, cudaStreamCreate(&a.new_stream))                    \
    X(stream_create_flags, OPEN, cudaStreamCreateWithFlags(&a.new_stream,      \
        cudaStreamNonBlocking))                                                \
    X(stream_begin_capture, OPEN, cudaStreamBeginCapture(a.stream,             \
        cudaStreamCaptureModeRelaxed))                                         \
    X(stream_destroy, OPEN, cudaStreamDestroy(a.stream))                       \
    X(stream_wait_event, HEADER, cudaStreamWaitEvent(a.stream, a.event, 0))    \
    X(event_create, OPEN, cudaEventCreate(&a.new_event))                       \
    X(event_record, HEADER, cudaEventRecord(a.event, a.stream))                \
    X(event_query, REPORT, cudaEventQuery(a.event))                            \
    X(event_synchronize, REPORT, cudaEventSynchronize(a.event))                \
    X(event_destroy, OPEN, cudaEventDestroy(a.event))                          \
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

/* The whole list for every code, from the thread that asked for the faulty
 * work and from another one; calls whose answer is open by themselves. */
struct witness { afterwards a; cudaError_t code; bool open; };
static void *all_calls(void *p)
{
    afterwards &a = ((witness *)p)->a;
    cudaError_t code = ((witness *)p)->code;
    bool open = ((witness *)p)->open;
#define LATER(what, basis, call) if ((basis == OPEN) == open) EXPECT(call, code);
    LATER_CALLS(LATER)
#undef LATER
    return nullptr;
}
static void all_return(cudaError_t code, bool open, cudaError_t (*commit)())
{
    witness here = {prepare(), code, open}, there = {prepare(), code, open};
    pthread_t t;
    EXPECT(commit(), code);
    all_calls(&here);
    pthread_create(&t, nullptr, all_calls, &there);
    pthread_join(t, nullptr);
    EXPECT(finish(), code);
}

/* `basis` is that of the fault giving this code. */
#define EVERY_CALL(number, basis, env, code, commit)                       \
    RULE_ENV(sticky, code_##number, basis, env, "after " #number           \
             " every later call of every thread returns it")               \
    {                                                                      \
        all_return(code, false, commit);                                   \
    }                                                                      \
    RULE_ENV(sticky, code_##number##_open, OPEN, env, "after " #number     \
             " so do calls of which nothing is known")                     \
    {                                                                      \
        all_return(code, true, commit);                                    \
    }
EVERY_CALL(700, HEADER, nullptr, cudaErrorIllegalAddress, commit_illegal)
EVERY_CALL(702, HEADER, "SIMGPU_TIME_LIMIT_MS=10", cudaErrorLaunchTimeout,
           commit_endless)
EVERY_CALL(710, HEADER, nullptr, cudaErrorAssert, commit_assert)
EVERY_CALL(714, OPEN, nullptr, cudaErrorHardwareStackError, commit_overflow)
EVERY_CALL(715, OPEN, nullptr, cudaErrorIllegalInstruction, commit_barrier)
EVERY_CALL(716, HEADER, nullptr, cudaErrorMisalignedAddress,
           commit_misaligned)
EVERY_CALL(717, OPEN, nullptr, cudaErrorInvalidAddressSpace, commit_space)
EVERY_CALL(718, HEADER, nullptr, cudaErrorInvalidPc, commit_call)
EVERY_CALL(719, HEADER, nullptr, cudaErrorLaunchFailure, commit_trap)

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

RULE(reset, brings_preferences_back, REPORT,
     "device flags and cache preferences are as before after a reset")
{
    unsigned before = 99, after = 98;
    cudaFuncCache cache;
    OK(cudaGetDeviceFlags(&before));
    OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    OK(cudaDeviceReset());
    OK(cudaGetDeviceFlags(&after));
    OK(cudaDeviceGetCacheConfig(&cache));
    EXPECT(after, before);
    EXPECT(cache, cudaFuncCachePreferNone);
}
