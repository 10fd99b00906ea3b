/* The strategies `graph` and `graph-sync`: the step as CUDA graphs.
 *
 * A step's host code may wait for the device and decide by what it reads, so
 * a step is not always one graph. It is captured while it is issued, as far as
 * the next call that cannot be captured (a wait, an allocation, a query); then
 * the graph is launched and the call made. So the program's waits stay where
 * they are, and each stretch between two of them is one graph. Its executable
 * is kept and updated in the next step, as programs do whose graph changes; a
 * program whose steps are all alike would only launch it again.
 *
 * All streams that the program launches on take part: they fork from the
 * first when the capture begins and join it at the end, and add no order
 * between them inside. A call on a stream that no launch has shown yet is made
 * at once. */
#include <stdlib.h>
#include <string.h>

#include "harness/scenario.h"
#include "harness/strategy_hooks.h"

enum { GRAPH_STREAMS = 16, GRAPH_SEGMENTS = 16 };

struct graphs {
    unsigned streams;                   /* the first is the origin */
    cudaStream_t stream[GRAPH_STREAMS];
    bool used[GRAPH_STREAMS];           /* by a launch of this step */
    cudaEvent_t fork, join[GRAPH_STREAMS];
    bool open;                          /* a capture is under way */
    bool synchronise;                   /* behind each graph */
    unsigned segments;                  /* of this step */
    cudaGraphExec_t exec[GRAPH_SEGMENTS];
    unsigned issued;                    /* last launch that is in no capture */
};

/* What a capture takes up and makes a node or an edge of. */
static const char *const captured_calls[] = {
    "cudaMemcpyAsync(", "cudaMemcpy2DAsync(", "cudaMemsetAsync(",
    "cudaEventRecord(", "cudaStreamWaitEvent(", "cudaLaunchHostFunc(",
};

static bool can_be_captured(const char *call)
{
    for (size_t i = 0; i < sizeof captured_calls / sizeof *captured_calls; i++)
        if (!strncmp(call, captured_calls[i], strlen(captured_calls[i])))
            return true;
    return false;
}

static void start(struct fl_trial *t, bool synchronise)
{
    struct graphs *g = calloc(1, sizeof *g);
    if (!g)
        fl_broken(t, "no memory for graphs");
    g->synchronise = synchronise;
    fl_must(t, cudaEventCreateWithFlags(&g->fork, cudaEventDisableTiming));
    for (int i = 0; i < GRAPH_STREAMS; i++)
        fl_must(t, cudaEventCreateWithFlags(&g->join[i],
                                            cudaEventDisableTiming));
    *fl_strategy_state(t) = g;
}

void fl_graph_start(struct fl_trial *t) { start(t, false); }
void fl_graph_sync_start(struct fl_trial *t) { start(t, true); }

static void record(struct fl_trial *t, cudaEvent_t event, cudaStream_t stream)
{
    fl_check(t, "cudaEventRecord", cudaEventRecord(event, stream));
}

static void wait_for(struct fl_trial *t, cudaStream_t stream,
                     cudaEvent_t event)
{
    fl_check(t, "cudaStreamWaitEvent", cudaStreamWaitEvent(stream, event, 0));
}

/* The first stream goes on behind all others, or they behind it. */
static void gather(struct fl_trial *t, struct graphs *g)
{
    for (unsigned i = 1; i < g->streams; i++) {
        record(t, g->join[i], g->stream[i]);
        wait_for(t, g->stream[0], g->join[i]);
    }
}

static void scatter(struct fl_trial *t, struct graphs *g)
{
    if (g->streams > 1)
        record(t, g->fork, g->stream[0]);
    for (unsigned i = 1; i < g->streams; i++)
        wait_for(t, g->stream[i], g->fork);
}

static void open_capture(struct fl_trial *t, struct graphs *g)
{
    if (g->open)
        return;
    /* Thread-local: a call that has no place in a capture is refused. */
    fl_check(t, "cudaStreamBeginCapture",
             cudaStreamBeginCapture(g->stream[0],
                                    cudaStreamCaptureModeThreadLocal));
    g->open = true;
    record(t, g->fork, g->stream[0]);
    for (unsigned i = 1; i < g->streams; i++)
        wait_for(t, g->stream[i], g->fork);
}

/* A graph of another shape is refused, which is an answer and no error. It
 * would take the place of a launch error that nobody has asked for yet. */
static bool update(struct fl_trial *t, cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info;
    if (!exec)
        return false;
    fl_called(t, 1);
    if (cudaPeekAtLastError() != cudaSuccess)
        return false;
    fl_called(t, 1);
    if (cudaGraphExecUpdate(exec, graph, &info) == cudaSuccess)
        return true;
    fl_called(t, 1);
    cudaGetLastError();
    return false;
}

static void launch_graph(struct fl_trial *t, struct graphs *g,
                         cudaGraph_t graph)
{
    unsigned slot = g->segments < GRAPH_SEGMENTS ? g->segments++
                                                 : GRAPH_SEGMENTS - 1;
    cudaGraphExec_t *exec = &g->exec[slot];
    if (!update(t, *exec, graph)) {
        if (*exec)
            fl_check(t, "cudaGraphExecDestroy", cudaGraphExecDestroy(*exec));
        *exec = NULL;
        fl_check(t, "cudaGraphInstantiate",
                 cudaGraphInstantiate(exec, graph, 0));
    }
    fl_check(t, "cudaGraphDestroy", cudaGraphDestroy(graph));
    gather(t, g);               /* behind what they did outside of captures */
    fl_check(t, "cudaGraphLaunch", cudaGraphLaunch(*exec, g->stream[0]));
    scatter(t, g);
}

/* Launches up to `last` are in the capture, if there is one. */
static void close_capture(struct fl_trial *t, struct graphs *g, unsigned last)
{
    cudaGraph_t graph;
    if (!g->open)
        return;
    gather(t, g);
    cudaError_t code = cudaStreamEndCapture(g->stream[0], &graph);
    g->open = false;
    fl_check(t, "cudaStreamEndCapture", code);
    g->issued = last;
    launch_graph(t, g, graph);
    if (!g->synchronise)
        return;
    fl_waited(t);
    fl_check(t, "cudaStreamSynchronize", cudaStreamSynchronize(g->stream[0]));
    fl_check(t, "cudaGetLastError", cudaGetLastError());
    fl_known_good_up_to(t, FL_ALL_STREAMS, last);
}

/* The stream takes part from now on, in a capture under way as well. */
static void take_in(struct fl_trial *t, struct graphs *g, cudaStream_t stream)
{
    unsigned i = 0;
    while (i < g->streams && g->stream[i] != stream)
        i++;
    if (i == GRAPH_STREAMS)
        fl_broken(t, "graphs of %d streams only", GRAPH_STREAMS);
    g->used[i] = true;
    if (i < g->streams)
        return;
    g->stream[g->streams++] = stream;
    if (g->open)
        wait_for(t, stream, g->fork);
}

void fl_graph_before_launch(struct fl_trial *t)
{
    struct graphs *g = *fl_strategy_state(t);
    cudaStream_t stream = fl_stream_now(t);
    if (stream == NULL || stream == cudaStreamLegacy) {
        /* cannot be captured: launched as it is */
        close_capture(t, g, fl_launch_now(t) - 1);
        g->issued = fl_launch_now(t);
        return;
    }
    take_in(t, g, stream);
    open_capture(t, g);
}

void fl_graph_before_call(struct fl_trial *t)
{
    struct graphs *g = *fl_strategy_state(t);
    if (!can_be_captured(fl_call_now(t)))
        close_capture(t, g, fl_launch_now(t));
    else if (g->streams)
        open_capture(t, g);
}

/* Streams that the step did not use are forgotten. */
void fl_graph_step_end(struct fl_trial *t)
{
    struct graphs *g = *fl_strategy_state(t);
    unsigned kept = 0;
    for (unsigned i = 0; i < g->streams; i++)
        if (g->used[i])
            g->stream[kept++] = g->stream[i];
    g->streams = kept;
    g->segments = 0;
    memset(g->used, 0, sizeof g->used);
}

/* What has only been captured has done nothing. */
void fl_graph_at_report(struct fl_trial *t)
{
    struct graphs *g = *fl_strategy_state(t);
    cudaGraph_t graph = NULL;
    if (g->open && cudaStreamEndCapture(g->stream[0], &graph) == cudaSuccess)
        cudaGraphDestroy(graph);
    g->open = false;
    fl_innocent_after(t, g->issued);
}
