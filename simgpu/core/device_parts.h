/* What the device's files share; nobody outside core/ includes this.
 *
 * One mutex, `lock`, guards the graph: commands, edges, streams, events, the
 * lists below and the recorded fault. It is held for short stretches only,
 * never while guest code, a copy or a host function runs. Blocks of a grid are
 * claimed without it. Whoever changed something that others wait for notes it
 * in the device; device_unlock() wakes them once the lock is free.
 *
 *   command.c    graph: edges, readiness, completion
 *   enqueue.c    one function a kind of command
 *   stream.c     streams, event.c events, wait.c waiting for either
 *   grid.c       a launch's blocks, transfer.c copies and fills
 *   pick.c       the next piece of work and running it, for both schedules
 *   schedule_free.c, schedule_seeded.c   who runs pieces, and when
 *   host_thread.c  host functions; output.c; heap.c
 */
#ifndef SIMGPU_CORE_DEVICE_PARTS_H
#define SIMGPU_CORE_DEVICE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/device.h"
#include "core/rng.h"

/* ---- commands ----------------------------------------------------------- */

enum command_kind {
    COMMAND_MARKER,     /* nothing; events point at it */
    COMMAND_WRITE,
    COMMAND_FREE,
    COMMAND_WAIT_VALUE,
    COMMAND_COPY,
    COMMAND_FILL,
    COMMAND_LAUNCH,
    COMMAND_HOST,
};

/* Rows of bytes, by host addresses; `done` counts bytes of a piecewise one. */
struct transfer {
    uint8_t *dst;
    const uint8_t *src;          /* copy */
    uint8_t *staging;            /* owned snapshot of the source, or NULL */
    uint64_t value;              /* fill: pattern, repeated to 8 bytes */
    size_t width, height, dst_pitch, src_pitch;
    size_t done;
};

struct grid {
    struct exec_launch launch;
    uint64_t total;              /* blocks */
    _Atomic uint64_t next;       /* first unclaimed one; may overshoot */
    uint64_t finished;           /* blocks */
    uint32_t limit;              /* of suspended blocks before new ones wait */
    bool cooperative;            /* all blocks resident before any resumes */
    int priority;                /* 0, or less: begins before the others */
    uint32_t resumed;            /* turns since a new block was let in */
    struct block **suspended;    /* ring; oldest first */
    uint32_t n_suspended, first_suspended, cap_suspended;
    uint32_t n_stuck;            /* blocks that can never end, suspended too */
    uint64_t start_ns;           /* first turn; 0 before */
    uint64_t steps;
    struct fault *assertion;     /* first failed one */
    uint64_t assertion_steps;    /* g->steps when it failed */
    struct launch_place place;
    uint8_t inline_params[256];
    uint8_t *params;             /* inline_params or allocated */
};

struct command {
    enum command_kind kind;
    _Atomic bool done;
    bool active;                 /* in device.active */
    uint32_t attached;           /* executors at work on it */
    uint32_t refs;
    uint32_t unmet;              /* edges into it from unfinished commands */
    uint32_t n_out, cap_out;
    struct command **out;        /* edges from it */
    struct command *inline_out[4];
    struct stream *stream;
    struct command *prev, *next; /* in whichever list it is */
    uint64_t done_ns;            /* markers */
    union {
        struct transfer transfer;
        struct grid grid;
        struct { void *at; uint64_t value; unsigned bytes, op; } value;
        struct { void (*fn)(void *); void *arg; bool always; } host;
        uint64_t address;        /* FREE */
    };
};

struct command_list { struct command *first, *last; uint32_t n; };

void list_append(struct command_list *l, struct command *c);
void list_remove(struct command_list *l, struct command *c);
struct command *list_pop(struct command_list *l);

/* ---- device ------------------------------------------------------------- */

struct stream {
    struct device *device;
    struct stream *next;         /* all streams of the device */
    struct command *tail;        /* referenced; NULL when all is done */
    _Atomic uint32_t queued;     /* commands not done */
    uint64_t id;
    bool blocking, legacy, destroyed;
};

struct event {
    struct device *device;
    struct command *marker;      /* referenced; NULL: never recorded */
    bool timing;
};

#define CONTEXTS 32

struct text_ring {
    char *data;
    size_t size, start, used;    /* whole records, length first */
};

struct extent { uint64_t address, bytes; bool taken; };

struct device {
    struct device_config config;
    struct memory *memory;
    struct exec_services services;
    unsigned fork_generation;    /* of the process that opened it */
    uint64_t opened_ns;

    pthread_mutex_t lock;
    unsigned wake_workers;       /* for device_unlock() */
    bool wake_waiters;
    _Atomic uint32_t work_seq;   /* futex: there is more to run */
    _Atomic uint32_t idle;       /* threads asleep on it */
    _Atomic uint32_t spinning;   /* about to, still looking */
    _Atomic uint32_t done_seq;   /* futex: a command is done */
    _Atomic uint32_t waiters;    /* threads asleep on it */
    _Atomic uint32_t threads;    /* of ours, alive */
    _Atomic uint32_t running;    /* pieces under way */

    _Atomic uint32_t stop;       /* blocks end at their next turn */
    _Atomic bool lost, closing;
    struct fault fault;

    struct stream *streams, *legacy;
    uint64_t next_stream_id, launches;
    uint32_t builtins;           /* that launched kernels call, as bits */
    struct command_list ready;   /* edges met, not looked at yet */
    struct command_list active;  /* run in pieces by executors */
    uint32_t prioritised;        /* launches in it with a priority */
    struct command_list polled;  /* wait-values that did not hold */
    struct command *spare;       /* freed commands, by next */
    /* Idle room for blocks; what it is room for is in key. */
    struct { struct block *block; struct exec_launch key; uint64_t used; }
        contexts[CONTEXTS];
    uint64_t context_clock;

    /* host functions */
    pthread_cond_t host_work;
    struct command_list host_queue;
    bool host_started;
    uint32_t host_functions;     /* queued or running, anywhere */

    /* seeded */
    pthread_mutex_t turn;        /* whoever runs a turn; before `lock` */
    struct rng rng;
    _Atomic uint64_t logical_ns;
    _Atomic uint64_t calls;      /* host calls so far, for the watchdog */
    _Atomic uint32_t inside;     /* threads in a waiting call */
    struct command *favoured;    /* compared only */
    uint64_t favour;             /* steps it stays so */
    uint64_t patience;           /* steps before a drain gives up */
    _Atomic bool unrepeatable;

    pthread_mutex_t output_lock, flush_lock;
    struct text_ring prints, assertions;

    pthread_mutex_t heap_lock;
    uint64_t heap;               /* 0 until the first malloc in a kernel */
    struct extent *extents;
    uint32_t n_extents, cap_extents;
};

void device_lock(struct device *d);
void device_unlock(struct device *d);  /* and wakes who has to know */

/* Lost, or a forked child's copy: nothing more can be done with it. */
static inline bool device_gone(const struct device *d) {
    return atomic_load_explicit(&d->lost, memory_order_acquire) ||
           device_forked(d);
}

/* Records the first fault, of launch c, and discards what is queued; lock
 * held. */
void device_lose(struct device *d, const struct fault *f, struct command *c);

/* Starts a detached thread of the device. */
bool device_thread(struct device *d, void *(*run)(void *), const char *name);

/* ---- command.c (lock held) ---------------------------------------------- */

struct command *command_create(struct device *d, enum command_kind kind);
void command_unref(struct device *d, struct command *c);
void command_edge(struct command *before, struct command *after);
/* Puts c at the end of s, after everything that s's kind orders it behind. */
void command_submit(struct device *d, struct stream *s, struct command *c);
void command_complete(struct device *d, struct command *c);
/* Deals with whatever became ready, until nothing more does. */
void device_settle(struct device *d);
void device_poll(struct device *d);
/* The stream's last command if it is not done, else NULL. */
struct command *stream_tail(struct stream *s);
void stream_unlink(struct device *d, struct stream *s); /* and frees it */
void event_set_marker(struct event *e, struct command *marker);

/* Lock not held: a marker behind `before`, if given, for e, if given. */
enum status enqueue_marker(struct stream *s, struct event *e,
                           struct command *before);
struct stream *stream_create_legacy(struct device *d);

/* ---- pieces: grid.c, transfer.c, pick.c --------------------------------- */

struct turn {
    struct command *command;
    uint64_t budget;             /* warp instructions */
    struct rng *rng;             /* seeded: one block, drawn order */
    uint64_t steps;              /* done */
    /* grids only */
    struct block *block;         /* context, or the block resumed */
    bool resumed;
    uint64_t finished;
};

/* grid.c. The first is asked and the others are called with the lock held,
 * except grid_run and transfer_run. */
bool grid_has_work(const struct command *c);
void grid_begin(struct device *d, struct turn *t);
void grid_run(struct device *d, struct turn *t);
void grid_end(struct device *d, struct turn *t);
/* Loses the device when a kernel has run for too long. */
void grid_check_time(struct device *d, struct command *c);
/* Frees what a discarded or finished launch holds. */
void grid_release(struct device *d, struct command *c);

void grid_assert_failed(void *device, const struct exec_launch *l,
                        const char *line, const struct fault *where);

void transfer_run(struct command *c, struct turn *t);

bool grid_begins(const struct command *c); /* has blocks that can begin */

bool piece_available(const struct command *c);
/* The first priority among launches whose blocks can begin; INT_MAX if all
 * have the same. Others' blocks do not begin before; what has begun goes on,
 * so that a kernel which spins cannot keep out the one it waits for. */
int piece_priority(const struct device *d);
bool piece_eligible(const struct command *c, int priority);
/* Runs a piece of t->command: lock held before and after, not in between. */
void piece_run(struct device *d, struct turn *t);

/* ---- schedules ---------------------------------------------------------- */

/* Free: one piece of anything; false: nothing to do. Takes the lock. */
bool free_help(struct device *d);
void *free_worker(void *device);
/* Something is pending that nobody announces: look again after POLL_NS. */
bool free_polling(struct device *d);
#define POLL_NS 50000
/* Looking for work this long before sleeping costs less than being woken. */
#define SPIN_NS 10000

/* Seeded: after a call has enqueued; a host call; a query that found its work
 * unfinished; one turn of anything. */
void seeded_enqueued(struct device *d);
void seeded_host_call(struct device *d);
void seeded_query(struct device *d);
bool seeded_turn(struct device *d);    /* `turn` held */
void *seeded_watchdog(void *device);

/* Called at the end of every enqueue. */
static inline void device_enqueued(struct device *d) {
    if (d->config.seeded) seeded_enqueued(d);
}

/* host_thread.c: c is ready; lock held. */
void host_submit(struct device *d, struct command *c);
void host_discard(struct device *d);   /* those that a loss cancels */

/* ---- wait.c ------------------------------------------------------------- */

/* Returns when done(arg) holds, which must read atomics only; runs work
 * meanwhile. */
void device_wait_until(struct device *d, bool (*done)(void *), void *arg);
/* Waits for a command that the caller holds a reference to. */
void device_wait_command(struct device *d, struct command *c);
bool command_is_done(void *command);
/* Until a command completes after done_seq was `seen`, or the timeout. */
void device_sleep_done(struct device *d, uint32_t seen, uint64_t timeout_ns);
/* The status that a wait returns; on a lost device only after everything that
 * was running has stopped. */
enum status device_wait_quiet(struct device *d);
/* Sleeps while *word is `seen`; timeout 0: for ever. */
void futex_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns);
void futex_wake(_Atomic uint32_t *word, int n);
static inline void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* ---- time, output, heap ------------------------------------------------- */

uint64_t real_ns(void);
uint64_t device_globaltimer(void *device);
uint64_t device_clock(void *device);

bool output_open(struct device *d);
void output_close(struct device *d);
void output_print(void *device, const char *text, size_t len);
void output_assertion(struct device *d, const char *line);

uint64_t heap_malloc(void *device, uint64_t bytes);
bool heap_free(void *device, uint64_t address);

#endif
