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

#include "cudart/capture_parts.h"

pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
struct capture *captures;
static _Atomic unsigned n_captures;
static unsigned long long last_id;

bool capture_none(void)
{
    return !atomic_load_explicit(&n_captures, memory_order_relaxed);
}

struct capture *capture_by_id(unsigned long long id)
{
    struct capture *c = captures;
    while (c && c->id != id) c = c->next;
    return c;
}

void capture_join(struct capture *c, struct rt_stream *s)
{
    s->capture = c;
    s->capture_next = c->streams;
    c->streams = s;
}

cudaError_t capture_break(struct capture *c, cudaError_t code)
{
    if (c) c->broken = true;
    return code;
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
    c->graph->capturing = false;
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

/* ---- what ends a capture from outside ------------------------------------------------------ */

void capture_abandon(struct rt_stream *s)
{
    pthread_mutex_lock(&capture_lock);
    struct capture *c = s->capture;
    if (c) {
        struct rt_stream **at = &c->streams;
        while (*at != s) at = &(*at)->capture_next;
        *at = s->capture_next;
        s->capture = NULL;
        if (!set_add_all(&c->orphans, &s->tail)) c->broken = true;
        if (c->origin == s) discard(c);
    }
    pthread_mutex_unlock(&capture_lock);
}

void captures_reset(void)
{
    pthread_mutex_lock(&capture_lock);
    while (captures) discard(captures);
    pthread_mutex_unlock(&capture_lock);
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
    pthread_mutex_lock(&capture_lock);
    c->id = ++last_id;
    c->graph->capturing = true;
    capture_join(c, s);
    c->next = captures;
    captures = c;
    atomic_fetch_add(&n_captures, 1);
    pthread_mutex_unlock(&capture_lock);
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
    if (c->origin != s) return capture_break(c, cudaErrorStreamCaptureUnmatched);
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
    if (out) *out = c->graph->handle;
    dissolve(c);
    free(c);
    return cudaSuccess;
}

cudaError_t capture_end(struct rt_stream *s, cudaGraph_t *out)
{
    pthread_mutex_lock(&capture_lock);
    /* Who gave the graph need not be told it. */
    bool told = out || (s->capture && s->capture->borrowed);
    if (out) *out = NULL;
    cudaError_t error = told ? end_locked(s, out) : cudaErrorInvalidValue;
    pthread_mutex_unlock(&capture_lock);
    return error;
}

cudaError_t capture_status(struct rt_stream *s, struct capture_view *view)
{
    *view = (struct capture_view){.status = cudaStreamCaptureStatusNone};
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&capture_lock);
    struct capture *c = s->capture;
    if (s->legacy && capture_implicit(false))
        error = cudaErrorStreamCaptureImplicit;
    if (c) {
        view->status = c->broken ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
        view->id = c->id;
        view->graph = c->graph->handle;
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

cudaError_t capture_depend(struct rt_stream *s, const cudaGraphNode_t *deps,
                           size_t n_deps, bool replace)
{
    cudaError_t error = cudaSuccess;
    if (n_deps && !deps) return cudaErrorInvalidValue;
    pthread_mutex_lock(&capture_lock);
    if (!s->capture || s->capture->broken) error = cudaErrorIllegalState;
    for (size_t i = 0; i < n_deps && error == cudaSuccess; i++) {
        struct node *n = node_get(deps[i]);
        if (!n || n->graph != s->capture->graph) error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess && replace) set_clear(&s->tail);
    for (size_t i = 0; i < n_deps && error == cudaSuccess; i++)
        if (!set_add(&s->tail, node_get(deps[i])))
            error = cudaErrorMemoryAllocation;
    pthread_mutex_unlock(&capture_lock);
    return error;
}
