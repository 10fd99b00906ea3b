/* Calls that are refused while somebody captures, by mode, thread and stream,
 * and what becomes of the capture. */
#include <pthread.h>

#include "graphs.cuh"

/* ---- unsafe calls --------------------------------------------------------------------------- */

/* Made before any capture, so that every call would succeed. */
struct things {
    cudaStream_t other = stream();
    cudaEvent_t done = event();
    void *device = nullptr, *pinned = nullptr, *page = nullptr;
    things()
    {
        OK(cudaMalloc(&device, 64));
        OK(cudaMallocHost(&pinned, 64));
        OK(cudaEventRecord(done, other));
        OK(finish());
        page = aligned_alloc(4096, 4096);
    }
};

static const struct { const char *name; cudaError_t (*call)(things &); }
    unsafe_calls[] = {
    {"cudaMalloc", [](things &) { void *p; return cudaMalloc(&p, 64); }},
    {"cudaFree", [](things &t) { return cudaFree(t.device); }},
    {"cudaMallocHost", [](things &) {
        void *p; return cudaMallocHost(&p, 64); }},
    {"cudaFreeHost", [](things &t) { return cudaFreeHost(t.pinned); }},
    {"cudaMallocManaged", [](things &) {
        void *p; return cudaMallocManaged(&p, 64); }},
    {"cudaHostRegister", [](things &t) {
        return cudaHostRegister(t.page, 4096, 0); }},
    {"cudaEventQuery", [](things &t) { return cudaEventQuery(t.done); }},
    {"cudaEventSynchronize", [](things &t) {
        return cudaEventSynchronize(t.done); }},
    {"cudaStreamSynchronize", [](things &t) {
        return cudaStreamSynchronize(t.other); }},
};

/* What each unsafe call returns while a capture of `mode` is on, made by
 * `caller`; and whether the capture lives on. */
static void try_unsafe(cudaStreamCaptureMode mode, bool allowed,
                       cudaError_t (*caller)(cudaError_t (*)(things &),
                                             things &))
{
    for (auto &u : unsafe_calls) {
        things t;
        cudaStream_t s = stream();
        cudaGraph_t g;
        begin(s, mode);
        cudaError_t code = caller(u.call, t);
        cudaError_t want =
            allowed ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
        if (code != want) printf("# %s\n", u.name);
        EXPECT(code, want);
        EXPECT(cudaStreamEndCapture(s, &g),
               allowed ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
        cudaGetLastError();
    }
}

static cudaError_t here(cudaError_t (*call)(things &), things &t)
{
    return call(t);
}

struct remote { cudaError_t (*call)(things &); things *t; cudaError_t code;
                bool relaxed; };
static void *remote_main(void *p)
{
    remote *r = (remote *)p;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (r->relaxed) OK(cudaThreadExchangeStreamCaptureMode(&mode));
    r->code = r->call(*r->t);
    return nullptr;
}

static cudaError_t elsewhere_as(cudaError_t (*call)(things &), things &t,
                                bool relaxed)
{
    remote r = {call, &t, cudaSuccess, relaxed};
    pthread_t thread;
    pthread_create(&thread, nullptr, remote_main, &r);
    pthread_join(thread, nullptr);
    return r.code;
}

static cudaError_t elsewhere(cudaError_t (*call)(things &), things &t)
{
    return elsewhere_as(call, t, false);
}
static cudaError_t elsewhere_relaxed(cudaError_t (*call)(things &), things &t)
{
    return elsewhere_as(call, t, true);
}

RULE(capture, unsafe_in_global_mode, REPORT,
     "a global capture forbids its thread to allocate, free, register, query "
     "or wait for events, wait for other streams: 900, and the end: 901")
{
    try_unsafe(cudaStreamCaptureModeGlobal, false, here);
}

RULE(capture, unsafe_in_thread_local_mode, REPORT,
     "so does a thread-local one")
{
    try_unsafe(cudaStreamCaptureModeThreadLocal, false, here);
}

RULE(capture, safe_in_relaxed_mode, HEADER, "a relaxed one does not")
{
    try_unsafe(cudaStreamCaptureModeRelaxed, true, here);
}

RULE(capture, unsafe_elsewhere_in_global_mode, REPORT,
     "a global capture forbids them to other threads, too")
{
    try_unsafe(cudaStreamCaptureModeGlobal, false, elsewhere);
}

RULE(capture, safe_elsewhere_in_thread_local_mode, REPORT,
     "a thread-local one leaves other threads alone")
{
    try_unsafe(cudaStreamCaptureModeThreadLocal, true, elsewhere);
}

RULE(capture, safe_elsewhere_when_relaxed, HEADER,
     "a thread that has made its own mode relaxed is not bound by a global "
     "capture of another")
{
    try_unsafe(cudaStreamCaptureModeGlobal, true, elsewhere_relaxed);
}

/* ---- what conflicts in every mode ------------------------------------------------------------- */

static const cudaStreamCaptureMode modes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed};

RULE(capture, conflicts_in_every_mode, REPORT,
     "waiting for or querying the stream or the device, a callback, attaching "
     "memory: 900 in every mode, and the end: 901")
{
    int *managed = nullptr;
    OK(cudaMallocManaged((void **)&managed, 64));
    OK(finish());
    for (cudaStreamCaptureMode mode : modes)
        for (int i = 0; i < 5; i++) {
            cudaStream_t s = stream();
            cudaGraph_t g = (cudaGraph_t)1;
            begin(s, mode);
            EXPECT(i == 0   ? cudaStreamSynchronize(s)
                   : i == 1 ? cudaStreamQuery(s)
                   : i == 2 ? cudaDeviceSynchronize()
                   : i == 3 ? cudaStreamAddCallback(
                                  s, [](cudaStream_t, cudaError_t, void *) {},
                                  nullptr, 0)
                            : cudaStreamAttachMemAsync(s, managed, 0,
                                                       cudaMemAttachGlobal),
                   cudaErrorStreamCaptureUnsupported);
            EXPECT(cudaStreamEndCapture(s, &g),
                   cudaErrorStreamCaptureInvalidated);
            EXPECT((uintptr_t)g, 0);
        }
}

RULE(capture, captured_event_in_every_mode, REPORT,
     "querying or waiting for an event recorded in a capture: 907 in every "
     "mode; so is asking for the time between two")
{
    for (cudaStreamCaptureMode mode : modes) {
        cudaStream_t s = stream();
        cudaEvent_t e, f;
        cudaGraph_t g;
        float ms;
        OK(cudaEventCreate(&e));
        OK(cudaEventCreate(&f));
        begin(s, mode);
        OK(cudaEventRecord(e, s));
        OK(cudaEventRecord(f, s));
        EXPECT(cudaEventElapsedTime(&ms, e, f), cudaErrorCapturedEvent);
        OK(cudaStreamEndCapture(s, &g));
        EXPECT(cudaEventElapsedTime(&ms, e, f), cudaErrorCapturedEvent);
        begin(s, mode);
        OK(cudaEventRecord(e, s));
        EXPECT(cudaEventSynchronize(e), cudaErrorCapturedEvent);
        EXPECT(cudaStreamEndCapture(s, &g),
               cudaErrorStreamCaptureInvalidated);
        EXPECT(cudaEventQuery(e), cudaErrorCapturedEvent);
    }
}

RULE(capture, captured_event_outside, DERIVED,
     "waiting outside, or in another capture, for an event of a capture that "
     "is over: 907")
{
    cudaStream_t s = stream(), other = stream();
    cudaEvent_t e = event();
    cudaGraph_t g;
    begin(s);
    OK(cudaEventRecord(e, s));
    OK(cudaStreamEndCapture(s, &g));
    EXPECT(cudaStreamWaitEvent(other, e, 0), cudaErrorCapturedEvent);
    begin(other);
    EXPECT(cudaStreamWaitEvent(other, e, 0), cudaErrorCapturedEvent);
}

RULE(capture, use_after_it_broke, HEADER,
     "work, queries, records and waits in a stream of a broken capture, and "
     "waiting for its events: 901; the status says invalidated")
{
    cudaStream_t s = stream(), other = stream();
    cudaEvent_t before = event(), after = event();
    cudaStreamCaptureStatus st;
    cudaGraph_t g;
    int *p = device_array<int>(1);
    begin(s);
    OK(cudaEventRecord(before, s));
    EXPECT(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamIsCapturing(s, &st));
    EXPECT(st, cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaMemsetAsync(p, 0, 4, s), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaEventRecord(after, s), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamWaitEvent(other, before, 0),
           cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamSynchronize(s), cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
    OK(cudaMemsetAsync(p, 0, 4, s));
    OK(cudaStreamSynchronize(s));
}

RULE(capture, legacy_calls, REPORT,
     "every use of the legacy stream while a blocking stream captures: 906, "
     "in every mode, and the end: 901")
{
    int *p = device_array<int>(1), h = 0;
    for (cudaStreamCaptureMode mode : modes)
        for (int i = 0; i < 6; i++) {
            cudaStream_t s = stream(cudaStreamDefault);
            cudaEvent_t e = event();
            cudaGraph_t g;
            begin(s, mode);
            EXPECT(i == 0   ? cudaMemcpy(p, &h, 4, cudaMemcpyHostToDevice)
                   : i == 1 ? cudaMemset(p, 0, 4)
                   : i == 2 ? cudaMemcpyAsync(p, &h, 4, cudaMemcpyHostToDevice)
                   : i == 3 ? cudaEventRecord(e, 0)
                   : i == 4 ? cudaStreamSynchronize(0)
                            : cudaStreamWaitEvent(0, e, 0),
                   cudaErrorStreamCaptureImplicit);
            EXPECT(cudaStreamEndCapture(s, &g),
                   cudaErrorStreamCaptureInvalidated);
        }
}

RULE(capture, legacy_copy_beside_non_blocking, DERIVED,
     "a blocking copy beside a non-blocking stream's capture is an unsafe "
     "call: 900 in a global one, allowed in a relaxed one; a memset waits for "
     "nobody and is allowed")
{
    int *p = device_array<int>(1), h = 0;
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s, cudaStreamCaptureModeGlobal);
    OK(cudaMemset(p, 0, 4));
    EXPECT(cudaMemcpy(p, &h, 4, cudaMemcpyHostToDevice),
           cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
    begin(s);
    OK(cudaMemcpy(p, &h, 4, cudaMemcpyHostToDevice));
    OK(cudaStreamEndCapture(s, &g));
}
