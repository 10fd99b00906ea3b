/* Calls about the structure of graphs: making, cloning, destroying, listing,
 * edges. */
#include "cudart/graph.h"

#include <string.h>

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
    if (!g || g->is_child) return cudaErrorInvalidValue;
    graph_free(g);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphClone, (cudaGraph_t *out, cudaGraph_t graph),
    (out, graph))
{
    struct graph *g = graph_get(graph);
    if (!out || !g) return cudaErrorInvalidValue;
    if (g->has_memory) return cudaErrorNotSupported;
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

/* Fills `out` (may be NULL: only count) with those nodes that pass. */
static cudaError_t list_nodes(struct node *const *nodes, uint32_t n,
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
static bool depends_on(const struct node *n, void *ctx)
{
    return set_has(&n->deps, ctx);
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

/* Edges carry nothing but order here. */
static void plain_edges(cudaGraphEdgeData *data, const size_t *count)
{
    if (data && count) memset(data, 0, *count * sizeof *data);
}

API(CALL_CONTEXT, cudaGraphNodeGetDependencies,
    (cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *data,
     size_t *count), (node, out, data, count))
{
    struct node *n = node_get(node);
    if (!n) return cudaErrorInvalidValue;
    cudaError_t error =
        list_nodes(n->deps.nodes, n->deps.n, any, NULL, out, count);
    plain_edges(data, count);
    return error;
}

API(CALL_CONTEXT, cudaGraphNodeGetDependentNodes,
    (cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *data,
     size_t *count), (node, out, data, count))
{
    struct node *n = node_get(node);
    if (!n) return cudaErrorInvalidValue;
    cudaError_t error = list_nodes(n->graph->nodes, n->graph->n, depends_on, n,
                                   out, count);
    plain_edges(data, count);
    return error;
}

API(CALL_CONTEXT, cudaGraphGetEdges,
    (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
     cudaGraphEdgeData *data, size_t *count), (graph, from, to, data, count))
{
    struct graph *g = graph_get(graph);
    size_t found = 0;
    if (!g || !count || !from != !to) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t d = 0; d < g->nodes[i]->deps.n; d++, found++)
            if (from && found < *count) {
                from[found] = g->nodes[i]->deps.nodes[d]->handle;
                to[found] = g->nodes[i]->handle;
            }
    if (!from || *count > found) *count = found;
    plain_edges(data, count);
    return cudaSuccess;
}

static bool plain(const cudaGraphEdgeData *data, size_t n)
{
    static const cudaGraphEdgeData zero;
    for (size_t i = 0; data && i < n; i++)
        if (memcmp(&data[i], &zero, sizeof zero)) return false;
    return true;
}

API(CALL_CONTEXT, cudaGraphAddDependencies,
    (cudaGraph_t graph, const cudaGraphNode_t *from,
     const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
    (graph, from, to, data, count))
{
    struct graph *g = graph_get(graph);
    if (!g || (count && (!from || !to))) return cudaErrorInvalidValue;
    if (!plain(data, count)) return cudaErrorNotSupported;
    for (size_t i = 0; i < count; i++) {
        struct node *a = node_get(from[i]), *b = node_get(to[i]);
        if (!a || !b || a == b || a->graph != g || b->graph != g ||
            set_has(&b->deps, a))
            return cudaErrorInvalidValue;
        if (!set_add(&b->deps, a)) return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphRemoveDependencies,
    (cudaGraph_t graph, const cudaGraphNode_t *from,
     const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
    (graph, from, to, data, count))
{
    struct graph *g = graph_get(graph);
    (void)data;
    if (!g || (count && (!from || !to))) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        struct node *a = node_get(from[i]), *b = node_get(to[i]);
        if (!a || !b || !set_has(&b->deps, a)) return cudaErrorInvalidValue;
        set_remove(&b->deps, a);
    }
    return cudaSuccess;
}
