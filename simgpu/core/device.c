/* The device itself: opening and closing, its threads, its clocks, and being
 * lost. */
#define _GNU_SOURCE /* pthread_setname_np */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/device_parts.h"

/* ---- fork ---------------------------------------------------------------- */

static _Atomic unsigned fork_generation;

static void forked(void) { atomic_fetch_add(&fork_generation, 1); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }

bool device_forked(const struct device *d) {
    return d->fork_generation !=
           atomic_load_explicit(&fork_generation, memory_order_relaxed);
}

/* ---- time ---------------------------------------------------------------- */

uint64_t real_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t device_time_ns(const struct device *d) {
    return d->config.seeded ? atomic_load(&d->logical_ns) : real_ns();
}

/* A kernel that waits for a time must see it pass within its turn. */
#define READ_NS 32

static uint64_t read_clock(struct device *d) {
    if (d->config.seeded) return atomic_fetch_add(&d->logical_ns, READ_NS);
    return real_ns();
}

static uint64_t distorted(const struct device *d, uint64_t now) {
    const struct device_config *c = &d->config;
    double drift = (double)(int64_t)(now - d->opened_ns) * c->timer_ppm / 1e6;
    uint64_t t = now + (uint64_t)c->timer_offset_ns + (uint64_t)(int64_t)drift;
    return c->timer_granularity_ns > 1 ? t - t % c->timer_granularity_ns : t;
}

uint64_t device_globaltimer(void *device) {
    return distorted(device, read_clock(device));
}

uint64_t device_clock(void *device) {
    return read_clock(device) * (DEVICE_CLOCK_KHZ / 1000) / 1000;
}

/* ---- lock and threads ---------------------------------------------------- */

void device_lock(struct device *d) { pthread_mutex_lock(&d->lock); }

void device_unlock(struct device *d) {
    unsigned workers = d->wake_workers;
    bool waiters = d->wake_waiters;
    d->wake_workers = 0;
    d->wake_waiters = false;
    pthread_mutex_unlock(&d->lock);
    if (workers) {
        atomic_fetch_add(&d->work_seq, 1);
        unsigned awake = atomic_load(&d->spinning);
        if (workers > awake && atomic_load(&d->idle))
            futex_wake(&d->work_seq, (int)(workers - awake));
    }
    if (waiters) {
        atomic_fetch_add(&d->done_seq, 1);
        if (atomic_load(&d->waiters)) futex_wake(&d->done_seq, INT_MAX);
    }
}

struct start { struct device *device; void *(*run)(void *); const char *name; };

static void *thread_main(void *arg) {
    struct start start = *(struct start *)arg;
    free(arg);
    pthread_setname_np(pthread_self(), start.name);
    start.run(start.device);
    atomic_fetch_sub(&start.device->threads, 1);
    return NULL;
}

/* Detached, since exit() must not wait for a kernel that does not end; without
 * signals, which are for the program's own threads. */
bool device_thread(struct device *d, void *(*run)(void *), const char *name) {
    struct start *start = malloc(sizeof *start);
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t thread;
    if (!start) return false;
    *start = (struct start){ d, run, name };
    atomic_fetch_add(&d->threads, 1);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = !pthread_create(&thread, &attr, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (!ok) {
        atomic_fetch_sub(&d->threads, 1);
        free(start);
    }
    return ok;
}

/* ---- opening and closing ------------------------------------------------- */

static void init_services(struct device *d) {
    d->services = (struct exec_services){
        .memory = d->memory,
        .globaltimer = device_globaltimer,
        .clock = device_clock,
        .print = output_print,
        .assert_failed = grid_assert_failed,
        .device_malloc = heap_malloc,
        .device_free = heap_free,
        .ctx = d,
    };
}

static bool start_threads(struct device *d) {
    if (d->config.seeded)
        return device_thread(d, seeded_watchdog, "simgpu-watchdog");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!d->config.workers)
        /* At least two: streams overlap even where there is one core. */
        d->config.workers = cores > 2 ? (unsigned)cores : 2;
    for (unsigned i = 0; i < d->config.workers; i++)
        if (!device_thread(d, free_worker, "simgpu-worker")) return i > 0;
    return true;
}

struct device *device_open(const struct device_config *c) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct device *d = calloc(1, sizeof *d);
    pthread_once(&once, watch_forks);
    if (!d) return NULL;
    d->config = *c;
    d->fork_generation = fork_generation;
    d->logical_ns = 1000000000;
    d->patience = 1ull << 24;
    rng_seed(&d->rng, c->seed);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->turn, NULL);
    pthread_mutex_init(&d->heap_lock, NULL);
    pthread_cond_init(&d->host_work, NULL);
    d->memory = memory_create(&(struct memory_config){
        .total_bytes = c->memory_bytes, .check = c->check,
        .guard_bytes = c->guard_bytes, .fill = c->fill });
    d->opened_ns = device_time_ns(d);
    if (d->memory && output_open(d) && (d->legacy = stream_create_legacy(d))) {
        init_services(d);
        if (start_threads(d)) return d;
    }
    device_close(d);
    return NULL;
}

/* Threads that run a kernel stop at their next turn; one in a host function
 * may never come back. */
static bool threads_ended(struct device *d) {
    for (int i = 0; i < 3000 && atomic_load(&d->threads); i++) {
        futex_wake(&d->work_seq, INT_MAX);
        device_lock(d);
        pthread_cond_broadcast(&d->host_work);
        device_unlock(d);
        usleep(i < 20 ? 20 : 100);
    }
    return !atomic_load(&d->threads);
}

/* Completes what nobody is at work on, without doing it. Lock held. */
static void discard(struct device *d) {
    struct command *c, *next;
    for (c = d->active.first; c; c = next) {
        next = c->next;
        if (!c->attached) {
            if (c->kind == COMMAND_HOST && c->host.always && !d->closing) {
                list_remove(&d->active, c);
                c->active = false;
                host_submit(d, c);
            } else {
                command_complete(d, c);
            }
        }
    }
    while ((c = list_pop(&d->polled))) command_complete(d, c);
    host_discard(d);
    device_settle(d);
}

void device_close(struct device *d) {
    if (device_forked(d)) return;
    atomic_store(&d->closing, true);
    atomic_store(&d->stop, 1);
    atomic_fetch_add(&d->work_seq, 1);
    if (!threads_ended(d)) return; /* they still use it */
    device_drop_program(d, NULL);
    device_lock(d);
    atomic_store(&d->lost, true);
    discard(d);
    while (d->streams) stream_unlink(d, d->streams);
    device_unlock(d);
    device_drop_program(d, NULL);
    for (struct command *c; (c = d->spare); free(c)) d->spare = c->next;
    if (d->memory) memory_destroy(d->memory);
    output_close(d);
    free(d->extents);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->turn);
    pthread_mutex_destroy(&d->heap_lock);
    pthread_cond_destroy(&d->host_work);
    free(d);
}

struct memory *device_memory(struct device *d) { return d->memory; }
struct exec_services *device_services(struct device *d) {
    return &d->services;
}

void device_host_call(struct device *d) {
    if (d->config.seeded && !device_gone(d)) seeded_host_call(d);
}

/* ---- being lost ---------------------------------------------------------- */

static void complete_record(struct device *d, struct command *c) {
    struct fault *f = &d->fault;
    struct allocation near;
    int64_t distance;
    f->launch = c->grid.launch.number;
    f->place = c->grid.place;
    if (!f->kernel[0])
        strncpy(f->kernel, c->grid.launch.program->name,
                sizeof f->kernel - 1);
    if (!f->time_ns) f->time_ns = device_globaltimer(d);
    if (f->near_size || !(f->bytes || f->address)) return;
    if (!memory_nearest(d->memory, f->address, &near, &distance)) return;
    f->near_address = near.address;
    f->near_size = near.size;
    f->near_serial = near.serial;
    f->near_distance = distance;
    f->near_freed = !near.live;
}

void device_lose(struct device *d, const struct fault *f, struct command *c) {
    if (d->lost || d->closing) return;
    d->fault = *f;
    complete_record(d, c);
    atomic_store(&d->stop, 1);
    atomic_store_explicit(&d->lost, true, memory_order_release);
    discard(d);
}

bool device_lost(const struct device *d) { return device_gone(d); }

bool device_fault(const struct device *d, struct fault *out) {
    if (!d->lost || device_forked(d)) return false;
    *out = d->fault;
    return d->fault.kind != FAULT_NONE;
}

bool device_unrepeatable(const struct device *d) { return d->unrepeatable; }
