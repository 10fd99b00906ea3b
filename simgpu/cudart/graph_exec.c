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

struct step {
    struct node *node;
    uint32_t lane;
    struct event *done;      /* recorded behind it when another lane waits */
};

struct exec *exec_get(cudaGraphExec_t h)
{
    return handle_get(HANDLE_GRAPH_EXEC, h);
}

/* Bodies of conditional nodes are searched as well. */
static struct node *find_node(const struct exec *e, cudaGraphNode_t node)
{
    for (uint32_t i = 0; i < e->graph->n; i++) {
        struct node *n = e->graph->nodes[i], *found = NULL;
        if (n->origin == node) return n;
        for (uint32_t b = 0; n->conditional && b < n->conditional->n; b++)
            if ((found = find_node(n->conditional->execs[b], node)))
                return found;
    }
    return NULL;
}

struct node *exec_node(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct exec *e = exec_get(exec);
    if (!e || !node_get(node)) return NULL;
    return find_node(e, node);
}

bool exec_uses_priorities(const struct exec *e)
{
    return e->flags & cudaGraphInstantiateFlagUseNodePriority;
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
        e->lanes[l] = stream_create(context()->device, false);
        if (!e->lanes[l]) return false;
    }
    return need_event(&e->ended) &&
           (e->n_lanes < 2 || need_event(&e->begun));
}

/* Bodies are queued by the device as it goes, so they must have ended. On a
 * lost device nobody can tell: they stay. */
static bool still_running(struct exec *e)
{
    if (!e->graph || !e->graph->has_conditionals || !e->ended) return false;
    return event_wait(e->ended) == STATUS_LOST;
}

void exec_free(struct exec *e)
{
    struct graph *source = graph_get(e->source);
    if (source && source->n_execs) source->n_execs--;
    if (e->handle) handle_take(HANDLE_GRAPH_EXEC, e->handle);
    if (still_running(e)) return;
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

cudaError_t exec_make(struct graph *flat, unsigned long long flags,
                      struct exec *top, struct exec **out)
{
    struct exec *e = calloc(1, sizeof *e);
    cudaError_t error = cudaErrorMemoryAllocation;
    if (!e) {
        graph_free(flat);
        return error;
    }
    e->graph = flat;
    e->flags = flags;
    e->top = top ? top : e;
    e->order = calloc(flat->n + 1, sizeof *e->order);
    e->steps = calloc(flat->n + 1, sizeof *e->steps);
    if (!e->order || !e->steps) goto fail;
    error = cudaErrorInvalidValue; /* a cycle */
    if (!graph_order(flat, e->order)) goto fail;
    error = cudaErrorMemoryAllocation;
    if (!assign_lanes(e)) goto fail;
    error = cudaSuccess;
    for (uint32_t i = 0; i < flat->n && error == cudaSuccess; i++)
        if (flat->nodes[i]->conditional)
            error = conditional_make(flat->nodes[i], e);
    if (error != cudaSuccess) goto fail;
    *out = e;
    return cudaSuccess;
fail:
    exec_free(e);
    return error;
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
    struct graph *flat = graph_copy(g, false);
    struct exec *e;
    if (!flat) return cudaErrorMemoryAllocation;
    if (!graph_unfold(flat)) {
        graph_free(flat);
        return cudaErrorMemoryAllocation;
    }
    cudaError_t error = exec_make(flat, flags, NULL, &e);
    if (error != cudaSuccess) return error;
    if (!(e->handle = handle_new(HANDLE_GRAPH_EXEC, e))) {
        exec_free(e);
        return cudaErrorMemoryAllocation;
    }
    e->source = graph;
    g->n_execs++;
    *out = e->handle;
    return cudaSuccess;
}

/* ---- launch ------------------------------------------------------------------------------- */

/* A kernel has its own priority if the executable graph was made so, else
 * that of the stream of the launch. */
static enum status run_node(struct exec *e, struct node *n,
                            struct stream *core,
                            const struct launch_target *t)
{
    struct work w = n->work;
    if (w.kind == WORK_ALLOC || w.kind == WORK_FREE) return STATUS_OK;
    if (w.kind == WORK_CONDITION)
        return conditional_run(n->conditional, core, t);
    if (w.kind == WORK_LAUNCH) {
        n->place.exec = (uint64_t)e->top->handle;
        n->place.node = (uint64_t)n->origin;
        n->place.launch = t->launch;
        w.launch.priority = exec_uses_priorities(e)
                                ? priority_clamp(w.launch.priority)
                                : t->priority;
    }
    return work_run(core, &w);
}

static enum status run_step(struct exec *e, struct step *step,
                            const struct launch_target *t)
{
    struct node *n = step->node;
    struct stream *core = step->lane ? e->lanes[step->lane] : t->core;
    enum status status = STATUS_OK;
    if (step->lane && !n->deps.n) status = stream_wait_event(core, e->begun);
    for (uint32_t d = 0; d < n->deps.n && status == STATUS_OK; d++) {
        struct step *dep = &e->steps[n->deps.nodes[d]->step];
        if (dep->lane != step->lane)
            status = stream_wait_event(core, dep->done);
    }
    if (status == STATUS_OK && n->enabled) status = run_node(e, n, core, t);
    if (status == STATUS_OK && step->done)
        status = event_record(step->done, core);
    return status;
}

/* The launch stream goes on when every lane has come to its end. */
static enum status join_lanes(struct exec *e, struct stream *core)
{
    enum status status = STATUS_OK;
    bool joined[MAX_LANES] = {true};
    for (uint32_t i = e->graph->n; i-- > 0 && status == STATUS_OK;) {
        struct step *step = &e->steps[i];
        if (joined[step->lane]) continue;
        joined[step->lane] = true;
        status = stream_wait_event(core, step->done);
    }
    return status == STATUS_OK ? event_record(e->ended, core) : status;
}

enum status exec_run(struct exec *e, const struct launch_target *t)
{
    enum status status = stream_wait_event(t->core, e->ended);
    if (status == STATUS_OK) status = conditions_reset(e->graph, t->core);
    if (status == STATUS_OK && e->begun)
        status = event_record(e->begun, t->core);
    for (uint32_t i = 0; i < e->graph->n && status == STATUS_OK; i++)
        status = run_step(e, &e->steps[i], t);
    return status == STATUS_OK ? join_lanes(e, t->core) : status;
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
    enum status status = exec_run(
        e, &(struct launch_target){s->core, s->priority, ++e->launches});
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

/* Only these can be off (CUDA 13.0 header, cudaGraphNodeSetEnabled). */
static struct node *switchable(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct node *n = exec_node(exec, node);
    return n && (n->type == cudaGraphNodeTypeKernel ||
                 n->type == cudaGraphNodeTypeMemset ||
                 n->type == cudaGraphNodeTypeMemcpy) ? n : NULL;
}

API(CALL_CONTEXT, cudaGraphNodeSetEnabled,
    (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
    (exec, node, enabled))
{
    struct node *n = switchable(exec, node);
    if (!n) return cudaErrorInvalidValue;
    n->enabled = enabled != 0;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphNodeGetEnabled,
    (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *out),
    (exec, node, out))
{
    struct node *n = switchable(exec, node);
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->enabled;
    return cudaSuccess;
}
