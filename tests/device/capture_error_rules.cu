/* Captures that go wrong: how they are begun, joined and ended, and what their
 * graphs allow. Calls that are refused meanwhile: capture_unsafe_rules.cu. */
#include <pthread.h>

#include "graphs.cuh"

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

RULE(capture, device_synchronize, REPORT,
     "cudaDeviceSynchronize during a capture: 900, and the end: 901")
{
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT(finish(), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
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

RULE(capture, callbacks_cannot, HEADER,
     "cudaStreamAddCallback in a capturing stream: 900")
{
    cudaStream_t s = stream();
    begin(s);
    EXPECT(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void *) {},
                                 nullptr, 0),
           cudaErrorStreamCaptureUnsupported);
}

RULE(capture, a_forked_stream_cannot_begin, REPORT,
     "beginning in a stream that has joined a capture: 401; after the end it "
     "is free again")
{
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(a);
    OK(cudaEventRecord(e, a));
    OK(cudaStreamWaitEvent(b, e, 0));
    EXPECT(cudaStreamBeginCapture(b, cudaStreamCaptureModeRelaxed),
           cudaErrorIllegalState);
    OK(cudaStreamEndCapture(a, &g));
    begin(b);
    OK(cudaStreamEndCapture(b, &g));
}

RULE(capture, work_after_the_join_counts, REPORT,
     "work in a forked stream behind the event that joined it is unjoined: 904")
{
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t fork = event(), join = event();
    cudaGraph_t g;
    begin(a);
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    nothing<<<1, 1, 0, b>>>();
    OK(cudaEventRecord(join, b));
    OK(cudaStreamWaitEvent(a, join, 0));
    nothing<<<1, 1, 0, b>>>();
    EXPECT(cudaStreamEndCapture(a, &g), cudaErrorStreamCaptureUnjoined);
}

RULE(capture, end_arguments, REPORT,
     "ending the null stream's: 401; nowhere to put the graph: 1, unless the "
     "program gave it")
{
    cudaStream_t s = stream();
    cudaGraph_t g = new_graph();
    OK(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeRelaxed));
    OK(cudaStreamEndCapture(s, nullptr));
    EXPECT(cudaStreamEndCapture(0, &g), cudaErrorIllegalState);
    begin(s);
    EXPECT(cudaStreamEndCapture(s, nullptr), cudaErrorInvalidValue);
    OK(cudaStreamEndCapture(s, &g));
}

RULE(capture, asking_arguments, REPORT,
     "nowhere to put a capture's status: 1")
{
    cudaStream_t s = stream();
    unsigned long long id;
    EXPECT(cudaStreamIsCapturing(s, nullptr), cudaErrorInvalidValue);
    EXPECT(cudaStreamGetCaptureInfo(s, nullptr, &id), cudaErrorInvalidValue);
}

/* ---- external events --------------------------------------------------------------------------- */

RULE(capture, external_events, HEADER,
     "with the external flags events become nodes, and the event is not a "
     "captured one; outside of a capture the flags are refused: 1")
{
    cudaStream_t s = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    cudaGraphNode_t n[2];
    cudaGraphNodeType type;
    size_t count = 2;
    EXPECT(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamWaitEvent(s, e, cudaEventWaitExternal),
           cudaErrorInvalidValue);
    OK(cudaEventRecord(e, s));
    begin(s);
    OK(cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    OK(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetNodes(g, n, &count));
    EXPECT(count, 2);
    OK(cudaGraphNodeGetType(n[0], &type));
    EXPECT(type, cudaGraphNodeTypeWaitEvent);
    OK(cudaGraphNodeGetType(n[1], &type));
    EXPECT(type, cudaGraphNodeTypeEventRecord);
    OK(cudaEventQuery(e));
    OK(run(g));
    OK(cudaEventSynchronize(e));
}

/* ---- graphs that are being captured --------------------------------------------------------------- */

RULE(capture, its_graph_stays, HEADER,
     "a graph cannot be destroyed, nor lose nodes, while a capture adds to it: "
     "1; nodes can be added by hand")
{
    cudaStream_t s = stream();
    cudaStreamCaptureStatus st;
    cudaGraph_t g, ended;
    cudaGraphNode_t n, by_hand;
    const cudaGraphNode_t *deps;
    size_t count = 0;
    int *p = device_array<int>(1);
    begin(s);
    put<<<1, 1, 0, s>>>(p, 1);
    OK(cudaStreamGetCaptureInfo(s, &st, nullptr, &g, &deps, nullptr, &count));
    n = deps[0];
    EXPECT(cudaGraphDestroy(g), cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroyNode(n), cudaErrorInvalidValue);
    by_hand = add_put(g, p, 2, &n, 1);
    OK(cudaStreamUpdateCaptureDependencies(s, &by_hand, nullptr, 1,
                                           cudaStreamSetCaptureDependencies));
    add_one<<<1, 1, 0, s>>>(p);
    OK(cudaStreamEndCapture(s, &ended));
    OK(run(ended));
    EXPECT(read_int(p), 3);
    OK(cudaGraphDestroy(ended));
}

RULE(capture, dependencies_change, REPORT,
     "what captured work comes after can be added to or replaced; no capture: "
     "401; nodes of no or another graph, unknown flags: 1")
{
    cudaStream_t s = stream();
    cudaStreamCaptureStatus st;
    cudaGraph_t g, other = new_graph(), ended;
    cudaGraphNode_t by_hand, foreign, none = nullptr;
    const cudaGraphNode_t *deps;
    size_t count = 0;
    int *p = device_array<int>(1);
    foreign = add_put(other, p, 1);
    EXPECT(cudaStreamUpdateCaptureDependencies(
               s, nullptr, nullptr, 0, cudaStreamAddCaptureDependencies),
           cudaErrorIllegalState);
    begin(s);
    put<<<1, 1, 0, s>>>(p, 1);
    OK(cudaStreamGetCaptureInfo(s, &st, nullptr, &g, &deps, nullptr, &count));
    by_hand = add_put(g, p, 2);
    OK(cudaStreamUpdateCaptureDependencies(s, &by_hand, nullptr, 1,
                                           cudaStreamAddCaptureDependencies));
    OK(cudaStreamGetCaptureInfo(s, &st, nullptr, &g, &deps, nullptr, &count));
    EXPECT(count, 2);
    EXPECT(cudaStreamUpdateCaptureDependencies(
               s, &foreign, nullptr, 1, cudaStreamAddCaptureDependencies),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamUpdateCaptureDependencies(
               s, &none, nullptr, 1, cudaStreamAddCaptureDependencies),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamUpdateCaptureDependencies(
               s, nullptr, nullptr, 1, cudaStreamAddCaptureDependencies),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamUpdateCaptureDependencies(s, &by_hand, nullptr, 1, 9),
           cudaErrorInvalidValue);
    OK(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0,
                                           cudaStreamSetCaptureDependencies));
    OK(cudaStreamGetCaptureInfo(s, &st, nullptr, &g, &deps, nullptr, &count));
    EXPECT(count, 0);
    OK(cudaStreamEndCapture(s, &ended));
}

RULE(capture, into_a_graph_arguments, REPORT,
     "beginning a capture to no graph, behind nodes that are none or of "
     "another graph, in no mode: 1; twice: 401")
{
    cudaStream_t s = stream();
    cudaGraph_t g = new_graph(), other = new_graph();
    cudaGraphNode_t foreign;
    cudaStreamCaptureMode relaxed = cudaStreamCaptureModeRelaxed;
    OK(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0));
    EXPECT(cudaStreamBeginCaptureToGraph(s, nullptr, nullptr, nullptr, 0,
                                         relaxed), cudaErrorInvalidValue);
    EXPECT(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 1, relaxed),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamBeginCaptureToGraph(s, g, &foreign, nullptr, 1, relaxed),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0,
                                         (cudaStreamCaptureMode)9),
           cudaErrorInvalidValue);
    OK(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, relaxed));
    EXPECT(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, relaxed),
           cudaErrorIllegalState);
    OK(cudaStreamEndCapture(s, &g));
}

RULE(capture, wrong_thread_leaves_it, DERIVED,
     "an end in the wrong thread leaves the capture to its own; a relaxed one "
     "may end anywhere")
{
    ending e = {stream(), cudaSuccess};
    pthread_t t;
    cudaGraph_t g;
    begin(e.s, cudaStreamCaptureModeGlobal);
    pthread_create(&t, nullptr, end_elsewhere, &e);
    pthread_join(t, nullptr);
    EXPECT(e.code, cudaErrorStreamCaptureWrongThread);
    OK(cudaStreamEndCapture(e.s, &g));
    begin(e.s, cudaStreamCaptureModeRelaxed);
    pthread_create(&t, nullptr, end_elsewhere, &e);
    pthread_join(t, nullptr);
    EXPECT(e.code, cudaSuccess);
}

RULE(capture, mode_arguments, HEADER,
     "exchanging with nothing or with an unknown mode: 1")
{
    cudaStreamCaptureMode mode = (cudaStreamCaptureMode)3;
    EXPECT(cudaThreadExchangeStreamCaptureMode(nullptr),
           cudaErrorInvalidValue);
    EXPECT(cudaThreadExchangeStreamCaptureMode(&mode), cudaErrorInvalidValue);
}
