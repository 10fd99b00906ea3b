/* Free runs: worker threads, and waiting host threads that help. Each takes a
 * piece of the first command that has one and puts that command last, so that
 * all streams move; only priorities come before that. */
#define _GNU_SOURCE /* SCHED_BATCH */
#include <sched.h>

#include "core/device_parts.h"

/* Warp instructions of one turn; a helping host looks more often whether what
 * it waits for is done. */
#define WORKER_TURN (1u << 16)
#define HELPER_TURN (1u << 13)

static void check_time_limits(struct device *d) {
    struct command *next;
    for (struct command *c = d->active.first; c; c = next) {
        next = c->next;
        if (c->kind == COMMAND_LAUNCH && !c->attached && !grid_has_work(c))
            grid_check_time(d, c);
        if (d->lost) return;
    }
}

static struct command *pick(struct device *d) {
    device_poll(d);
    if (d->config.time_limit_ns) check_time_limits(d);
    if (d->stop) return NULL;
    int priority = piece_priority(d);
    for (struct command *c = d->active.first; c; c = c->next) {
        if (!piece_eligible(c, priority)) continue;
        if (d->active.last != c) {
            list_remove(&d->active, c);
            list_append(&d->active, c);
        }
        return c;
    }
    return NULL;
}

static bool run_one(struct device *d, uint64_t turn) {
    struct turn t = { .budget = turn };
    device_lock(d);
    if ((t.command = pick(d))) piece_run(d, &t);
    device_unlock(d);
    return t.command != NULL;
}

bool free_help(struct device *d) { return run_one(d, HELPER_TURN); }

bool free_polling(struct device *d) {
    device_lock(d);
    bool polling = d->polled.n || (d->config.time_limit_ns && d->active.n);
    device_unlock(d);
    return polling;
}

/* Until work_seq moves on from `seen`, or something wants polling. */
static void idle(struct device *d, uint32_t seen) {
    uint64_t until = real_ns() + SPIN_NS;
    atomic_fetch_add(&d->spinning, 1);
    while (atomic_load(&d->work_seq) == seen && real_ns() < until)
        for (int i = 0; i < 32; i++) cpu_relax();
    atomic_fetch_sub(&d->spinning, 1);
    if (atomic_load(&d->work_seq) != seen) return;
    uint64_t timeout = free_polling(d) ? POLL_NS : 0;
    atomic_fetch_add(&d->idle, 1);
    futex_sleep(&d->work_seq, seen, timeout);
    atomic_fetch_sub(&d->idle, 1);
}

/* A woken worker must not take the processor from the host thread that woke
 * it, or launches would last as long as their kernels where cores are few. */
static void be_patient(void) {
    struct sched_param p = { .sched_priority = 0 };
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &p);
}

void *free_worker(void *device) {
    struct device *d = device;
    be_patient();
    while (!atomic_load(&d->closing)) {
        uint32_t seen = atomic_load(&d->work_seq);
        if (!run_one(d, WORKER_TURN)) idle(d, seen);
    }
    return NULL;
}
