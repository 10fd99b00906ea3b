/* Streams: handles, the two default streams, creation and destruction. Calls
 * that mean a different stream by NULL in per-thread builds are in
 * per_stream/.
 */
#include "cudart/cudart.h"

#include <stdlib.h>

enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

/* Lower is sooner. The least one is the default. */
int priority_clamp(int priority)
{
    return priority > PRIORITY_LEAST      ? PRIORITY_LEAST
           : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST : priority;
}

struct rt_stream *stream_make(cudaStream_t handle, unsigned flags,
                              int priority)
{
    struct rt_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->core = stream_create(context()->device,
                            !(flags & cudaStreamNonBlocking));
    if (!s->core) {
        free(s);
        return NULL;
    }
    s->handle = handle;
    s->flags = flags;
    s->priority = priority;
    return s;
}

void stream_free(struct rt_stream *s)
{
    stream_destroy(s->core);
    free(s->tail.nodes);
    free(s);
}

/* Every host thread has a default stream of its own, a blocking one, made
 * when the thread first names it and kept for the life of the context. */
static struct rt_stream *thread_stream(void)
{
    struct thread_state *t = &thread_state;
    uint64_t number = context()->number;
    if (t->stream && t->stream_context == number) return t->stream;
    t->stream = stream_make(cudaStreamPerThread, 0, 0);
    t->stream_context = number;
    return t->stream;
}

cudaError_t stream_get(cudaStream_t handle, bool per_thread,
                       struct rt_stream **out)
{
    if (!handle) handle = per_thread ? cudaStreamPerThread : cudaStreamLegacy;
    if (handle == cudaStreamLegacy) {
        *out = context()->legacy;
        return cudaSuccess;
    }
    if (handle == cudaStreamPerThread) {
        *out = thread_stream();
        return *out ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    *out = handle_get(HANDLE_STREAM, handle);
    return *out ? cudaSuccess : handle_error(HANDLE_STREAM, handle);
}

cudaError_t synchronize_stream(struct rt_stream *s)
{
    cudaError_t error = from_status(stream_wait(s->core));
    flush_output();
    return error;
}

/* ---- creation ---------------------------------------------------------------- */

static cudaError_t create(cudaStream_t *out, unsigned flags, int priority)
{
    if (!out || flags & ~(unsigned)cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    struct rt_stream *s = stream_make(NULL, flags, priority_clamp(priority));
    if (!s) return cudaErrorMemoryAllocation;
    *out = s->handle = handle_new(HANDLE_STREAM, s);
    if (*out) return cudaSuccess;
    stream_free(s);
    return cudaErrorMemoryAllocation;
}

API(CALL_CONTEXT, cudaStreamCreate, (cudaStream_t *out), (out))
{
    return create(out, cudaStreamDefault, 0);
}

API(CALL_CONTEXT, cudaStreamCreateWithFlags,
    (cudaStream_t *out, unsigned flags), (out, flags))
{
    return create(out, flags, 0);
}

API(CALL_CONTEXT, cudaStreamCreateWithPriority,
    (cudaStream_t *out, unsigned flags, int priority), (out, flags, priority))
{
    return create(out, flags, priority);
}

API(CALL_CONTEXT, cudaStreamDestroy, (cudaStream_t handle), (handle))
{
    struct rt_stream *s = handle_take(HANDLE_STREAM, handle);
    if (!s) return handle_error(HANDLE_STREAM, handle);
    capture_abandon(s);
    stream_free(s);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceGetStreamPriorityRange,
    (int *least, int *greatest), (least, greatest))
{
    if (least) *least = PRIORITY_LEAST;
    if (greatest) *greatest = PRIORITY_GREATEST;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaCtxResetPersistingL2Cache, (void), ())
{
    return cudaSuccess; /* there is no cache to lose anything from */
}
