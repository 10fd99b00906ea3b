/* See memory.h. Freed allocations are kept: a fault's address may lie in
 * one. */
#include "harness/memory.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/catalogue.h"
#include "harness/run.h"
#include "harness/stacks.h"

#define DEPTH 6                 /* frames kept of a call stack */
#define STACK_BYTES (64 << 20)  /* a frame farther off is another thread's */

struct allocation {
    uintptr_t address;
    size_t bytes;
    const char *kind;
    bool freed;
    void *made[DEPTH], *gone[DEPTH];
    int n_made, n_gone;
};

static struct {
    pthread_mutex_t lock;
    bool on;
    char *stack_base;
    struct allocation *all;
    size_t n;
} memory = { .lock = PTHREAD_MUTEX_INITIALIZER };

void fl_memory_watch(void *stack_base)
{
    memory.on = true;
    memory.stack_base = stack_base;
}

/* Return addresses, innermost first. The frames' pointers can be followed in
 * the main thread only, whose end is known. */
static int walk(void **frame, void **out)
{
    int n = 0;
    char *base = memory.stack_base;
    do {
        void **next = frame[0];
        out[n++] = frame[1];
        if (next <= frame)
            break;
        frame = next;
    } while (n < DEPTH && (char *)frame < base
             && base - (char *)frame < STACK_BYTES);
    return n;
}

static void made(const void *address, size_t bytes, const char *kind,
                 void **frame)
{
    pthread_mutex_lock(&memory.lock);
    memory.all = fl_grow(memory.all, memory.n + 1, sizeof *memory.all);
    struct allocation *a = &memory.all[memory.n++];
    *a = (struct allocation){ .address = (uintptr_t)address, .bytes = bytes,
                              .kind = kind };
    a->n_made = walk(frame, a->made);
    pthread_mutex_unlock(&memory.lock);
}

static void gone(const void *address, void **frame)
{
    pthread_mutex_lock(&memory.lock);
    for (size_t i = memory.n; i-- > 0; ) {
        struct allocation *a = &memory.all[i];
        if (a->freed || a->address != (uintptr_t)address)
            continue;
        a->freed = true;
        a->n_gone = walk(frame, a->gone);
        break;
    }
    pthread_mutex_unlock(&memory.lock);
}

/* What the linker makes of the program's calls. A call that fails leaves no
 * trace. */
#define MAKES(call, kind, parameters, arguments) \
    cudaError_t __real_##call parameters; \
    cudaError_t __wrap_##call parameters; \
    cudaError_t __wrap_##call parameters \
    { \
        cudaError_t code = __real_##call arguments; \
        if (memory.on && !code) \
            made(*p, bytes, kind, __builtin_frame_address(0)); \
        return code; \
    }
#define FREES(call, parameters, arguments) \
    cudaError_t __real_##call parameters; \
    cudaError_t __wrap_##call parameters; \
    cudaError_t __wrap_##call parameters \
    { \
        cudaError_t code = __real_##call arguments; \
        if (memory.on && !code && p) \
            gone(p, __builtin_frame_address(0)); \
        return code; \
    }
#include "harness/memory.def"

size_t fl_memory_extent(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    size_t extent = 0;
    pthread_mutex_lock(&memory.lock);
    for (size_t i = 0; i < memory.n; i++) {
        const struct allocation *a = &memory.all[i];
        if (!a->freed && at >= a->address && at - a->address < a->bytes)
            extent = a->bytes - (at - a->address);
    }
    pthread_mutex_unlock(&memory.lock);
    return extent;
}

/* ---- telling ---- */

static void put_hex(struct fl_text *out, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    fl_json_put_string(out, key, text);
}

static void put_stack(struct fl_text *out, const char *key,
                      void *const *addresses, int n)
{
    static struct fl_frame frames[FL_MAX_NAMED];
    n = fl_name_frames(addresses, n, frames);
    fl_json_open(out, key, '[');
    for (int i = 0; i < n && i < DEPTH; i++) {
        fl_json_open(out, NULL, '{');
        fl_json_put_string(out, "function", frames[i].function);
        fl_json_put_string(out, "file", fl_source_path(frames[i].file));
        fl_json_put_integer(out, "line", frames[i].line);
        fl_json_close(out, '}');
    }
    fl_json_close(out, ']');
}

static void put_allocation(struct fl_text *out, const struct allocation *a)
{
    fl_json_open(out, NULL, '{');
    put_hex(out, "address", a->address);
    fl_json_put_integer(out, "bytes", (long long)a->bytes);
    fl_json_put_string(out, "kind", a->kind);
    put_stack(out, "made", a->made, a->n_made);
    if (a->freed)
        put_stack(out, "freed", a->gone, a->n_gone);
    fl_json_close(out, '}');
}

/* Bytes from the allocation to the address, negative before it; 0: inside. */
static int64_t distance(const struct allocation *a, uint64_t address)
{
    return address < a->address ? -(int64_t)(a->address - address)
        : address - a->address < a->bytes ? 0
        : (int64_t)(address - a->address - a->bytes + 1);
}

/* The live allocation that is nearest; a freed one only where the address is
 * in it, and the memory has not been given out again. */
static const struct allocation *nearer(const struct allocation *best,
                                       const struct allocation *a,
                                       uint64_t address)
{
    int64_t d = distance(a, address);
    if (a->freed && d)
        return best;
    return !best || llabs(d) < llabs(distance(best, address))
        || (d == 0 && best->freed) ? a : best;
}

static void put_fault(struct fl_text *out, const struct fl_device_fault *f)
{
    const struct allocation *best = NULL;
    for (size_t i = 0; i < memory.n; i++)
        best = nearer(best, &memory.all[i], f->address);
    fl_json_open(out, "fault", '{');
    put_hex(out, "address", f->address);
    fl_json_put_integer(out, "bytes", f->bytes);
    fl_json_put_string(out, "access", f->is_write ? "write" : "read");
    if (best) {
        fl_json_put_integer(out, "nearest", best - memory.all);
        fl_json_put_integer(out, "distance", distance(best, f->address));
    }
    fl_json_close(out, '}');
}

void fl_memory_json(struct fl_text *out)
{
    struct fl_device_fault f;
    pthread_mutex_lock(&memory.lock);
    fl_json_open(out, "memory", '{');
    if (fl_device_fault(&f) && f.address)
        put_fault(out, &f);
    fl_json_open(out, "allocations", '[');
    for (size_t i = 0; i < memory.n; i++)
        put_allocation(out, &memory.all[i]);
    fl_json_close(out, ']');
    fl_json_close(out, '}');
    pthread_mutex_unlock(&memory.lock);
}
