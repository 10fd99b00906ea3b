/* Where activity records go (buffers.c). */
#ifndef SIMGPU_CUPTI_BUFFERS_H
#define SIMGPU_CUPTI_BUFFERS_H

#include <cupti.h>
#include <pthread.h>

/* Held around the two calls below it, and around lists of whoever emits. */
extern pthread_mutex_t buffers_lock __attribute__((visibility("hidden")));
/* Without room for it the record is dropped, and counted. */
void buffers_emit(const void *record, size_t size);
void buffers_retire(void);

/* Gives full buffers back; lock not held. */
void buffers_hand_back(void);
/* Of a record of that kind, 0 if there are none. */
size_t record_size(CUpti_ActivityKind kind);

#endif
