/* Stream capture: work goes into a graph instead of the device.
 *
 * A capture begins in one stream, its origin. A stream that waits for an event
 * recorded inside joins it; every stream keeps the set of nodes that its next
 * work comes after. Ending it checks that all streams came back to the origin.
 * A call that would break the isolation of a capture is refused and leaves the
 * capture invalid, which its end reports (CUDA 13.0 header, cudaStreamBegin-
 * Capture and cudaThreadExchangeStreamCaptureMode).
 */
#include <stdlib.h>

#include "cudart/graph.h"

struct capture {
    struct graph *graph;
    bool borrowed;             /* the graph is the program's own */
    enum cudaStreamCaptureMode mode;
    unsigned long long id;
    pthread_t thread;
    struct rt_stream *origin;
    struct rt_stream *streams; /* that take part, linked by capture_next */
    struct node_set orphans;   /* last nodes of streams that were destroyed */
    bool broken;
    struct capture *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static _Atomic unsigned n_captures;
static unsigned long long last_id;

static bool none(void)
{
    return !atomic_load_explicit(&n_captures, memory_order_relaxed);
}

static struct capture *by_id(unsigned long long id)
{
    struct capture *c = captures;
    while (c && c->id != id) c = c->next;
    return c;
}

static bool has_blocking_stream(const struct capture *c)
{
    for (struct rt_stream *s = c->streams; s; s = s->capture_next)
        if (!(s->flags & cudaStreamNonBlocking)) return true;
    return false;
}

static void join(struct capture *c, struct rt_stream *s)
{
    s->capture = c;
    s->capture_next = c->streams;
    c->streams = s;
}

/* Takes the capture out of the world; its graph stays. */
static void dissolve(struct capture *c)
{
    for (struct rt_stream *s = c->streams, *next; s; s = next) {
        next = s->capture_next;
        s->capture = NULL;
        s->capture_next = NULL;
        set_clear(&s->tail);
    }
    set_clear(&c->orphans);
    struct capture **at = &captures;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    atomic_fetch_sub(&n_captures, 1);
}

static void discard(struct capture *c)
{
    dissolve(c);
    if (!c->borrowed) graph_free(c->graph);
    free(c);
}

/* ---- work into nodes -------------------------------------------------------------------- */

static void describe_copy(struct node *n)
{
    const struct copy_desc *p = &n->work.copy.plane;
    struct cudaMemcpy3DParms *g = &n->given.copy;
    size_t src_rows = n->work.copy.src_slice && p->src_pitch
                          ? n->work.copy.src_slice / p->src_pitch : p->height;
    size_t dst_rows = n->work.copy.dst_slice && p->dst_pitch
                          ? n->work.copy.dst_slice / p->dst_pitch : p->height;
    g->srcPtr = (struct cudaPitchedPtr){(void *)p->src, p->src_pitch,
                                        p->width, src_rows};
    g->dstPtr = (struct cudaPitchedPtr){(void *)p->dst, p->dst_pitch,
                                        p->width, dst_rows};
    g->extent = (struct cudaExtent){p->width, p->height, n->work.copy.depth};
    g->kind = n->work.copy.kind;
}

static void describe_fill(struct node *n)
{
    n->given.fill = (struct cudaMemsetParams){
        .dst = (void *)n->work.fill.dst, .pitch = n->work.fill.pitch,
        .value = n->work.fill.value, .elementSize = n->work.fill.bytes,
        .width = n->work.fill.width / n->work.fill.bytes,
        .height = n->work.fill.height};
}

/* The new node comes after the stream's tail and is its tail from now on. */
static cudaError_t follow(struct rt_stream *s, struct node *n)
{
    if (!n) return cudaErrorMemoryAllocation;
    if (!set_add_all(&n->deps, &s->tail)) return cudaErrorMemoryAllocation;
    set_clear(&s->tail);
    return set_add(&s->tail, n) ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t add_node(struct rt_stream *s, const struct work *w)
{
    struct graph *g = s->capture->graph;
    struct node *n;
    switch (w->kind) {
    case WORK_EMPTY:
        return cudaSuccess;
    case WORK_LAUNCH:
        return follow(s, node_add(g, cudaGraphNodeTypeKernel, w));
    case WORK_HOST:
        return follow(s, node_add(g, cudaGraphNodeTypeHost, w));
    case WORK_COPY:
        n = node_add(g, cudaGraphNodeTypeMemcpy, w);
        if (n) describe_copy(n);
        return follow(s, n);
    case WORK_FILL:
        n = node_add(g, cudaGraphNodeTypeMemset, w);
        if (n) describe_fill(n);
        return follow(s, n);
    case WORK_FREE:
        g->has_memory = true;
        return follow(s, node_add(g, cudaGraphNodeTypeMemFree, w));
    default:
        return cudaErrorStreamCaptureUnsupported;
    }
}

/* ---- events ------------------------------------------------------------------------------ */

static cudaError_t record(struct rt_stream *s, struct rt_event *e)
{
    set_clear(&e->captured);
    e->capture = s->capture->id;
    return set_add_all(&e->captured, &s->tail) ? cudaSuccess
                                               : cudaErrorMemoryAllocation;
}

static cudaError_t break_with(struct capture *c, cudaError_t code)
{
    if (c) c->broken = true;
    return code;
}

static cudaError_t wait_for(struct rt_stream *s, struct rt_event *e,
                            bool *captured)
{
    struct capture *of = e->capture ? by_id(e->capture) : NULL;
    *captured = true;
    if (s->capture && !of)
        return break_with(s->capture, e->capture
                                          ? cudaErrorCapturedEvent
                                          : cudaErrorStreamCaptureIsolation);
    if (!of) {
        *captured = false;
        return e->capture ? cudaErrorCapturedEvent : cudaSuccess;
    }
    if (of->broken) return cudaErrorStreamCaptureInvalidated;
    if (s->legacy) return break_with(of, cudaErrorStreamCaptureImplicit);
    if (s->capture && s->capture != of) {
        break_with(s->capture, cudaErrorStreamCaptureMerge);
        return break_with(of, cudaErrorStreamCaptureMerge);
    }
    if (!s->capture) join(of, s);
    return set_add_all(&s->tail, &e->captured) ? cudaSuccess
                                               : cudaErrorMemoryAllocation;
}

/* ---- the checks -------------------------------------------------------------------------- */

/* Breaks, or only reports, captures of blocking streams. */
static bool implicit(bool break_it)
{
    bool found = false;
    for (struct capture *c = captures; c; c = c->next)
        if (has_blocking_stream(c)) {
            found = true;
            c->broken |= break_it;
        }
    return found;
}

static cudaError_t legacy_locked(struct rt_stream *s)
{
    return s->legacy && implicit(true) ? cudaErrorStreamCaptureImplicit
                                       : cudaSuccess;
}

cudaError_t capture_legacy_check(struct rt_stream *s)
{
    if (none()) return cudaSuccess;
    pthread_mutex_lock(&lock);
    cudaError_t error = legacy_locked(s);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_work(struct rt_stream *s, const struct work *w,
                         bool *captured)
{
    struct rt_event *e = NULL;
    cudaError_t error = cudaSuccess;
    *captured = false;
    if (w->kind == WORK_EVENT_RECORD || w->kind == WORK_EVENT_WAIT)
        error = event_get(w->event, &e);
    if (error != cudaSuccess || (none() && !(e && e->capture))) return error;

    pthread_mutex_lock(&lock);
    if (s->capture && s->capture->broken) {
        error = cudaErrorStreamCaptureInvalidated;
    } else if (w->kind == WORK_EVENT_WAIT) {
        error = legacy_locked(s);
        if (error == cudaSuccess) error = wait_for(s, e, captured);
    } else if (s->capture) {
        *captured = true;
        error = e ? record(s, e) : add_node(s, w);
    } else {
        error = legacy_locked(s);
        if (e && error == cudaSuccess) e->capture = 0; /* recorded anew */
    }
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_stream_check(struct rt_stream *s)
{
    if (none()) return cudaSuccess;
    pthread_mutex_lock(&lock);
    cudaError_t error =
        s->capture ? break_with(s->capture, cudaErrorStreamCaptureUnsupported)
                   : legacy_locked(s);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_device_check(void)
{
    if (none()) return cudaSuccess;
    pthread_mutex_lock(&lock);
    bool found = captures != NULL;
    for (struct capture *c = captures; c; c = c->next) c->broken = true;
    pthread_mutex_unlock(&lock);
    return found ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

/* Does capture c forbid unsafe calls to the calling thread? */
static bool forbids(const struct capture *c)
{
    enum cudaStreamCaptureMode own = thread_state.capture_mode;
    if (own == cudaStreamCaptureModeRelaxed ||
        c->mode == cudaStreamCaptureModeRelaxed)
        return false;
    if (pthread_equal(c->thread, pthread_self())) return true;
    return own == cudaStreamCaptureModeGlobal &&
           c->mode == cudaStreamCaptureModeGlobal;
}

cudaError_t capture_unsafe_call(void)
{
    if (none()) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c; c = c->next)
        if (forbids(c))
            error = break_with(c, cudaErrorStreamCaptureUnsupported);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_event_check(struct rt_event *e)
{
    if (e->capture) return cudaErrorCapturedEvent;
    return capture_unsafe_call();
}

cudaError_t capture_blocking_call(struct rt_stream *s)
{
    cudaError_t error = capture_stream_check(s);
    return error == cudaSuccess ? capture_unsafe_call() : error;
}

/* ---- other ways in ------------------------------------------------------------------------ */

cudaError_t capture_alloc(struct rt_stream *s, void **out, size_t size)
{
    struct node *n;
    pthread_mutex_lock(&lock);
    cudaError_t error =
        !s->capture || s->capture->broken
            ? cudaErrorStreamCaptureInvalidated
            : graph_memory_node(s->capture->graph, size, &n);
    if (error == cudaSuccess) error = follow(s, n);
    if (error == cudaSuccess) *out = (void *)n->work.memory.address;
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_child(struct rt_stream *s, const struct graph *g)
{
    struct work w = {.kind = WORK_CHILD};
    if (g->has_memory) return cudaErrorNotSupported;
    pthread_mutex_lock(&lock);
    struct node *n = NULL;
    cudaError_t error = !s->capture || s->capture->broken
                            ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (error == cudaSuccess) {
        n = node_add(s->capture->graph, cudaGraphNodeTypeGraph, &w);
        if (n && (n->child = graph_copy(g, true))) n->child->is_child = true;
        error = n && n->child ? follow(s, n) : cudaErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void capture_abandon(struct rt_stream *s)
{
    pthread_mutex_lock(&lock);
    struct capture *c = s->capture;
    if (c) {
        struct rt_stream **at = &c->streams;
        while (*at != s) at = &(*at)->capture_next;
        *at = s->capture_next;
        s->capture = NULL;
        if (!set_add_all(&c->orphans, &s->tail)) c->broken = true;
        if (c->origin == s) discard(c);
    }
    pthread_mutex_unlock(&lock);
}

void captures_reset(void)
{
    pthread_mutex_lock(&lock);
    while (captures) discard(captures);
    pthread_mutex_unlock(&lock);
    graph_memory_forget();
}

/* ---- beginning and ending ------------------------------------------------------------------ */

cudaError_t capture_begin(struct rt_stream *s, struct graph *into,
                          const cudaGraphNode_t *deps, size_t n_deps,
                          enum cudaStreamCaptureMode mode)
{
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (s->legacy) return cudaErrorStreamCaptureUnsupported;
    if (s->capture) return cudaErrorIllegalState;
    struct capture *c = calloc(1, sizeof *c);
    if (!c) return cudaErrorMemoryAllocation;
    c->borrowed = into != NULL;
    c->graph = into ? into : graph_new();
    c->mode = mode;
    c->thread = pthread_self();
    c->origin = s;
    bool ok = c->graph != NULL;
    for (size_t i = 0; ok && i < n_deps; i++) {
        struct node *n = node_get(deps[i]);
        ok = n && n->graph == into && set_add(&s->tail, n);
    }
    if (!ok) {
        cudaError_t error = c->graph ? cudaErrorInvalidValue
                                     : cudaErrorMemoryAllocation;
        set_clear(&s->tail);
        if (c->graph && !c->borrowed) graph_free(c->graph);
        free(c);
        return error;
    }
    pthread_mutex_lock(&lock);
    c->id = ++last_id;
    join(c, s);
    c->next = captures;
    captures = c;
    atomic_fetch_add(&n_captures, 1);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static bool all_joined(const struct capture *c)
{
    for (struct rt_stream *s = c->streams; s; s = s->capture_next)
        if (s != c->origin &&
            !graph_reaches(c->graph, &c->origin->tail, &s->tail))
            return false;
    return graph_reaches(c->graph, &c->origin->tail, &c->orphans);
}

static cudaError_t end_locked(struct rt_stream *s, cudaGraph_t *out)
{
    struct capture *c = s->capture;
    if (!c) return cudaErrorIllegalState;
    if (c->origin != s) return break_with(c, cudaErrorStreamCaptureUnmatched);
    if (c->mode != cudaStreamCaptureModeRelaxed &&
        !pthread_equal(c->thread, pthread_self()))
        return cudaErrorStreamCaptureWrongThread;
    cudaError_t error = c->broken       ? cudaErrorStreamCaptureInvalidated
                        : !all_joined(c) ? cudaErrorStreamCaptureUnjoined
                                         : cudaSuccess;
    if (error != cudaSuccess) {
        discard(c);
        return error;
    }
    *out = c->graph->handle;
    dissolve(c);
    free(c);
    return cudaSuccess;
}

cudaError_t capture_end(struct rt_stream *s, cudaGraph_t *out)
{
    if (!out) return cudaErrorInvalidValue;
    *out = NULL;
    pthread_mutex_lock(&lock);
    cudaError_t error = end_locked(s, out);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_status(struct rt_stream *s, struct capture_view *view)
{
    *view = (struct capture_view){.status = cudaStreamCaptureStatusNone};
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    struct capture *c = s->capture;
    if (s->legacy && implicit(false)) error = cudaErrorStreamCaptureImplicit;
    if (c) {
        view->status = c->broken ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
        view->id = c->id;
        view->graph = c->graph->handle;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t capture_depend(struct rt_stream *s, const cudaGraphNode_t *deps,
                           size_t n_deps, bool replace)
{
    cudaError_t error = cudaSuccess;
    if (n_deps && !deps) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    if (!s->capture || s->capture->broken) error = cudaErrorIllegalState;
    for (size_t i = 0; i < n_deps && error == cudaSuccess; i++) {
        struct node *n = node_get(deps[i]);
        if (!n || n->graph != s->capture->graph) error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess && replace) set_clear(&s->tail);
    for (size_t i = 0; i < n_deps && error == cudaSuccess; i++)
        if (!set_add(&s->tail, node_get(deps[i])))
            error = cudaErrorMemoryAllocation;
    pthread_mutex_unlock(&lock);
    return error;
}
