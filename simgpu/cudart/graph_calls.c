/* Calls about the structure of graphs: making, cloning, destroying, listing,
 * (edges: graph_edges.c). */
#include "cudart/graph.h"

API(CALL_CONTEXT, cudaGraphCreate, (cudaGraph_t *out, unsigned flags),
    (out, flags))
{
    if (!out || flags) return cudaErrorInvalidValue;
    struct graph *g = graph_new();
    if (!g) return cudaErrorMemoryAllocation;
    *out = g->handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphDestroy, (cudaGraph_t graph), (graph))
{
    struct graph *g = graph_get(graph);
    if (!g || g->is_child || g->capturing) return cudaErrorInvalidValue;
    graph_free(g);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphClone, (cudaGraph_t *out, cudaGraph_t graph),
    (out, graph))
{
    struct graph *g = graph_get(graph);
    if (!out || !g) return cudaErrorInvalidValue;
    if (g->has_memory || g->has_conditionals) return cudaErrorNotSupported;
    struct graph *copy = graph_copy(g, true);
    if (!copy) return cudaErrorMemoryAllocation;
    *out = copy->handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphNodeFindInClone,
    (cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t clone),
    (out, node, clone))
{
    struct graph *g = graph_get(clone);
    if (!out || !g || !node_get(node)) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->nodes[i]->origin == node) {
            *out = g->nodes[i]->handle;
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}

API(CALL_CONTEXT, cudaGraphDestroyNode, (cudaGraphNode_t node), (node))
{
    struct node *n = node_get(node);
    if (!n) return cudaErrorInvalidValue;
    struct graph *g = n->graph;
    if (g->capturing) return cudaErrorInvalidValue;
    if (g->has_memory) return cudaErrorNotSupported;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        set_remove(&g->nodes[i]->deps, n);
        if (g->nodes[i] != n) g->nodes[kept++] = g->nodes[i];
    }
    g->n = kept;
    node_free(n);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphNodeGetType,
    (cudaGraphNode_t node, enum cudaGraphNodeType *out), (node, out))
{
    struct node *n = node_get(node);
    if (!out || !n) return cudaErrorInvalidValue;
    *out = n->type;
    return cudaSuccess;
}

cudaError_t list_nodes(struct node *const *nodes, uint32_t n,
                              bool (*pass)(const struct node *, void *),
                              void *ctx, cudaGraphNode_t *out, size_t *count)
{
    size_t found = 0;
    if (!count) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < n; i++) {
        if (!pass(nodes[i], ctx)) continue;
        if (out && found < *count) out[found] = nodes[i]->handle;
        found++;
    }
    for (size_t i = found; out && i < *count; i++) out[i] = NULL;
    if (!out || *count > found) *count = found;
    return cudaSuccess;
}

static bool any(const struct node *n, void *ctx) { return (void)ctx, n; }
static bool is_root(const struct node *n, void *ctx)
{
    return (void)ctx, !n->deps.n;
}
API(CALL_CONTEXT, cudaGraphGetNodes,
    (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
    (graph, nodes, count))
{
    struct graph *g = graph_get(graph);
    if (!g) return cudaErrorInvalidValue;
    return list_nodes(g->nodes, g->n, any, NULL, nodes, count);
}

API(CALL_CONTEXT, cudaGraphGetRootNodes,
    (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
    (graph, nodes, count))
{
    struct graph *g = graph_get(graph);
    if (!g) return cudaErrorInvalidValue;
    return list_nodes(g->nodes, g->n, is_root, NULL, nodes, count);
}
