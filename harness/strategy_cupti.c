/* The strategy `cupti-log`: what a tool sees that loads CUPTI, NVIDIA's
 * interface for profilers, and changes nothing in the program.
 *
 * A callback on every kernel launch tells its correlation id and, when the
 * launch returns, the code that nvcc's stub drops: so a refused launch is
 * known at once, a library's too, and so is the first launch that returns an
 * earlier fault. Activity records tell which kernels have ended; after an
 * error they are flushed and matched with the launches by correlation id. A
 * stream runs one kernel after the other, so of each stream the first that
 * did not end is under suspicion. A launch without any record is cleared by
 * nothing: which records survive a fault is not documented, and a GPU may
 * keep fewer than simgpu. */
#define _GNU_SOURCE
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/scenario.h"
#include "harness/strategy_hooks.h"

#define LOG_SLOTS 4096u         /* the last calls, by correlation id */
#define LOG_STREAMS 64          /* told apart after an error */
#define BUFFER_BYTES (256u << 10)

#define CUPTI_FUNCTIONS(X) \
    X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiActivityEnable) \
    X(cuptiActivityRegisterCallbacks) X(cuptiActivityFlushAll) \
    X(cuptiActivityGetNextRecord) X(cuptiGetResultString)

/* In order: the more is known, the higher. */
enum { NOTHING, UNFINISHED, ENDED };

struct entry { uint32_t correlation; unsigned launch; int known; };

static struct {
#define X(function) __typeof__(function) *function;
    CUPTI_FUNCTIONS(X)
#undef X
    unsigned launch;            /* in progress; 0: none of ours */
    cudaError_t refused;        /* the first error that it returned */
    pthread_mutex_t lock;       /* of the entries: CUPTI has own threads */
    struct entry entries[LOG_SLOTS];
    cudaStream_t stream[LOG_SLOTS];     /* by launch number */
} lib = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- what CUPTI calls ---- */

static void CUPTIAPI on_launch(void *user, CUpti_CallbackDomain domain,
                               CUpti_CallbackId id, const void *data)
{
    const CUpti_CallbackData *d = data;
    (void)user, (void)domain, (void)id;
    if (!lib.launch)
        return;
    if (d->callbackSite == CUPTI_API_EXIT) {
        if (lib.refused == cudaSuccess)
            lib.refused = *(const cudaError_t *)d->functionReturnValue;
        return;
    }
    pthread_mutex_lock(&lib.lock);
    lib.entries[d->correlationId % LOG_SLOTS] =
        (struct entry){ d->correlationId, lib.launch, NOTHING };
    pthread_mutex_unlock(&lib.lock);
}

static void CUPTIAPI lend_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most = 0;                  /* as many records as fit */
}

static void note_kernel(const CUpti_ActivityKernel10 *k)
{
    struct entry *e = &lib.entries[k->correlationId % LOG_SLOTS];
    if (e->correlation == k->correlationId && e->launch)
        e->known = k->end ? ENDED : UNFINISHED;
}

static void CUPTIAPI read_buffer(CUcontext context, uint32_t stream,
                                 uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    pthread_mutex_lock(&lib.lock);
    while (lib.cuptiActivityGetNextRecord(buffer, valid, &record)
           == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            note_kernel((const CUpti_ActivityKernel10 *)record);
    pthread_mutex_unlock(&lib.lock);
    free(buffer);
}

/* ---- getting hold of it ---- */

/* CUPTI belongs to its runtime: only the library beside the one in use will
 * do. */
static void *open_library(struct fl_trial *t)
{
    Dl_info runtime;
    char path[4096];
    void *any = dlsym(RTLD_DEFAULT, "cudaMalloc");
    if (!any || !dladdr(any, &runtime) || !runtime.dli_fname)
        fl_skip(t, "no CUPTI: the runtime's own library was not found");
    const char *name = strrchr(runtime.dli_fname, '/');
    snprintf(path, sizeof path, "%.*slibcupti.so.13",
             name ? (int)(name + 1 - runtime.dli_fname) : 0,
             runtime.dli_fname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fl_skip(t, "no CUPTI: %s", dlerror());
    return library;
}

static void load(struct fl_trial *t)
{
    void *library = open_library(t), *symbol;
#define X(function) \
    symbol = dlsym(library, #function); \
    if (!symbol) \
        fl_skip(t, "CUPTI without %s", #function); \
    memcpy(&lib.function, &symbol, sizeof symbol);
    CUPTI_FUNCTIONS(X)
#undef X
}

static void need(struct fl_trial *t, const char *what, CUptiResult code)
{
    const char *text = NULL;
    if (code == CUPTI_SUCCESS)
        return;
    lib.cuptiGetResultString(code, &text);
    fl_skip(t, "CUPTI refuses: %s: %s", what, text ? text : "?");
}

#define NEED(t, function, ...) need(t, #function, lib.function(__VA_ARGS__))

void fl_cupti_start(struct fl_trial *t)
{
    static const CUpti_CallbackId launches[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
        CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
        CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000,
    };
    CUpti_SubscriberHandle subscriber;
    load(t);
    NEED(t, cuptiSubscribe, &subscriber, on_launch, NULL);
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        NEED(t, cuptiEnableCallback, 1, subscriber,
             CUPTI_CB_DOMAIN_RUNTIME_API, launches[i]);
    NEED(t, cuptiActivityRegisterCallbacks, lend_buffer, read_buffer);
    NEED(t, cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

/* ---- the program's launches ---- */

void fl_cupti_before_launch(struct fl_trial *t)
{
    lib.launch = fl_launch_now(t);
    lib.stream[lib.launch % LOG_SLOTS] = fl_stream_now(t);
    lib.refused = cudaSuccess;
}

void fl_cupti_after_launch(struct fl_trial *t)
{
    lib.launch = 0;
    if (lib.refused != cudaSuccess)
        fl_report(t, "cudaLaunchKernel", lib.refused);
}

static int known_of(unsigned launch)
{
    int known = NOTHING;
    for (unsigned i = 0; i < LOG_SLOTS; i++)
        if (lib.entries[i].launch == launch && lib.entries[i].known > known)
            known = lib.entries[i].known;
    return known;
}

static bool *stream_flag(cudaStream_t stream, bool found[LOG_STREAMS])
{
    static cudaStream_t streams[LOG_STREAMS];
    static unsigned n;
    unsigned i = 0;
    while (i < n && streams[i] != stream)
        i++;
    if (i == n && n < LOG_STREAMS)
        streams[n++] = stream;
    return &found[i < LOG_STREAMS ? i : LOG_STREAMS - 1];
}

void fl_cupti_at_report(struct fl_trial *t)
{
    bool found[LOG_STREAMS] = { false };
    unsigned last = fl_launch_now(t);
    lib.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&lib.lock);
    for (unsigned n = last < LOG_SLOTS ? 1 : last - LOG_SLOTS + 1; n <= last;
         n++) {
        bool *past = stream_flag(lib.stream[n % LOG_SLOTS], found);
        int known = known_of(n);
        if (*past || known == ENDED || fl_is_known_good(t, n))
            continue;
        fl_name_suspect(t, n);
        *past = known == UNFINISHED;
    }
    pthread_mutex_unlock(&lib.lock);
}
