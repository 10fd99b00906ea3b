/* The seam between the runtime and a tools library (libcupti): what a tool is
 * told, and what it may ask. The library finds simgpuToolsAttach by name.
 */
#ifndef SIMGPU_CUDART_TOOLS_H
#define SIMGPU_CUDART_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#define SIMGPU_TOOLS_VERSION 2

struct tool_call {
    const char *name;        /* "cudaMalloc" */
    bool per_thread;         /* the _ptsz or _ptds form */
    uint32_t correlation;    /* numbers the calls of the process, from 1 */
    const void *params;      /* structure of the arguments, in order */
    int *result;             /* on leaving */
    const char *kernel;      /* mangled name of the kernel it launches */
    uint64_t *data;          /* theirs, kept from enter to leave */
};

enum tool_work_kind { TOOL_KERNEL, TOOL_COPY, TOOL_FILL };

/* Queued work and the two events around it, which are the tool's now. */
struct tool_work {
    enum tool_work_kind kind;
    uint32_t correlation;    /* of the call that queued it */
    uint64_t stream;
    void *begin, *end;
    const char *kernel;
    uint32_t grid[3], block[3], registers, shared_static, shared_dynamic,
        local;
    uint64_t graph_exec, graph_node; /* handles; 0: no graph launched it */
    uint64_t bytes;
    uint32_t value;          /* fill */
    uint8_t copy_kind;       /* cudaMemcpyKind of the two sides */
};

struct tools {
    void (*enter)(const struct tool_call *);
    void (*leave)(const struct tool_call *);
    bool (*timing)(void);    /* is work to be timed? */
    void (*work)(const struct tool_work *);
    void (*reset)(void);     /* the device goes: give back its events now */
};

struct tools_host {
    uint64_t (*now)(void);   /* ns, the clock of event times */
    bool (*event_time)(void *event, uint64_t *ns); /* false: not yet */
    void (*event_free)(void *event);
    bool (*lost)(void);      /* events behind the fault never come */
    /* Of a cudaStream_t; false: no such stream. */
    bool (*stream_id)(void *stream, bool per_thread, uint64_t *id);
};

/* NULL detaches. Returns NULL when the versions do not match. */
const struct tools_host *simgpuToolsAttach(int version,
                                           const struct tools *t);

/* ---- inside the runtime (tools.c) ---------------------------------------- */

struct call;
struct stream;
struct work;
struct event;
const struct tools *tools_watching(void);
void tools_enter(const struct tools *t, struct call *call);
void tools_leave(struct call *call, int error);
void tools_work(const struct tools *t, struct stream *core,
                const struct work *w, struct event *begin, struct event *end);

#endif
