/* What the files of this folder share: the bookkeeping around every call, the
 * context, handles, streams, modules and the work that goes into a stream.
 *
 * The layer is thin: it checks arguments as the CUDA runtime does, translates
 * handles, and passes work on to core/device.h. All sizes are bytes.
 */
#ifndef SIMGPU_CUDART_H
#define SIMGPU_CUDART_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "cudart/capture.h"
#include "cudart/tools.h"
#include "fatbin/fatbin.h"
#include "ptx/exec.h"

/* ---- calls (call.c) ----------------------------------------------------- */

enum {
    CALL_PLAIN = 0,   /* needs no context and never reports a lost one */
    CALL_STICKY = 1,  /* reports a lost context, does not make one */
    CALL_CONTEXT = 3, /* makes the context if there is none */
};
#define CALL_PER_THREAD 0 /* 1 in the _ptsz and _ptds forms */

/* One entry point: bookkeeping around a body that simply returns its code.
 *   API(CALL_CONTEXT, cudaFree, (void *p), (p)) { ... return cudaSuccess; }
 * The name stays unexpanded in #name and body_##name, so that the toolkit's
 * renaming to _ptsz forms reaches only the exported symbol. */
#define API(flags, name, params, args)                                   \
    static cudaError_t body_##name params;                               \
    cudaError_t CUDARTAPI name params                                    \
    {                                                                    \
        PACK args;                                                       \
        struct call call = {#name, flags, CALL_PER_THREAD, &packed, 0,   \
                            0, 0, 0};                                    \
        cudaError_t error = call_enter(&call);                           \
        if (error == cudaSuccess) error = body_##name args;              \
        return call_leave(&call, error);                                 \
    }                                                                    \
    static cudaError_t body_##name params

/* The arguments as a structure, which is what tools get to see. */
#define PACK(...)                                                        \
    struct { EACH(FIELD, __VA_ARGS__) } packed = {__VA_ARGS__};          \
    (void)packed
#define FIELD(a) __typeof__(a) a;
#define EACH(f, ...) __VA_OPT__(EACH_(f, __VA_ARGS__, , , , , , , , , , ))
#define EACH_(f, a, b, c, d, e, g, h, i, j, ...)                         \
    f(a) ONE(f, b) ONE(f, c) ONE(f, d) ONE(f, e) ONE(f, g) ONE(f, h)     \
    ONE(f, i) ONE(f, j)
#define ONE(f, a) ONE_(f, a)
#define ONE_(f, ...) __VA_OPT__(f(__VA_ARGS__))

struct call {
    const char *name;        /* without _ptsz and _ptds */
    unsigned flags;
    bool per_thread;
    const void *params;      /* structure of the arguments */
    const struct tools *tools; /* that were told of its beginning, or NULL */
    uint32_t correlation;
    uint64_t tool_data;      /* theirs to keep between enter and leave */
    const char *kernel;      /* that it launches, once known */
};
cudaError_t call_enter(struct call *c);
/* Records the error in the caller's last-error slot and returns it. */
cudaError_t call_leave(struct call *c, cudaError_t error);

/* What a host thread has of its own. */
struct launch_config { dim3 grid, block; size_t shared; cudaStream_t stream; };
#define MAX_PUSHED 16
struct thread_state {
    cudaError_t last;            /* the last-error slot */
    bool in_host_function;       /* no CUDA calls from there */
    unsigned n_pushed;
    struct launch_config pushed[MAX_PUSHED];
    struct rt_stream *stream;    /* per-thread default stream, or NULL */
    uint64_t stream_context;     /* context it belongs to */
    enum cudaStreamCaptureMode capture_mode;
    struct call *call;           /* the one under way, when tools watch */
};
extern _Thread_local struct thread_state thread_state
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

bool error_is_sticky(cudaError_t error);
void log_error(const char *function, cudaError_t error); /* logs.c */
cudaError_t from_status(enum status s);
/* "simgpu: ..." on stderr; warn_once says each text once in a process. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- context (context.c) ------------------------------------------------ */

enum { N_LIMITS = cudaLimitPersistingL2CacheSize + 1 };
struct context {
    struct device *device;
    struct memory *memory;
    uint64_t number;             /* 1, 2, ...: a reset makes the next one */
    bool launch_blocking;
    struct device_config config; /* settings that it was made with */
    size_t limits[N_LIMITS];     /* cudaDeviceSetLimit */
    enum cudaFuncCache cache;    /* a preference without effect */
    struct rt_stream *legacy;
    _Atomic bool reported;       /* the loss has been told (call.c) */
};
/* The current context or NULL; never NULL inside a CALL_CONTEXT body. */
struct context *context(void);
cudaError_t context_open(void);
void context_reset(void);
/* The context's settings, or those that one made now would have. */
struct device_config settings(void);
/* Those that name the device; read once. */
struct device_identity { int devices, major, minor, multiprocessors; };
const struct device_identity *identity(void);
bool setting_flag(const char *name);
unsigned device_flags(void);     /* cudaSetDeviceFlags */
/* What cudaDeviceGetLimit tells before anything is set (device.c). */
void limits_start(struct context *c);
/* Waits for everything, telling printed output; a sticky code if lost. */
cudaError_t synchronize_device(void);
/* printf and assertions that have arrived go out now. */
void flush_output(void);

/* ---- handles (handle.c) ------------------------------------------------- */

/* Handles are numbers, not addresses: a stale or foreign one is looked up and
 * refused instead of followed. */
enum handle_kind {
    HANDLE_STREAM = 1, HANDLE_EVENT, HANDLE_POOL, HANDLE_GRAPH,
    HANDLE_GRAPH_EXEC, HANDLE_GRAPH_NODE, HANDLE_LIBRARY, HANDLE_ARRAY,
    HANDLE_USER_OBJECT,
};
void *handle_new(enum handle_kind kind, void *object); /* NULL: no memory */
void *handle_get(enum handle_kind kind, const void *handle);
/* Like get, and the handle is dead from now on. */
void *handle_take(enum handle_kind kind, const void *handle);
/* What a call says of a handle that is none: 709 for one that was destroyed
 * (GenomeWorks #393, llvm #194440, hip-tests), 400 for any other. */
cudaError_t handle_error(enum handle_kind kind, const void *handle);
void handle_each(enum handle_kind kind, void (*fn)(void *object, void *ctx),
                 void *ctx);
void handle_forget_all(void);

/* ---- streams and events (stream.c, event.c) ----------------------------- */

struct capture;
struct node;
struct node_set { struct node **nodes; uint32_t n; }; /* in no order */
struct rt_stream {
    struct stream *core;
    cudaStream_t handle;         /* as the program knows it */
    unsigned flags;              /* cudaStreamNonBlocking or 0 */
    int priority;
    bool legacy;
    struct capture *capture;     /* non-NULL while it captures */
    struct node_set tail;        /* what its next captured work comes after */
    struct rt_stream *capture_next; /* stream of the same capture */
};
struct rt_event {
    struct event *core;
    unsigned flags;
    unsigned long long capture;  /* id of the capture it was last recorded in,
                                    0: in none */
    struct node_set captured;    /* what it stands for there */
};

/* NULL means the legacy or, per_thread, the calling thread's default stream;
 * cudaStreamLegacy and cudaStreamPerThread name one in either build. Fails
 * with the code of handle_error(). */
cudaError_t stream_get(cudaStream_t handle, bool per_thread,
                       struct rt_stream **out);
cudaError_t event_get(cudaEvent_t handle, struct rt_event **out);
int priority_clamp(int priority);
struct rt_stream *stream_make(cudaStream_t handle, unsigned flags,
                              int priority);
void stream_free(struct rt_stream *s);
/* Waits for the stream and tells printed output. */
cudaError_t synchronize_stream(struct rt_stream *s);

/* ---- modules (registry.c, module.c) ------------------------------------- */

struct module;
struct kernel {
    struct module *module;
    const void *host;            /* the host stub's address, or NULL */
    char *name;                  /* mangled */
    struct program *program;     /* NULL until first use in this context */
    cudaError_t error;           /* why there is no program */
    char *why;                   /* the message that went with it */
    int max_dynamic_shared;      /* cudaFuncSetAttribute; -1: not set */
    int carveout;
    struct kernel *next;
};
struct symbol {
    struct module *module;
    const void *host;            /* the host shadow's address, or NULL */
    char *name;
    size_t size;
    bool constant;
    void **managed;              /* where the host keeps a managed pointer */
    uint64_t address;            /* 0 until loaded in this context */
    struct symbol *next;
};
struct module {
    const void *wrapper;         /* of the fat binary, or NULL */
    const void *fatbin;          /* of a library: header and entries, */
    const char *text;            /* or PTX; either only while it is read */
    struct ptx_module *ptx;      /* parsed and linked once, kept for good */
    char *label;                 /* its source's name, for messages */
    struct fatbin_code cubin;    /* for what it says of kernels, or empty */
    bool parsed, loaded;         /* loaded: variables are in memory */
    cudaError_t error;
    char *why;
    struct kernel *kernels;
    struct symbol *symbols;
    struct module *next;
};

/* By host stub address or cudaKernel_t; NULL if neither. */
struct kernel *kernel_find(const void *function);
struct symbol *symbol_find(const void *host);
struct kernel *module_kernel(struct module *m, const char *name);
struct symbol *module_symbol(struct module *m, const char *name);
struct kernel *module_add_kernel(struct module *m, const void *host,
                                 const char *name);
struct symbol *module_add_symbol(struct module *m, const void *host,
                                 const char *name, size_t size);
struct module *module_new(void);
/* Its host addresses are not its own any more. */
void module_retire(struct module *m);
/* Reads what the module was made from; once. */
cudaError_t module_parse(struct module *m);
/* Parses, puts variables into device memory; once a context. */
cudaError_t module_load(struct module *m);
/* Loads the module and decodes the kernel's program; once a context. */
cudaError_t kernel_load(struct kernel *k);
/* Device address of a variable, loading its module; 13 if unknown. */
cudaError_t symbol_load(const void *host, struct symbol **out);
/* After a reset: nothing is loaded any more. */
void modules_unload(void);

/* ---- work (work.c) ------------------------------------------------------ */

/* One thing a stream does. What a stream runs now, a graph keeps for later,
 * so every call that queues work describes it like this first. */
enum work_kind {
    WORK_EMPTY, WORK_LAUNCH, WORK_COPY, WORK_FILL, WORK_HOST, WORK_FREE,
    WORK_WRITE_VALUE, WORK_WAIT_VALUE, WORK_EVENT_RECORD, WORK_EVENT_WAIT,
    WORK_ALLOC, WORK_CHILD, WORK_CONDITION,
};
struct work {
    enum work_kind kind;
    union {
        struct {
            struct kernel *kernel;
            dim3 grid, block;
            size_t shared;
            void **args;
            bool cooperative;
            int priority;     /* as asked for, lower is sooner */
            const struct launch_place *place; /* in a graph, or NULL */
        } launch;
        struct {
            struct copy_desc plane;
            size_t depth, dst_slice, src_slice; /* planes and their steps */
            enum cudaMemcpyKind kind; /* as the program gave it */
        } copy;
        struct {
            uint64_t dst;
            size_t pitch, width, height;
            uint32_t value;
            unsigned bytes;
        } fill;
        struct { void (*fn)(void *); void *arg; bool always; } host;
        struct { uint64_t address, value; unsigned bytes, op; } value;
        struct { uint64_t address, size; } memory;
        cudaEvent_t event; /* a handle: it may be destroyed before a graph */
    };
};
/* Queues it, or adds it to the graph that the stream captures. */
cudaError_t submit(struct rt_stream *s, const struct work *w);
/* Into this stream of the device, watched by tools if there are any. */
enum status work_run(struct stream *core, const struct work *w);

/* ---- launches (launch.c) ------------------------------------------------ */

/* Checks everything that can be refused before a kernel runs. */
cudaError_t launch_check(struct kernel *k, dim3 grid, dim3 block,
                         size_t shared, bool cooperative);
cudaError_t launch_kernel(struct kernel *k, dim3 grid, dim3 block, void **args,
                          size_t shared, struct rt_stream *s,
                          bool cooperative);
struct launch_options { bool cooperative; int priority; };
/* One attribute of a launch or a kernel node; those that only hint at speed
 * have no effect. */
cudaError_t launch_attribute(cudaLaunchAttributeID id,
                             const cudaLaunchAttributeValue *value,
                             struct launch_options *o);
cudaError_t launch_config(const cudaLaunchConfig_t *config, struct kernel *k,
                          void **args, struct rt_stream *s);
cudaError_t launch_host(struct rt_stream *s, cudaHostFn_t fn, void *arg);
cudaError_t launch_callback(struct rt_stream *s, cudaStreamCallback_t fn,
                            void *arg);
/* Blocks of k that one multiprocessor holds at once (kernel.c). */
int occupancy(const struct kernel *k, unsigned threads, size_t dynamic_shared);
int kernel_dynamic_limit(const struct kernel *k);

/* ---- memory (alloc.c, copy.c, pool.c) ----------------------------------- */

/* `flags` of an allocation: the cudaHostAlloc flags, and these. */
enum {
    ALLOC_FREED = 1 << 15, /* cudaFreeAsync, which its stream will reach */
    ALLOC_POOL_SHIFT = 16, /* number of the pool it came from, or 0 */
};
struct copy_request {
    void *dst;
    const void *src;
    size_t dst_pitch, src_pitch, width, height;
    enum cudaMemcpyKind kind;
    bool async;
    size_t depth, dst_slice, src_slice; /* of a box; depth 0: one plane */
};
/* Does the host wait before it queues, copy a pageable source on the way,
 * wait after? */
struct waits { bool before, staged, after; };
/* Checks a copy and describes it; nothing to copy leaves WORK_EMPTY. */
cudaError_t copy_plan(const struct copy_request *r, struct work *w,
                      struct waits *waits);
cudaError_t fill_plan(void *dst, size_t pitch, uint32_t value,
                      unsigned bytes, size_t width, size_t height,
                      struct work *w, bool *pinned);
cudaError_t copy_memory(struct rt_stream *s, const struct copy_request *r);
cudaError_t fill_memory(struct rt_stream *s, void *dst, size_t pitch,
                        int value, size_t width, size_t height, bool async);
cudaError_t pool_alloc(void **out, size_t size, cudaMemPool_t pool,
                       struct rt_stream *s);
cudaError_t pool_free(void *address, struct rt_stream *s);
void pool_returned(unsigned number, uint64_t size);
void pools_reset(void);
cudaError_t host_alloc(void **out, size_t size, unsigned flags);
/* Checks and remembers that a managed range is to go there (managed.c). */
cudaError_t managed_prefetch(const void *p, size_t size,
                             const struct cudaMemLocation *l);
void managed_forget(uint64_t address); /* it was freed; 0: all was */

#endif
