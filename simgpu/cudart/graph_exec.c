/* Executable graphs: children unfolded, nodes in order, spread over lanes.
 *
 * A lane is a stream. Lane 0 is the stream of the launch; the others belong to
 * the executable graph. A node goes on in the lane of a dependency that is the
 * last one there, else it starts a new lane; what crosses lanes waits by
 * events. So a chain is queued exactly as the calls it came from, and
 * independent branches may overlap. Launches of one executable graph follow
 * each other, as CUDA orders them.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/graph.h"

enum { MAX_LANES = 16 };

struct step {
    struct node *node;
    uint32_t lane;
    struct event *done;      /* recorded behind it when another lane waits */
};

struct exec {
    cudaGraphExec_t handle;
    struct graph *graph;     /* copy, children unfolded */
    cudaGraph_t source;
    unsigned long long flags;
    struct node **order;     /* sorted; node->step is its index here */
    struct step *steps;      /* one a node, in that order */
    struct stream *lanes[MAX_LANES]; /* [0] is unused */
    uint32_t n_lanes;
    struct event *begun, *ended;
    uint64_t launches;
};

static struct exec *exec_get(cudaGraphExec_t h)
{
    return handle_get(HANDLE_GRAPH_EXEC, h);
}

struct node *exec_node(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct exec *e = exec_get(exec);
    for (uint32_t i = 0; e && node && i < e->graph->n; i++)
        if (e->graph->nodes[i]->origin == node) return e->graph->nodes[i];
    return NULL;
}

/* ---- unfolding -------------------------------------------------------------------------- */

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

static bool unfold_all(struct graph *g)
{
    for (uint32_t i = 0; i < g->n; i++) /* children of children are appended */
        if (g->nodes[i]->child && !unfold(g, g->nodes[i])) return false;
    return true;
}

/* ---- lanes ------------------------------------------------------------------------------- */

static uint32_t choose_lane(struct exec *e, const struct node *n,
                            struct node **last, uint32_t *next)
{
    for (uint32_t d = 0; d < n->deps.n; d++) {
        struct node *dep = n->deps.nodes[d];
        uint32_t lane = e->steps[dep->step].lane;
        if (last[lane] == dep) return lane;
    }
    if (e->n_lanes < MAX_LANES) return e->n_lanes++;
    return (*next)++ % MAX_LANES;
}

static bool need_event(struct event **e)
{
    if (!*e) *e = event_create(context()->device, false);
    return *e != NULL;
}

static bool assign_lanes(struct exec *e)
{
    struct node *last[MAX_LANES] = {0};
    uint32_t next = 0;
    e->n_lanes = 0;
    for (uint32_t i = 0; i < e->graph->n; i++) {
        struct node *n = e->order[i];
        struct step *s = &e->steps[i];
        n->step = i;
        s->node = n;
        s->lane = choose_lane(e, n, last, &next);
        last[s->lane] = n;
        for (uint32_t d = 0; d < n->deps.n; d++) {
            struct step *dep = &e->steps[n->deps.nodes[d]->step];
            if (dep->lane != s->lane && !need_event(&dep->done)) return false;
        }
    }
    for (uint32_t l = 1; l < e->n_lanes; l++) {
        if (!need_event(&e->steps[last[l]->step].done)) return false;
        e->lanes[l] = stream_create(context()->device, false, 0);
        if (!e->lanes[l]) return false;
    }
    return need_event(&e->ended) &&
           (e->n_lanes < 2 || need_event(&e->begun));
}

static void exec_free(struct exec *e)
{
    struct graph *source = graph_get(e->source);
    if (source && source->n_execs) source->n_execs--;
    if (e->handle) handle_take(HANDLE_GRAPH_EXEC, e->handle);
    for (uint32_t l = 1; l < MAX_LANES; l++)
        if (e->lanes[l]) stream_destroy(e->lanes[l]);
    for (uint32_t i = 0; e->steps && i < e->graph->n; i++)
        if (e->steps[i].done) event_destroy(e->steps[i].done);
    if (e->begun) event_destroy(e->begun);
    if (e->ended) event_destroy(e->ended);
    if (e->graph) graph_free(e->graph);
    free(e->order);
    free(e->steps);
    free(e);
}

cudaError_t exec_instantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                             unsigned long long flags)
{
    struct graph *g = graph_get(graph);
    if (!out || !g ||
        flags & ~(unsigned long long)(cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                      cudaGraphInstantiateFlagUpload |
                                      cudaGraphInstantiateFlagDeviceLaunch |
                                      cudaGraphInstantiateFlagUseNodePriority))
        return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
        warn_once("launching graphs from the device is not supported");
        return cudaErrorNotSupported;
    }
    if (g->has_memory && g->n_execs) return cudaErrorNotSupported;
    struct exec *e = calloc(1, sizeof *e);
    if (!e) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaErrorMemoryAllocation;
    e->flags = flags;
    e->graph = graph_copy(g, false);
    if (!e->graph || !unfold_all(e->graph)) goto fail;
    e->order = calloc(e->graph->n + 1, sizeof *e->order);
    e->steps = calloc(e->graph->n + 1, sizeof *e->steps);
    if (!e->order || !e->steps) goto fail;
    error = cudaErrorInvalidValue; /* a cycle */
    if (!graph_order(e->graph, e->order)) goto fail;
    error = cudaErrorMemoryAllocation;
    if (!assign_lanes(e)) goto fail;
    if (!(e->handle = handle_new(HANDLE_GRAPH_EXEC, e))) goto fail;
    e->source = graph;
    g->n_execs++;
    *out = e->handle;
    return cudaSuccess;
fail:
    exec_free(e);
    return error;
}

/* ---- launch ------------------------------------------------------------------------------- */

static struct stream *lane_stream(const struct exec *e, uint32_t lane,
                                  const struct rt_stream *s)
{
    return lane ? e->lanes[lane] : s->core;
}

static enum status run_step(struct exec *e, struct step *step,
                            const struct rt_stream *s)
{
    struct node *n = step->node;
    struct stream *core = lane_stream(e, step->lane, s);
    enum status status = STATUS_OK;
    if (step->lane && !n->deps.n) status = stream_wait_event(core, e->begun);
    for (uint32_t d = 0; d < n->deps.n && status == STATUS_OK; d++) {
        struct step *dep = &e->steps[n->deps.nodes[d]->step];
        if (dep->lane != step->lane)
            status = stream_wait_event(core, dep->done);
    }
    n->place.exec = (uint64_t)e->handle;
    n->place.node = (uint64_t)n->origin;
    n->place.launch = e->launches;
    if (status == STATUS_OK && n->enabled && n->work.kind != WORK_ALLOC &&
        n->work.kind != WORK_FREE)
        status = work_run(core, &n->work);
    if (status == STATUS_OK && step->done)
        status = event_record(step->done, core);
    return status;
}

/* The launch stream goes on when every lane has come to its end. */
static enum status join_lanes(struct exec *e, const struct rt_stream *s)
{
    enum status status = STATUS_OK;
    bool joined[MAX_LANES] = {true};
    for (uint32_t i = e->graph->n; i-- > 0 && status == STATUS_OK;) {
        struct step *step = &e->steps[i];
        if (joined[step->lane]) continue;
        joined[step->lane] = true;
        status = stream_wait_event(s->core, step->done);
    }
    return status == STATUS_OK ? event_record(e->ended, s->core) : status;
}

cudaError_t exec_launch(cudaGraphExec_t exec, struct rt_stream *s)
{
    struct context *c = context();
    struct exec *e = exec_get(exec);
    if (!e) return cudaErrorInvalidValue;
    if (s->capture) return capture_child(s, e->graph);
    cudaError_t error = capture_legacy_check(s);
    if (error == cudaSuccess && e->graph->has_memory)
        error = graph_memory_launch(
            e->order, e->graph->n,
            e->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch);
    if (error != cudaSuccess) return error;
    flush_output();
    e->launches++;
    enum status status = stream_wait_event(s->core, e->ended);
    if (status == STATUS_OK && e->begun)
        status = event_record(e->begun, s->core);
    for (uint32_t i = 0; i < e->graph->n && status == STATUS_OK; i++)
        status = run_step(e, &e->steps[i], s);
    if (status == STATUS_OK) status = join_lanes(e, s);
    if (c->launch_blocking) return synchronize_stream(s);
    /* A node that already failed is the next call's to report. */
    return status == STATUS_LOST ? cudaSuccess : from_status(status);
}

/* ---- calls -------------------------------------------------------------------------------- */

API(CALL_CONTEXT, cudaGraphInstantiate,
    (cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags),
    (out, graph, flags))
{
    return exec_instantiate(out, graph, flags);
}

API(CALL_CONTEXT, cudaGraphInstantiateWithFlags,
    (cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags),
    (out, graph, flags))
{
    return exec_instantiate(out, graph, flags);
}

API(CALL_CONTEXT, cudaGraphExecGetFlags,
    (cudaGraphExec_t exec, unsigned long long *out), (exec, out))
{
    struct exec *e = exec_get(exec);
    if (!e || !out) return cudaErrorInvalidValue;
    *out = e->flags;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec))
{
    struct exec *e = exec_get(exec);
    if (!e) return cudaErrorInvalidValue;
    exec_free(e);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphNodeSetEnabled,
    (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
    (exec, node, enabled))
{
    struct node *n = exec_node(exec, node);
    if (!n || (n->type != cudaGraphNodeTypeKernel &&
               n->type != cudaGraphNodeTypeMemset &&
               n->type != cudaGraphNodeTypeMemcpy))
        return cudaErrorInvalidValue;
    n->enabled = enabled != 0;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphNodeGetEnabled,
    (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *out),
    (exec, node, out))
{
    struct node *n = exec_node(exec, node);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->enabled;
    return cudaSuccess;
}

/* ---- update ------------------------------------------------------------------------------- */

static enum cudaGraphExecUpdateResult compare(const struct graph *a,
                                              const struct graph *b,
                                              struct node **culprit)
{
    if (a->n != b->n) return cudaGraphExecUpdateErrorTopologyChanged;
    for (uint32_t i = 0; i < a->n; i++) {
        a->nodes[i]->mark = b->nodes[i]->mark = i;
        *culprit = b->nodes[i];
        if (a->nodes[i]->type != b->nodes[i]->type)
            return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (a->nodes[i]->deps.n != b->nodes[i]->deps.n)
            return cudaGraphExecUpdateErrorTopologyChanged;
    }
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t d = 0; d < a->nodes[i]->deps.n; d++) {
            *culprit = b->nodes[i];
            if (a->nodes[i]->deps.nodes[d]->mark !=
                b->nodes[i]->deps.nodes[d]->mark)
                return cudaGraphExecUpdateErrorTopologyChanged;
        }
    return cudaGraphExecUpdateSuccess;
}

static cudaError_t update(struct exec *e, struct graph *g,
                          cudaGraphExecUpdateResultInfo *info)
{
    struct node *culprit = NULL;
    info->result = compare(e->graph, g, &culprit);
    bool same = info->result == cudaGraphExecUpdateSuccess;
    if (!same && culprit) info->errorNode = culprit->origin;
    for (uint32_t i = 0; same && i < g->n; i++) {
        if (!node_set_work(e->graph->nodes[i], &g->nodes[i]->work))
            return cudaErrorMemoryAllocation;
        e->graph->nodes[i]->origin = g->nodes[i]->origin;
        e->graph->nodes[i]->place = g->nodes[i]->place;
    }
    return same ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
}

API(CALL_CONTEXT, cudaGraphExecUpdate,
    (cudaGraphExec_t exec, cudaGraph_t graph,
     cudaGraphExecUpdateResultInfo *info), (exec, graph, info))
{
    struct exec *e = exec_get(exec);
    struct graph *g = graph_get(graph);
    if (!e || !g || !info) return cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){0};
    if (g->has_memory || e->graph->has_memory) {
        info->result = cudaGraphExecUpdateErrorNotSupported;
        return cudaErrorGraphExecUpdateFailure;
    }
    struct graph *flat = graph_copy(g, false);
    if (!flat) return cudaErrorMemoryAllocation;
    cudaError_t error = unfold_all(flat) ? update(e, flat, info)
                                         : cudaErrorMemoryAllocation;
    graph_free(flat);
    return error;
}
