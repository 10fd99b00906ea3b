/* What is refused while somebody captures.
 *
 * Some calls conflict with a capture whatever its mode: waiting for or asking
 * about a capturing stream, an event recorded in it or the whole device, and
 * using the legacy stream beside a blocking stream that captures. Others are
 * unsafe: they may wait behind the program's back, so global and thread-local
 * captures forbid them (CUDA 13.0 header, cudaThreadExchangeStreamCaptureMode).
 * Each leaves the captures that it would disturb invalid.
 */
#include "cudart/capture_parts.h"

static bool has_blocking_stream(const struct capture *c)
{
    for (struct rt_stream *s = c->streams; s; s = s->capture_next)
        if (!(s->flags & cudaStreamNonBlocking)) return true;
    return false;
}

/* Breaks, or only reports, captures of blocking streams. */
bool capture_implicit(bool break_it)
{
    bool found = false;
    for (struct capture *c = captures; c; c = c->next)
        if (has_blocking_stream(c)) {
            found = true;
            c->broken |= break_it;
        }
    return found;
}

cudaError_t capture_legacy(struct rt_stream *s)
{
    return s->legacy && capture_implicit(true)
               ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t capture_legacy_check(struct rt_stream *s)
{
    if (capture_none()) return cudaSuccess;
    pthread_mutex_lock(&capture_lock);
    cudaError_t error = capture_legacy(s);
    pthread_mutex_unlock(&capture_lock);
    return error;
}

/* Nothing of this kind can be done in a stream that captures. */
static cudaError_t refuse(struct rt_stream *s)
{
    struct capture *c = s->capture;
    if (!c) return cudaSuccess;
    return c->broken ? cudaErrorStreamCaptureInvalidated
                     : capture_break(c, cudaErrorStreamCaptureUnsupported);
}

cudaError_t capture_refuse(struct rt_stream *s)
{
    if (capture_none()) return cudaSuccess;
    pthread_mutex_lock(&capture_lock);
    cudaError_t error = refuse(s);
    if (error == cudaSuccess) error = capture_legacy(s);
    pthread_mutex_unlock(&capture_lock);
    return error;
}

cudaError_t capture_device_check(void)
{
    if (capture_none()) return cudaSuccess;
    pthread_mutex_lock(&capture_lock);
    bool found = captures != NULL;
    for (struct capture *c = captures; c; c = c->next) c->broken = true;
    pthread_mutex_unlock(&capture_lock);
    return found ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

/* Does capture c forbid unsafe calls to the calling thread? */
static bool forbids(const struct capture *c)
{
    enum cudaStreamCaptureMode own = thread_state.capture_mode;
    if (own == cudaStreamCaptureModeRelaxed ||
        c->mode == cudaStreamCaptureModeRelaxed)
        return false;
    if (pthread_equal(c->thread, pthread_self())) return true;
    return own == cudaStreamCaptureModeGlobal &&
           c->mode == cudaStreamCaptureModeGlobal;
}

static cudaError_t unsafe(void)
{
    cudaError_t error = cudaSuccess;
    for (struct capture *c = captures; c; c = c->next)
        if (forbids(c))
            error = capture_break(c, cudaErrorStreamCaptureUnsupported);
    return error;
}

cudaError_t capture_unsafe_call(void)
{
    if (capture_none()) return cudaSuccess;
    pthread_mutex_lock(&capture_lock);
    cudaError_t error = unsafe();
    pthread_mutex_unlock(&capture_lock);
    return error;
}

cudaError_t capture_event_check(struct rt_event *e)
{
    if (!e->capture) return capture_unsafe_call();
    pthread_mutex_lock(&capture_lock);
    cudaError_t error = capture_break(capture_by_id(e->capture),
                                      cudaErrorCapturedEvent);
    pthread_mutex_unlock(&capture_lock);
    return error;
}

/* Waiting is unsafe also where it does not touch the capture itself. */
cudaError_t capture_stream_check(struct rt_stream *s)
{
    if (capture_none()) return cudaSuccess;
    pthread_mutex_lock(&capture_lock);
    cudaError_t error = refuse(s);
    if (error == cudaSuccess) error = capture_legacy(s);
    if (error == cudaSuccess) error = unsafe();
    pthread_mutex_unlock(&capture_lock);
    return error;
}
