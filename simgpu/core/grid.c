/* A launch's blocks: who runs which, and what becomes of blocks that do not
 * finish in their turn.
 *
 * Executors claim new blocks from a counter, without the lock. A block that
 * uses up its budget is suspended: it keeps its state and queues behind the
 * others of its grid. Suspended blocks take short turns, since a block that
 * spins should not spin for long, and a new block is let in when each of them
 * has had one, or some of them enough: so a block that waits for a later one
 * gets its way, and a grid of merely long blocks does not fill memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device_parts.h"

/* Warp instructions of a suspended block's turn, or of a cooperative one's, and
 * how many of these turns let in a new block at the latest. */
#define SHORT_TURN (1u << 11)
#define SHORT_TURNS 32

/* Other threads of a launch go on after a failed assertion, but if they wait
 * for the dead one they do so only for that many warp instructions. */
#define ASSERTION_GRACE (1ull << 24)

/* ---- room for blocks, kept from launch to launch (lock held) ------------- */

static bool same_room(const struct exec_launch *a,
                      const struct exec_launch *b) {
    return a->program == b->program && a->dynamic_shared == b->dynamic_shared &&
           a->stack_bytes == b->stack_bytes &&
           !memcmp(a->block, b->block, sizeof a->block);
}

static struct block *context_take(struct device *d,
                                  const struct exec_launch *l) {
    for (unsigned i = 0; i < CONTEXTS; i++) {
        struct block *b = d->contexts[i].block;
        if (!b || !same_room(&d->contexts[i].key, l)) continue;
        d->contexts[i].block = NULL;
        b->launch = l;
        return b;
    }
    return NULL;
}

/* Keeps b, dropping the one that was least recently used. */
static void context_give(struct device *d, struct block *b,
                         const struct exec_launch *l) {
    unsigned at = 0;
    if (!b) return;
    for (unsigned i = 0; i < CONTEXTS && d->contexts[at].block; i++)
        if (!d->contexts[i].block ||
            d->contexts[i].used < d->contexts[at].used)
            at = i;
    if (d->contexts[at].block) block_destroy(d->contexts[at].block);
    d->contexts[at].block = b;
    d->contexts[at].key = *l;
    d->contexts[at].used = ++d->context_clock;
}

void device_drop_program(struct device *d, const struct program *p) {
    if (device_forked(d)) return;
    device_lock(d);
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (d->contexts[i].block && (!p || d->contexts[i].key.program == p)) {
            block_destroy(d->contexts[i].block);
            d->contexts[i].block = NULL;
        }
    device_unlock(d);
}

/* ---- suspended blocks (lock held) ---------------------------------------- */

static void suspend(struct grid *g, struct block *b) {
    if (g->n_suspended == g->cap_suspended) {
        uint32_t cap = g->cap_suspended ? 2 * g->cap_suspended : 16;
        struct block **ring = malloc(cap * sizeof *ring);
        if (!ring) abort();
        for (uint32_t i = 0; i < g->n_suspended; i++)
            ring[i] = g->suspended[(g->first_suspended + i) %
                                   g->cap_suspended];
        free(g->suspended);
        g->suspended = ring;
        g->cap_suspended = cap;
        g->first_suspended = 0;
    }
    g->suspended[(g->first_suspended + g->n_suspended++) %
                 g->cap_suspended] = b;
}

/* The oldest, or in a seeded run any. */
static struct block *resume(struct grid *g, struct rng *rng) {
    uint32_t at = rng ? rng_below(rng, g->n_suspended) : 0;
    struct block **first = &g->suspended[g->first_suspended];
    struct block **slot = &g->suspended[(g->first_suspended + at) %
                                        g->cap_suspended];
    struct block *b = *slot;
    *slot = *first;
    g->first_suspended = (g->first_suspended + 1) % g->cap_suspended;
    g->n_suspended--;
    return b;
}

static bool unclaimed(const struct grid *g) {
    return atomic_load_explicit(&g->next, memory_order_relaxed) < g->total;
}

bool grid_begins(const struct command *c) {
    const struct grid *g = &c->grid;
    return unclaimed(g) && g->n_suspended + g->n_stuck < g->limit;
}

bool grid_has_work(const struct command *c) {
    return c->grid.n_suspended || grid_begins(c);
}

/* ---- one turn ------------------------------------------------------------ */

static bool resume_now(struct grid *g, struct rng *rng) {
    if (!g->n_suspended) return false;
    if (!unclaimed(g) || g->n_suspended + g->n_stuck >= g->limit) return true;
    if (rng) return rng_below(rng, 8) != 0;
    if (g->cooperative) return false;
    if (g->resumed < SHORT_TURNS && g->resumed < g->n_suspended) {
        g->resumed++;
        return true;
    }
    g->resumed = 0;
    return false;
}

void grid_begin(struct device *d, struct turn *t) {
    struct grid *g = &t->command->grid;
    if (!g->start_ns) g->start_ns = device_time_ns(d);
    t->resumed = resume_now(g, t->rng);
    if (!t->rng && (t->resumed || g->cooperative) && t->budget > SHORT_TURN)
        t->budget = SHORT_TURN;
    t->block = t->resumed ? resume(g, t->rng)
                          : context_take(d, &g->launch);
}

static void out_of_memory(struct device *d, struct command *c) {
    struct fault f = { .kind = FAULT_LAUNCH_FAILURE,
                       .message = "no host memory to run a block" };
    device_lock(d);
    device_lose(d, &f, c);
    device_unlock(d);
}

/* Runs t->block for one budget and decides what becomes of it. */
static void run_block(struct device *d, struct turn *t) {
    struct block *b = t->block;
    struct grid *g = &t->command->grid;
    uint64_t before = b->steps;
    enum block_state state = block_run(b, t->budget, t->rng);
    t->steps += b->steps - before;
    if (state == BLOCK_DONE) {
        t->finished++;
        return;
    }
    if (atomic_load_explicit(&d->stop, memory_order_relaxed)) return;
    device_lock(d);
    if (state == BLOCK_FAULTED) {
        device_lose(d, &b->fault, t->command);
    } else if (state == BLOCK_STUCK) {
        /* It stays unfinished for ever; its room can serve others. */
        g->n_stuck++;
    } else {
        suspend(g, b);
        d->wake_workers++;
        t->block = NULL;
    }
    device_unlock(d);
}

static bool start_block(struct device *d, struct turn *t, uint64_t number) {
    struct grid *g = &t->command->grid;
    if (!t->block && !(t->block = block_create(&g->launch))) {
        out_of_memory(d, t->command);
        return false;
    }
    block_start(t->block, (const uint32_t[3]){
        (uint32_t)(number % g->launch.grid[0]),
        (uint32_t)(number / g->launch.grid[0] % g->launch.grid[1]),
        (uint32_t)(number / g->launch.grid[0] / g->launch.grid[1]) });
    return true;
}

/* Blocks to claim at once: short ones by the dozen, but so that every executor
 * finds some. */
static uint64_t chunk(const struct grid *g, uint64_t steps_of_one,
                      unsigned workers) {
    uint64_t n = 4096 / (steps_of_one + 1), share = g->total / (8 * workers);
    if (n > share) n = share;
    return n ? n : 1;
}

void grid_run(struct device *d, struct turn *t) {
    struct grid *g = &t->command->grid;
    uint64_t n = 1;
    if (t->resumed) {
        run_block(d, t);
        return;
    }
    do {
        uint64_t at = atomic_fetch_add_explicit(&g->next, n,
                                                memory_order_relaxed);
        uint64_t end = at + n < g->total ? at + n : g->total;
        uint64_t before = t->steps, blocks = end - at;
        if (at >= g->total) break;
        for (; at < end; at++) {
            if (atomic_load_explicit(&d->stop, memory_order_relaxed) ||
                !start_block(d, t, at))
                return;
            run_block(d, t);
        }
        if (t->rng) break; /* seeded: every block is a choice */
        n = chunk(g, (t->steps - before) / blocks, d->config.workers);
    } while (t->steps < t->budget);
}

void grid_end(struct device *d, struct turn *t) {
    struct command *c = t->command;
    struct grid *g = &c->grid;
    g->finished += t->finished;
    g->steps += t->steps;
    context_give(d, t->block, &g->launch);
    t->block = NULL;
    /* Blocks that wait for a thread which an assertion ended never end. */
    bool over = g->finished == g->total ||
                (g->assertion &&
                 (g->finished + g->n_stuck == g->total ||
                  g->steps - g->assertion_steps > ASSERTION_GRACE));
    if (over && g->assertion) device_lose(d, g->assertion, c);
    if (!d->lost) grid_check_time(d, c);
    if (--c->attached == 0 && (over || d->lost)) command_complete(d, c);
}

void grid_check_time(struct device *d, struct command *c) {
    struct grid *g = &c->grid;
    uint64_t limit = d->config.time_limit_ns;
    if (!limit || !g->start_ns || device_time_ns(d) - g->start_ns <= limit)
        return;
    struct fault f = { .kind = FAULT_TIMEOUT };
    snprintf(f.message, sizeof f.message,
             "still running after the limit of %llu ms",
             (unsigned long long)(limit / 1000000));
    device_lose(d, &f, c);
}

void grid_release(struct device *d, struct command *c) {
    struct grid *g = &c->grid;
    while (g->n_suspended)
        context_give(d, resume(g, NULL), &g->launch);
    if (g->launch.grid_workspace)
        memory_free(d->memory, g->launch.grid_workspace, MEMORY_SYMBOL);
    if (g->params != g->inline_params) free(g->params);
    free(g->suspended);
    free(g->assertion);
}

/* The service that a failed assertion in a kernel calls; any worker. */
void grid_assert_failed(void *device, const struct exec_launch *l,
                        const char *line, const struct fault *where) {
    struct device *d = device;
    struct grid *g = (struct grid *)((char *)l - offsetof(struct grid, launch));
    output_assertion(d, line);
    device_lock(d);
    if (!g->assertion && (g->assertion = malloc(sizeof *g->assertion))) {
        *g->assertion = *where;
        g->assertion->kind = FAULT_ASSERT;
        g->assertion->time_ns = device_globaltimer(d);
        g->assertion_steps = g->steps;
    }
    device_unlock(d);
}
