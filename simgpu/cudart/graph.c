/* The structure of graphs: nodes, edges, copies, order. */
#include "cudart/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets ---------------------------------------------------------------------------- */

bool set_has(const struct node_set *s, const struct node *n)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->nodes[i] == n) return true;
    return false;
}

bool set_add(struct node_set *s, struct node *n)
{
    if (set_has(s, n)) return true;
    struct node **more = realloc(s->nodes, (s->n + 1) * sizeof *more);
    if (!more) return false;
    s->nodes = more;
    s->nodes[s->n++] = n;
    return true;
}

bool set_add_all(struct node_set *s, const struct node_set *more)
{
    for (uint32_t i = 0; i < more->n; i++)
        if (!set_add(s, more->nodes[i])) return false;
    return true;
}

void set_clear(struct node_set *s)
{
    free(s->nodes);
    *s = (struct node_set){0};
}

static void set_remove(struct node_set *s, const struct node *n)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->nodes[i] == n) s->nodes[i--] = s->nodes[--s->n];
}

/* ---- nodes --------------------------------------------------------------------------- */

struct graph *graph_get(cudaGraph_t h) { return handle_get(HANDLE_GRAPH, h); }
struct node *node_get(cudaGraphNode_t h)
{
    return handle_get(HANDLE_GRAPH_NODE, h);
}

/* A launch keeps its own copy of every parameter: pointers first, then the
 * values they point at. */
static bool keep_arguments(struct node *n)
{
    const struct program *p = n->work.launch.kernel->program;
    size_t pointers = p->n_params * sizeof(void *);
    void **args = malloc(pointers + p->param_bytes + 1);
    if (!args) return false;
    for (uint32_t i = 0; i < p->n_params; i++) {
        args[i] = (char *)args + pointers + p->params[i].offset;
        memcpy(args[i], n->work.launch.args[i], p->params[i].size);
    }
    free(n->storage);
    n->storage = args;
    n->work.launch.args = args;
    return true;
}

bool node_set_work(struct node *n, const struct work *w)
{
    struct work before = n->work;
    n->work = *w;
    if (w->kind != WORK_LAUNCH || keep_arguments(n)) return true;
    n->work = before;
    return false;
}

static struct node *node_new(struct graph *g, enum cudaGraphNodeType type,
                             const struct work *w)
{
    struct node *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->graph = g;
    n->type = type;
    n->enabled = true;
    if (node_set_work(n, w)) return n;
    free(n);
    return NULL;
}

static bool append(struct graph *g, struct node *n)
{
    if (g->n == g->capacity) {
        uint32_t capacity = g->capacity ? g->capacity * 2 : 8;
        struct node **more = realloc(g->nodes, capacity * sizeof *more);
        if (!more) return false;
        g->nodes = more;
        g->capacity = capacity;
    }
    g->nodes[g->n++] = n;
    return true;
}

static void node_free(struct node *n)
{
    if (n->work.kind == WORK_ALLOC)
        graph_memory_share(n->work.memory.address, -1);
    if (n->handle) handle_take(HANDLE_GRAPH_NODE, n->handle);
    if (n->child) graph_free(n->child);
    set_clear(&n->deps);
    free(n->storage);
    free(n);
}

struct node *node_add(struct graph *g, enum cudaGraphNodeType type,
                      const struct work *w)
{
    struct node *n = node_new(g, type, w);
    if (!n) return NULL;
    n->handle = handle_new(HANDLE_GRAPH_NODE, n);
    if (n->handle && append(g, n)) return n;
    node_free(n);
    return NULL;
}

cudaError_t node_depend(struct node *n, const cudaGraphNode_t *deps,
                        size_t n_deps)
{
    cudaError_t error = n_deps && !deps ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t i = 0; i < n_deps && error == cudaSuccess; i++) {
        struct node *d = node_get(deps[i]);
        if (!d || d->graph != n->graph || d == n || set_has(&n->deps, d))
            error = cudaErrorInvalidValue;
        else if (!set_add(&n->deps, d))
            error = cudaErrorMemoryAllocation;
    }
    if (error != cudaSuccess) {
        n->graph->n--;
        node_free(n);
    }
    return error;
}

/* ---- graphs -------------------------------------------------------------------------- */

struct graph *graph_new(void)
{
    struct graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->handle = handle_new(HANDLE_GRAPH, g);
    if (g->handle) return g;
    free(g);
    return NULL;
}

void graph_free(struct graph *g)
{
    if (g->handle) handle_take(HANDLE_GRAPH, g->handle);
    for (uint32_t i = 0; i < g->n; i++) node_free(g->nodes[i]);
    user_refs_release(g->users);
    free(g->nodes);
    free(g);
}

static bool copy_node(struct graph *to, const struct node *n, bool handles)
{
    struct node *c = handles ? node_add(to, n->type, &n->work)
                             : node_new(to, n->type, &n->work);
    if (!c) return false;
    if (!handles && !append(to, c)) {
        node_free(c);
        return false;
    }
    c->origin = n->handle ? n->handle : n->origin;
    c->given = n->given;
    c->enabled = n->enabled;
    if (n->work.kind == WORK_ALLOC)
        graph_memory_share(n->work.memory.address, 1);
    if (n->child && !(c->child = graph_copy(n->child, handles))) return false;
    if (c->child) c->child->is_child = true;
    return true;
}

struct graph *graph_copy(const struct graph *g, bool handles)
{
    struct graph *to = handles ? graph_new() : calloc(1, sizeof *to);
    if (!to) return NULL;
    for (uint32_t i = 0; i < g->n; i++) {
        g->nodes[i]->mark = i;
        if (!copy_node(to, g->nodes[i], handles)) goto fail;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const struct node_set *deps = &g->nodes[i]->deps;
        for (uint32_t d = 0; d < deps->n; d++)
            if (!set_add(&to->nodes[i]->deps, to->nodes[deps->nodes[d]->mark]))
                goto fail;
    }
    to->has_memory = g->has_memory;
    to->users = user_refs_copy(g->users);
    return to;
fail:
    graph_free(to);
    return NULL;
}

/* ---- order --------------------------------------------------------------------------- */

enum { UNSEEN, OPEN, DONE };

static bool visit(struct node *n, struct node **order, uint32_t *at)
{
    if (n->mark == DONE) return true;
    if (n->mark == OPEN) return false;
    n->mark = OPEN;
    for (uint32_t i = 0; i < n->deps.n; i++)
        if (!visit(n->deps.nodes[i], order, at)) return false;
    n->mark = DONE;
    order[(*at)++] = n;
    return true;
}

bool graph_order(const struct graph *g, struct node **order)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < g->n; i++) g->nodes[i]->mark = UNSEEN;
    for (uint32_t i = 0; i < g->n; i++)
        if (!visit(g->nodes[i], order, &at)) return false;
    return true;
}

static void mark_ancestors(struct node *n)
{
    if (n->mark) return;
    n->mark = 1;
    for (uint32_t i = 0; i < n->deps.n; i++) mark_ancestors(n->deps.nodes[i]);
}

bool graph_reaches(const struct graph *g, const struct node_set *from,
                   const struct node_set *nodes)
{
    for (uint32_t i = 0; i < g->n; i++) g->nodes[i]->mark = 0;
    for (uint32_t i = 0; i < from->n; i++) mark_ancestors(from->nodes[i]);
    for (uint32_t i = 0; i < nodes->n; i++)
        if (!nodes->nodes[i]->mark) return false;
    return true;
}

/* ---- calls --------------------------------------------------------------------------- */

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
