/* Fragments of a warp and barriers of a block: what control and warp handlers
 * (exec_ctrl.c, exec_warp.c, exec_call.c) do to them. The running fragment is
 * w->pc, w->mask, w->fp. */
#ifndef SIMGPU_PTX_WARP_H
#define SIMGPU_PTX_WARP_H

#include "ptx/frame.h"

enum warp_state {
    WARP_TURN_OVER,
    WARP_SLEEPS,  /* every lane that could run asked to wait a while */
    WARP_WAITS,   /* for other warps */
    WARP_DONE,
    WARP_FAULT,
};

/* All `live` lanes at pc 0 in the frame of the entry. */
void warp_start(struct warp *w, uint32_t live);
/* Runs at most *left instructions and takes what it used off *left. */
enum warp_state warp_run(struct warp *w, uint64_t *left);

/* Makes `fp` the frame of the running fragment. */
static inline void warp_set_frame(struct warp *w, uint32_t fp) {
    w->fp = fp;
    w->base[SLOT_FRAME] = w->stack + fp;
}

/* What a handler returns after a jump or a change of frame: with one fragment
 * the loop may just go on. */
static inline enum exec_result warp_jumped(const struct warp *w) {
    return w->n_frags > 1 ? EXEC_SWITCH : EXEC_NEXT;
}

/* Some lanes of the running fragment leave it: to run at another place, to
 * wait in `state` (at w->pc unless changed by the caller), or to exit. All
 * return what the handler then returns or ORs: EXEC_SWITCH. */
void warp_split(struct warp *w, uint32_t lanes, uint32_t pc, uint32_t fp);
struct fragment *warp_park(struct warp *w, uint32_t lanes,
                           enum frag_state state);
enum exec_result warp_exit(struct warp *w, uint32_t lanes);

/* A meeting of lanes at .sync instructions (PTX 9.7.13: each lane waits until
 * every non-exited lane of its member mask has executed the same instruction
 * with the same mask, not necessarily at the same place). The handler leaves
 * each lane's contribution in w->exchange; when the last one has come, the
 * complete function runs once for each fragment that takes part, with `lanes`
 * its lanes and `all` the lanes of all of them. */
typedef void (*sync_complete_fn)(struct warp *w, const struct insn *in,
                                 uint32_t lanes, uint32_t all);
enum exec_result warp_meet(struct warp *w, const struct insn *in,
                           uint32_t lanes, uint32_t members);

/* A barrier of the block, PTX 9.7.13.1. `count` 0: all threads. */
enum barrier_red { BARRIER_PLAIN, BARRIER_POPC, BARRIER_AND, BARRIER_OR };
enum exec_result barrier_arrive(struct warp *w, uint32_t lanes, uint32_t id,
                                uint32_t count, bool wait);
/* Threads have exited: who only waited for them goes on. */
void barrier_exited(struct block *b, uint32_t threads);

#endif
