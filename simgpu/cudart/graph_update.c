/* What may change in an executable graph, node by node or by another graph of
 * the same shape (CUDA 13.0 header, cudaGraphExecUpdate).
 */
#include <stdlib.h>

#include "cudart/graph.h"

/* ---- one node ------------------------------------------------------------------------------ */

static bool same_fill_shape(const struct work *a, const struct work *b)
{
    if (a->fill.height == 1 && b->fill.height == 1) return true;
    return a->fill.height == b->fill.height && a->fill.width == b->fill.width &&
           a->fill.pitch == b->fill.pitch && a->fill.bytes == b->fill.bytes;
}

static int kind_of_memory(uint64_t address)
{
    struct allocation a;
    return memory_lookup(context()->memory, address, &a) ? (int)a.kind : -1;
}

enum cudaGraphExecUpdateResult node_refuses(const struct node *n,
                                            const struct node_spec *to,
                                            bool priorities)
{
    const struct work *a = &n->work, *b = &to->work;
    if (n->type != to->type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (a->kind == WORK_COPY && b->kind == WORK_COPY &&
        (a->copy.kind != b->copy.kind ||
         a->copy.plane.dst_on_device != b->copy.plane.dst_on_device ||
         a->copy.plane.src_on_device != b->copy.plane.src_on_device))
        return cudaGraphExecUpdateErrorParametersChanged;
    if (a->kind == WORK_FILL && b->kind == WORK_FILL &&
        (!same_fill_shape(a, b) ||
         kind_of_memory(a->fill.dst) != kind_of_memory(b->fill.dst)))
        return cudaGraphExecUpdateErrorParametersChanged;
    if (n->conditional && to->conditional &&
        (n->conditional->type != to->conditional->type ||
         n->conditional->n != to->conditional->n))
        return cudaGraphExecUpdateErrorParametersChanged;
    if (to->attributes && a->kind == WORK_LAUNCH &&
        (a->launch.cooperative != b->launch.cooperative ||
         (priorities && a->launch.priority != b->launch.priority)))
        return cudaGraphExecUpdateErrorAttributesChanged;
    return cudaGraphExecUpdateSuccess;
}

static bool is_plane(const struct work *w)
{
    return w->kind == WORK_COPY &&
           (w->copy.plane.height > 1 || w->copy.depth > 1);
}

bool node_is_plane(const struct node *n, const struct node_spec *to)
{
    return is_plane(&n->work) || is_plane(&to->work);
}

/* What parameters do not say, a kernel node keeps. */
cudaError_t node_assign(struct node *n, const struct node_spec *to)
{
    struct work w = to->work;
    if (w.kind == WORK_LAUNCH && !to->attributes) {
        w.launch.cooperative = n->work.launch.cooperative;
        w.launch.priority = n->work.launch.priority;
    }
    if (!node_set_work(n, &w)) return cudaErrorMemoryAllocation;
    n->given = to->given;
    return cudaSuccess;
}

/* ---- a graph of the same shape ------------------------------------------------------------- */

/* Nodes of both sides, paired by place. */
struct pairing { struct node **from, **to; uint32_t n_from, n_to; };

static bool inside(struct node *const *nodes, uint32_t n, const struct node *d)
{
    return d->mark < n && nodes[d->mark] == d;
}

/* Edges from outside, such as those of a child node, do not count. */
static uint32_t edges_inside(struct node *const *nodes, uint32_t n,
                             const struct node *of, struct node **out)
{
    uint32_t found = 0;
    for (uint32_t d = 0; d < of->deps.n; d++)
        if (inside(nodes, n, of->deps.nodes[d]))
            out[found++] = of->deps.nodes[d];
    return found;
}

static enum cudaGraphExecUpdateResult compare_edges(
    const struct pairing *p, uint32_t i, cudaGraphExecUpdateResultInfo *info,
    struct node **room)
{
    struct node **a = room, **b = room + p->n_from;
    uint32_t n = edges_inside(p->from, p->n_from, p->from[i], a);
    bool same = n == edges_inside(p->to, p->n_to, p->to[i], b);
    for (uint32_t d = 0; same && d < n; d++) {
        same = a[d]->mark == b[d]->mark;
        if (!same) info->errorFromNode = b[d]->origin;
    }
    return same ? cudaGraphExecUpdateSuccess
                : cudaGraphExecUpdateErrorTopologyChanged;
}

static struct node_spec spec_of(const struct node *n)
{
    return (struct node_spec){n->type, n->work, n->given, true,
                              n->conditional};
}

static enum cudaGraphExecUpdateResult compare(
    const struct pairing *p, bool priorities,
    cudaGraphExecUpdateResultInfo *info, struct node **room)
{
    enum cudaGraphExecUpdateResult r = cudaGraphExecUpdateSuccess;
    for (uint32_t i = 0; i < p->n_from; i++) p->from[i]->mark = i;
    for (uint32_t i = 0; i < p->n_to; i++) p->to[i]->mark = i;
    if (p->n_from != p->n_to) return cudaGraphExecUpdateErrorTopologyChanged;
    for (uint32_t i = 0; i < p->n_to && r == cudaGraphExecUpdateSuccess; i++) {
        struct node_spec to = spec_of(p->to[i]);
        r = node_refuses(p->from[i], &to, priorities);
        if (r == cudaGraphExecUpdateSuccess)
            r = compare_edges(p, i, info, room);
        if (r != cudaGraphExecUpdateSuccess)
            info->errorNode = p->to[i]->origin;
    }
    return r;
}

/* The pairing of a body of two conditional nodes. */
static struct pairing of_body(const struct node *from, const struct node *to,
                              uint32_t b)
{
    struct graph *f = from->conditional->execs[b]->graph;
    struct graph *t = to->conditional->bodies[b];
    return (struct pairing){f->nodes, t->nodes, f->n, t->n};
}

static cudaError_t take_over(const struct pairing *p)
{
    for (uint32_t i = 0; i < p->n_to; i++) {
        struct node_spec to = spec_of(p->to[i]);
        struct launch_place place = p->to[i]->place;
        if (node_assign(p->from[i], &to) != cudaSuccess)
            return cudaErrorMemoryAllocation;
        p->from[i]->origin = p->to[i]->origin;
        p->from[i]->place = place;
        struct conditional *c = p->from[i]->conditional;
        if (c) c->handle = p->to[i]->conditional->handle;
        for (uint32_t b = 0; c && b < c->n; b++) {
            struct pairing body = of_body(p->from[i], p->to[i], b);
            if (take_over(&body) != cudaSuccess)
                return cudaErrorMemoryAllocation;
        }
    }
    return cudaSuccess;
}

/* Memory nodes cannot be updated; the first one is named. */
static bool holds_memory(struct node *const *nodes, uint32_t n,
                         cudaGraphExecUpdateResultInfo *info)
{
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i]->work.kind == WORK_ALLOC ||
            nodes[i]->work.kind == WORK_FREE) {
            info->errorNode = nodes[i]->origin;
            return true;
        }
    return false;
}

/* Bodies of conditional nodes included. */
static cudaError_t compare_all(const struct pairing *p, bool priorities,
                               cudaGraphExecUpdateResultInfo *info)
{
    struct node **room = malloc((p->n_from + p->n_to + 1) * sizeof *room);
    if (!room) return cudaErrorMemoryAllocation;
    info->result = holds_memory(p->to, p->n_to, info)
                       ? cudaGraphExecUpdateErrorNotSupported
                       : compare(p, priorities, info, room);
    free(room);
    cudaError_t error = info->result == cudaGraphExecUpdateSuccess
                            ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
    for (uint32_t i = 0; i < p->n_to && error == cudaSuccess; i++) {
        const struct conditional *c = p->to[i]->conditional;
        for (uint32_t b = 0; c && b < c->n && error == cudaSuccess; b++) {
            struct pairing body = of_body(p->from[i], p->to[i], b);
            error = compare_all(&body, priorities, info);
        }
    }
    return error;
}

static cudaError_t update(const struct pairing *p, bool priorities,
                          cudaGraphExecUpdateResultInfo *info)
{
    cudaError_t error = compare_all(p, priorities, info);
    return error == cudaSuccess ? take_over(p) : error;
}

/* A copy of g with its children unfolded, or NULL. */
static struct graph *flat_copy(const struct graph *g)
{
    struct graph *flat = graph_copy(g, false);
    if (!flat || graph_unfold(flat)) return flat;
    graph_free(flat);
    return NULL;
}

API(CALL_CONTEXT, cudaGraphExecUpdate,
    (cudaGraphExec_t exec, cudaGraph_t graph,
     cudaGraphExecUpdateResultInfo *info), (exec, graph, info))
{
    struct exec *e = exec_get(exec);
    struct graph *g = graph_get(graph);
    if (!info) return cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){
        .result = cudaGraphExecUpdateError};
    if (!e || !g) return cudaErrorInvalidValue;
    struct graph *flat = flat_copy(g);
    if (!flat) return cudaErrorMemoryAllocation;
    struct pairing p = {e->graph->nodes, flat->nodes, e->graph->n, flat->n};
    /* Bodies are queued as the graph runs: what is under way keeps them. */
    if (e->graph->has_conditionals) event_wait(e->ended);
    cudaError_t error = update(&p, exec_uses_priorities(e), info);
    if (error == cudaSuccess) {
        conditions_drop(e->graph);
        if (!conditions_share(e->graph, flat))
            error = cudaErrorMemoryAllocation;
    }
    graph_free(flat);
    return error;
}

/* ---- a child of an executable graph ---------------------------------------------------------- */

static bool below(const struct launch_place *p, const struct launch_place *of)
{
    if (p->depth <= of->depth) return false;
    for (uint32_t i = 0; i < of->depth; i++)
        if (p->path[i] != of->path[i]) return false;
    return true;
}

cudaError_t exec_set_child(cudaGraphExec_t exec, cudaGraphNode_t node,
                           cudaGraph_t child)
{
    struct exec *e = exec_get(exec);
    struct node *n = exec_node(exec, node);
    struct graph *c = graph_get(child);
    if (!n || n->type != cudaGraphNodeTypeGraph || !c)
        return cudaErrorInvalidValue;
    cudaGraphExecUpdateResultInfo info = {0};
    struct graph *flat = flat_copy(c);
    struct pairing p = {.from = calloc(e->graph->n, sizeof *p.from)};
    cudaError_t error = cudaErrorMemoryAllocation;
    if (!flat || !p.from) goto out;
    for (uint32_t i = 0; i < e->graph->n; i++)
        if (below(&e->graph->nodes[i]->place, &n->place))
            p.from[p.n_from++] = e->graph->nodes[i];
    p.to = flat->nodes;
    p.n_to = flat->n;
    for (uint32_t i = 0; i < flat->n; i++)
        place_nest(&flat->nodes[i]->place, &n->place);
    error = update(&p, exec_uses_priorities(e), &info);
out:
    if (flat) graph_free(flat);
    free(p.from);
    return error;
}

API(CALL_CONTEXT, cudaGraphExecChildGraphNodeSetParams,
    (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
    (exec, node, child))
{
    return exec_set_child(exec, node, child);
}
