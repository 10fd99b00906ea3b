/* Stream capture, as the rest of the layer sees it (capture.c). */
#ifndef SIMGPU_CUDART_CAPTURE_H
#define SIMGPU_CUDART_CAPTURE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

struct rt_stream;
struct rt_event;
struct work;

/* Adds w to the graph when s is capturing; *captured says so. Fails when s is
 * the legacy stream and a blocking stream is being captured. */
cudaError_t capture_work(struct rt_stream *s, const struct work *w,
                         bool *captured);
/* s is destroyed: its capture cannot end any more. */
void capture_abandon(struct rt_stream *s);
/* May this event be queried, or waited for, now? */
cudaError_t capture_event_check(struct rt_event *e, bool wait);
/* May the host wait for or ask about s now? Invalidates a capture in s. */
cudaError_t capture_stream_check(struct rt_stream *s);
/* May the caller make a call that is unsafe while someone captures (a
 * synchronising or allocating one)? */
cudaError_t capture_unsafe_call(void);
/* Stream-ordered allocation in a capturing stream: a node of the graph. */
cudaError_t capture_alloc(struct rt_stream *s, void **out, size_t size);

#endif
