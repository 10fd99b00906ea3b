/* Waiting. A thread that waits does the device's work meanwhile: in a seeded
 * run nobody else does, in a free run it saves waking somebody. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/device_parts.h"

void futex_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns) {
    struct timespec t = { .tv_sec = (time_t)(timeout_ns / 1000000000),
                          .tv_nsec = (long)(timeout_ns % 1000000000) };
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen,
            timeout_ns ? &t : NULL, NULL, 0);
}

void futex_wake(_Atomic uint32_t *word, int n) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

void device_sleep_done(struct device *d, uint32_t seen,
                       uint64_t timeout_ns) {
    atomic_fetch_add(&d->waiters, 1);
    futex_sleep(&d->done_seq, seen, timeout_ns);
    atomic_fetch_sub(&d->waiters, 1);
}

static void wait_free(struct device *d, bool (*done)(void *), void *arg) {
    while (!done(arg)) {
        uint32_t seen = atomic_load(&d->done_seq);
        uint32_t work = atomic_load(&d->work_seq);
        if (done(arg)) return;
        if (free_help(d)) continue;
        uint64_t until = real_ns() + SPIN_NS;
        bool changed;
        do {
            for (int i = 0; i < 32; i++) cpu_relax();
            changed = atomic_load(&d->done_seq) != seen ||
                      atomic_load(&d->work_seq) != work;
        } while (!changed && real_ns() < until);
        if (!changed)
            device_sleep_done(d, seen, free_polling(d) ? POLL_NS : 0);
    }
}

static void wait_seeded(struct device *d, bool (*done)(void *), void *arg) {
    atomic_fetch_add(&d->inside, 1);
    while (!done(arg)) {
        uint32_t seen = atomic_load(&d->done_seq);
        pthread_mutex_lock(&d->turn);
        bool ran = done(arg) || seeded_turn(d);
        pthread_mutex_unlock(&d->turn);
        /* What is awaited then depends on another thread. */
        if (!ran) device_sleep_done(d, seen, 1000000);
    }
    atomic_fetch_sub(&d->inside, 1);
}

void device_wait_until(struct device *d, bool (*done)(void *), void *arg) {
    if (d->config.seeded) wait_seeded(d, done, arg);
    else wait_free(d, done, arg);
}

bool command_is_done(void *command) {
    return atomic_load_explicit(&((struct command *)command)->done,
                                memory_order_acquire);
}

void device_wait_command(struct device *d, struct command *c) {
    device_wait_until(d, command_is_done, c);
}
