/* Events, without the calls that record one (per_stream/stream_calls.c). */
#include "cudart/cudart.h"

#include <stdlib.h>

cudaError_t event_get(cudaEvent_t handle, struct rt_event **out)
{
    *out = handle_get(HANDLE_EVENT, handle);
    return *out ? cudaSuccess : handle_error(HANDLE_EVENT, handle);
}

static cudaError_t create(cudaEvent_t *out, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming |
                           cudaEventInterprocess;
    if (!out || flags & ~known) return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess) {
        if (!(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
        warn_once("cudaEventInterprocess is not supported");
        return cudaErrorNotSupported;
    }
    struct rt_event *e = calloc(1, sizeof *e);
    if (!e) return cudaErrorMemoryAllocation;
    e->flags = flags;
    e->core = event_create(context()->device,
                           !(flags & cudaEventDisableTiming));
    if (e->core && (*out = handle_new(HANDLE_EVENT, e))) return cudaSuccess;
    if (e->core) event_destroy(e->core);
    free(e);
    return cudaErrorMemoryAllocation;
}

API(CALL_CONTEXT, cudaEventCreate, (cudaEvent_t *out), (out))
{
    return create(out, cudaEventDefault);
}

API(CALL_CONTEXT, cudaEventCreateWithFlags, (cudaEvent_t *out, unsigned flags),
    (out, flags))
{
    return create(out, flags);
}

API(CALL_CONTEXT, cudaEventDestroy, (cudaEvent_t handle), (handle))
{
    struct rt_event *e = handle_take(HANDLE_EVENT, handle);
    if (!e) return handle_error(HANDLE_EVENT, handle);
    event_destroy(e->core);
    free(e->captured.nodes);
    free(e);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaEventQuery, (cudaEvent_t handle), (handle))
{
    struct rt_event *e;
    cudaError_t error = event_get(handle, &e);
    if (error == cudaSuccess) error = capture_event_check(e);
    if (error != cudaSuccess) return error;
    return from_status(event_query(e->core));
}

API(CALL_CONTEXT, cudaEventSynchronize, (cudaEvent_t handle), (handle))
{
    struct rt_event *e;
    cudaError_t error = event_get(handle, &e);
    if (error == cudaSuccess) error = capture_event_check(e);
    if (error != cudaSuccess) return error;
    error = from_status(event_wait(e->core));
    flush_output();
    return error;
}

API(CALL_CONTEXT, cudaEventElapsedTime,
    (float *ms, cudaEvent_t from, cudaEvent_t to), (ms, from, to))
{
    struct rt_event *a, *b;
    if (!ms) return cudaErrorInvalidValue;
    cudaError_t error = event_get(from, &a);
    if (error == cudaSuccess) error = event_get(to, &b);
    if (error == cudaSuccess && (a->capture || b->capture))
        error = cudaErrorCapturedEvent;
    if (error != cudaSuccess) return error;
    if ((a->flags | b->flags) & cudaEventDisableTiming)
        return cudaErrorInvalidResourceHandle;
    enum status s = event_elapsed(a->core, b->core, ms);
    return s == STATUS_INVALID ? cudaErrorInvalidResourceHandle
                               : from_status(s);
}
