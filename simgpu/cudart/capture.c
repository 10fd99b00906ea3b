/* Stream capture is not there yet: nothing ever captures. */
#include "cudart/cudart.h"

cudaError_t capture_work(struct rt_stream *s, const struct work *w,
                         bool *captured)
{
    (void)s, (void)w;
    *captured = false;
    return cudaSuccess;
}
void capture_abandon(struct rt_stream *s) { (void)s; }
cudaError_t capture_event_check(struct rt_event *e, bool wait)
{
    (void)e, (void)wait;
    return cudaSuccess;
}
cudaError_t capture_stream_check(struct rt_stream *s)
{
    (void)s;
    return cudaSuccess;
}
cudaError_t capture_unsafe_call(void) { return cudaSuccess; }
cudaError_t capture_alloc(struct rt_stream *s, void **out, size_t size)
{
    (void)s, (void)out, (void)size;
    return cudaErrorStreamCaptureUnsupported;
}
