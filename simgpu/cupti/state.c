/* Connecting to the runtime, and questions that need no more than that. */
#define _GNU_SOURCE
#include "cupti/state.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local CUptiResult last;

CUptiResult result(CUptiResult code)
{
    if (code != CUPTI_SUCCESS) last = code;
    return code;
}

CUptiResult CUPTIAPI cuptiGetLastError(void)
{
    CUptiResult code = last;
    last = CUPTI_SUCCESS;
    return code;
}

/* ---- names --------------------------------------------------------------------- */

struct id { const char *function; CUpti_CallbackId id; const char *name; };
static const struct id ids[] = {
#define CBID(function, version) \
    {#function, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, \
     #function "_" #version},
#include "cupti/cbids.def"
#undef CBID
};

static int by_function(const void *key, const void *row)
{
    return strcmp(key, ((const struct id *)row)->function);
}

static CUpti_CallbackId look_up(const char *function)
{
    const struct id *i = bsearch(function, ids, sizeof ids / sizeof *ids,
                                 sizeof *ids, by_function);
    return i ? i->id : 0;
}

CUpti_CallbackId callback_id(const char *name, bool per_thread)
{
    char variant[128];
    CUpti_CallbackId id = 0;
    if (!per_thread) return look_up(name);
    snprintf(variant, sizeof variant, "%s_ptsz", name);
    id = look_up(variant);
    if (id) return id;
    snprintf(variant, sizeof variant, "%s_ptds", name);
    return look_up(variant);
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain,
                                          uint32_t id, const char **name)
{
    if (!name) return result(CUPTI_ERROR_INVALID_PARAMETER);
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API)
        return result(CUPTI_ERROR_NOT_SUPPORTED);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (ids[i].id == id) {
            *name = ids[i].name;
            return CUPTI_SUCCESS;
        }
    return result(CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult code, const char **text)
{
    if (!text) return result(CUPTI_ERROR_INVALID_PARAMETER);
    switch ((int)code) {
#define RESULT(name) case name: *text = #name; return CUPTI_SUCCESS;
#include "cupti/results.def"
#undef RESULT
    default: return result(CUPTI_ERROR_INVALID_PARAMETER);
    }
}

CUptiResult CUPTIAPI cuptiGetErrorMessage(CUptiResult code, const char **text)
{
    return cuptiGetResultString(code, text);
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
    if (!version) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

/* ---- the runtime --------------------------------------------------------------- */

static void enter(const struct tool_call *c)
{
    activity_enter(c);
    callbacks_enter(c, callback_id(c->name, c->per_thread));
}

static void leave(const struct tool_call *c)
{
    CUpti_CallbackId id = callback_id(c->name, c->per_thread);
    callbacks_leave(c, id);
    activity_leave(c, id);
}

static const struct tools_host *_Atomic connected;

const struct tools_host *host(void)
{
    static const struct tools tools = {enter, leave, activity_timing,
                                       activity_work, activity_reset};
    typedef const struct tools_host *(*attach_fn)(int, const struct tools *);
    const struct tools_host *h = atomic_load(&connected);
    if (h) return h;
    attach_fn attach = (attach_fn)dlsym(RTLD_DEFAULT, "simgpuToolsAttach");
    if (attach) h = attach(SIMGPU_TOOLS_VERSION, &tools);
    atomic_store(&connected, h);
    return h;
}

void detach(void)
{
    typedef const struct tools_host *(*attach_fn)(int, const struct tools *);
    attach_fn attach = (attach_fn)dlsym(RTLD_DEFAULT, "simgpuToolsAttach");
    if (attach) attach(SIMGPU_TOOLS_VERSION, NULL);
    atomic_store(&connected, NULL);
}

CUptiResult CUPTIAPI cuptiFinalize(void)
{
    activity_stop();
    detach();
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp) return result(CUPTI_ERROR_INVALID_PARAMETER);
    const struct tools_host *h = host();
    if (!h) return result(CUPTI_ERROR_NOT_INITIALIZED);
    *timestamp = h->now();
    return CUPTI_SUCCESS;
}

/* ---- there is one device and one context ----------------------------------------- */

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
    (void)context;
    if (!id) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *id = 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *id)
{
    (void)context;
    if (!id) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *id = 1;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream,
                                        uint8_t per_thread, uint32_t *id)
{
    (void)context;
    const struct tools_host *h = host();
    if (!id) return result(CUPTI_ERROR_INVALID_PARAMETER);
    if (!h) return result(CUPTI_ERROR_NOT_INITIALIZED);
    uint64_t found;
    if (!h->stream_id(stream, per_thread, &found))
        return result(CUPTI_ERROR_INVALID_STREAM);
    *id = (uint32_t)found;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream stream,
                                      uint32_t *id)
{
    return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult CUPTIAPI cuptiDeviceSupported(CUdevice device, int *support)
{
    if (!support) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *support = device == 0;
    return CUPTI_SUCCESS;
}

/* ---- graphs: handles are ids ------------------------------------------------------- */

/* Of 64 bits that tell handles apart the upper half counts generations; eight
 * of its bits are enough to know one from the next. */
uint32_t graph_id(uint64_t handle)
{
    return (uint32_t)handle ^ (uint32_t)(handle >> 32) << 24;
}

static CUptiResult give_graph_id(const void *handle, uint32_t *id)
{
    if (!handle || !id) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *id = graph_id((uint64_t)handle);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
    return give_graph_id(graph, id);
}

CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
    return give_graph_id(exec, id);
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
    if (!node || !id) return result(CUPTI_ERROR_INVALID_PARAMETER);
    *id = (uint64_t)node;
    return CUPTI_SUCCESS;
}
