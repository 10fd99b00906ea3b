/* Adding nodes, reading and changing what they do. */
#include <stdlib.h>
#include <string.h>

#include "cudart/graph.h"

/* ---- parameters to work ------------------------------------------------------------------ */

cudaError_t work_from_kernel(const struct cudaKernelNodeParams *p,
                             struct work *w)
{
    struct kernel *k = p ? kernel_find(p->func) : NULL;
    if (!p) return cudaErrorInvalidValue;
    if (!k) return cudaErrorInvalidDeviceFunction;
    if (p->extra) return cudaErrorNotSupported;
    cudaError_t error = launch_check(k, p->gridDim, p->blockDim,
                                     p->sharedMemBytes, false);
    if (error != cudaSuccess) return error;
    if (k->program->n_params && !p->kernelParams) return cudaErrorInvalidValue;
    *w = (struct work){.kind = WORK_LAUNCH,
                       .launch = {k, p->gridDim, p->blockDim,
                                  p->sharedMemBytes, p->kernelParams, false}};
    return cudaSuccess;
}

cudaError_t copy_box(const struct cudaMemcpy3DParms *p,
                     struct copy_request *r)
{
    if (!p) return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray) {
        warn_once("copies of CUDA arrays are not supported");
        return cudaErrorNotSupported;
    }
    const struct cudaPitchedPtr *s = &p->srcPtr, *d = &p->dstPtr;
    *r = (struct copy_request){
        .width = p->extent.width, .height = p->extent.height,
        .depth = p->extent.depth, .kind = p->kind, .async = true,
        .src_pitch = s->pitch, .dst_pitch = d->pitch,
        .src_slice = s->pitch * s->ysize, .dst_slice = d->pitch * d->ysize,
    };
    if (!r->depth) r->width = 0; /* nothing to copy */
    if (s->ptr) r->src = (char *)s->ptr + p->srcPos.z * r->src_slice +
                         p->srcPos.y * s->pitch + p->srcPos.x;
    if (d->ptr) r->dst = (char *)d->ptr + p->dstPos.z * r->dst_slice +
                         p->dstPos.y * d->pitch + p->dstPos.x;
    return cudaSuccess;
}

cudaError_t work_from_copy(const struct cudaMemcpy3DParms *p, struct work *w)
{
    struct copy_request r;
    struct waits waits;
    cudaError_t error = copy_box(p, &r);
    return error == cudaSuccess ? copy_plan(&r, w, &waits) : error;
}

cudaError_t work_from_fill(const struct cudaMemsetParams *p, struct work *w)
{
    bool pinned;
    if (!p || (p->elementSize != 1 && p->elementSize != 2 &&
               p->elementSize != 4))
        return cudaErrorInvalidValue;
    return fill_plan(p->dst, p->height > 1 ? p->pitch : p->width * p->elementSize,
                     p->value, p->elementSize, p->width * p->elementSize,
                     p->height, w, &pinned);
}

/* One line from a to b as the general form, for nodes and their readers. */
struct cudaMemcpy3DParms copy_line(void *dst, const void *src, size_t size,
                                   enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = {0};
    p.srcPtr = (struct cudaPitchedPtr){(void *)src, size, size, 1};
    p.dstPtr = (struct cudaPitchedPtr){dst, size, size, 1};
    p.extent = (struct cudaExtent){size, 1, 1};
    p.kind = kind;
    return p;
}

/* ---- adding -------------------------------------------------------------------------------- */

static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t graph,
                       const cudaGraphNode_t *deps, size_t n_deps,
                       enum cudaGraphNodeType type, const struct work *w,
                       struct node **node)
{
    struct graph *g = graph_get(graph);
    if (!out || !g) return cudaErrorInvalidValue;
    struct node *n = node_add(g, type, w);
    if (!n) return cudaErrorMemoryAllocation;
    cudaError_t error = node_depend(n, deps, n_deps);
    if (error != cudaSuccess) return error;
    *out = n->handle;
    if (node) *node = n;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddEmptyNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps), (out, graph, deps, n_deps))
{
    struct work w = {.kind = WORK_EMPTY};
    return add(out, graph, deps, n_deps, cudaGraphNodeTypeEmpty, &w, NULL);
}

API(CALL_CONTEXT, cudaGraphAddKernelNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, const struct cudaKernelNodeParams *p),
    (out, graph, deps, n_deps, p))
{
    struct work w;
    cudaError_t error = work_from_kernel(p, &w);
    if (error != cudaSuccess) return error;
    return add(out, graph, deps, n_deps, cudaGraphNodeTypeKernel, &w, NULL);
}

static cudaError_t add_copy(cudaGraphNode_t *out, cudaGraph_t graph,
                            const cudaGraphNode_t *deps, size_t n_deps,
                            const struct cudaMemcpy3DParms *p)
{
    struct work w;
    struct node *n;
    cudaError_t error = work_from_copy(p, &w);
    if (error == cudaSuccess)
        error = add(out, graph, deps, n_deps, cudaGraphNodeTypeMemcpy, &w, &n);
    if (error == cudaSuccess) n->given.copy = *p;
    return error;
}

API(CALL_CONTEXT, cudaGraphAddMemcpyNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, const struct cudaMemcpy3DParms *p),
    (out, graph, deps, n_deps, p))
{
    return add_copy(out, graph, deps, n_deps, p);
}

API(CALL_CONTEXT, cudaGraphAddMemcpyNode1D,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, void *dst, const void *src, size_t size,
     enum cudaMemcpyKind kind),
    (out, graph, deps, n_deps, dst, src, size, kind))
{
    struct cudaMemcpy3DParms p = copy_line(dst, src, size, kind);
    return add_copy(out, graph, deps, n_deps, &p);
}

cudaError_t symbol_end(const void *symbol, size_t size, size_t offset,
                       void **out)
{
    struct symbol *s;
    cudaError_t error = symbol_load(symbol, &s);
    if (error != cudaSuccess) return error;
    if (offset > s->size || size > s->size - offset)
        return cudaErrorInvalidValue;
    *out = (void *)(s->address + offset);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddMemcpyNodeToSymbol,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, const void *symbol, const void *src, size_t size,
     size_t offset, enum cudaMemcpyKind kind),
    (out, graph, deps, n_deps, symbol, src, size, offset, kind))
{
    void *dst;
    cudaError_t error = symbol_end(symbol, size, offset, &dst);
    if (error != cudaSuccess) return error;
    struct cudaMemcpy3DParms p = copy_line(dst, src, size, kind);
    return add_copy(out, graph, deps, n_deps, &p);
}

API(CALL_CONTEXT, cudaGraphAddMemcpyNodeFromSymbol,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, void *dst, const void *symbol, size_t size, size_t offset,
     enum cudaMemcpyKind kind),
    (out, graph, deps, n_deps, dst, symbol, size, offset, kind))
{
    void *src;
    cudaError_t error = symbol_end(symbol, size, offset, &src);
    if (error != cudaSuccess) return error;
    struct cudaMemcpy3DParms p = copy_line(dst, src, size, kind);
    return add_copy(out, graph, deps, n_deps, &p);
}

API(CALL_CONTEXT, cudaGraphAddMemsetNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, const struct cudaMemsetParams *p),
    (out, graph, deps, n_deps, p))
{
    struct work w;
    struct node *n;
    cudaError_t error = work_from_fill(p, &w);
    if (error == cudaSuccess)
        error = add(out, graph, deps, n_deps, cudaGraphNodeTypeMemset, &w, &n);
    if (error == cudaSuccess) n->given.fill = *p;
    return error;
}

cudaError_t work_from_host(const struct cudaHostNodeParams *p,
                           struct work *w)
{
    if (!p || !p->fn) return cudaErrorInvalidValue;
    *w = (struct work){.kind = WORK_HOST, .host = {p->fn, p->userData, false}};
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddHostNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, const struct cudaHostNodeParams *p),
    (out, graph, deps, n_deps, p))
{
    struct work w;
    cudaError_t error = work_from_host(p, &w);
    if (error != cudaSuccess) return error;
    return add(out, graph, deps, n_deps, cudaGraphNodeTypeHost, &w, NULL);
}

API(CALL_CONTEXT, cudaGraphAddChildGraphNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, cudaGraph_t child), (out, graph, deps, n_deps, child))
{
    struct graph *c = graph_get(child);
    struct work w = {.kind = WORK_CHILD};
    struct node *n;
    if (!c || child == graph) return cudaErrorInvalidValue;
    if (c->has_memory) return cudaErrorNotSupported;
    cudaError_t error =
        add(out, graph, deps, n_deps, cudaGraphNodeTypeGraph, &w, &n);
    if (error != cudaSuccess) return error;
    n->child = graph_copy(c, true);
    if (!n->child) return cudaErrorMemoryAllocation;
    n->child->is_child = true;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphChildGraphNodeGetGraph,
    (cudaGraphNode_t node, cudaGraph_t *out), (node, out))
{
    struct node *n = node_get(node);
    if (!n || !out || !n->child) return cudaErrorInvalidValue;
    *out = n->child->handle;
    return cudaSuccess;
}

static cudaError_t add_event(cudaGraphNode_t *out, cudaGraph_t graph,
                             const cudaGraphNode_t *deps, size_t n_deps,
                             cudaEvent_t event, bool record)
{
    struct work w = {.kind = record ? WORK_EVENT_RECORD : WORK_EVENT_WAIT,
                     .event = event};
    struct rt_event *unused;
    cudaError_t error = event_get(event, &unused);
    if (error != cudaSuccess) return error;
    return add(out, graph, deps, n_deps,
               record ? cudaGraphNodeTypeEventRecord
                      : cudaGraphNodeTypeWaitEvent, &w, NULL);
}

API(CALL_CONTEXT, cudaGraphAddEventRecordNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, cudaEvent_t event), (out, graph, deps, n_deps, event))
{
    return add_event(out, graph, deps, n_deps, event, true);
}

API(CALL_CONTEXT, cudaGraphAddEventWaitNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, cudaEvent_t event), (out, graph, deps, n_deps, event))
{
    return add_event(out, graph, deps, n_deps, event, false);
}

/* The general form of all of them. */
API(CALL_CONTEXT, cudaGraphAddNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     const cudaGraphEdgeData *data, size_t n_deps,
     struct cudaGraphNodeParams *p), (out, graph, deps, data, n_deps, p))
{
    if (!p) return cudaErrorInvalidValue;
    if (data) {
        warn_once("edge data of graphs is not supported");
        return cudaErrorNotSupported;
    }
    switch (p->type) {
    case cudaGraphNodeTypeKernel: {
        struct cudaKernelNodeParams k = {
            p->kernel.func, p->kernel.gridDim, p->kernel.blockDim,
            p->kernel.sharedMemBytes, p->kernel.kernelParams,
            p->kernel.extra};
        return body_cudaGraphAddKernelNode(out, graph, deps, n_deps, &k);
    }
    case cudaGraphNodeTypeMemcpy:
        return add_copy(out, graph, deps, n_deps, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
        struct cudaMemsetParams m = {p->memset.dst, p->memset.pitch,
                                     p->memset.value, p->memset.elementSize,
                                     p->memset.width, p->memset.height};
        return body_cudaGraphAddMemsetNode(out, graph, deps, n_deps, &m);
    }
    case cudaGraphNodeTypeHost: {
        struct cudaHostNodeParams h = {p->host.fn, p->host.userData};
        return body_cudaGraphAddHostNode(out, graph, deps, n_deps, &h);
    }
    case cudaGraphNodeTypeGraph:
        return body_cudaGraphAddChildGraphNode(out, graph, deps, n_deps,
                                               p->graph.graph);
    case cudaGraphNodeTypeEmpty:
        return body_cudaGraphAddEmptyNode(out, graph, deps, n_deps);
    case cudaGraphNodeTypeWaitEvent:
        return add_event(out, graph, deps, n_deps, p->eventWait.event, false);
    case cudaGraphNodeTypeEventRecord:
        return add_event(out, graph, deps, n_deps, p->eventRecord.event, true);
    default:
        warn_once("graph nodes of type %d are not supported", (int)p->type);
        return cudaErrorNotSupported;
    }
}
