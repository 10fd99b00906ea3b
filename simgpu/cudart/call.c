/* Around every call: the context it needs, the error it reports, and the
 * last-error slot of the host thread that made it.
 *
 * Rules (CUDA 13.0 header, "Error Handling"): the slot is per host thread;
 * cudaGetLastError resets it, cudaPeekAtLastError does not; success never
 * overwrites it, and cudaErrorNotReady is not an error that it keeps. An
 * error that ruins the context is returned by every later call that needs the
 * context, in any thread, and no call clears it from the slot.
 */
#include "cudart/cudart.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/report.h"
#include "cudart/unsupported.h"

_Thread_local struct thread_state thread_state;

static _Atomic bool in_forked_child;

static void note_fork(void)
{
    if (context()) atomic_store(&in_forked_child, true);
}

__attribute__((constructor)) static void watch_fork(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

bool error_is_sticky(cudaError_t error)
{
    switch ((int)error) {
#define FAULT_KIND(name, code, text) case code:
#include "core/fault_kinds.def"
#undef FAULT_KIND
        return error != cudaSuccess;
    default:
        return false;
    }
}

/* The code of the fault that ruined the context. The first call to see it
 * also lets out what the kernels had printed. */
static cudaError_t lost_code(struct context *c)
{
    struct fault fault;
    if (!device_fault(c->device, &fault)) return cudaErrorUnknown;
    if (!atomic_exchange(&c->reported, true)) {
        device_flush_output(c->device);
        report_fault(&fault);
    }
    return (cudaError_t)fault_kind_code(fault.kind);
}

cudaError_t from_status(enum status s)
{
    switch (s) {
    case STATUS_OK: return cudaSuccess;
    case STATUS_NOT_READY: return cudaErrorNotReady;
    case STATUS_LOST: return lost_code(context());
    case STATUS_NO_MEMORY: return cudaErrorMemoryAllocation;
    case STATUS_INVALID: return cudaErrorInvalidValue;
    }
    return cudaErrorUnknown;
}

cudaError_t call_enter(struct call *call)
{
    const struct tools *t = tools_watching();
    if (t) tools_enter(t, call);
    if (thread_state.in_host_function) return cudaErrorNotPermitted;
    if (atomic_load_explicit(&in_forked_child, memory_order_relaxed))
        return cudaErrorInitializationError;
    struct context *c = context();
    if (!c) {
        if (call->flags != CALL_CONTEXT) return cudaSuccess;
        cudaError_t error = context_open();
        if (error != cudaSuccess) return error;
        c = context();
    }
    device_host_call(c->device);
    if ((call->flags & CALL_STICKY) && device_lost(c->device))
        return lost_code(c);
    return cudaSuccess;
}

cudaError_t call_leave(struct call *call, cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        thread_state.last = error;
        log_error(call->name, error);
    }
    if (call->tools) tools_leave(call, error);
    return error;
}

/* These two are not calls in the sense above: they report, record nothing,
 * and work from anywhere. */
cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
    struct context *c = context();
    if (c && !atomic_load_explicit(&in_forked_child, memory_order_relaxed))
        device_host_call(c->device);
    return thread_state.last;
}

cudaError_t CUDARTAPI cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    struct context *c = context();
    if (!error_is_sticky(error) || !c || !device_lost(c->device))
        thread_state.last = cudaSuccess;
    return error;
}

int unsupported_call(const char *name)
{
    struct call call = {.name = name, .flags = CALL_STICKY};
    cudaError_t error = call_enter(&call);
    if (error == cudaSuccess) {
        warn_once("%s is not supported", name);
        error = cudaErrorNotSupported;
    }
    return call_leave(&call, error);
}

/* ---- messages ------------------------------------------------------------ */

static void say(const char *text) { fprintf(stderr, "simgpu: %s\n", text); }

void warn(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(text);
}

void warn_once(const char *format, ...)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct said { struct said *next; char text[]; } *all;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    pthread_mutex_lock(&lock);
    struct said *s = all;
    while (s && strcmp(s->text, text)) s = s->next;
    if (!s && (s = malloc(sizeof *s + strlen(text) + 1))) {
        strcpy(s->text, text);
        s->next = all;
        all = s;
        say(text);
    }
    pthread_mutex_unlock(&lock);
}
