/* Running a warp: the loop over instructions, and which of its fragments runs.
 *
 * Lanes that branch apart become fragments. The deepest frame, then the lowest
 * pc runs, and two fragments at one pc in one frame become one again: compiled
 * code joins at higher addresses, so lanes meet where the compiler meant them
 * to. That order alone would starve a lane behind a loop that waits for it, so
 * a fragment that was passed over for FRAG_STARVES instructions gets a turn of
 * FRAG_TURN (PTX 3.1: every thread makes progress). */
#include <string.h>

#include "ptx/warp.h"

#define FRAG_STARVES 2048u
#define FRAG_TURN 256u

void warp_start(struct warp *w, uint32_t live) {
    w->live = live;
    w->n_frags = live != 0;
    w->current = 0;
    w->mask = 0;
    w->steps = 0;
    w->carry = 0;
    w->frags[0] = (struct fragment){.mask = live, .state = FRAG_READY};
}

/* ---- the list of fragments -------------------------------------------------- */

static void frag_remove(struct warp *w, uint32_t i) {
    uint32_t last = --w->n_frags;
    w->frags[i] = w->frags[last];
    if (w->current == last) w->current = i;
}

static struct fragment *frag_add(struct warp *w, uint32_t lanes) {
    struct fragment *f = &w->frags[w->n_frags++];
    *f = (struct fragment){.pc = w->pc, .mask = lanes, .fp = w->fp,
                           .state = FRAG_READY, .since = w->steps};
    w->mask &= ~lanes;
    return f;
}

/* The running fragment, or its place when all of it is meant. */
static struct fragment *frag_part(struct warp *w, uint32_t lanes) {
    if (lanes != w->mask) return frag_add(w, lanes);
    struct fragment *f = &w->frags[w->current];
    *f = (struct fragment){.pc = w->pc, .mask = lanes, .fp = w->fp,
                           .state = FRAG_READY, .since = w->steps};
    w->mask = 0;
    return f;
}

void warp_split(struct warp *w, uint32_t lanes, uint32_t pc, uint32_t fp) {
    struct fragment *f = frag_part(w, lanes);
    f->pc = pc;
    f->fp = fp;
}

struct fragment *warp_park(struct warp *w, uint32_t lanes,
                           enum frag_state state) {
    struct fragment *f = frag_part(w, lanes);
    f->state = (uint8_t)state;
    return f;
}

/* ---- meeting at .sync -------------------------------------------------------- */

static bool same_meeting(const struct insn *a, const struct insn *b) {
    return a->fn == b->fn && a->ext == b->ext && a->cmp == b->cmp;
}

static void complete(struct warp *w, const struct insn *in, uint32_t lanes,
                     uint32_t all) {
    ((sync_complete_fn)in->ext)(w, in, lanes, all);
}

static bool waits_with(const struct warp *w, const struct fragment *f,
                       const struct insn *in, uint32_t members) {
    return f->state == FRAG_AT_SYNC && f->sync_mask == members &&
           same_meeting(&w->code[f->pc], in);
}

/* Lanes that wait for the same meeting. */
static uint32_t waiting_lanes(const struct warp *w, const struct insn *in,
                              uint32_t members) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->n_frags; i++)
        if (waits_with(w, &w->frags[i], in, members))
            lanes |= w->frags[i].mask;
    return lanes;
}

static void complete_waiting(struct warp *w, const struct insn *in,
                             uint32_t members, uint32_t all) {
    uint8_t *frame = w->base[SLOT_FRAME];
    for (uint32_t i = 0; i < w->n_frags; i++) {
        struct fragment *f = &w->frags[i];
        if (!waits_with(w, f, in, members)) continue;
        w->base[SLOT_FRAME] = w->stack + f->fp;
        complete(w, &w->code[f->pc], f->mask, all);
        f->pc++;
        f->state = FRAG_READY;
        f->since = w->steps;
    }
    w->base[SLOT_FRAME] = frame;
}

enum exec_result warp_meet(struct warp *w, const struct insn *in,
                           uint32_t lanes, uint32_t members) {
    uint32_t need = members & w->live;
    if (!(need & ~lanes)) { /* nobody to wait for */
        complete(w, in, lanes, lanes);
        return EXEC_NEXT;
    }
    uint32_t all = lanes | waiting_lanes(w, in, members);
    if (need & ~all) {
        struct fragment *f = warp_park(w, lanes, FRAG_AT_SYNC);
        f->pc--;
        f->sync_mask = members;
        return EXEC_SWITCH;
    }
    complete(w, in, lanes, all);
    complete_waiting(w, in, members, all);
    return EXEC_SWITCH;
}

/* After an exit: meetings that only lacked the lanes which are gone. */
static void meet_again(struct warp *w) {
    for (uint32_t i = 0; i < w->n_frags; i++) {
        struct fragment *f = &w->frags[i];
        if (f->state != FRAG_AT_SYNC) continue;
        const struct insn *in = &w->code[f->pc];
        uint32_t all = waiting_lanes(w, in, f->sync_mask);
        if (!(f->sync_mask & w->live & ~all))
            complete_waiting(w, in, f->sync_mask, all);
    }
}

enum exec_result warp_exit(struct warp *w, uint32_t lanes) {
    w->live &= ~lanes;
    w->mask &= ~lanes;
    if (!w->mask) frag_remove(w, w->current);
    meet_again(w);
    barrier_exited(w->block, (uint32_t)__builtin_popcount(lanes));
    return EXEC_SWITCH;
}

/* ---- choosing ----------------------------------------------------------------- */

static bool runs_before(const struct fragment *a, const struct fragment *b) {
    return a->fp != b->fp ? a->fp > b->fp : a->pc < b->pc;
}

/* The fragment to run, or -1. *starved: it is not the one whose turn it is by
 * its place, but has waited for too long. */
static int best_fragment(const struct warp *w, bool *starved) {
    int best = -1, oldest = -1;
    uint32_t wait = FRAG_STARVES;
    for (uint32_t i = 0; i < w->n_frags; i++) {
        const struct fragment *f = &w->frags[i];
        if (f->state != FRAG_READY) continue;
        if (best < 0 || runs_before(f, &w->frags[best])) best = (int)i;
        if (w->steps - f->since > wait) {
            wait = w->steps - f->since;
            oldest = (int)i;
        }
    }
    *starved = oldest >= 0 && oldest != best;
    return *starved ? oldest : best;
}

/* Joins what stands at the same place; returns the pc at which the chosen one
 * would meet the next. */
static uint32_t merge(struct warp *w) {
    struct fragment *me = &w->frags[w->current];
    uint32_t limit = UINT32_MAX;
    for (uint32_t i = 0; i < w->n_frags; i++) {
        struct fragment *f = &w->frags[i];
        if (f == me || f->state != FRAG_READY || f->fp != me->fp) continue;
        if (f->pc == me->pc) {
            me->mask |= f->mask;
            frag_remove(w, i--);
            me = &w->frags[w->current];
        } else if (f->pc > me->pc) {
            if (f->pc < limit) limit = f->pc;
        } else {
            w->strict = true;
        }
    }
    return limit;
}

static bool choose(struct warp *w, uint32_t *limit) {
    bool starved = false;
    int i = w->n_frags == 1 ? (w->frags[0].state == FRAG_READY) - 1
                            : best_fragment(w, &starved);
    if (i < 0) return false;
    w->current = (uint32_t)i;
    w->strict = false;
    *limit = w->n_frags == 1 ? UINT32_MAX : merge(w);
    const struct fragment *f = &w->frags[w->current];
    w->pc = f->pc;
    w->mask = f->mask;
    warp_set_frame(w, f->fp);
    return true;
}

static bool wake(struct warp *w) {
    bool any = false;
    for (uint32_t i = 0; i < w->n_frags; i++) {
        if (w->frags[i].state != FRAG_ASLEEP) continue;
        w->frags[i].state = FRAG_READY;
        any = true;
    }
    return any;
}

/* ---- running ------------------------------------------------------------------ */

/* The loop. Ends when a handler asks for it, after *turn instructions, or when
 * the pc reaches `limit`, where another fragment stands. */
static enum exec_result run(struct warp *w, uint32_t limit, uint32_t *turn) {
    const struct insn *code = w->code;
    enum exec_result r = EXEC_NEXT;
    uint32_t left = *turn;
    do {
        const struct insn *in = &code[w->pc++];
        uint32_t mask = w->mask;
        left--;
        if (slot_valid(in->pred)) {
            mask &= PRED(in->pred) ^ in->pred_flip;
            if (!mask) continue;
        }
        r = in->fn(w, in, mask);
    } while (r == EXEC_NEXT && left && w->pc < limit);
    *turn -= left;
    return r;
}

enum warp_state warp_run(struct warp *w, uint64_t *left) {
    while (*left) {
        uint32_t limit, turn = w->n_frags > 1 ? FRAG_TURN : 1u << 30;
        if (!w->n_frags) return WARP_DONE;
        if (!choose(w, &limit)) return wake(w) ? WARP_SLEEPS : WARP_WAITS;
        if (turn > *left) turn = (uint32_t)*left;
        enum exec_result r = run(w, limit, &turn);
        *left -= turn;
        w->steps += turn;
        if (r == EXEC_FAULT) return WARP_FAULT;
        if (w->mask) {
            struct fragment *f = &w->frags[w->current];
            f->pc = w->pc;
            f->mask = w->mask;
            f->fp = w->fp;
            f->since = w->steps;
        }
    }
    return w->n_frags ? WARP_TURN_OVER : WARP_DONE;
}
