/* Telling an attached tools library of calls and work. */
#include <time.h>

#include "cudart/cudart.h"

static const struct tools *_Atomic attached;
static _Atomic uint32_t last_correlation;

const struct tools *tools_watching(void)
{
    return atomic_load_explicit(&attached, memory_order_acquire);
}

static uint64_t now(void)
{
    struct context *c = context();
    if (c) return device_time_ns(c->device);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool time_of(void *event, uint64_t *ns)
{
    return event_time(event, ns);
}

static void free_event(void *event) { event_destroy(event); }

static bool lost(void)
{
    struct context *c = context();
    return !c || device_lost(c->device);
}

static bool id_of(void *handle, bool per_thread, uint64_t *id)
{
    struct rt_stream *s;
    if (!context() ||
        stream_get((cudaStream_t)handle, per_thread, &s) != cudaSuccess)
        return false;
    *id = stream_id(s->core);
    return true;
}

__attribute__((visibility("default")))
const struct tools_host *simgpuToolsAttach(int version, const struct tools *t)
{
    static const struct tools_host host = {now, time_of, free_event, lost,
                                           id_of};
    if (version != SIMGPU_TOOLS_VERSION) return NULL;
    atomic_store_explicit(&attached, t, memory_order_release);
    return &host;
}

static struct tool_call describe(struct call *c, int *result)
{
    return (struct tool_call){c->name, c->per_thread, c->correlation,
                              c->params, result, c->kernel, &c->tool_data};
}

void tools_enter(const struct tools *t, struct call *call)
{
    call->tools = t;
    call->correlation = atomic_fetch_add(&last_correlation, 1) + 1;
    thread_state.call = call;
    struct tool_call told = describe(call, NULL);
    t->enter(&told);
}

void tools_leave(struct call *call, int error)
{
    thread_state.call = NULL;
    struct tool_call told = describe(call, &error);
    if (tools_watching() == call->tools) call->tools->leave(&told);
}

static bool on_host(uint64_t address, bool on_device)
{
    struct allocation a;
    if (!on_device) return true;
    return memory_lookup(context()->memory, address, &a) &&
           (a.kind == MEMORY_PINNED || a.kind == MEMORY_REGISTERED);
}

static uint8_t copy_kind(const struct copy_desc *p)
{
    bool from = on_host(p->src, p->src_on_device);
    bool to = on_host(p->dst, p->dst_on_device);
    return from ? to ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice
                : to ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

void tools_work(const struct tools *t, struct stream *core,
                const struct work *w, struct event *begin, struct event *end)
{
    struct tool_work told = {
        .correlation = thread_state.call ? thread_state.call->correlation : 0,
        .stream = stream_id(core), .begin = begin, .end = end};
    if (w->kind == WORK_LAUNCH) {
        const struct kernel *k = w->launch.kernel;
        told.kind = TOOL_KERNEL;
        told.kernel = k->name;
        if (w->launch.place) {
            told.graph_exec = w->launch.place->exec;
            told.graph_node = w->launch.place->node;
        }
        told.registers = k->program->regs_per_thread;
        told.shared_static = k->program->shared_static;
        told.shared_dynamic = (uint32_t)w->launch.shared;
        told.local = k->program->local_bytes;
        const dim3 *g = &w->launch.grid, *b = &w->launch.block;
        told.grid[0] = g->x, told.grid[1] = g->y, told.grid[2] = g->z;
        told.block[0] = b->x, told.block[1] = b->y, told.block[2] = b->z;
    } else if (w->kind == WORK_COPY) {
        told.kind = TOOL_COPY;
        told.bytes = w->copy.plane.width * w->copy.plane.height *
                     w->copy.depth;
        told.copy_kind = copy_kind(&w->copy.plane);
    } else {
        told.kind = TOOL_FILL;
        told.bytes = w->fill.width * w->fill.height;
        told.value = w->fill.value;
    }
    t->work(&told);
}
