/* Latencies of single CUDA calls, with Google Benchmark: launching, waiting,
 * asking for errors, copying; and saxpy against the same loop on the host.
 * Everything is healthy work on one blocking stream of one process without
 * CUDA_LAUNCH_BLOCKING. The runtime API only, so it runs on any device.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gbench.h"
#include "bench/saxpy.h"
#include "bench/worker.h"
#include "harness/trial.h"
#include "kernels/kernels.h"

#define QUEUE 128               /* commands before the device is waited for */
#define GRAPH 16                /* launches of one */
#define SAXPY_N (1 << 22)
#define BIG (16u << 20)

static struct {
    cudaStream_t stream;
    cudaEvent_t done;           /* recorded and complete */
    CUresult (*write)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    uint32_t *mapped;           /* of the host, as the device sees it */
    uint32_t *out;
    char *device, *device2;     /* BIG bytes each */
    char *pageable, *pinned;    /* BIG bytes each */
} m;

/* Ends a benchmark on the first code that is not success. */
static int bad(struct gb_state *s, cudaError_t code)
{
    if (code != cudaSuccess)
        gb_fail(s, cudaGetErrorName(code));
    return code != cudaSuccess;
}

static void null_kernel(void)
{
    k_spin(m.stream, m.out, 1, 32, 0);
}

/* ---- launching and waiting ---------------------------------------------- */

static void launch(struct gb_state *s, void *arg)
{
    unsigned queued = 0;
    (void)arg;
    while (gb_next(s)) {
        null_kernel();
        if (++queued % QUEUE == 0) {
            gb_pause(s);
            if (bad(s, cudaStreamSynchronize(m.stream)))
                return;
            gb_resume(s);
        }
    }
    bad(s, cudaStreamSynchronize(m.stream));
}

static void launch_sync(struct gb_state *s, void *arg)
{
    (void)arg;
    while (gb_next(s)) {
        null_kernel();
        if (bad(s, cudaStreamSynchronize(m.stream)))
            return;
    }
}

/* A step of empty kernels as the strategy `graph` makes it. */
static cudaError_t captured(cudaGraph_t *graph)
{
    cudaError_t e = cudaStreamBeginCapture(m.stream,
                                           cudaStreamCaptureModeThreadLocal);
    for (int i = 0; e == cudaSuccess && i < GRAPH; i++)
        null_kernel();
    return e == cudaSuccess ? cudaStreamEndCapture(m.stream, graph) : e;
}

static void graph(struct gb_state *s, void *arg)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    (void)arg;
    if (bad(s, captured(&graph)) ||
        bad(s, cudaGraphInstantiate(&exec, graph, 0)) ||
        bad(s, cudaGraphDestroy(graph)))
        return;
    while (gb_next(s))
        if (bad(s, captured(&graph)) ||
            bad(s, cudaGraphExecUpdate(exec, graph, &info)) ||
            bad(s, cudaGraphDestroy(graph)) ||
            bad(s, cudaGraphLaunch(exec, m.stream)) ||
            bad(s, cudaStreamSynchronize(m.stream)))
            return;
    bad(s, cudaGraphExecDestroy(exec));
}

/* ---- calls --------------------------------------------------------------- */

static cudaError_t stream_sync(void) { return cudaStreamSynchronize(m.stream); }
static cudaError_t stream_query(void) { return cudaStreamQuery(m.stream); }
static cudaError_t event_query(void) { return cudaEventQuery(m.done); }
static cudaError_t event_record(void)
{
    return cudaEventRecord(m.done, m.stream);
}
static cudaError_t stream_write(void)
{
    return m.write && !m.write(m.stream, (CUdeviceptr)m.mapped, 1, 0)
               ? cudaSuccess : cudaErrorNotSupported;
}

static const struct call {
    const char *name;
    cudaError_t (*call)(void);
} calls[] = {
    { "cudaGetLastError", cudaGetLastError },
    { "cudaPeekAtLastError", cudaPeekAtLastError },
    { "cudaStreamQuery/idle", stream_query },
    { "cudaEventQuery/complete", event_query },
    { "cudaStreamSynchronize/idle", stream_sync },
    { "cudaDeviceSynchronize/idle", cudaDeviceSynchronize },
};

/* Calls that put a command into the stream. */
static const struct call commands[] = {
    { "cudaEventRecord", event_record },
    { "cuStreamWriteValue32", stream_write },
};

static void one_call(struct gb_state *s, void *arg)
{
    const struct call *c = arg;
    while (gb_next(s))
        if (bad(s, c->call()))
            return;
    bad(s, cudaDeviceSynchronize());
}

/* A command of a queue of them, until the device has done them all: the host's
 * time or the device's, whichever is longer. */
static void drain(struct gb_state *s, void *arg)
{
    const struct call *c = arg;
    unsigned queued = 0;
    while (gb_next(s))
        if (bad(s, c->call()) ||
            (++queued % QUEUE == 0 &&
             bad(s, cudaStreamSynchronize(m.stream))))
            return;
    bad(s, cudaStreamSynchronize(m.stream));
}

/* ---- copies, until the data is there ------------------------------------ */

static const struct copy {
    const char *name;
    char **dst, **src;
    size_t bytes;
} copies[] = {
    { "copy/h2d/pageable/4", &m.device, &m.pageable, 4 },
    { "copy/h2d/pageable/65536", &m.device, &m.pageable, 65536 },
    { "copy/h2d/pageable/16777216", &m.device, &m.pageable, BIG },
    { "copy/h2d/pinned/16777216", &m.device, &m.pinned, BIG },
    { "copy/d2h/pageable/4", &m.pageable, &m.device, 4 },
    { "copy/d2h/pageable/65536", &m.pageable, &m.device, 65536 },
    { "copy/d2h/pageable/16777216", &m.pageable, &m.device, BIG },
    { "copy/d2h/pinned/16777216", &m.pinned, &m.device, BIG },
    { "copy/d2d/16777216", &m.device2, &m.device, BIG },
};

static void copy(struct gb_state *s, void *arg)
{
    const struct copy *c = arg;
    while (gb_next(s))
        if (bad(s, cudaMemcpy(*c->dst, *c->src, c->bytes, cudaMemcpyDefault)) ||
            bad(s, cudaDeviceSynchronize()))
            return;
    gb_rate(s, "bytes_per_second", (double)gb_iterations(s) * (double)c->bytes);
}

/* ---- saxpy --------------------------------------------------------------- */

/* Device and host take turns, so that the ratio means something on a machine
 * that drifts; what they computed must be equal in the end. */
static void saxpy(struct gb_state *s, void *arg)
{
    const size_t bytes = SAXPY_N * sizeof(float);
    float *x = (float *)(void *)m.pageable, *y = malloc(bytes),
          *back = malloc(bytes);
    double device_ns = 0, host_ns = 0;
    (void)arg;
    if (!x || !y || !back) {
        gb_fail(s, "out of memory");
        goto out;
    }
    for (int i = 0; i < SAXPY_N; i++) {
        x[i] = (float)(i % 1000) * 0.25f;   /* exact, with or without fma */
        y[i] = 1.0f;
    }
    if (bad(s, cudaMemcpy(m.device, x, bytes, cudaMemcpyDefault)) ||
        bad(s, cudaMemcpy(m.device2, y, bytes, cudaMemcpyDefault)))
        goto out;
    while (gb_next(s)) {
        int64_t t0 = fl_now_ns();
        saxpy_device(m.stream, SAXPY_N, 0.5f, (float *)(void *)m.device,
                     (float *)(void *)m.device2);
        if (bad(s, cudaStreamSynchronize(m.stream)))
            goto out;
        int64_t t1 = fl_now_ns();
        saxpy_host(SAXPY_N, 0.5f, x, y);
        int64_t t2 = fl_now_ns();
        gb_seconds(s, (double)(t1 - t0) * 1e-9);
        device_ns += (double)(t1 - t0);
        host_ns += (double)(t2 - t1);
    }
    if (bad(s, cudaMemcpy(back, m.device2, bytes, cudaMemcpyDefault)))
        goto out;
    if (memcmp(back, y, bytes))
        gb_fail(s, "device and host disagree");
    double runs = (double)gb_iterations(s);
    gb_counter(s, "host_loop_ms", host_ns / runs * 1e-6);
    gb_counter(s, "times_host_loop", device_ns / host_ns);
    gb_rate(s, "thread_instructions_per_second",
            runs * SAXPY_N * SAXPY_INSTRUCTIONS);
out:
    free(y);
    free(back);
}

/* ---- set-up -------------------------------------------------------------- */

static cudaError_t open_device(void)
{
    struct cudaDeviceProp device;
    enum cudaDriverEntryPointQueryResult found;
    void *host = NULL;
    cudaError_t e = cudaStreamCreate(&m.stream);
#define NEXT(call) if (e == cudaSuccess) e = (call)
    NEXT(cudaEventCreate(&m.done));
    NEXT(cudaMalloc((void **)&m.out, 32 * sizeof *m.out));
    NEXT(cudaMalloc((void **)&m.device, BIG));
    NEXT(cudaMalloc((void **)&m.device2, BIG));
    NEXT(cudaHostAlloc((void **)&m.pinned, BIG, cudaHostAllocDefault));
    NEXT(cudaHostAlloc(&host, sizeof *m.mapped, cudaHostAllocMapped));
    NEXT(cudaHostGetDevicePointer((void **)&m.mapped, host, 0));
    NEXT(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32",
        (void **)&m.write, 12000, cudaEnableDefault, &found));
    NEXT(cudaMemset(m.device, 0, BIG));
    NEXT(cudaMemset(m.out, 0, 32 * sizeof *m.out));
    NEXT(cudaEventRecord(m.done, m.stream));
    NEXT(cudaDeviceSynchronize());
    NEXT(cudaGetDeviceProperties(&device, 0));
#undef NEXT
    if (e == cudaSuccess)
        gb_context("device_name", device.name);
    m.pageable = calloc(BIG, 1);
    return m.pageable ? e : cudaErrorMemoryAllocation;
}

int micro_run(int argc, char **argv)
{
    cudaError_t e = open_device();
    if (e != cudaSuccess) {
        fprintf(stderr, "faultlag-bench-worker: device set-up: %s\n",
                cudaGetErrorName(e));
        return 3;
    }
    gb_add("launch", launch, NULL, GB_WALL);
    gb_add("launch_sync", launch_sync, NULL, GB_WALL);
    gb_add("graph/16", graph, NULL, GB_WALL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        gb_add(calls[i].name, one_call, (void *)&calls[i], GB_WALL);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char name[64];
        snprintf(name, sizeof name, "drain/%s", commands[i].name);
        gb_add(commands[i].name, one_call, (void *)&commands[i], GB_WALL);
        gb_add(name, drain, (void *)&commands[i], GB_WALL);
    }
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        gb_add(copies[i].name, copy, (void *)&copies[i], GB_WALL);
    gb_add("saxpy/4194304", saxpy, NULL, GB_MANUAL);
    return gb_run(&argc, argv) > 0 ? 0 : 2;
}
