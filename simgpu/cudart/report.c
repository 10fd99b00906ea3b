/* Fault records for people and for programs.
 *
 * CUDA itself says nothing when a context is lost, and so does simgpu, unless
 * SIMGPU_REPORT is set: then the first fault is described
 * on stderr the way memory checkers do.
 */
#define _GNU_SOURCE /* dladdr */
#include "cudart/report.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cudart/cudart.h"
#include "simgpu.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault first;
static bool have_first;
static _Atomic bool not_repeatable;

static void describe_access(const struct fault *f)
{
    if (!f->bytes) return;
    fprintf(stderr, "=========     %s of %u bytes at 0x%" PRIx64 "\n",
            f->is_write ? "write" : "read", f->bytes, f->address);
    if (!f->near_size) return;
    uint64_t by = (uint64_t)(f->near_distance < 0 ? -f->near_distance
                                                  : f->near_distance);
    fprintf(stderr, "=========     ");
    if (f->near_distance)
        fprintf(stderr, "%" PRIu64 " bytes %s", by,
                f->near_distance < 0 ? "before" : "past the end of");
    else
        fprintf(stderr, "inside");
    fprintf(stderr, " the %sallocation of %" PRIu64 " bytes at 0x%" PRIx64
            "\n", f->near_freed ? "freed " : "", f->near_size,
            f->near_address);
}

static void describe_place(const struct launch_place *p)
{
    if (!p->launch) return;
    fprintf(stderr, "=========     node ");
    for (uint32_t i = 0; i < p->depth; i++)
        fprintf(stderr, "%s%u", i ? "." : "", p->path[i]);
    fprintf(stderr, " of a graph, kernel node %u there, launch %" PRIu64
            " of the executable graph\n", p->kernel, p->launch);
    for (uint32_t i = 0; i < p->n_calls; i++) {
        Dl_info at;
        uint64_t call = p->calls[i] - 1; /* not what follows it */
        if (!dladdr((void *)call, &at) || !at.dli_fname) continue;
        fprintf(stderr, "=========     %s %s+0x%" PRIx64 "%s%s\n",
                i ? "from" : "added at", at.dli_fname,
                call - (uint64_t)at.dli_fbase, at.dli_sname ? " in " : "",
                at.dli_sname ? at.dli_sname : "");
    }
}

static void describe(const struct fault *f)
{
    fprintf(stderr, "========= simgpu: %s (error %d) in kernel %s\n",
            fault_kind_text(f->kind), fault_kind_code(f->kind), f->kernel);
    for (uint32_t i = 0; i < f->n_frames; i++)
        fprintf(stderr, "=========     %s %s:%u%s%s\n", i ? "from" : "at",
                f->frames[i].file, f->frames[i].line,
                f->frames[i].function[0] ? " in " : "",
                f->frames[i].function);
    fprintf(stderr, "=========     %s, PTX line %u\n", f->instruction,
            f->ptx_line);
    fprintf(stderr, "=========     block (%u,%u,%u), thread (%u,%u,%u), "
            "%u lanes, launch %" PRIu64 "\n", f->block[0], f->block[1],
            f->block[2], f->thread[0], f->thread[1], f->thread[2], f->lanes,
            f->launch);
    describe_place(&f->place);
    describe_access(f);
    if (f->message[0]) fprintf(stderr, "=========     %s\n", f->message);
}

/* Keeps the record for good: a reset must not lose it. */
static void keep(const struct fault *f)
{
    pthread_mutex_lock(&lock);
    if (!have_first) {
        first = *f;
        have_first = true;
    }
    pthread_mutex_unlock(&lock);
}

void report_fault(const struct fault *f)
{
    keep(f);
    if (settings().report) describe(f);
}

static void fill_record(struct simgpuFaultRecord *r, const struct fault *f)
{
    const struct launch_place *p = &f->place;
    r->code = fault_kind_code(f->kind);
    snprintf(r->kind, sizeof r->kind, "%s", fault_kind_text(f->kind));
    snprintf(r->kernel, sizeof r->kernel, "%s", f->kernel);
    if (f->n_frames) {
        snprintf(r->file, sizeof r->file, "%s", f->frames[0].file);
        r->line = f->frames[0].line;
    }
    r->ptx_line = f->ptx_line;
    snprintf(r->instruction, sizeof r->instruction, "%s", f->instruction);
    memcpy(r->block, f->block, sizeof r->block);
    memcpy(r->thread, f->thread, sizeof r->thread);
    r->address = f->address;
    r->bytes = f->bytes;
    r->is_write = f->is_write;
    r->near_address = f->near_address;
    r->near_size = f->near_size;
    r->near_distance = f->near_distance;
    r->near_freed = f->near_freed;
    r->lanes = f->lanes;
    r->launch = f->launch;
    r->time_ns = f->time_ns;
    snprintf(r->message, sizeof r->message, "%s", f->message);
    r->graph_exec = p->exec;
    r->graph_node = p->node;
    r->graph_launch = p->launch;
    r->node_kernel = p->kernel;
    r->node_depth = p->depth;
    memcpy(r->node_path, p->path, sizeof r->node_path);
    r->n_node_calls = p->n_calls;
    memcpy(r->node_calls, p->calls, sizeof r->node_calls);
}

/* A caller of the first version has room for its fields only. */
static size_t record_size(uint32_t version)
{
    switch (version) {
    case 1: return offsetof(struct simgpuFaultRecord, graph_exec);
    case SIMGPU_FAULT_RECORD_VERSION: return sizeof(struct simgpuFaultRecord);
    default: return 0;
    }
}

__attribute__((visibility("default")))
int simgpuGetFaultRecord(struct simgpuFaultRecord *r)
{
    size_t size = r ? record_size(r->version) : 0;
    if (!size) return -1;
    struct context *c = context();
    struct fault f;
    if (c && device_fault(c->device, &f)) keep(&f);
    if (!have_first) return 0;
    pthread_mutex_lock(&lock);
    f = first;
    pthread_mutex_unlock(&lock);
    struct simgpuFaultRecord full = {.version = r->version};
    fill_record(&full, &f);
    memcpy(r, &full, size);
    return 1;
}

__attribute__((visibility("default"))) int simgpuRunNotRepeatable(void)
{
    struct context *c = context();
    if (c && device_unrepeatable(c->device)) not_repeatable = true;
    return not_repeatable;
}
