/* Edges: order between two nodes, and the data that an edge may carry.
 *
 * Data make an order weaker: a kernel may begin before the one it depends on
 * has ended. They are kept and told; a graph runs with full order, which they
 * allow.
 */
#include "cudart/graph.h"

#include <stdlib.h>
#include <string.h>

static const cudaGraphEdgeData plain;

static bool is_plain(const cudaGraphEdgeData *data)
{
    return !memcmp(data, &plain, sizeof plain);
}

/* What the header of CUDA 13.0 says of the fields of cudaGraphEdgeData. */
static bool data_valid(const struct node *from, const struct node *to,
                       const cudaGraphEdgeData *data)
{
    bool programmatic = data->type == cudaGraphDependencyTypeProgrammatic;
    if (data->to_port ||
        memcmp(data->reserved, plain.reserved, sizeof plain.reserved))
        return false;
    if (!programmatic && data->type != cudaGraphDependencyTypeDefault)
        return false;
    if (data->from_port > cudaGraphKernelNodePortLaunchCompletion ||
        (data->from_port && from->type != cudaGraphNodeTypeKernel) ||
        (data->from_port == cudaGraphKernelNodePortProgrammatic &&
         !programmatic))
        return false;
    return !programmatic ||
           (data->from_port && to->type == cudaGraphNodeTypeKernel);
}

static struct edge_data *data_of(const struct node *from,
                                 const struct node *to)
{
    for (uint32_t i = 0; i < to->n_data; i++)
        if (to->data[i].from == from) return &to->data[i];
    return NULL;
}

cudaGraphEdgeData edge_data(const struct node *from, const struct node *to)
{
    const struct edge_data *d = data_of(from, to);
    return d ? d->data : plain;
}

static bool keep_data(struct node *from, struct node *to,
                      const cudaGraphEdgeData *data)
{
    struct edge_data *more =
        realloc(to->data, (to->n_data + 1) * sizeof *more);
    if (!more) return false;
    to->data = more;
    to->data[to->n_data++] = (struct edge_data){from, *data};
    return true;
}

cudaError_t edge_add(struct node *from, struct node *to,
                     const cudaGraphEdgeData *data)
{
    if (from == to || set_has(&to->deps, from) ||
        (data && !data_valid(from, to, data)))
        return cudaErrorInvalidValue;
    if (!set_add(&to->deps, from) ||
        (data && !is_plain(data) && !keep_data(from, to, data)))
        return cudaErrorMemoryAllocation;
    return cudaSuccess;
}

cudaError_t edge_remove(struct node *from, struct node *to,
                        const cudaGraphEdgeData *data)
{
    struct edge_data *d = data_of(from, to);
    cudaGraphEdgeData has = d ? d->data : plain;
    if (!set_has(&to->deps, from) ||
        memcmp(&has, data ? data : &plain, sizeof has))
        return cudaErrorInvalidValue;
    set_remove(&to->deps, from);
    if (d) *d = to->data[--to->n_data];
    return cudaSuccess;
}

cudaError_t node_depend(struct node *n, const cudaGraphNode_t *deps,
                        const cudaGraphEdgeData *data, size_t n_deps)
{
    cudaError_t error = n_deps && !deps ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t i = 0; i < n_deps && error == cudaSuccess; i++) {
        struct node *d = node_get(deps[i]);
        error = d && d->graph == n->graph
                    ? edge_add(d, n, data ? &data[i] : NULL)
                    : cudaErrorInvalidValue;
    }
    if (error != cudaSuccess) {
        n->graph->n--;
        node_free(n);
    }
    return error;
}

/* ---- calls --------------------------------------------------------------------------- */

/* Data that are there must be asked for: cudaErrorLossyQuery. */
struct told { cudaGraphEdgeData *data; size_t room, n; bool lossy; };

static void tell(struct told *t, const struct node *from,
                 const struct node *to)
{
    cudaGraphEdgeData data = edge_data(from, to);
    if (t->data && t->n < t->room) t->data[t->n] = data;
    t->lossy |= !t->data && !is_plain(&data);
    t->n++;
}

static cudaError_t verdict(const struct told *t, bool asked)
{
    return asked && t->lossy ? cudaErrorLossyQuery : cudaSuccess;
}

static bool any(const struct node *n, void *ctx) { return (void)ctx, n; }
static bool depends_on(const struct node *n, void *ctx)
{
    return set_has(&n->deps, ctx);
}

API(CALL_CONTEXT, cudaGraphNodeGetDependencies,
    (cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *data,
     size_t *count), (node, out, data, count))
{
    struct node *n = node_get(node);
    if (!n || !count || (data && !out)) return cudaErrorInvalidValue;
    struct told t = {.data = data, .room = *count};
    for (uint32_t i = 0; i < n->deps.n; i++) tell(&t, n->deps.nodes[i], n);
    cudaError_t error = verdict(&t, out);
    return error != cudaSuccess
               ? error : list_nodes(n->deps.nodes, n->deps.n, any, NULL, out,
                                    count);
}

API(CALL_CONTEXT, cudaGraphNodeGetDependentNodes,
    (cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *data,
     size_t *count), (node, out, data, count))
{
    struct node *n = node_get(node);
    if (!n || !count || (data && !out)) return cudaErrorInvalidValue;
    struct told t = {.data = data, .room = *count};
    struct graph *g = n->graph;
    for (uint32_t i = 0; i < g->n; i++)
        if (depends_on(g->nodes[i], n)) tell(&t, n, g->nodes[i]);
    cudaError_t error = verdict(&t, out);
    return error != cudaSuccess
               ? error : list_nodes(g->nodes, g->n, depends_on, n, out, count);
}

API(CALL_CONTEXT, cudaGraphGetEdges,
    (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
     cudaGraphEdgeData *data, size_t *count), (graph, from, to, data, count))
{
    struct graph *g = graph_get(graph);
    if (!g || !count || !from != !to || (data && !from))
        return cudaErrorInvalidValue;
    struct told t = {.data = data, .room = *count};
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t d = 0; d < g->nodes[i]->deps.n; d++) {
            struct node *dep = g->nodes[i]->deps.nodes[d];
            if (from && t.n < t.room) {
                from[t.n] = dep->handle;
                to[t.n] = g->nodes[i]->handle;
            }
            tell(&t, dep, g->nodes[i]);
        }
    for (size_t i = t.n; from && i < t.room; i++) from[i] = to[i] = NULL;
    if (!from || t.room > t.n) *count = t.n;
    return verdict(&t, from);
}

typedef cudaError_t edge_change(struct node *from, struct node *to,
                                const cudaGraphEdgeData *data);

static cudaError_t change_edges(struct graph *g, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to,
                                const cudaGraphEdgeData *data, size_t count,
                                edge_change *change)
{
    if (!g || (count && (!from || !to))) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        struct node *a = node_get(from[i]), *b = node_get(to[i]);
        if (!a || !b || a->graph != g || b->graph != g)
            return cudaErrorInvalidValue;
        cudaError_t error = change(a, b, data ? &data[i] : NULL);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddDependencies,
    (cudaGraph_t graph, const cudaGraphNode_t *from,
     const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
    (graph, from, to, data, count))
{
    return change_edges(graph_get(graph), from, to, data, count, edge_add);
}

API(CALL_CONTEXT, cudaGraphRemoveDependencies,
    (cudaGraph_t graph, const cudaGraphNode_t *from,
     const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
    (graph, from, to, data, count))
{
    struct graph *g = graph_get(graph);
    if (g && g->has_memory && count) return cudaErrorNotSupported;
    return change_edges(g, from, to, data, count, edge_remove);
}
