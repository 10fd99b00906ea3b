/* Work of a capturing stream: what becomes a node, and how events carry order
 * between the streams of a capture.
 */
#include "cudart/capture_parts.h"

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
        return capture_break(s->capture, cudaErrorStreamCaptureUnsupported);
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

static cudaError_t wait_for(struct rt_stream *s, struct rt_event *e,
                            bool *captured)
{
    struct capture *of = e->capture ? capture_by_id(e->capture) : NULL;
    *captured = true;
    if (s->capture && !of)
        return capture_break(s->capture,
                             e->capture ? cudaErrorCapturedEvent
                                        : cudaErrorStreamCaptureIsolation);
    if (!of) {
        *captured = false;
        return e->capture ? cudaErrorCapturedEvent : cudaSuccess;
    }
    if (of->broken) return cudaErrorStreamCaptureInvalidated;
    if (s->legacy) return capture_break(of, cudaErrorStreamCaptureImplicit);
    if (s->capture && s->capture != of) {
        capture_break(s->capture, cudaErrorStreamCaptureMerge);
        return capture_break(of, cudaErrorStreamCaptureMerge);
    }
    if (!s->capture) capture_join(of, s);
    return set_add_all(&s->tail, &e->captured) ? cudaSuccess
                                               : cudaErrorMemoryAllocation;
}

/* With the external flags an event is a node of the graph, not an edge, and
 * outside of a capture they mean nothing. */
cudaError_t capture_external(struct rt_stream *s, cudaEvent_t event,
                             bool record)
{
    struct node_spec spec;
    cudaError_t error = spec_event(event, record, &spec);
    pthread_mutex_lock(&capture_lock);
    struct capture *c = s->capture;
    if (!c) error = cudaErrorInvalidValue;
    else if (c->broken) error = cudaErrorStreamCaptureInvalidated;
    if (error == cudaSuccess)
        error = follow(s, node_add(c->graph, spec.type, &spec.work));
    pthread_mutex_unlock(&capture_lock);
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
    if (error != cudaSuccess || (capture_none() && !(e && e->capture)))
        return error;

    pthread_mutex_lock(&capture_lock);
    if (s->capture && s->capture->broken) {
        error = cudaErrorStreamCaptureInvalidated;
    } else if (w->kind == WORK_EVENT_WAIT) {
        error = capture_legacy(s);
        if (error == cudaSuccess) error = wait_for(s, e, captured);
    } else if (s->capture) {
        *captured = true;
        error = e ? record(s, e) : add_node(s, w);
    } else {
        error = capture_legacy(s);
        if (e && error == cudaSuccess) e->capture = 0; /* recorded anew */
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}

/* ---- other ways in ------------------------------------------------------------------------ */

cudaError_t capture_alloc(struct rt_stream *s, void **out, size_t size)
{
    struct node *n;
    pthread_mutex_lock(&capture_lock);
    cudaError_t error =
        !s->capture || s->capture->broken
            ? cudaErrorStreamCaptureInvalidated
            : graph_memory_node(s->capture->graph, size, &n);
    if (error == cudaSuccess) error = follow(s, n);
    if (error == cudaSuccess) *out = (void *)n->work.memory.address;
    pthread_mutex_unlock(&capture_lock);
    return error;
}

cudaError_t capture_child(struct rt_stream *s, const struct graph *g)
{
    struct work w = {.kind = WORK_CHILD};
    if (g->has_memory || g->has_conditionals) return cudaErrorNotSupported;
    pthread_mutex_lock(&capture_lock);
    struct node *n = NULL;
    cudaError_t error = !s->capture || s->capture->broken
                            ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (error == cudaSuccess) {
        n = node_add(s->capture->graph, cudaGraphNodeTypeGraph, &w);
        if (n && (n->child = graph_copy(g, true))) n->child->is_child = true;
        error = n && n->child ? follow(s, n) : cudaErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&capture_lock);
    return error;
}
