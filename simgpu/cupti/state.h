/* What the files of this folder share: the connection to the runtime, and who
 * wants to be told what. */
#ifndef SIMGPU_CUPTI_STATE_H
#define SIMGPU_CUPTI_STATE_H

#include <cupti.h>
#include <stdbool.h>

#include "cudart/tools.h"

/* Remembers a failure for cuptiGetLastError and returns it. */
CUptiResult result(CUptiResult code);
/* Connects to the runtime that the process has; NULL if it is not simgpu's,
 * or none is there. */
const struct tools_host *host(void);
void detach(void);
/* Callback id of a runtime function, 0 if it has none. */
CUpti_CallbackId callback_id(const char *name, bool per_thread);

/* What records call a graph, executable or not, of that handle. */
uint32_t graph_id(uint64_t handle);

/* callbacks.c */
void callbacks_enter(const struct tool_call *c, CUpti_CallbackId id);
void callbacks_leave(const struct tool_call *c, CUpti_CallbackId id);

/* activity.c */
void activity_enter(const struct tool_call *c);
void activity_leave(const struct tool_call *c, CUpti_CallbackId id);
bool activity_timing(void);
void activity_work(const struct tool_work *w);
void activity_reset(void);
void activity_stop(void);

#endif
