/* Waiting for streams, recording events in them, asking about them. */
#include "cudart/per_stream/per_stream.h"

API(CALL_CONTEXT, cudaStreamSynchronize, (cudaStream_t stream), (stream))
{
    USE_STREAM(s, stream);
    cudaError_t error = capture_stream_check(s);
    return error == cudaSuccess ? synchronize_stream(s) : error;
}

API(CALL_CONTEXT, cudaStreamQuery, (cudaStream_t stream), (stream))
{
    USE_STREAM(s, stream);
    cudaError_t error = capture_stream_check(s);
    return error == cudaSuccess ? from_status(stream_query(s->core)) : error;
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream)
{
    struct rt_event *e;
    cudaError_t error = event_get(event, &e);
    if (error != cudaSuccess) return error;
    USE_STREAM(s, stream);
    struct work w = {.kind = WORK_EVENT_RECORD, .event = event};
    return submit(s, &w);
}

static cudaError_t external(cudaEvent_t event, cudaStream_t stream,
                            bool record)
{
    struct rt_event *unused;
    cudaError_t error = event_get(event, &unused);
    if (error != cudaSuccess) return error;
    USE_STREAM(s, stream);
    return capture_external(s, event, record);
}

API(CALL_CONTEXT, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
    (event, stream))
{
    return record(event, stream);
}

API(CALL_CONTEXT, cudaEventRecordWithFlags,
    (cudaEvent_t event, cudaStream_t stream, unsigned flags),
    (event, stream, flags))
{
    if (flags & ~(unsigned)cudaEventRecordExternal)
        return cudaErrorInvalidValue;
    return flags ? external(event, stream, true) : record(event, stream);
}

API(CALL_CONTEXT, cudaStreamWaitEvent,
    (cudaStream_t stream, cudaEvent_t event, unsigned flags),
    (stream, event, flags))
{
    struct rt_event *e;
    if (flags & ~(unsigned)cudaEventWaitExternal) return cudaErrorInvalidValue;
    if (flags) return external(event, stream, false);
    cudaError_t error = event_get(event, &e);
    if (error != cudaSuccess) return error;
    USE_STREAM(s, stream);
    struct work w = {.kind = WORK_EVENT_WAIT, .event = event};
    return submit(s, &w);
}

API(CALL_CONTEXT, cudaStreamGetFlags, (cudaStream_t stream, unsigned *out),
    (stream, out))
{
    USE_STREAM(s, stream);
    if (!out) return cudaErrorInvalidValue;
    *out = s->flags;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaStreamGetPriority, (cudaStream_t stream, int *out),
    (stream, out))
{
    USE_STREAM(s, stream);
    if (!out) return cudaErrorInvalidValue;
    *out = s->priority;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaStreamGetId,
    (cudaStream_t stream, unsigned long long *out), (stream, out))
{
    USE_STREAM(s, stream);
    if (!out) return cudaErrorInvalidValue;
    *out = stream_id(s->core);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaStreamGetDevice, (cudaStream_t stream, int *out),
    (stream, out))
{
    USE_STREAM(s, stream);
    if (!out) return cudaErrorInvalidValue;
    *out = 0;
    return cudaSuccess;
}

/* Who may touch managed memory and when: here everybody, always. */
API(CALL_CONTEXT, cudaStreamAttachMemAsync,
    (cudaStream_t stream, void *p, size_t size, unsigned flags),
    (stream, p, size, flags))
{
    USE_STREAM(s, stream);
    struct allocation a;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
        flags != cudaMemAttachSingle)
        return cudaErrorInvalidValue;
    if (flags == cudaMemAttachSingle && s->legacy)
        return cudaErrorInvalidValue; /* it is no specific stream */
    if (!memory_lookup(context()->memory, (uint64_t)p, &a) ||
        a.kind != MEMORY_MANAGED || (size && size != a.size))
        return cudaErrorInvalidValue;
    return capture_refuse(s);
}

API(CALL_CONTEXT, cudaMemPrefetchAsync,
    (const void *p, size_t size, struct cudaMemLocation location,
     unsigned flags, cudaStream_t stream),
    (p, size, location, flags, stream))
{
    USE_STREAM(s, stream);
    if (flags) return cudaErrorInvalidValue;
    cudaError_t error = capture_refuse(s);
    if (error == cudaSuccess) error = managed_prefetch(p, size, &location);
    if (error != cudaSuccess) return error;
    struct work w = {.kind = WORK_EMPTY};
    return submit(s, &w);
}

/* ---- attributes ------------------------------------------------------------------ */

API(CALL_CONTEXT, cudaStreamGetAttribute,
    (cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *out),
    (stream, id, out))
{
    USE_STREAM(s, stream);
    if (!out) return cudaErrorInvalidValue;
    *out = (cudaStreamAttrValue){0};
    switch ((int)id) {
    case cudaLaunchAttributePriority:
        out->priority = s->priority;
        return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
        out->syncPolicy = cudaSyncPolicyAuto;
        return cudaSuccess;
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

/* All but the priority change speed and nothing else. */
API(CALL_CONTEXT, cudaStreamSetAttribute,
    (cudaStream_t stream, cudaStreamAttrID id,
     const cudaStreamAttrValue *value), (stream, id, value))
{
    USE_STREAM(s, stream);
    if (!value) return cudaErrorInvalidValue;
    switch ((int)id) {
    case cudaLaunchAttributePriority:
        s->priority = priority_clamp(value->priority);
        return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

API(CALL_CONTEXT, cudaStreamCopyAttributes,
    (cudaStream_t dst, cudaStream_t src), (dst, src))
{
    USE_STREAM(to, dst);
    USE_STREAM(from, src);
    to->priority = from->priority;
    return cudaSuccess;
}
