/* Stream capture: what becomes of work. What is refused meanwhile:
 * capture_error_rules.cu and capture_unsafe_rules.cu. */
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
