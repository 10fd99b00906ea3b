/* The activity API: records of calls and of what the device did. Work that has
 * been queued waits in a list until both events around it have completed; then
 * it becomes a record, in a buffer of the program (buffers.c).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti/buffers.h"
#include "cupti/state.h"

enum { KINDS = 64, HARVEST_AT = 512, EXTERNAL_DEPTH = 16 };

struct pending { struct tool_work work; struct pending *next; };

static struct pending *first_pending, **last_pending = &first_pending;
static size_t n_pending;
static _Atomic bool enabled[KINDS];
static _Thread_local uint64_t entered; /* time of the call under way */

/* ---- records ------------------------------------------------------------------------ */

static void emit_kernel(const struct tool_work *w, uint64_t start, uint64_t end)
{
    CUpti_ActivityKernel10 k = {
        .kind = enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]
                    ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                    : CUPTI_ACTIVITY_KIND_KERNEL,
        .registersPerThread = (uint16_t)w->registers,
        .start = start, .end = end, .completed = end,
        .contextId = 1, .streamId = (uint32_t)w->stream,
        .gridX = (int32_t)w->grid[0], .gridY = (int32_t)w->grid[1],
        .gridZ = (int32_t)w->grid[2], .blockX = (int32_t)w->block[0],
        .blockY = (int32_t)w->block[1], .blockZ = (int32_t)w->block[2],
        .staticSharedMemory = (int32_t)w->shared_static,
        .dynamicSharedMemory = (int32_t)w->shared_dynamic,
        .localMemoryPerThread = w->local,
        .correlationId = w->correlation,
        .gridId = w->correlation,
        .name = w->kernel,
        .graphId = w->graph_exec ? graph_id(w->graph_exec) : 0,
        .graphNodeId = w->graph_node,
        .clusterX = 1, .clusterY = 1, .clusterZ = 1,
    };
    buffers_emit(&k, sizeof k);
}

static void emit_copy(const struct tool_work *w, uint64_t start, uint64_t end)
{
    static const uint8_t copies[] = {
        CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
        CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD};
    bool from_host = w->copy_kind < 2, to_host = !(w->copy_kind & 1);
    CUpti_ActivityMemcpy6 m = {
        .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
        .copyKind = copies[w->copy_kind & 3],
        .srcKind = from_host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE
                             : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
        .dstKind = to_host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE
                           : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
        .bytes = w->bytes, .start = start, .end = end, .contextId = 1,
        .streamId = (uint32_t)w->stream, .correlationId = w->correlation,
        .copyCount = 1,
    };
    buffers_emit(&m, sizeof m);
}

static void emit_fill(const struct tool_work *w, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemset4 m = {
        .kind = CUPTI_ACTIVITY_KIND_MEMSET,
        .value = w->value, .bytes = w->bytes, .start = start, .end = end,
        .contextId = 1, .streamId = (uint32_t)w->stream,
        .correlationId = w->correlation,
        .memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
    };
    buffers_emit(&m, sizeof m);
}

static bool kernels_wanted(void)
{
    return enabled[CUPTI_ACTIVITY_KIND_KERNEL] ||
           enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
}

/* Work that never completed has times of zero, as CUPTI documents. */
static void emit_work(const struct tool_work *w, uint64_t start, uint64_t end)
{
    switch (w->kind) {
    case TOOL_KERNEL:
        if (kernels_wanted()) emit_kernel(w, start, end);
        break;
    case TOOL_COPY:
        if (enabled[CUPTI_ACTIVITY_KIND_MEMCPY]) emit_copy(w, start, end);
        break;
    case TOOL_FILL:
        if (enabled[CUPTI_ACTIVITY_KIND_MEMSET]) emit_fill(w, start, end);
        break;
    }
}

/* Turns completed work into records; `all`: the rest too. */
static void harvest(const struct tools_host *h, bool all)
{
    bool lost = h->lost();
    struct pending *p = first_pending, *kept = NULL, **last = &kept;
    first_pending = NULL;
    last_pending = &first_pending;
    n_pending = 0;
    while (p) {
        struct pending *next = p->next;
        uint64_t start = 0, end = 0;
        bool done = h->event_time(p->work.end, &end) &&
                    h->event_time(p->work.begin, &start);
        if (done || all || lost) {
            if (!done || (lost && !end)) start = end = 0;
            emit_work(&p->work, start, end);
            h->event_free(p->work.begin);
            h->event_free(p->work.end);
            free(p);
        } else {
            p->next = NULL;
            *last = p;
            last = &p->next;
            n_pending++;
        }
        p = next;
    }
    if (!kept) return;
    *last = first_pending; /* what was queued while a buffer was lent */
    if (!first_pending) last_pending = last;
    first_pending = kept;
}

/* ---- what the runtime tells ------------------------------------------------------------ */

bool activity_timing(void)
{
    return kernels_wanted() || enabled[CUPTI_ACTIVITY_KIND_MEMCPY] ||
           enabled[CUPTI_ACTIVITY_KIND_MEMSET];
}

void activity_work(const struct tool_work *w)
{
    struct pending *p = malloc(sizeof *p);
    if (!p) {
        host()->event_free(w->begin);
        host()->event_free(w->end);
        return;
    }
    *p = (struct pending){*w, NULL};
    pthread_mutex_lock(&buffers_lock);
    *last_pending = p;
    last_pending = &p->next;
    n_pending++;
    pthread_mutex_unlock(&buffers_lock);
}

struct external { CUpti_ExternalCorrelationKind kind; uint64_t id; };
static _Thread_local struct external external[EXTERNAL_DEPTH];
static _Thread_local unsigned n_external;

static bool any_enabled(void)
{
    return enabled[CUPTI_ACTIVITY_KIND_RUNTIME] ||
           enabled[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] ||
           enabled[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] ||
           activity_timing();
}

void activity_enter(const struct tool_call *c)
{
    if (!any_enabled()) return;
    entered = host()->now();
    if (!enabled[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] || !n_external)
        return;
    pthread_mutex_lock(&buffers_lock);
    for (unsigned i = 0; i < n_external; i++) {
        CUpti_ActivityExternalCorrelation r = {
            .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
            .externalKind = external[i].kind, .externalId = external[i].id,
            .correlationId = c->correlation};
        buffers_emit(&r, sizeof r);
    }
    pthread_mutex_unlock(&buffers_lock);
}

static CUpti_ActivitySynchronizationType sync_type(const char *name)
{
    static const struct { const char *name; int type; } rows[] = {
        {"cudaDeviceSynchronize",
         CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE},
        {"cudaStreamSynchronize",
         CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE},
        {"cudaEventSynchronize",
         CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE},
        {"cudaStreamWaitEvent",
         CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name))
            return (CUpti_ActivitySynchronizationType)rows[i].type;
    return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN;
}

static void emit_sync(const struct tool_call *c, uint64_t end)
{
    uint64_t stream = 0;
    CUpti_ActivitySynchronization2 r = {
        .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        .type = sync_type(c->name),
        .start = entered, .end = end, .correlationId = c->correlation,
        .contextId = 1, .streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
        .cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
        .returnValue = (uint32_t)*c->result,
    };
    if (r.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN) return;
    /* Both calls that name a stream have it as their first argument. */
    if ((r.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE ||
         r.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) &&
        host()->stream_id(*(void *const *)c->params, c->per_thread, &stream))
        r.streamId = (uint32_t)stream;
    buffers_emit(&r, sizeof r);
}

void activity_leave(const struct tool_call *c, CUpti_CallbackId id)
{
    if (!any_enabled()) return;
    const struct tools_host *h = host();
    uint64_t now = h->now();
    pthread_mutex_lock(&buffers_lock);
    if (enabled[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION]) emit_sync(c, now);
    if (enabled[CUPTI_ACTIVITY_KIND_RUNTIME] && id) {
        CUpti_ActivityAPI r = {
            .kind = CUPTI_ACTIVITY_KIND_RUNTIME, .cbid = id,
            .start = entered, .end = now, .processId = (uint32_t)getpid(),
            .threadId = (uint32_t)gettid(), .correlationId = c->correlation,
            .returnValue = (uint32_t)*c->result};
        buffers_emit(&r, sizeof r);
    }
    if (n_pending >= HARVEST_AT) harvest(h, false);
    pthread_mutex_unlock(&buffers_lock);
    buffers_hand_back();
}

/* The context goes, and with it the events. */
void activity_reset(void)
{
    pthread_mutex_lock(&buffers_lock);
    if (first_pending) harvest(host(), true);
    pthread_mutex_unlock(&buffers_lock);
}

void activity_stop(void)
{
    for (int i = 0; i < KINDS; i++) enabled[i] = false;
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* ---- calls ------------------------------------------------------------------------------ */

static CUptiResult enable(CUpti_ActivityKind kind, bool on)
{
    if ((unsigned)kind >= KINDS) return result(CUPTI_ERROR_INVALID_KIND);
    if (!record_size(kind)) return result(CUPTI_ERROR_NOT_SUPPORTED);
    if (!host()) return result(CUPTI_ERROR_NOT_INITIALIZED);
    enabled[kind] = on;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return enable(kind, true);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return enable(kind, false);
}

CUptiResult CUPTIAPI cuptiActivityEnableContext(CUcontext context,
                                                CUpti_ActivityKind kind)
{
    (void)context;
    return enable(kind, true);
}

CUptiResult CUPTIAPI cuptiActivityDisableContext(CUcontext context,
                                                 CUpti_ActivityKind kind)
{
    (void)context;
    return enable(kind, false);
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    const struct tools_host *h = host();
    if (!h) return result(CUPTI_ERROR_NOT_INITIALIZED);
    pthread_mutex_lock(&buffers_lock);
    harvest(h, flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    buffers_retire();
    pthread_mutex_unlock(&buffers_lock);
    buffers_hand_back();
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlush(CUcontext context, uint32_t stream,
                                        uint32_t flag)
{
    (void)context, (void)stream;
    return cuptiActivityFlushAll(flag);
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    if (n_external == EXTERNAL_DEPTH)
        return result(CUPTI_ERROR_OUT_OF_MEMORY);
    external[n_external++] = (struct external){kind, id};
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind, uint64_t *last)
{
    for (unsigned i = n_external; i-- > 0;)
        if (external[i].kind == kind) {
            if (last) *last = external[i].id;
            memmove(&external[i], &external[i + 1],
                    (--n_external - i) * sizeof *external);
            return CUPTI_SUCCESS;
        }
    return result(CUPTI_ERROR_QUEUE_EMPTY);
}
