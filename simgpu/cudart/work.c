/* Work on its way into a stream: to the device, or into the graph that the
 * stream is capturing. */
#include "cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

/* Host functions must not call CUDA; the flag makes calls refuse. */
struct host_call { void (*fn)(void *); void *arg; };

static void run_host_call(void *p)
{
    struct host_call call = *(struct host_call *)p;
    free(p);
    bool outer = thread_state.in_host_function;
    thread_state.in_host_function = true;
    call.fn(call.arg);
    thread_state.in_host_function = outer;
}

static enum status run_host(struct stream *core, const struct work *w)
{
    struct host_call *call = malloc(sizeof *call);
    if (!call) return STATUS_NO_MEMORY;
    *call = (struct host_call){w->host.fn, w->host.arg};
    enum status s = enqueue_host(core, run_host_call, call, w->host.always);
    if (s != STATUS_OK) free(call);
    return s;
}

static enum status run_launch(struct stream *core, const struct work *w)
{
    struct launch_desc d = {
        .program = w->launch.kernel->program,
        .grid = {w->launch.grid.x, w->launch.grid.y, w->launch.grid.z},
        .block = {w->launch.block.x, w->launch.block.y, w->launch.block.z},
        .dynamic_shared = (uint32_t)w->launch.shared,
        .args = w->launch.args,
        .cooperative = w->launch.cooperative,
        .stack_bytes = (uint32_t)context()->limits[cudaLimitStackSize],
        .priority = w->launch.priority,
        .place = w->launch.place,
    };
    uint64_t number;
    return enqueue_launch(core, &d, &number);
}

static enum status run_copy(struct stream *core, const struct work *w)
{
    struct copy_desc plane = w->copy.plane;
    enum status s = STATUS_OK;
    for (size_t z = 0; z < w->copy.depth && s == STATUS_OK; z++) {
        s = enqueue_copy(core, &plane);
        plane.dst += w->copy.dst_slice;
        plane.src += w->copy.src_slice;
    }
    return s;
}

static enum status run_event(struct stream *core, const struct work *w)
{
    struct rt_event *e;
    if (event_get(w->event, &e) != cudaSuccess) return STATUS_INVALID;
    return w->kind == WORK_EVENT_RECORD ? event_record(e->core, core)
                                        : stream_wait_event(core, e->core);
}

static enum status run(struct stream *core, const struct work *w)
{
    switch (w->kind) {
    case WORK_EMPTY:
        return STATUS_OK;
    case WORK_LAUNCH:
        return run_launch(core, w);
    case WORK_COPY:
        return run_copy(core, w);
    case WORK_FILL:
        return enqueue_fill(core, w->fill.dst, w->fill.pitch, w->fill.value,
                            w->fill.bytes, w->fill.width, w->fill.height);
    case WORK_HOST:
        return run_host(core, w);
    case WORK_FREE:
        return enqueue_free(core, w->memory.address);
    case WORK_WRITE_VALUE:
        return enqueue_write(core, w->value.address, w->value.value,
                             w->value.bytes);
    case WORK_WAIT_VALUE:
        return enqueue_wait_value(core, w->value.address, w->value.value,
                                  w->value.bytes, w->value.op);
    case WORK_EVENT_RECORD:
    case WORK_EVENT_WAIT:
        return run_event(core, w);
    case WORK_ALLOC:
    case WORK_CHILD:
    case WORK_CONDITION:
        return STATUS_INVALID; /* exist in graphs only */
    }
    return STATUS_INVALID;
}

/* Kernels, copies and fills are timed for tools by events around them. */
enum status work_run(struct stream *core, const struct work *w)
{
    const struct tools *t = tools_watching();
    if (!t || !t->timing() ||
        (w->kind != WORK_LAUNCH && w->kind != WORK_COPY &&
         w->kind != WORK_FILL))
        return run(core, w);
    struct event *begin = event_create(context()->device, false);
    struct event *end = event_create(context()->device, false);
    enum status s = begin && end ? event_record(begin, core)
                                 : STATUS_NO_MEMORY;
    if (s == STATUS_OK) s = run(core, w);
    if (s == STATUS_OK) {
        /* Fails if the work is done already and has lost the device: the next
         * call's to report, as without a tool. */
        event_record(end, core);
        tools_work(t, core, w, begin, end);
        return s;
    }
    if (begin) event_destroy(begin);
    if (end) event_destroy(end);
    return s;
}

cudaError_t submit(struct rt_stream *s, const struct work *w)
{
    bool captured;
    cudaError_t error = capture_work(s, w, &captured);
    if (error != cudaSuccess || captured) return error;
    return from_status(work_run(s->core, w));
}
