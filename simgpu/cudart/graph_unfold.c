/* Children unfolded: one graph without child graphs, in which every node knows
 * its way through those there were. */
#include <stdlib.h>

#include "cudart/graph.h"

/* Puts the child's nodes between the node and its dependencies: its roots get
 * the node's dependencies, the node becomes empty and waits for its leaves. */
static bool unfold(struct graph *g, struct node *n)
{
    struct graph *c = n->child;
    struct node_set before = n->deps, leaves = {0};
    bool ok = true;
    for (uint32_t i = 0; i < c->n && ok; i++) ok = set_add(&leaves, c->nodes[i]);
    for (uint32_t i = 0; i < c->n && ok; i++) {
        struct node *m = c->nodes[i];
        for (uint32_t d = 0; d < m->deps.n; d++)
            for (uint32_t l = 0; l < leaves.n; l++)
                if (leaves.nodes[l] == m->deps.nodes[d])
                    leaves.nodes[l--] = leaves.nodes[--leaves.n];
    }
    for (uint32_t i = 0; i < c->n && ok; i++)
        if (!c->nodes[i]->deps.n) ok = set_add_all(&c->nodes[i]->deps, &before);
    if (!ok) {
        set_clear(&leaves);
        return false;
    }
    struct node **more = realloc(g->nodes, (g->n + c->n + 1) * sizeof *more);
    if (!more) {
        set_clear(&leaves);
        return false;
    }
    g->nodes = more;
    g->capacity = g->n + c->n + 1;
    for (uint32_t i = 0; i < c->n; i++) {
        c->nodes[i]->graph = g;
        place_nest(&c->nodes[i]->place, &n->place);
        g->nodes[g->n++] = c->nodes[i];
    }
    c->n = 0;
    graph_free(c);
    n->child = NULL;
    n->work.kind = WORK_EMPTY;
    if (leaves.n) {
        set_clear(&n->deps);
        n->deps = leaves;
    }
    return true;
}

static bool unfold_bodies(struct node *n)
{
    for (uint32_t b = 0; b < n->conditional->n; b++) {
        struct graph *body = n->conditional->bodies[b];
        for (uint32_t i = 0; i < body->n; i++)
            place_nest(&body->nodes[i]->place, &n->place);
        if (!graph_unfold(body)) return false;
    }
    return true;
}

bool graph_unfold(struct graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) { /* children of children come last */
        struct node *n = g->nodes[i];
        if (n->child && !unfold(g, n)) return false;
        if (n->conditional && !unfold_bodies(n)) return false;
    }
    return true;
}
