/* bar and barrier: threads of a block that wait for each other, PTX 9.7.13.1.
 *
 * Without a thread count a barrier opens when every thread that has not exited
 * waits at it. With a count, warps arrive whole: lanes that do not exist or
 * have exited come along with the last live lane of their warp. */
#include <string.h>

#include "ptx/warp.h"

/* ---- results of bar.red -------------------------------------------------------- */

static void write_result(struct warp *w, const struct fragment *f,
                         const struct barrier *bar) {
    const struct insn *in = &w->code[f->pc - 1];
    uint8_t *row = w->stack + f->fp + (in->dst & ~3u);
    if (in->cmp == BARRIER_PLAIN) return;
    if (in->cmp == BARRIER_POPC) {
        for (unsigned i = 0; i < LANES; i++)
            if (f->mask >> i & 1) ((uint32_t *)row)[i] = bar->popc;
        return;
    }
    bool holds = in->cmp == BARRIER_AND ? bar->popc == bar->counted
                                        : bar->popc != 0;
    uint32_t *pred = (uint32_t *)row;
    *pred = holds ? *pred | f->mask : *pred & ~f->mask;
}

/* ---- opening ------------------------------------------------------------------- */

static void open_warp(struct warp *w, uint32_t id, const struct barrier *bar) {
    bool any = false;
    for (uint32_t i = 0; i < w->n_frags; i++) {
        struct fragment *f = &w->frags[i];
        if (f->state != FRAG_AT_BARRIER || f->barrier != id) continue;
        write_result(w, f, bar);
        f->state = FRAG_READY;
        f->since = w->steps;
        any = true;
    }
    w->arrived[id] = 0;
    if (any) w->block->runnable |= 1u << w->index;
}

/* Threads that have arrived at a barrier with a count. */
static uint32_t arrived_threads(const struct block *b, uint32_t id) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp *w = &b->warps[i];
        uint32_t there = w->arrived[id];
        bool whole = there && !(w->live & ~there);
        n += whole ? LANES : (uint32_t)__builtin_popcount(there);
    }
    return n;
}

static void open_if_complete(struct block *b, uint32_t id) {
    struct barrier *bar = &b->barriers[id];
    bool complete = bar->expected ? arrived_threads(b, id) >= bar->expected
                                  : bar->waiting == b->live;
    if (!complete) return;
    for (uint32_t i = 0; i < b->n_warps; i++) open_warp(&b->warps[i], id, bar);
    *bar = (struct barrier){0};
    b->barriers_used &= ~(1u << id);
}

enum exec_result barrier_arrive(struct warp *w, uint32_t lanes, uint32_t id,
                                uint32_t count, bool wait) {
    struct block *b = w->block;
    struct barrier *bar = &b->barriers[id];
    uint32_t n = (uint32_t)__builtin_popcount(lanes);
    b->barriers_used |= 1u << id;
    w->arrived[id] |= lanes;
    if (count) bar->expected = (count + LANES - 1) / LANES * LANES;
    if (wait) {
        bar->waiting += n;
        warp_park(w, lanes, FRAG_AT_BARRIER)->barrier = (uint8_t)id;
    }
    open_if_complete(b, id);
    return wait ? EXEC_SWITCH : EXEC_NEXT;
}

void barrier_exited(struct block *b, uint32_t threads) {
    b->live -= threads;
    for (uint32_t used = b->barriers_used; used; used &= used - 1)
        open_if_complete(b, (uint32_t)__builtin_ctz(used));
}
