/* A block: its memory, and the turns its warps take. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "ptx/fp_env.h"
#include "ptx/warp.h"

#define LINE 64u
#define DEFAULT_STACK_BYTES 1024u
#define SEEDED_TURN_LOG2 9u
#define FREE_TURN_LEAST 64u

/* ---- memory ------------------------------------------------------------------- */

/* All a block needs is one piece, zeroed so that what a program reads without
 * having written it is the same in every run. */
struct layout {
    size_t warps, uniform, warp_rows, stacks, shared, local, total;
    size_t stack_stride, local_stride;
};

static size_t room(size_t *at, size_t bytes) {
    size_t here = *at;
    *at += (bytes + LINE - 1) / LINE * LINE;
    return here;
}

static struct layout lay_out(const struct exec_launch *l, uint32_t n_warps) {
    const struct program *p = l->program;
    struct layout y = {0};
    uint32_t stack = l->stack_bytes ? l->stack_bytes : DEFAULT_STACK_BYTES;
    size_t local = p->local_bytes + (p->recursive ? stack : 0);
    /* An odd number of lines apart, so that the same row of all warps does not
     * fall in one set of the cache. */
    y.stack_stride = ((p->max_frame + LINE - 1) / LINE | 1) * LINE;
    y.local_stride = (local + 15) / 16 * 16;
    room(&y.total, sizeof(struct block));
    y.warps = room(&y.total, n_warps * sizeof(struct warp));
    y.uniform = room(&y.total, SREG_UNIFORM_BYTES);
    y.warp_rows = room(&y.total, n_warps * SREG_WARP_BYTES);
    y.stacks = room(&y.total, n_warps * y.stack_stride);
    y.shared = room(&y.total, p->shared_static + l->dynamic_shared);
    y.local = room(&y.total, n_warps * LANES * y.local_stride);
    return y;
}

static void set_up_warp(struct block *b, uint32_t i, uint8_t *base,
                        const struct layout *y) {
    const struct program *p = b->launch->program;
    struct warp *w = &b->warps[i];
    w->block = b;
    w->index = i;
    w->code = p->code;
    w->stack = base + y->stacks + i * y->stack_stride;
    w->stack_size = (uint32_t)y->stack_stride;
    w->local = base + y->local + (size_t)i * LANES * y->local_stride;
    w->local_stride = (uint32_t)y->local_stride;
    w->base[SLOT_CONST] = p->consts;
    w->base[SLOT_UNIFORM] = b->uniform;
    w->base[SLOT_WARP] = base + y->warp_rows + i * SREG_WARP_BYTES;
    sreg_fill_warp(w);
}

struct block *block_create(const struct exec_launch *l) {
    uint32_t n_threads = l->block[0] * l->block[1] * l->block[2];
    uint32_t n_warps = (n_threads + LANES - 1) / LANES;
    struct layout y = lay_out(l, n_warps);
    /* calloc, since large pieces then get their zero pages when touched. */
    void *raw = calloc(1, y.total + LINE);
    if (!raw) return NULL;
    uint8_t *base = (uint8_t *)(((uintptr_t)raw + LINE) & ~(uintptr_t)(LINE - 1));
    struct block *b = (struct block *)base;
    b->memory = raw;
    b->launch = l;
    b->filled_for = UINT64_MAX;
    b->n_threads = n_threads;
    b->n_warps = n_warps;
    b->warps = (struct warp *)(base + y.warps);
    b->uniform = base + y.uniform;
    b->shared = base + y.shared;
    b->shared_bytes = l->program->shared_static + l->dynamic_shared;
    for (uint32_t i = 0; i < n_warps; i++) set_up_warp(b, i, base, &y);
    return b;
}

void block_destroy(struct block *b) {
    if (!b) return;
    for (uint32_t i = 0; i < b->n_warps; i++) free(b->warps[i].grown_stack);
    free(b->memory);
}

/* A block may end with threads counted at a barrier: bar.arrive, a fault. */
static void forget_barriers(struct block *b) {
    memset(b->barriers, 0, sizeof b->barriers);
    for (uint32_t i = 0; i < b->n_warps; i++)
        memset(b->warps[i].arrived, 0, sizeof b->warps[i].arrived);
    b->barriers_used = 0;
}

void block_start(struct block *b, const uint32_t ctaid[3]) {
    const struct exec_launch *l = b->launch;
    memcpy(b->ctaid, ctaid, sizeof b->ctaid);
    if (b->filled_for != l->number) {
        sreg_fill_launch(b);
        b->filled_for = l->number;
    }
    sreg_fill_ctaid(b);
    for (uint32_t i = 0; i < b->n_warps; i++) {
        uint32_t threads = b->n_threads - i * LANES;
        warp_start(&b->warps[i],
                   threads >= LANES ? FULL_MASK : (1u << threads) - 1);
    }
    b->live = b->n_threads;
    b->unfinished = b->n_warps >= 32 ? ~0u : (1u << b->n_warps) - 1;
    b->runnable = b->unfinished;
    if (b->barriers_used) forget_barriers(b);
    b->faulted = false;
    b->steps = 0;
    b->jitter = (l->number << 40) ^ ((uint64_t)ctaid[2] << 32) ^
                ((uint64_t)ctaid[1] << 16) ^ ctaid[0];
    b->next_warp = 0;
}

/* ---- turns --------------------------------------------------------------------- */

/* A cheap generator of a free run's own (splitmix64): turns whose lengths
 * differ from block to block show races that equal ones would hide. */
static uint64_t jitter(struct block *b) {
    return rng_split(&b->jitter);
}

static uint32_t nth_bit(uint32_t set, uint32_t n) {
    while (n--) set &= set - 1;
    return (uint32_t)__builtin_ctz(set);
}

static uint32_t next_warp(struct block *b, uint32_t candidates,
                          struct rng *rng) {
    if (rng)
        return nth_bit(candidates,
                       rng_below(rng, (uint32_t)__builtin_popcount(candidates)));
    uint32_t later = candidates & ~((1u << b->next_warp) - 1);
    uint32_t i = (uint32_t)__builtin_ctz(later ? later : candidates);
    b->next_warp = (i + 1) % 32;
    return i;
}

static uint64_t turn_length(struct block *b, struct rng *rng) {
    return rng ? rng_length(rng, SEEDED_TURN_LOG2)
               : FREE_TURN_LEAST + jitter(b) % (512 - FREE_TURN_LEAST);
}

static enum block_state run_turns(struct block *b, uint64_t budget,
                                  struct rng *rng) {
    uint32_t asleep = 0;
    _Atomic uint32_t *stop = b->launch->stop;
    while (b->unfinished) {
        if (!b->runnable) return BLOCK_STUCK;
        uint32_t candidates = b->runnable & ~asleep;
        if (!budget || !candidates) return BLOCK_RUNNING;
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            return BLOCK_RUNNING;
        uint32_t i = next_warp(b, candidates, rng);
        uint64_t turn = turn_length(b, rng);
        if (turn > budget) turn = budget;
        uint64_t left = turn;
        enum warp_state s = warp_run(&b->warps[i], &left);
        budget -= turn - left;
        b->steps += turn - left;
        asleep = s == WARP_SLEEPS ? asleep | 1u << i
               : s == WARP_TURN_OVER ? 0 : asleep;
        if (s == WARP_FAULT) return BLOCK_FAULTED;
        if (s == WARP_DONE) b->unfinished &= ~(1u << i);
        if (s == WARP_DONE || s == WARP_WAITS) b->runnable &= ~(1u << i);
    }
    return BLOCK_DONE;
}

enum block_state block_run(struct block *b, uint64_t budget, struct rng *rng) {
    fp_env host = fp_env_take();
    enum block_state state = run_turns(b, budget, rng);
    fp_env_give(host);
    return state;
}
