/* Stream capture, as the rest of the layer sees it. */
#ifndef SIMGPU_CUDART_CAPTURE_H
#define SIMGPU_CUDART_CAPTURE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_stream;
struct rt_event;
struct work;
struct graph;

/* Adds w to the graph when s is capturing; *captured says so. Waiting for an
 * event of a capture makes s capture. Fails when s is the legacy stream and a
 * blocking stream is being captured. */
cudaError_t capture_work(struct rt_stream *s, const struct work *w,
                         bool *captured);
/* Stream-ordered allocation in a capturing stream: a node of the graph. */
cudaError_t capture_alloc(struct rt_stream *s, void **out, size_t size);
/* Launching a graph in a capturing stream: a child node. */
cudaError_t capture_child(struct rt_stream *s, const struct graph *g);
/* Recording or waiting for an event by a node of its own. */
cudaError_t capture_external(struct rt_stream *s, cudaEvent_t event,
                             bool record);
/* s is destroyed: its capture cannot end any more. */
void capture_abandon(struct rt_stream *s);
void captures_reset(void);

/* What is refused while somebody captures. Each returns the code and, where
 * CUDA does, invalidates the captures that the call disturbs. */

/* Querying or waiting for an event. */
cudaError_t capture_event_check(struct rt_event *e);
/* Querying or waiting for a stream, and copying blockingly in it. */
cudaError_t capture_stream_check(struct rt_stream *s);
/* Work in s, were it to become part of a capture by implicit order. */
cudaError_t capture_legacy_check(struct rt_stream *s);
/* Waiting for the device. */
cudaError_t capture_device_check(void);
/* A call that is unsafe during a capture (allocating, freeing). */
cudaError_t capture_unsafe_call(void);
/* A call that no graph can hold, in s. */
cudaError_t capture_refuse(struct rt_stream *s);

/* Does an allocation belong to a graph? Then it is free from now on. */
bool graph_memory_freed(uint64_t address);

#endif
