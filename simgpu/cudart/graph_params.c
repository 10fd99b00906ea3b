/* What nodes do, read and changed: in graphs, and in executable graphs by the
 * node that the graph was made from. */
#include "cudart/graph.h"

static struct node *of_type(cudaGraphNode_t node, enum cudaGraphNodeType type)
{
    struct node *n = node_get(node);
    return n && n->type == type ? n : NULL;
}

static cudaError_t change(cudaGraphNode_t node, cudaError_t error,
                          const struct node_spec *spec)
{
    if (error != cudaSuccess) return error;
    struct node *n = of_type(node, spec->type);
    return n ? node_assign(n, spec) : cudaErrorInvalidValue;
}

static cudaError_t change_exec(cudaGraphExec_t exec, cudaGraphNode_t node,
                               cudaError_t error, const struct node_spec *spec)
{
    if (error != cudaSuccess) return error;
    struct node *n = exec_node(exec, node);
    if (!n || n->type != spec->type || node_is_plane(n, spec) ||
        node_refuses(n, spec, false) != cudaGraphExecUpdateSuccess)
        return cudaErrorInvalidValue;
    return node_assign(n, spec);
}

/* The two calls that change nodes of a kind: parameters make a spec. */
#define SET_CALLS(name, exec_name, params, args, make)                         \
    API(CALL_CONTEXT, name, (cudaGraphNode_t node, UNWRAP params),             \
        (node, UNWRAP args))                                                   \
    {                                                                          \
        struct node_spec spec;                                                 \
        cudaError_t error = make;                                              \
        return change(node, error, &spec);                                     \
    }                                                                          \
    API(CALL_CONTEXT, exec_name,                                               \
        (cudaGraphExec_t exec, cudaGraphNode_t node, UNWRAP params),           \
        (exec, node, UNWRAP args))                                             \
    {                                                                          \
        struct node_spec spec;                                                 \
        cudaError_t error = make;                                              \
        return change_exec(exec, node, error, &spec);                          \
    }
#define UNWRAP(...) __VA_ARGS__

SET_CALLS(cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
          (const struct cudaKernelNodeParams *p), (p), spec_kernel(p, &spec))
SET_CALLS(cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
          (const struct cudaMemcpy3DParms *p), (p), spec_copy(p, &spec))
SET_CALLS(cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D,
          (void *dst, const void *src, size_t size, enum cudaMemcpyKind kind),
          (dst, src, size, kind), spec_line(dst, src, size, kind, &spec))
SET_CALLS(cudaGraphMemcpyNodeSetParamsToSymbol,
          cudaGraphExecMemcpyNodeSetParamsToSymbol,
          (const void *symbol, const void *src, size_t size, size_t offset,
           enum cudaMemcpyKind kind), (symbol, src, size, offset, kind),
          spec_to_symbol(symbol, src, size, offset, kind, &spec))
SET_CALLS(cudaGraphMemcpyNodeSetParamsFromSymbol,
          cudaGraphExecMemcpyNodeSetParamsFromSymbol,
          (void *dst, const void *symbol, size_t size, size_t offset,
           enum cudaMemcpyKind kind), (dst, symbol, size, offset, kind),
          spec_from_symbol(dst, symbol, size, offset, kind, &spec))
SET_CALLS(cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams,
          (const struct cudaMemsetParams *p), (p), spec_fill(p, &spec))
SET_CALLS(cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams,
          (const struct cudaHostNodeParams *p), (p), spec_host(p, &spec))
SET_CALLS(cudaGraphEventRecordNodeSetEvent,
          cudaGraphExecEventRecordNodeSetEvent, (cudaEvent_t event), (event),
          spec_event(event, true, &spec))
SET_CALLS(cudaGraphEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
          (cudaEvent_t event), (event), spec_event(event, false, &spec))

API(CALL_CONTEXT, cudaGraphNodeSetParams,
    (cudaGraphNode_t node, struct cudaGraphNodeParams *p), (node, p))
{
    struct node_spec spec;
    if (!p) return cudaErrorInvalidValue;
    cudaError_t error = spec_any(p, &spec);
    return change(node, error, &spec);
}

API(CALL_CONTEXT, cudaGraphExecNodeSetParams,
    (cudaGraphExec_t exec, cudaGraphNode_t node,
     struct cudaGraphNodeParams *p), (exec, node, p))
{
    struct node_spec spec;
    if (!p) return cudaErrorInvalidValue;
    if (p->type == cudaGraphNodeTypeGraph)
        return exec_set_child(exec, node, p->graph.graph);
    cudaError_t error = spec_any(p, &spec);
    return change_exec(exec, node, error, &spec);
}

/* ---- reading ------------------------------------------------------------------------------ */

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

API(CALL_CONTEXT, cudaGraphMemcpyNodeGetParams,
    (cudaGraphNode_t node, struct cudaMemcpy3DParms *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeMemcpy);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->given.copy;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphMemsetNodeGetParams,
    (cudaGraphNode_t node, struct cudaMemsetParams *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeMemset);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->given.fill;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphHostNodeGetParams,
    (cudaGraphNode_t node, struct cudaHostNodeParams *out), (node, out))
{
    struct node *n = of_type(node, cudaGraphNodeTypeHost);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = (struct cudaHostNodeParams){n->work.host.fn, n->work.host.arg};
    return cudaSuccess;
}

static cudaError_t told_event(struct node *n, cudaEvent_t *out)
{
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->work.event;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphEventRecordNodeGetEvent,
    (cudaGraphNode_t node, cudaEvent_t *out), (node, out))
{
    return told_event(of_type(node, cudaGraphNodeTypeEventRecord), out);
}

API(CALL_CONTEXT, cudaGraphEventWaitNodeGetEvent,
    (cudaGraphNode_t node, cudaEvent_t *out), (node, out))
{
    return told_event(of_type(node, cudaGraphNodeTypeWaitEvent), out);
}
