/* Calls that add nodes to a graph. */
#include "cudart/graph.h"

struct behind {
    const cudaGraphNode_t *nodes;
    const cudaGraphEdgeData *data;
    size_t n;
};

static cudaError_t add_node(cudaGraphNode_t *out, cudaGraph_t graph,
                            struct behind b, cudaError_t error,
                            const struct node_spec *spec, struct node **node)
{
    struct graph *g = graph_get(graph);
    if (!out || !g) return cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    struct node *n = node_add(g, spec->type, &spec->work);
    if (!n) return cudaErrorMemoryAllocation;
    n->given = spec->given;
    error = node_depend(n, b.nodes, b.data, b.n);
    if (error != cudaSuccess) return error;
    *out = n->handle;
    if (node) *node = n;
    return cudaSuccess;
}

/* The plain calls: parameters make a spec, the spec a node. */
#define ADD_CALL(name, params, args, make)                                     \
    API(CALL_CONTEXT, name,                                                    \
        (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps, \
         size_t n_deps PARAMS params), (out, graph, deps, n_deps ARGS args))   \
    {                                                                          \
        struct node_spec spec;                                                 \
        cudaError_t error = make;                                              \
        return add_node(out, graph, (struct behind){deps, NULL, n_deps},       \
                        error, &spec, NULL);                                   \
    }
#define PARAMS(...) __VA_OPT__(,) __VA_ARGS__
#define ARGS(...) __VA_OPT__(,) __VA_ARGS__

ADD_CALL(cudaGraphAddEmptyNode, (), (),
         spec_any(&(struct cudaGraphNodeParams){
             .type = cudaGraphNodeTypeEmpty}, &spec))
ADD_CALL(cudaGraphAddKernelNode, (const struct cudaKernelNodeParams *p), (p),
         spec_kernel(p, &spec))
ADD_CALL(cudaGraphAddMemcpyNode, (const struct cudaMemcpy3DParms *p), (p),
         spec_copy(p, &spec))
ADD_CALL(cudaGraphAddMemcpyNode1D,
         (void *dst, const void *src, size_t size, enum cudaMemcpyKind kind),
         (dst, src, size, kind), spec_line(dst, src, size, kind, &spec))
ADD_CALL(cudaGraphAddMemcpyNodeToSymbol,
         (const void *symbol, const void *src, size_t size, size_t offset,
          enum cudaMemcpyKind kind), (symbol, src, size, offset, kind),
         spec_to_symbol(symbol, src, size, offset, kind, &spec))
ADD_CALL(cudaGraphAddMemcpyNodeFromSymbol,
         (void *dst, const void *symbol, size_t size, size_t offset,
          enum cudaMemcpyKind kind), (dst, symbol, size, offset, kind),
         spec_from_symbol(dst, symbol, size, offset, kind, &spec))
ADD_CALL(cudaGraphAddMemsetNode, (const struct cudaMemsetParams *p), (p),
         spec_fill(p, &spec))
ADD_CALL(cudaGraphAddHostNode, (const struct cudaHostNodeParams *p), (p),
         spec_host(p, &spec))
ADD_CALL(cudaGraphAddEventRecordNode, (cudaEvent_t event), (event),
         spec_event(event, true, &spec))
ADD_CALL(cudaGraphAddEventWaitNode, (cudaEvent_t event), (event),
         spec_event(event, false, &spec))

/* ---- children ------------------------------------------------------------------------------ */

/* The node gets a copy of the child, or with `move` the child itself. */
static cudaError_t add_child(cudaGraphNode_t *out, cudaGraph_t graph,
                             struct behind b, cudaGraph_t child, bool move)
{
    struct graph *c = graph_get(child);
    struct node_spec spec = {.type = cudaGraphNodeTypeGraph,
                             .work = {.kind = WORK_CHILD}};
    struct node *n;
    if (!c || child == graph || (move && c->is_child))
        return cudaErrorInvalidValue;
    if ((c->has_memory && !move) || c->has_conditionals)
        return cudaErrorNotSupported;
    cudaError_t error = add_node(out, graph, b, cudaSuccess, &spec, &n);
    if (error != cudaSuccess) return error;
    n->child = move ? c : graph_copy(c, true);
    if (!n->child) return cudaErrorMemoryAllocation;
    n->child->is_child = true;
    n->graph->has_memory |= c->has_memory;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddChildGraphNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, cudaGraph_t child), (out, graph, deps, n_deps, child))
{
    return add_child(out, graph, (struct behind){deps, NULL, n_deps}, child,
                     false);
}

API(CALL_CONTEXT, cudaGraphChildGraphNodeGetGraph,
    (cudaGraphNode_t node, cudaGraph_t *out), (node, out))
{
    struct node *n = node_get(node);
    if (!n || !out || !n->child) return cudaErrorInvalidValue;
    *out = n->child->handle;
    return cudaSuccess;
}

/* ---- the general form ------------------------------------------------------------------------ */

API(CALL_CONTEXT, cudaGraphAddNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     const cudaGraphEdgeData *data, size_t n_deps,
     struct cudaGraphNodeParams *p), (out, graph, deps, data, n_deps, p))
{
    struct behind b = {deps, data, n_deps};
    struct node_spec spec;
    if (!p) return cudaErrorInvalidValue;
    switch (p->type) {
    case cudaGraphNodeTypeGraph:
        return add_child(out, graph, b, p->graph.graph,
                         p->graph.ownership == cudaGraphChildGraphOwnershipMove);
    case cudaGraphNodeTypeMemAlloc:
        return graph_add_alloc(out, graph, deps, data, n_deps, &p->alloc);
    case cudaGraphNodeTypeConditional:
        return graph_add_conditional(out, graph, deps, data, n_deps,
                                     &p->conditional);
    case cudaGraphNodeTypeMemFree:
        return graph_add_free(out, graph, deps, data, n_deps, p->free.dptr);
    default: {
        cudaError_t error = spec_any(p, &spec);
        return add_node(out, graph, b, error, &spec, NULL);
    }
    }
}
