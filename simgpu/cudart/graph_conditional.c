/* Conditional nodes: bodies that run or not, by a value that kernels set.
 *
 * A condition is a word of device memory and its handle the word's address, so
 * that a kernel sets it by a store. What a body does cannot be queued when the
 * graph is launched. Instead the node queues a host function of the device that
 * looks at the value and queues the body in a stream of the node's own, and a
 * wait in the graph's stream until the last body has ended. Should the device
 * be lost meanwhile, functions do not run any more and waits are over.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/graph.h"

/* ---- conditions ------------------------------------------------------------------------------ */

struct condition {
    uint64_t address;
    uint32_t value;            /* at the start of a launch, if `assign` */
    bool assign, used;         /* used: a node has it */
    unsigned graphs;           /* that hold it, copies included */
    struct condition *next;
};
static struct condition *conditions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct condition *find(uint64_t handle)
{
    struct condition *c = conditions;
    while (c && c->address != handle) c = c->next;
    return c;
}

static uint64_t new_word(void)
{
    struct memory *m = context()->memory;
    uint64_t at = memory_alloc(m, sizeof(uint32_t), MEMORY_SYMBOL, 0);
    if (at) memset(memory_host(m, at), 0, sizeof(uint32_t));
    return at;
}

static bool hold(struct graph *g, uint64_t handle)
{
    uint64_t *more =
        realloc(g->conditions, (g->n_conditions + 1) * sizeof *more);
    if (!more) return false;
    g->conditions = more;
    g->conditions[g->n_conditions++] = handle;
    return true;
}

bool conditions_share(struct graph *to, const struct graph *from)
{
    bool ok = true;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < from->n_conditions && ok; i++)
        if ((ok = hold(to, from->conditions[i])))
            find(from->conditions[i])->graphs++;
    pthread_mutex_unlock(&lock);
    return ok;
}

void conditions_drop(struct graph *g)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < g->n_conditions; i++) {
        struct condition **at = &conditions, *c;
        while (*at && (*at)->address != g->conditions[i]) at = &(*at)->next;
        if (!(c = *at) || --c->graphs) continue;
        *at = c->next;
        memory_free(context()->memory, c->address, MEMORY_SYMBOL);
        free(c);
    }
    pthread_mutex_unlock(&lock);
    free(g->conditions);
    g->conditions = NULL;
    g->n_conditions = 0;
}

enum status conditions_reset(const struct graph *g, struct stream *core)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < g->n_conditions && status == STATUS_OK; i++) {
        pthread_mutex_lock(&lock);
        const struct condition *c = find(g->conditions[i]);
        bool assign = c && c->assign;
        uint32_t value = assign ? c->value : 0;
        pthread_mutex_unlock(&lock);
        if (assign)
            status = enqueue_write(core, g->conditions[i], value, 4);
    }
    return status;
}

API(CALL_CONTEXT, cudaGraphConditionalHandleCreate,
    (cudaGraphConditionalHandle *out, cudaGraph_t graph, unsigned value,
     unsigned flags), (out, graph, value, flags))
{
    struct graph *g = graph_get(graph);
    if (!out || !g || flags & ~(unsigned)cudaGraphCondAssignDefault)
        return cudaErrorInvalidValue;
    struct condition *c = calloc(1, sizeof *c);
    if (!c) return cudaErrorMemoryAllocation;
    *c = (struct condition){new_word(), value, flags != 0, false, 1, NULL};
    if (!c->address || !hold(g, c->address)) {
        if (c->address)
            memory_free(context()->memory, c->address, MEMORY_SYMBOL);
        free(c);
        return cudaErrorMemoryAllocation;
    }
    pthread_mutex_lock(&lock);
    c->next = conditions;
    conditions = c;
    pthread_mutex_unlock(&lock);
    *out = c->address;
    return cudaSuccess;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool size_fits(enum cudaGraphConditionalNodeType type, unsigned n)
{
    switch (type) {
    case cudaGraphCondTypeIf: return n == 1 || n == 2;
    case cudaGraphCondTypeWhile: return n == 1;
    case cudaGraphCondTypeSwitch: return n > 0;
    }
    return false;
}

/* A condition decides about one node. */
static bool take_condition(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct condition *c = find(handle);
    bool ok = c && !c->used;
    if (ok) c->used = true;
    pthread_mutex_unlock(&lock);
    return ok;
}

void conditional_free(struct conditional *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->bodies && c->bodies[i]) graph_free(c->bodies[i]);
        if (c->execs && c->execs[i]) exec_free(c->execs[i]);
    }
    if (c->stream) stream_destroy(c->stream);
    if (c->gate) memory_free(context()->memory, c->gate, MEMORY_SYMBOL);
    free(c->bodies);
    free(c->handles);
    free(c->execs);
    free(c);
}

static struct conditional *conditional_new(
    cudaGraphConditionalHandle handle, enum cudaGraphConditionalNodeType type,
    uint32_t n)
{
    struct conditional *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (struct conditional){.handle = handle, .type = type, .n = n};
    c->bodies = calloc(n, sizeof *c->bodies);
    c->handles = calloc(n, sizeof *c->handles);
    if (c->bodies && c->handles) return c;
    conditional_free(c);
    return NULL;
}

bool conditional_copy(struct node *to, const struct node *from)
{
    const struct conditional *f = from->conditional;
    struct conditional *c = conditional_new(f->handle, f->type, f->n);
    if (!(to->conditional = c)) return false;
    for (uint32_t i = 0; i < f->n; i++)
        if (!(c->bodies[i] = graph_copy(f->bodies[i], false))) return false;
    return true;
}

cudaError_t graph_add_conditional(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps,
                                  const cudaGraphEdgeData *data, size_t n_deps,
                                  struct cudaConditionalNodeParams *p)
{
    struct graph *g = graph_get(graph);
    struct work w = {.kind = WORK_CONDITION};
    if (!out || !g || !size_fits(p->type, p->size))
        return cudaErrorInvalidValue;
    if (!take_condition(p->handle)) return cudaErrorInvalidValue;
    struct conditional *c = conditional_new(p->handle, p->type, p->size);
    bool ok = c != NULL;
    for (uint32_t i = 0; ok && i < c->n; i++) {
        if (!(ok = (c->bodies[i] = graph_new()) != NULL)) break;
        c->bodies[i]->is_child = true;
        c->handles[i] = c->bodies[i]->handle;
    }
    struct node *n =
        ok ? node_add(g, cudaGraphNodeTypeConditional, &w) : NULL;
    if (!n) {
        if (c) conditional_free(c);
        return cudaErrorMemoryAllocation;
    }
    n->conditional = c;
    cudaError_t error = node_depend(n, deps, data, n_deps);
    if (error != cudaSuccess) return error;
    g->has_conditionals = true;
    p->phGraph_out = c->handles;
    *out = n->handle;
    return cudaSuccess;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Kernels, copies, fills and what holds them (CUDA 13.0 header,
 * cudaConditionalNodeParams). */
static bool body_allowed(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        switch (g->nodes[i]->work.kind) {
        case WORK_EMPTY: case WORK_LAUNCH: case WORK_COPY: case WORK_FILL:
        case WORK_CONDITION: break;
        default: return false;
        }
    return true;
}

cudaError_t conditional_make(struct node *n, struct exec *e)
{
    struct conditional *c = n->conditional;
    if (!(c->execs = calloc(c->n, sizeof *c->execs)) ||
        !(c->gate = new_word()) ||
        !(c->stream = stream_create(context()->device, false)))
        return cudaErrorMemoryAllocation;
    for (uint32_t i = 0; i < c->n; i++) {
        struct graph *body = c->bodies[i];
        if (!body_allowed(body)) return cudaErrorInvalidValue;
        c->bodies[i] = NULL;
        cudaError_t error = exec_make(body, e->flags, e->top, &c->execs[i]);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

struct run {
    struct conditional *c;
    struct launch_target target;
    uint32_t number;
};

static struct exec *choose(const struct conditional *c)
{
    uint32_t value;
    memcpy(&value, memory_host(context()->memory, c->handle), sizeof value);
    uint32_t body = c->type == cudaGraphCondTypeSwitch ? value : !value;
    return body < c->n ? c->execs[body] : NULL;
}

/* Runs on the device's thread for host functions, after what came before. */
static void decide(void *arg)
{
    struct run *r = arg;
    struct conditional *c = r->c;
    struct exec *body = choose(c);
    enum status status = body ? exec_run(body, &r->target) : STATUS_OK;
    if (body && status == STATUS_OK && c->type == cudaGraphCondTypeWhile) {
        status = enqueue_host(c->stream, decide, r, false);
        if (status == STATUS_OK) return;
    }
    if (status != STATUS_LOST) enqueue_write(c->stream, c->gate, r->number, 4);
    free(r);
}

enum status conditional_run(struct conditional *c, struct stream *core,
                            const struct launch_target *t)
{
    struct run *r = malloc(sizeof *r);
    if (!r) return STATUS_NO_MEMORY;
    *r = (struct run){c, *t, ++c->runs};
    r->target.core = c->stream;
    uint32_t number = r->number; /* r may be gone once it is queued */
    enum status status = enqueue_host(core, decide, r, false);
    if (status != STATUS_OK) {
        free(r);
        return status;
    }
    return enqueue_wait_value(core, c->gate, number, 4, 0);
}
