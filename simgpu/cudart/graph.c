/* What a graph is made of: nodes, their sets, copies, order. */
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

void set_remove(struct node_set *s, const struct node *n)
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
    if (w->kind != WORK_LAUNCH) return true;
    n->work.launch.place = &n->place;
    if (keep_arguments(n)) return true;
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

/* A number is never given twice in a graph, so it names the node for good. */
static void number(struct graph *g, struct node *n)
{
    n->place.depth = 1;
    n->place.path[0] = ++g->numbered;
    if (n->type == cudaGraphNodeTypeKernel)
        n->place.kernel = ++g->kernels;
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
    number(g, n);
    return true;
}

void node_free(struct node *n)
{
    if (n->work.kind == WORK_ALLOC)
        graph_memory_share(n->work.memory.address, -1);
    if (n->handle) handle_take(HANDLE_GRAPH_NODE, n->handle);
    if (n->child) graph_free(n->child);
    if (n->conditional) conditional_free(n->conditional);
    set_clear(&n->deps);
    free(n->data);
    free(n->attributes);
    free(n->storage);
    free(n);
}

static struct node *insert(struct graph *g, enum cudaGraphNodeType type,
                           const struct work *w)
{
    struct node *n = node_new(g, type, w);
    if (!n) return NULL;
    n->handle = handle_new(HANDLE_GRAPH_NODE, n);
    if (n->handle && append(g, n)) return n;
    node_free(n);
    return NULL;
}

struct node *node_add(struct graph *g, enum cudaGraphNodeType type,
                      const struct work *w)
{
    struct node *n = insert(g, type, w);
    if (n && type == cudaGraphNodeTypeKernel) place_note_calls(&n->place);
    return n;
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
    conditions_drop(g);
    free(g->nodes);
    free(g);
}

static bool copy_node(struct graph *to, const struct node *n, bool handles)
{
    struct node *c = handles ? insert(to, n->type, &n->work)
                             : node_new(to, n->type, &n->work);
    if (!c) return false;
    if (!handles && !append(to, c)) {
        node_free(c);
        return false;
    }
    c->origin = n->handle ? n->handle : n->origin;
    struct launch_place own = c->place;
    c->place = n->place;
    if (!n->handle) { /* unfolded, so numbered anew */
        c->place.depth = own.depth;
        c->place.path[0] = own.path[0];
        c->place.kernel = own.kernel;
    }
    c->given = n->given;
    if (node_copy_attributes(c, n) != cudaSuccess) return false;
    c->enabled = n->enabled;
    if (n->work.kind == WORK_ALLOC)
        graph_memory_share(n->work.memory.address, 1);
    if (n->child && !(c->child = graph_copy(n->child, handles))) return false;
    if (c->child) c->child->is_child = true;
    return !n->conditional || conditional_copy(c, n);
}

static bool copy_edge(struct graph *to, uint32_t i, const struct node *n,
                      const struct node *dep)
{
    cudaGraphEdgeData data = edge_data(dep, n);
    return edge_add(to->nodes[dep->mark], to->nodes[i], &data) == cudaSuccess;
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
            if (!copy_edge(to, i, g->nodes[i], deps->nodes[d])) goto fail;
    }
    if (!conditions_share(to, g)) goto fail;
    to->has_memory = g->has_memory;
    to->has_conditionals = g->has_conditionals;
    if (g->handle) {
        to->numbered = g->numbered;
        to->kernels = g->kernels;
    }
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
