/* What nodes do, read and changed: in graphs, and in executable graphs by the
 * node that the graph was made from. */
#include "cudart/graph.h"

static struct node *of_type(cudaGraphNode_t node, enum cudaGraphNodeType type)
{
    struct node *n = node_get(node);
    return n && n->type == type ? n : NULL;
}

static struct node *exec_of_type(cudaGraphExec_t exec, cudaGraphNode_t node,
                                 enum cudaGraphNodeType type)
{
    struct node *n = exec_node(exec, node);
    return n && n->type == type ? n : NULL;
}

static cudaError_t change(struct node *n, cudaError_t error,
                          const struct work *w)
{
    if (error != cudaSuccess) return error;
    if (!n) return cudaErrorInvalidValue;
    return node_set_work(n, w) ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* ---- kernels --------------------------------------------------------------------------- */

API(CALL_CONTEXT, cudaGraphKernelNodeGetParams,
    (cudaGraphNode_t node, struct cudaKernelNodeParams *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeKernel);
    if (!n || !out) return cudaErrorInvalidValue;
    const struct kernel *k = n->work.launch.kernel;
    *out = (struct cudaKernelNodeParams){
        .func = (void *)(k->host ? k->host : k),
        .gridDim = n->work.launch.grid,
        .blockDim = n->work.launch.block,
        .sharedMemBytes = (unsigned)n->work.launch.shared,
        .kernelParams = n->work.launch.args,
    };
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphKernelNodeSetParams,
    (cudaGraphNode_t node, const struct cudaKernelNodeParams *p), (node, p))
{
    struct work w;
    cudaError_t error = work_from_kernel(p, &w);
    return change(of_type(node, cudaGraphNodeTypeKernel), error, &w);
}

API(CALL_CONTEXT, cudaGraphExecKernelNodeSetParams,
    (cudaGraphExec_t exec, cudaGraphNode_t node,
     const struct cudaKernelNodeParams *p), (exec, node, p))
{
    struct work w;
    cudaError_t error = work_from_kernel(p, &w);
    return change(exec_of_type(exec, node, cudaGraphNodeTypeKernel), error,
                  &w);
}

/* ---- copies ----------------------------------------------------------------------------- */

static cudaError_t change_copy(struct node *n,
                               const struct cudaMemcpy3DParms *p)
{
    struct work w;
    cudaError_t error = change(n, work_from_copy(p, &w), &w);
    if (error == cudaSuccess) n->given.copy = *p;
    return error;
}

API(CALL_CONTEXT, cudaGraphMemcpyNodeGetParams,
    (cudaGraphNode_t node, struct cudaMemcpy3DParms *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeMemcpy);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->given.copy;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphMemcpyNodeSetParams,
    (cudaGraphNode_t node, const struct cudaMemcpy3DParms *p), (node, p))
{
    return change_copy(of_type(node, cudaGraphNodeTypeMemcpy), p);
}

API(CALL_CONTEXT, cudaGraphExecMemcpyNodeSetParams,
    (cudaGraphExec_t exec, cudaGraphNode_t node,
     const struct cudaMemcpy3DParms *p), (exec, node, p))
{
    return change_copy(exec_of_type(exec, node, cudaGraphNodeTypeMemcpy), p);
}

API(CALL_CONTEXT, cudaGraphMemcpyNodeSetParams1D,
    (cudaGraphNode_t node, void *dst, const void *src, size_t size,
     enum cudaMemcpyKind kind), (node, dst, src, size, kind))
{
    struct cudaMemcpy3DParms p = copy_line(dst, src, size, kind);
    return change_copy(of_type(node, cudaGraphNodeTypeMemcpy), &p);
}

API(CALL_CONTEXT, cudaGraphExecMemcpyNodeSetParams1D,
    (cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src,
     size_t size, enum cudaMemcpyKind kind),
    (exec, node, dst, src, size, kind))
{
    struct cudaMemcpy3DParms p = copy_line(dst, src, size, kind);
    return change_copy(exec_of_type(exec, node, cudaGraphNodeTypeMemcpy), &p);
}

static cudaError_t change_symbol(struct node *n, const void *symbol,
                                 void *other, size_t size, size_t offset,
                                 enum cudaMemcpyKind kind, bool to)
{
    void *end;
    cudaError_t error = symbol_end(symbol, size, offset, &end);
    if (error != cudaSuccess) return error;
    struct cudaMemcpy3DParms p = copy_line(to ? end : other, to ? other : end,
                                           size, kind);
    return change_copy(n, &p);
}

API(CALL_CONTEXT, cudaGraphMemcpyNodeSetParamsToSymbol,
    (cudaGraphNode_t node, const void *symbol, const void *src, size_t size,
     size_t offset, enum cudaMemcpyKind kind),
    (node, symbol, src, size, offset, kind))
{
    return change_symbol(of_type(node, cudaGraphNodeTypeMemcpy), symbol,
                         (void *)src, size, offset, kind, true);
}

API(CALL_CONTEXT, cudaGraphMemcpyNodeSetParamsFromSymbol,
    (cudaGraphNode_t node, void *dst, const void *symbol, size_t size,
     size_t offset, enum cudaMemcpyKind kind),
    (node, dst, symbol, size, offset, kind))
{
    return change_symbol(of_type(node, cudaGraphNodeTypeMemcpy), symbol, dst,
                         size, offset, kind, false);
}

API(CALL_CONTEXT, cudaGraphExecMemcpyNodeSetParamsToSymbol,
    (cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
     const void *src, size_t size, size_t offset, enum cudaMemcpyKind kind),
    (exec, node, symbol, src, size, offset, kind))
{
    return change_symbol(exec_of_type(exec, node, cudaGraphNodeTypeMemcpy),
                         symbol, (void *)src, size, offset, kind, true);
}

API(CALL_CONTEXT, cudaGraphExecMemcpyNodeSetParamsFromSymbol,
    (cudaGraphExec_t exec, cudaGraphNode_t node, void *dst,
     const void *symbol, size_t size, size_t offset,
     enum cudaMemcpyKind kind),
    (exec, node, dst, symbol, size, offset, kind))
{
    return change_symbol(exec_of_type(exec, node, cudaGraphNodeTypeMemcpy),
                         symbol, dst, size, offset, kind, false);
}

/* ---- fills, host functions ---------------------------------------------------------------- */

static cudaError_t change_fill(struct node *n,
                               const struct cudaMemsetParams *p)
{
    struct work w;
    cudaError_t error = change(n, work_from_fill(p, &w), &w);
    if (error == cudaSuccess) n->given.fill = *p;
    return error;
}

API(CALL_CONTEXT, cudaGraphMemsetNodeGetParams,
    (cudaGraphNode_t node, struct cudaMemsetParams *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeMemset);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->given.fill;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphMemsetNodeSetParams,
    (cudaGraphNode_t node, const struct cudaMemsetParams *p), (node, p))
{
    return change_fill(of_type(node, cudaGraphNodeTypeMemset), p);
}

API(CALL_CONTEXT, cudaGraphExecMemsetNodeSetParams,
    (cudaGraphExec_t exec, cudaGraphNode_t node,
     const struct cudaMemsetParams *p), (exec, node, p))
{
    return change_fill(exec_of_type(exec, node, cudaGraphNodeTypeMemset), p);
}

API(CALL_CONTEXT, cudaGraphHostNodeGetParams,
    (cudaGraphNode_t node, struct cudaHostNodeParams *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeHost);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = (struct cudaHostNodeParams){n->work.host.fn, n->work.host.arg};
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphHostNodeSetParams,
    (cudaGraphNode_t node, const struct cudaHostNodeParams *p), (node, p))
{
    struct work w;
    cudaError_t error = work_from_host(p, &w);
    return change(of_type(node, cudaGraphNodeTypeHost), error, &w);
}

API(CALL_CONTEXT, cudaGraphExecHostNodeSetParams,
    (cudaGraphExec_t exec, cudaGraphNode_t node,
     const struct cudaHostNodeParams *p), (exec, node, p))
{
    struct work w;
    cudaError_t error = work_from_host(p, &w);
    return change(exec_of_type(exec, node, cudaGraphNodeTypeHost), error, &w);
}

/* ---- events ------------------------------------------------------------------------------- */

static cudaError_t told_event(struct node *n, cudaEvent_t *out)
{
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->work.event;
    return cudaSuccess;
}

static cudaError_t change_event(struct node *n, cudaEvent_t event)
{
    struct rt_event *unused;
    cudaError_t error = event_get(event, &unused);
    if (error != cudaSuccess) return error;
    if (!n) return cudaErrorInvalidValue;
    n->work.event = event;
    return cudaSuccess;
}

#define EVENT_NODE(what, type)                                                 \
    API(CALL_CONTEXT, cudaGraph##what##NodeGetEvent,                           \
        (cudaGraphNode_t node, cudaEvent_t *out), (node, out))                 \
    {                                                                          \
        return told_event(of_type(node, type), out);                           \
    }                                                                          \
    API(CALL_CONTEXT, cudaGraph##what##NodeSetEvent,                           \
        (cudaGraphNode_t node, cudaEvent_t event), (node, event))              \
    {                                                                          \
        return change_event(of_type(node, type), event);                       \
    }                                                                          \
    API(CALL_CONTEXT, cudaGraphExec##what##NodeSetEvent,                       \
        (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),       \
        (exec, node, event))                                                   \
    {                                                                          \
        return change_event(exec_of_type(exec, node, type), event);            \
    }
EVENT_NODE(EventRecord, cudaGraphNodeTypeEventRecord)
EVENT_NODE(EventWait, cudaGraphNodeTypeWaitEvent)
#undef EVENT_NODE
