/* Fault records for people and for programs.
 *
 * CUDA itself says nothing when a context is lost, and so does simgpu, unless
 * SIMGPU_REPORT is set: then the first fault is described
 * on stderr the way memory checkers do.
 */
#include "cudart/report.h"

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

__attribute__((visibility("default")))
int simgpuGetFaultRecord(struct simgpuFaultRecord *r)
{
    if (!r || r->version != SIMGPU_FAULT_RECORD_VERSION) return -1;
    struct context *c = context();
    struct fault f;
    if (c && device_fault(c->device, &f)) keep(&f);
    if (!have_first) return 0;
    pthread_mutex_lock(&lock);
    f = first;
    pthread_mutex_unlock(&lock);

    memset(r, 0, sizeof *r);
    r->version = SIMGPU_FAULT_RECORD_VERSION;
    r->code = fault_kind_code(f.kind);
    snprintf(r->kind, sizeof r->kind, "%s", fault_kind_text(f.kind));
    snprintf(r->kernel, sizeof r->kernel, "%s", f.kernel);
    if (f.n_frames) {
        snprintf(r->file, sizeof r->file, "%s", f.frames[0].file);
        r->line = f.frames[0].line;
    }
    r->ptx_line = f.ptx_line;
    snprintf(r->instruction, sizeof r->instruction, "%s", f.instruction);
    memcpy(r->block, f.block, sizeof r->block);
    memcpy(r->thread, f.thread, sizeof r->thread);
    r->address = f.address;
    r->bytes = f.bytes;
    r->is_write = f.is_write;
    r->near_address = f.near_address;
    r->near_size = f.near_size;
    r->near_distance = f.near_distance;
    r->near_freed = f.near_freed;
    r->lanes = f.lanes;
    r->launch = f.launch;
    r->time_ns = f.time_ns;
    snprintf(r->message, sizeof r->message, "%s", f.message);
    return 1;
}

__attribute__((visibility("default"))) int simgpuRunNotRepeatable(void)
{
    struct context *c = context();
    if (c && device_unrepeatable(c->device)) not_repeatable = true;
    return not_repeatable;
}
