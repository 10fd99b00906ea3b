/* Stream capture: what becomes of work, and what breaks a capture. */
#include <pthread.h>

#include "graphs.cuh"

RULE(capture, nothing_runs, HEADER,
     "captured work does not run until the graph is launched")
{
    int *p = device_array<int>(1);
    cudaStream_t s = stream();
    cudaGraph_t g;
    OK(cudaMemset(p, 0, sizeof(int)));
    OK(finish());
    begin(s);
    put<<<1, 1, 0, s>>>(p, 5);
    OK(cudaGetLastError());
    OK(cudaStreamEndCapture(s, &g));
    OK(finish());
    EXPECT(read_int(p), 0);
    OK(run(g));
    EXPECT(read_int(p), 5);
}

RULE(capture, copies_and_fills, HEADER, "copies, fills and host functions are "
     "captured too")
{
    int *p = device_array<int>(2), *h = nullptr;
    cudaStream_t s = stream();
    cudaGraph_t g;
    size_t n = 0;
    OK(cudaMallocHost(&h, 2 * sizeof(int)));
    h[0] = h[1] = 1;
    begin(s);
    OK(cudaMemsetAsync(p, 0, 2 * sizeof(int), s));
    add_one<<<1, 1, 0, s>>>(p);
    OK(cudaMemcpyAsync(h, p, 2 * sizeof(int), cudaMemcpyDeviceToHost, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetNodes(g, nullptr, &n));
    EXPECT(n, 3);
    OK(run(g));
    EXPECT(h[0], 1);
    EXPECT(h[1], 0);
}

RULE(capture, fork_and_join, HEADER,
     "a stream that waits for a captured event joins the capture")
{
    int *p = device_array<int>(2);
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t fork = event(), join = event();
    cudaGraph_t g;
    begin(a);
    put<<<1, 1, 0, a>>>(p, 1);
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    add_one<<<1, 1, 0, b>>>(p);
    OK(cudaEventRecord(join, b));
    OK(cudaStreamWaitEvent(a, join, 0));
    add_one<<<1, 1, 0, a>>>(p);
    OK(cudaStreamEndCapture(a, &g));
    OK(run(g));
    EXPECT(read_int(p), 3);
    cudaStreamCaptureStatus st;
    OK(cudaStreamIsCapturing(b, &st));
    EXPECT(st, cudaStreamCaptureStatusNone);
}

RULE(capture, status_and_info, HEADER,
     "a capturing stream says so, with id, graph and what comes next")
{
    cudaStream_t s = stream();
    cudaStreamCaptureStatus st;
    unsigned long long id = 0;
    cudaGraph_t g, ended;
    const cudaGraphNode_t *deps;
    size_t n = 9;
    OK(cudaStreamIsCapturing(s, &st));
    EXPECT(st, cudaStreamCaptureStatusNone);
    begin(s);
    nothing<<<1, 1, 0, s>>>();
    OK(cudaStreamIsCapturing(s, &st));
    EXPECT(st, cudaStreamCaptureStatusActive);
    OK(cudaStreamGetCaptureInfo(s, &st, &id, &g, &deps, nullptr, &n));
    EXPECT(st, cudaStreamCaptureStatusActive);
    EXPECT(id != 0, 1);
    EXPECT(n, 1);
    OK(cudaStreamEndCapture(s, &ended));
    EXPECT((uintptr_t)g, (uintptr_t)ended);
}

RULE(capture, query_breaks_it, REPORT,
     "querying or waiting for a capturing stream: 900, and the end: 901")
{
    cudaStream_t s = stream();
    cudaGraph_t g = (cudaGraph_t)1;
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
    EXPECT((uintptr_t)g, 0);
    OK(cudaStreamSynchronize(s));
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamSynchronize(s));
}

RULE(capture, broken_refuses_work, HEADER,
     "work in a stream whose capture is broken: 901")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s, cudaStreamCaptureModeGlobal);
    cudaStreamQuery(s);
    cudaGetLastError();
    nothing<<<1, 1, 0, s>>>();
    EXPECT(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
}

RULE(capture, end_without_begin, REPORT, "ending what did not begin: 401")
{
    cudaGraph_t g;
    EXPECT(cudaStreamEndCapture(stream(), &g), cudaErrorIllegalState);
}

RULE(capture, begin_twice, DERIVED, "beginning twice: 401")
{
    cudaStream_t s = stream();
    begin(s);
    EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed),
           cudaErrorIllegalState);
}

RULE(capture, begin_arguments, HEADER, "an unknown mode: 1")
{
    EXPECT(cudaStreamBeginCapture(stream(), (cudaStreamCaptureMode)7),
           cudaErrorInvalidValue);
}

RULE(capture, legacy_cannot, HEADER,
     "the legacy default stream cannot be captured: 900")
{
    EXPECT(cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed),
           cudaErrorStreamCaptureUnsupported);
}

RULE(capture, end_elsewhere, REPORT,
     "ending on a forked stream: 903, and the origin's end: 901")
{
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(a);
    OK(cudaEventRecord(e, a));
    OK(cudaStreamWaitEvent(b, e, 0));
    nothing<<<1, 1, 0, b>>>();
    EXPECT(cudaStreamEndCapture(b, &g), cudaErrorStreamCaptureUnmatched);
    EXPECT(cudaStreamEndCapture(a, &g), cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamSynchronize(a));
    OK(cudaStreamSynchronize(b));
}

RULE(capture, unjoined, REPORT, "a forked stream that never came back: 904")
{
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(a);
    OK(cudaEventRecord(e, a));
    OK(cudaStreamWaitEvent(b, e, 0));
    nothing<<<1, 1, 0, b>>>();
    EXPECT(cudaStreamEndCapture(a, &g), cudaErrorStreamCaptureUnjoined);
    OK(cudaStreamSynchronize(b));
}

RULE(capture, joined_stream_may_go, REPORT,
     "a forked stream may be destroyed during the capture once its work has "
     "been joined; if not: 904")
{
    int *p = device_array<int>(1);
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t fork = event(), join = event();
    cudaGraph_t g;
    begin(a, cudaStreamCaptureModeGlobal);
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    put<<<1, 1, 0, b>>>(p, 13);
    OK(cudaEventRecord(join, b));
    OK(cudaStreamWaitEvent(a, join, 0));
    OK(cudaStreamDestroy(b));
    OK(cudaEventDestroy(fork));
    OK(cudaStreamEndCapture(a, &g));
    OK(run(g));
    EXPECT(read_int(p), 13);

    b = stream();
    fork = event();
    begin(a, cudaStreamCaptureModeGlobal);
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    nothing<<<1, 1, 0, b>>>();
    OK(cudaStreamDestroy(b));
    EXPECT(cudaStreamEndCapture(a, &g), cudaErrorStreamCaptureUnjoined);
}

RULE(capture, outside_event, REPORT,
     "waiting inside for an event recorded outside: 905, and the end: 901")
{
    cudaStream_t s = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    OK(cudaEventRecord(e, s));
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(cudaStreamWaitEvent(s, e, 0), cudaErrorStreamCaptureIsolation);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
}

RULE(capture, merge, HEADER, "joining two captures by an event: 902")
{
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(a);
    begin(b);
    OK(cudaEventRecord(e, a));
    EXPECT(cudaStreamWaitEvent(b, e, 0), cudaErrorStreamCaptureMerge);
    cudaStreamEndCapture(a, &g);
    cudaStreamEndCapture(b, &g);
}

RULE(capture, captured_event, REPORT,
     "querying an event recorded inside a capture: 907")
{
    cudaStream_t s = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(s);
    OK(cudaEventRecord(e, s));
    EXPECT(cudaEventQuery(e), cudaErrorCapturedEvent);
    EXPECT(cudaEventSynchronize(e), cudaErrorCapturedEvent);
    cudaStreamEndCapture(s, &g);
}

RULE(capture, event_usable_again, DERIVED,
     "recording a captured event outside makes it an ordinary one again")
{
    cudaStream_t s = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(s);
    OK(cudaEventRecord(e, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaEventRecord(e, s));
    OK(cudaEventSynchronize(e));
    OK(cudaEventQuery(e));
}

RULE(capture, device_synchronize, REPORT,
     "cudaDeviceSynchronize during a capture: 900, and the end: 901")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(finish(), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
}

RULE(capture, event_calls_in_global_mode, REPORT,
     "waiting for or querying outside events in a global capture: 900")
{
    cudaStream_t s = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    OK(cudaEventRecord(e, s));
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(cudaEventSynchronize(e), cudaErrorStreamCaptureUnsupported);
    cudaStreamEndCapture(s, &g);
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(cudaEventQuery(e), cudaErrorStreamCaptureUnsupported);
    cudaStreamEndCapture(s, &g);
}

RULE(capture, allocation_in_global_mode, REPORT,
     "cudaMalloc in a global capture: 900, and the end: 901")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    void *p;
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(cudaMalloc(&p, 64), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
}

RULE(capture, allocation_in_relaxed_mode, HEADER,
     "cudaMalloc in a relaxed capture is allowed")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    void *p;
    begin(s, cudaStreamCaptureModeRelaxed);
    OK(cudaMalloc(&p, 64));
    OK(cudaStreamEndCapture(s, &g));
}

static void *allocate_elsewhere(void *code)
{
    void *p;
    *(cudaError_t *)code = cudaMalloc(&p, 64);
    return nullptr;
}

static cudaError_t other_thread_allocates()
{
    cudaError_t code = cudaSuccess;
    pthread_t t;
    pthread_create(&t, nullptr, allocate_elsewhere, &code);
    pthread_join(t, nullptr);
    return code;
}

RULE(capture, global_mode_binds_other_threads, HEADER,
     "a global capture forbids unsafe calls to other threads")
{
    cudaStream_t s = stream();
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(other_thread_allocates(), cudaErrorStreamCaptureUnsupported);
}

RULE(capture, thread_local_mode_does_not, HEADER,
     "a thread-local capture leaves other threads alone")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s, cudaStreamCaptureModeThreadLocal);
    OK(other_thread_allocates());
    OK(cudaStreamEndCapture(s, &g));
}

RULE(capture, exchange_mode, HEADER,
     "a thread may relax its own mode and allocate during a capture")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    void *p;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    begin(s, cudaStreamCaptureModeGlobal);
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode, cudaStreamCaptureModeGlobal);
    OK(cudaMalloc(&p, 64));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode, cudaStreamCaptureModeRelaxed);
    OK(cudaStreamEndCapture(s, &g));
}

struct ending { cudaStream_t s; cudaError_t code; };
static void *end_elsewhere(void *p)
{
    cudaGraph_t g;
    ((ending *)p)->code = cudaStreamEndCapture(((ending *)p)->s, &g);
    return nullptr;
}

RULE(capture, wrong_thread, HEADER,
     "a capture that is not relaxed must end in the thread that began it: 908")
{
    ending e = {stream(), cudaSuccess};
    pthread_t t;
    begin(e.s, cudaStreamCaptureModeThreadLocal);
    pthread_create(&t, nullptr, end_elsewhere, &e);
    pthread_join(t, nullptr);
    EXPECT(e.code, cudaErrorStreamCaptureWrongThread);
}

RULE(capture, legacy_is_refused, REPORT,
     "asking about or using the legacy stream while a blocking stream "
     "captures: 906")
{
    cudaStream_t s = stream(cudaStreamDefault);
    cudaStreamCaptureStatus st;
    cudaGraph_t g;
    begin(s);
    nothing<<<1, 1, 0, s>>>();
    EXPECT(cudaStreamIsCapturing(0, &st), cudaErrorStreamCaptureImplicit);
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaStreamIsCapturing(0, &st));
    begin(s);
    EXPECT(cudaLaunchKernel((const void *)nothing, 1, 1, nullptr, 0, 0),
           cudaErrorStreamCaptureImplicit);
    cudaStreamEndCapture(s, &g);
}

RULE(capture, legacy_beside_non_blocking, HEADER,
     "the legacy stream is free while a non-blocking stream captures")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s);
    nothing<<<1, 1>>>();
    OK(cudaGetLastError());
    OK(cudaStreamEndCapture(s, &g));
}

RULE(capture, launch_errors_stay, DERIVED,
     "a refused launch is refused in a capture too, and does not break it")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s);
    nothing<<<0, 1, 0, s>>>();
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, 1, 0, s>>>();
    OK(cudaStreamEndCapture(s, &g));
}

RULE(capture, callbacks_cannot, HEADER,
     "cudaStreamAddCallback in a capturing stream: 900")
{
    cudaStream_t s = stream();
    begin(s);
    EXPECT(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void *) {},
                                 nullptr, 0),
           cudaErrorStreamCaptureUnsupported);
}

RULE(capture, graph_inside, HEADER,
     "launching a graph in a capturing stream makes a child node")
{
    int *p = device_array<int>(1);
    cudaStream_t s = stream();
    cudaGraph_t inner, outer;
    cudaGraphExec_t e;
    cudaGraphNode_t node;
    cudaGraphNodeType type;
    size_t n = 1;
    begin(s);
    put<<<1, 1, 0, s>>>(p, 30);
    OK(cudaStreamEndCapture(s, &inner));
    OK(cudaGraphInstantiate(&e, inner, 0));
    begin(s);
    OK(cudaGraphLaunch(e, s));
    OK(cudaStreamEndCapture(s, &outer));
    OK(cudaGraphGetNodes(outer, &node, &n));
    OK(cudaGraphNodeGetType(node, &type));
    EXPECT(type, cudaGraphNodeTypeGraph);
    OK(run(outer));
    EXPECT(read_int(p), 30);
}

RULE(capture, memory, HEADER,
     "cudaMallocAsync and cudaFreeAsync become memory nodes")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    int *p = nullptr, *out = device_array<int>(1);
    begin(s);
    OK(cudaMallocAsync((void **)&p, sizeof(int), s));
    put<<<1, 1, 0, s>>>(p, 17);
    OK(cudaMemcpyAsync(out, p, sizeof(int), cudaMemcpyDeviceToDevice, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(run(g));
    EXPECT(read_int(out), 17);
}

RULE(capture, into_a_graph, HEADER,
     "a capture can add to a graph that exists, behind nodes of it")
{
    int *p = device_array<int>(1);
    cudaStream_t s = stream();
    cudaGraph_t g, same;
    cudaGraphNode_t empty;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddEmptyNode(&empty, g, nullptr, 0));
    OK(cudaStreamBeginCaptureToGraph(s, g, &empty, nullptr, 1,
                                     cudaStreamCaptureModeRelaxed));
    put<<<1, 1, 0, s>>>(p, 3);
    OK(cudaStreamEndCapture(s, &same));
    EXPECT((uintptr_t)same, (uintptr_t)g);
    OK(run(g));
    EXPECT(read_int(p), 3);
}

RULE(capture, destroyed_stream, DERIVED,
     "destroying the stream of a capture ends it without a trace")
{
    cudaStream_t s = stream(cudaStreamDefault);
    cudaStreamCaptureStatus st;
    begin(s, cudaStreamCaptureModeGlobal);
    nothing<<<1, 1, 0, s>>>();
    cudaStreamDestroy(s);
    cudaGetLastError();
    OK(cudaStreamIsCapturing(0, &st));
    OK(finish());
}
