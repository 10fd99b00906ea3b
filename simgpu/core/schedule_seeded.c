/* Seeded runs: the calling thread runs turns, the seed decides which.
 *
 * `turn` is the right to do so. With one host thread it is always free; other
 * threads' calls that find it taken do not advance the device, and waits take
 * it in between turns. */
#include <time.h>

#include "core/device_parts.h"

#define CALL_NS 1000
#define QUERY_STEPS 4096

/* A drain gives up after this much work: a kernel may be waiting for what the
 * host does next. It is shorter after it has given up once. */
#define PATIENCE (1ull << 24)
#define PATIENCE_WORN (1ull << 16)

/* How long a turn waits for a host function, in real time. */
#define HOST_FUNCTION_NS 1000000000ull

/* The favoured command while its time lasts, else one drawn from those that
 * have work and need not stand back for a priority. */
static struct command *pick(struct device *d) {
    struct command *favoured = NULL, *c;
    uint32_t n = 0;
    device_poll(d);
    int priority = piece_priority(d);
    for (c = d->active.first; c; c = c->next) {
        if (!piece_eligible(c, priority)) continue;
        if (c == d->favoured) favoured = c;
        n++;
    }
    if (favoured && d->favour) return favoured;
    if (!n) return NULL;
    n = rng_below(&d->rng, n);
    for (c = d->active.first; !piece_eligible(c, priority) || n--; c = c->next)
        ;
    d->favoured = c;
    d->favour = rng_length(&d->rng, 20);
    return c;
}

/* Hands c to the host-function thread and waits for its end, lest its place in
 * the order be the operating system's. The function may want a lock that this
 * thread holds, therefore not for ever. Lock held before and after. */
static void run_host_function(struct device *d, struct command *c) {
    uint64_t until = real_ns() + HOST_FUNCTION_NS;
    list_remove(&d->active, c);
    c->active = false;
    c->refs++;
    host_submit(d, c);
    device_unlock(d);
    for (;;) {
        uint32_t seen = atomic_load(&d->done_seq);
        if (command_is_done(c) || real_ns() >= until) break;
        device_sleep_done(d, seen, 10000000);
    }
    if (!command_is_done(c)) d->unrepeatable = true;
    device_lock(d);
    command_unref(d, c);
}

/* Work done in it, 0: there was none. */
static uint64_t run_turn(struct device *d) {
    struct turn t = { .rng = &d->rng };
    device_lock(d);
    t.command = d->lost ? NULL : pick(d);
    if (t.command && t.command->kind == COMMAND_HOST) {
        run_host_function(d, t.command);
        t.steps = 1;
    } else if (t.command) {
        t.budget = rng_length(&d->rng, 14);
        piece_run(d, &t);
        t.steps++;
        atomic_fetch_add(&d->logical_ns, t.steps);
        d->favour -= t.steps < d->favour ? t.steps : d->favour;
    }
    device_unlock(d);
    return t.steps;
}

/* Nothing can run, but a kernel whose threads wait for each other for ever
 * meets its time limit. */
static bool pass_time(struct device *d) {
    bool passed = false;
    device_lock(d);
    for (struct command *c = d->active.first; c && !passed; c = c->next)
        if (d->config.time_limit_ns && !d->lost &&
            c->kind == COMMAND_LAUNCH && c->grid.n_stuck) {
            atomic_fetch_add(&d->logical_ns, d->config.time_limit_ns + 1);
            grid_check_time(d, c);
            passed = true;
        }
    device_settle(d);
    device_unlock(d);
    return passed;
}

bool seeded_turn(struct device *d) { return run_turn(d) || pass_time(d); }

static void run_steps(struct device *d, uint64_t steps) {
    uint64_t did;
    for (uint64_t n = 0; n < steps; n += did)
        if (!(did = run_turn(d))) break;
}

/* Until idle, within patience. */
static void drain(struct device *d) {
    uint64_t did, n = 0;
    while ((did = run_turn(d)))
        if ((n += did) > d->patience) {
            d->patience = PATIENCE_WORN;
            return;
        }
    d->patience = PATIENCE;
}

static void advance_random(struct device *d) {
    uint32_t dice = rng_below(&d->rng, 8);
    if (dice == 0) drain(d);
    else if (dice > 3) run_steps(d, rng_length(&d->rng, 20));
}

void seeded_enqueued(struct device *d) {
    atomic_fetch_add(&d->calls, 1);
    if (d->config.schedule != SCHEDULE_EAGER) return;
    if (pthread_mutex_trylock(&d->turn)) return;
    drain(d);
    pthread_mutex_unlock(&d->turn);
}

void seeded_host_call(struct device *d) {
    atomic_fetch_add(&d->logical_ns, CALL_NS);
    atomic_fetch_add(&d->calls, 1);
    if (pthread_mutex_trylock(&d->turn)) return;
    switch (d->config.schedule) {
    case SCHEDULE_RANDOM: advance_random(d); break;
    case SCHEDULE_EAGER: drain(d); break;
    case SCHEDULE_LAZY: break;
    }
    pthread_mutex_unlock(&d->turn);
}

void seeded_query(struct device *d) {
    if (d->config.schedule != SCHEDULE_LAZY) return;
    if (pthread_mutex_trylock(&d->turn)) return;
    run_steps(d, QUERY_STEPS);
    pthread_mutex_unlock(&d->turn);
}

/* ---- a host that waits without calling ----------------------------------- */

static void host_visible(const struct allocation *a, void *found) {
    if (a->kind != MEMORY_DEVICE && a->kind != MEMORY_SYMBOL)
        *(bool *)found = true;
}

/* Can the host see, without a call, what pending work does? */
static bool host_can_see(struct device *d) {
    bool found = false;
    device_lock(d);
    bool pending = d->active.n || d->polled.n;
    found = d->host_functions > 0;
    device_unlock(d);
    if (pending && !found) memory_each(d->memory, host_visible, &found);
    return pending && found;
}

static uint64_t process_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *seeded_watchdog(void *device) {
    struct device *d = device;
    uint64_t pause = d->config.pause_ms * 1000000;
    uint64_t calls = 0, cpu = 0, real = 0;
    while (!atomic_load(&d->closing)) {
        futex_sleep(&d->work_seq, atomic_load(&d->work_seq),
                    pause / 4 + 1000000);
        if (calls != atomic_load(&d->calls) || !real) {
            calls = atomic_load(&d->calls);
            cpu = process_cpu_ns();
            real = real_ns();
            continue;
        }
        if (process_cpu_ns() - cpu < pause && real_ns() - real < 10 * pause)
            continue;
        if (d->inside || !host_can_see(d) || pthread_mutex_trylock(&d->turn))
            continue;
        while (calls == atomic_load(&d->calls) && !atomic_load(&d->closing) &&
               run_turn(d))
            d->unrepeatable = true;
        pthread_mutex_unlock(&d->turn);
    }
    return NULL;
}
