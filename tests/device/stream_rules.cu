/* Streams and events: handles, states, order. */
#include <pthread.h>

#include "kernels.cuh"

RULE(stream, create_arguments, REPORT, "null or unknown flags: 1")
{
    cudaStream_t s;
    EXPECT(cudaStreamCreate((cudaStream_t *)nullptr), cudaErrorInvalidValue);
    EXPECT(cudaStreamCreateWithFlags(&s, 0x100), cudaErrorInvalidValue);
    EXPECT(cudaStreamCreateWithFlags((cudaStream_t *)nullptr, 0),
           cudaErrorInvalidValue);
}

RULE(stream, destroy_null, REPORT, "the default stream cannot be destroyed: 400")
{
    EXPECT(cudaStreamDestroy((cudaStream_t) nullptr),
           cudaErrorInvalidResourceHandle);
}

RULE(stream, destroy_lets_work_finish, HEADER,
     "work in a destroyed stream still completes")
{
    cudaStream_t s;
    gate g;
    int *p = device_array<int>(1);
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    g.keep(s);
    put<<<1, 1, 0, s>>>(p, 5);
    OK(cudaStreamDestroy(s));
    g.open();
    OK(finish());
    EXPECT(read_int(p), 5);
}

RULE(stream, query, HEADER, "600 while work is pending, then success")
{
    cudaStream_t s;
    gate g;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamQuery(s));
    g.keep(s);
    EXPECT(cudaStreamQuery(s), cudaErrorNotReady);
    g.open();
    OK(cudaStreamSynchronize(s));
    OK(cudaStreamQuery(s));
}

RULE(stream, flags_and_priority, HEADER,
     "a stream tells its flags, and its priority within the device's range")
{
    cudaStream_t s;
    int least, greatest, priority;
    unsigned flags;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least, 1);
    OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking,
                                    greatest - 10));
    OK(cudaStreamGetPriority(s, &priority));
    EXPECT(priority, greatest);
    OK(cudaStreamGetFlags(s, &flags));
    EXPECT(flags, cudaStreamNonBlocking);
    OK(cudaStreamGetFlags(0, &flags));
    EXPECT(flags, cudaStreamDefault);
    EXPECT(cudaStreamGetFlags(s, (unsigned *)nullptr), cudaErrorInvalidValue);
}

RULE(stream, ids_differ, HEADER, "every stream has an id of its own")
{
    unsigned long long a, b, c;
    cudaStream_t s, t;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaStreamGetId(s, &a));
    OK(cudaStreamGetId(t, &b));
    OK(cudaStreamGetId(0, &c));
    EXPECT(a != b && b != c && a != c, 1);
}

RULE(stream, is_in_order, HEADER, "work in a stream runs in the order queued")
{
    cudaStream_t s;
    int *p = device_array<int>(1);
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int i = 0; i < 100; i++) put<<<1, 1, 0, s>>>(p, i);
    OK(cudaStreamSynchronize(s));
    EXPECT(read_int(p), 99);
}

/* ---- the legacy default stream ------------------------------------------------------ */

RULE(stream, legacy_waits_for_blocking, HEADER,
     "work in the legacy default stream waits for earlier work of blocking "
     "streams")
{
    cudaStream_t s;
    gate g;
    int *p = device_array<int>(1);
    OK(cudaStreamCreate(&s));
    hold<<<1, 1, 0, s>>>(g.device, 1 << 18);
    put<<<1, 1, 0, s>>>(p, 1);
    put<<<1, 1>>>(p, 2);
    OK(finish());
    EXPECT(read_int(p), 2);
}

RULE(stream, blocking_waits_for_legacy, HEADER,
     "work in a blocking stream waits for earlier work of the legacy default "
     "stream")
{
    cudaStream_t s;
    gate g;
    OK(cudaStreamCreate(&s));
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    g.keep(0);
    nothing<<<1, 1, 0, s>>>();
    OK(cudaEventRecord(e, s));
    usleep(20000);
    EXPECT(cudaEventQuery(e), cudaErrorNotReady);
    g.open();
    OK(cudaEventSynchronize(e));
}

RULE(stream, non_blocking_does_not, HEADER,
     "a non-blocking stream has no order with the legacy default stream")
{
    cudaStream_t s;
    gate g;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    g.keep(0);
    nothing<<<1, 1, 0, s>>>();
    OK(cudaStreamSynchronize(s));
    EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
    g.open();
    OK(finish());
}

RULE(stream, independent_streams_overlap, HEADER,
     "two streams make progress at the same time")
{
    cudaStream_t a, b;
    gate g;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    g.keep(a);
    put<<<1, 1, 0, b>>>(g.device, 1); /* opens the gate from the device */
    OK(cudaStreamSynchronize(b));
    OK(cudaStreamSynchronize(a));
}

RULE(stream, per_thread_is_another, HEADER,
     "cudaStreamPerThread and cudaStreamLegacy are different streams")
{
    unsigned long long a, b;
    OK(cudaStreamGetId(cudaStreamPerThread, &a));
    OK(cudaStreamGetId(cudaStreamLegacy, &b));
    EXPECT(a != b, 1);
}

static void *own_id(void *out)
{
    cudaStreamGetId(cudaStreamPerThread, (unsigned long long *)out);
    return nullptr;
}
RULE(stream, per_thread_is_per_thread, HEADER,
     "each host thread has a per-thread default stream of its own")
{
    unsigned long long a = 0, b = 0;
    pthread_t t;
    OK(cudaStreamGetId(cudaStreamPerThread, &a));
    pthread_create(&t, nullptr, own_id, &b);
    pthread_join(t, nullptr);
    EXPECT(a != b && b != 0, 1);
}

RULE(stream, per_thread_blocks_with_legacy, HEADER,
     "the per-thread default stream waits for the legacy one")
{
    gate g;
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    g.keep(cudaStreamLegacy);
    nothing<<<1, 1, 0, cudaStreamPerThread>>>();
    OK(cudaEventRecord(e, cudaStreamPerThread));
    usleep(20000);
    EXPECT(cudaEventQuery(e), cudaErrorNotReady);
    g.open();
    OK(finish());
}

/* ---- events --------------------------------------------------------------------------- */

RULE(event, never_recorded, REPORT,
     "querying or waiting for an event that was never recorded succeeds")
{
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    OK(cudaEventQuery(e));
    OK(cudaEventSynchronize(e));
    OK(cudaStreamWaitEvent(0, e, 0));
}

RULE(event, null_handles, REPORT, "a null event: 400")
{
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    EXPECT(cudaEventRecord((cudaEvent_t) nullptr, 0),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamWaitEvent(s, (cudaEvent_t) nullptr, 0),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventQuery((cudaEvent_t) nullptr),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventSynchronize((cudaEvent_t) nullptr),
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventDestroy((cudaEvent_t) nullptr),
           cudaErrorInvalidResourceHandle);
}

RULE(event, flags, REPORT,
     "unknown event or wait flags: 1; interprocess needs disabled timing: 1")
{
    cudaEvent_t e, x;
    OK(cudaEventCreate(&e));
    EXPECT(cudaEventCreateWithFlags(&x, 0x08000000), cudaErrorInvalidValue);
    EXPECT(cudaEventCreateWithFlags(&x, cudaEventInterprocess),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamWaitEvent(0, e, ~0u), cudaErrorInvalidValue);
    EXPECT(cudaEventCreate((cudaEvent_t *)nullptr), cudaErrorInvalidValue);
}

RULE(event, pending, REPORT, "600 while the work before it is pending")
{
    cudaEvent_t a, b;
    float ms = -1;
    gate g;
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventRecord(a));
    g.keep();
    OK(cudaEventRecord(b));
    EXPECT(cudaEventQuery(b), cudaErrorNotReady);
    EXPECT(cudaEventElapsedTime(&ms, a, b), cudaErrorNotReady);
    g.open();
    OK(cudaEventSynchronize(b));
    OK(cudaEventQuery(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    EXPECT(ms >= 0, 1);
}

RULE(event, elapsed_arguments, HEADER,
     "elapsed time needs events that were recorded, with timing: 400")
{
    cudaEvent_t a, b, c;
    float ms;
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventCreateWithFlags(&c, cudaEventDisableTiming));
    OK(cudaEventRecord(a));
    OK(cudaEventRecord(c));
    OK(finish());
    EXPECT(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventElapsedTime(&ms, a, c), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventElapsedTime((float *)nullptr, a, a),
           cudaErrorInvalidValue);
}

RULE(event, recorded_again, HEADER,
     "recording again replaces what the event stands for")
{
    cudaEvent_t e;
    gate g;
    OK(cudaEventCreate(&e));
    OK(cudaEventRecord(e));
    OK(cudaEventSynchronize(e));
    g.keep();
    OK(cudaEventRecord(e));
    EXPECT(cudaEventQuery(e), cudaErrorNotReady);
    g.open();
    OK(cudaEventSynchronize(e));
}

RULE(event, wait_orders_streams, HEADER,
     "work behind a waited-for event sees what was done before it")
{
    cudaStream_t a, b;
    cudaEvent_t e;
    gate g;
    int *p = device_array<int>(1);
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    hold<<<1, 1, 0, a>>>(g.device, 1 << 18);
    put<<<1, 1, 0, a>>>(p, 1);
    OK(cudaEventRecord(e, a));
    OK(cudaStreamWaitEvent(b, e, 0));
    add_one<<<1, 1, 0, b>>>(p);
    OK(cudaStreamSynchronize(b));
    EXPECT(read_int(p), 2);
}

RULE(event, wait_takes_the_state_at_the_call, HEADER,
     "a wait is for the event as recorded when the wait is queued")
{
    cudaStream_t a, b;
    cudaEvent_t e;
    gate g;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    OK(cudaEventRecord(e, a));
    OK(cudaStreamWaitEvent(b, e, 0));
    g.keep(a);
    OK(cudaEventRecord(e, a));
    OK(cudaStreamSynchronize(b)); /* not held by the second record */
    EXPECT(cudaStreamQuery(a), cudaErrorNotReady);
    g.open();
    OK(finish());
}

RULE(stream, destroyed_handle, REPORT,
     "a stream that was destroyed, wherever it is named: 709")
{
    cudaStream_t s;
    cudaEvent_t e;
    cudaStreamCaptureStatus st;
    cudaGraph_t g;
    int *p = device_array<int>(1);
    OK(cudaEventCreate(&e));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamDestroy(s));
    EXPECT(cudaStreamDestroy(s), cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamSynchronize(s), cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamWaitEvent(s, e, 0), cudaErrorContextIsDestroyed);
    EXPECT(cudaEventRecord(e, s), cudaErrorContextIsDestroyed);
    EXPECT(cudaMemsetAsync(p, 0, 4, s), cudaErrorContextIsDestroyed);
    EXPECT(cudaMemcpy2DAsync(p, 4, p, 4, 4, 1, cudaMemcpyDeviceToDevice, s),
           cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamQuery(s), cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamIsCapturing(s, &st), cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal),
           cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorContextIsDestroyed);
    EXPECT(cudaLaunchHostFunc(s, [](void *) {}, nullptr),
           cudaErrorContextIsDestroyed);
    EXPECT(cudaLaunchKernel((const void *)nothing, 1, 1, nullptr, 0, s),
           cudaErrorContextIsDestroyed);
    EXPECT(cudaGetLastError(), cudaErrorContextIsDestroyed);
    OK(finish());
}

RULE(event, destroyed_handle, REPORT,
     "calls on an event that was destroyed: 709")
{
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    OK(cudaEventDestroy(e));
    EXPECT(cudaEventDestroy(e), cudaErrorContextIsDestroyed);
    EXPECT(cudaEventSynchronize(e), cudaErrorContextIsDestroyed);
    EXPECT(cudaEventQuery(e), cudaErrorContextIsDestroyed);
    EXPECT(cudaEventRecord(e, 0), cudaErrorContextIsDestroyed);
    EXPECT(cudaStreamWaitEvent(0, e, 0), cudaErrorContextIsDestroyed);
    OK(finish());
}

RULE(event, destroyed_while_pending, HEADER,
     "an event may be destroyed while its work is pending")
{
    cudaEvent_t e;
    gate g;
    OK(cudaEventCreate(&e));
    g.keep();
    OK(cudaEventRecord(e));
    OK(cudaEventDestroy(e));
    g.open();
    OK(finish());
}

__global__ void last(unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}
RULE(event, measures_device_time, DERIVED,
     "elapsed time covers the work between two events")
{
    cudaEvent_t a, b;
    float ms = 0;
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventRecord(a));
    last<<<1, 1>>>(10000000);
    OK(cudaEventRecord(b));
    OK(cudaEventSynchronize(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    EXPECT(ms > 9 && ms < 60000, 1);
}
