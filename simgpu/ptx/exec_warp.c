/* What the lanes of a warp, and the warps of a block, do together: barriers,
 * PTX 9.7.13, and exchanges. A .sync exchange is a meeting (warp.h): the
 * handler leaves what each lane brings, the complete function takes. */
#include "ptx/exec_ops.h"
#include "ptx/warp.h"

/* The value that is the same for all lanes of a row. */
static uint32_t uniform(struct warp *w, slot_t slot, uint32_t mask) {
    return ROW(const uint32_t, slot)[__builtin_ctz(mask)];
}

/* Lanes meet by member mask. Tiles of a warp come to one instruction with a
 * mask each, so the lanes of one fragment may be several groups. */
static enum exec_result meet_by(struct warp *w, const struct insn *in,
                                uint32_t mask, slot_t members) {
    const uint32_t *m = ROW(const uint32_t, members);
    enum exec_result r = EXEC_NEXT;
    if ((members & 3) == SLOT_CONST) return warp_meet(w, in, mask, m[0]);
    for (uint32_t rest = mask; rest;) {
        uint32_t group = m[__builtin_ctz(rest)], lanes = 0;
        FOR_LANES(i, rest) lanes |= (uint32_t)(m[i] == group) << i;
        if (warp_meet(w, in, lanes, group) == EXEC_SWITCH) r = EXEC_SWITCH;
        rest &= ~lanes;
    }
    return r;
}

static void leave_32(struct warp *w, slot_t slot, uint32_t mask) {
    const uint32_t *a = ROW(const uint32_t, slot);
    uint64_t *x = w->exchange;
    LANES_SET(x, a[i]);
}

static void leave_64(struct warp *w, slot_t slot, uint32_t mask) {
    const uint64_t *a = ROW(const uint64_t, slot);
    uint64_t *x = w->exchange;
    LANES_SET(x, a[i]);
}

/* Every modifier of the instruction is one of those. */
#define ONLY(in, ...)                                                      \
    only((in), (const enum ptx_mod[]){__VA_ARGS__},                        \
         sizeof((const enum ptx_mod[]){__VA_ARGS__}) / sizeof(enum ptx_mod))
static bool only(const struct ptx_instr *in, const enum ptx_mod *mods,
                 size_t n) {
    for (unsigned i = 0; i < in->n_mods; i++) {
        size_t k = 0;
        while (k < n && mods[k] != in->mods[i]) k++;
        if (k == n) return false;
    }
    return true;
}

/* ---- shfl ------------------------------------------------------------------------ */

enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };

/* Where each lane takes from, PTX 9.7.9.6; *in_range: the lanes whose source
 * lies in their segment; the others keep their own value. */
#define SHFL_SOURCE(name, source, inside)                                  \
    static uint32_t name(const uint32_t *b, const uint32_t *c,             \
                         uint32_t *from) {                                 \
        uint32_t in_range;                                                 \
        _Alignas(64) uint32_t ok[LANES];                                   \
        IVDEP for (int i = 0; i < LANES; i++) {                            \
            int bval = (int)(b[i] & 31), segment = (int)(c[i] >> 8 & 31);  \
            int low = i & segment;                                         \
            int high = low | ((int)(c[i] & 31) & ~segment);                \
            int j = (source);                                              \
            ok[i] = (inside) ? ~0u : 0u;                                   \
            from[i] = (inside) ? (uint32_t)j : (uint32_t)i;                \
        }                                                                  \
        in_range = lanes_pack(ok);                                         \
        return in_range;                                                   \
    }
SHFL_SOURCE(shfl_up, i - bval, j >= high)
SHFL_SOURCE(shfl_down, i + bval, j <= high)
SHFL_SOURCE(shfl_bfly, i ^ bval, j <= high)
SHFL_SOURCE(shfl_idx, low | (bval & ~segment), j <= high)

static void shfl_complete(struct warp *w, const struct insn *in,
                          uint32_t mask, uint32_t all) {
    const uint32_t *b = ROW(const uint32_t, in->src[1]);
    const uint32_t *c = ROW(const uint32_t, in->src[2]);
    uint32_t *d = ROW(uint32_t, in->dst);
    _Alignas(64) uint32_t from[LANES];
    uint32_t in_range = in->cmp == SHFL_UP ? shfl_up(b, c, from)
                      : in->cmp == SHFL_DOWN ? shfl_down(b, c, from)
                      : in->cmp == SHFL_BFLY ? shfl_bfly(b, c, from)
                                             : shfl_idx(b, c, from);
    /* From a lane that takes no part the result is undefined. NVIDIA's own
     * reduction sample (reduce7) is right only if it is 0, so it is. */
    const uint64_t *x = w->exchange;
    if (all == FULL_MASK)
        LANES_SET(d, (uint32_t)x[from[i] & 31]);
    else
        LANES_SET(d, all >> (from[i] & 31) & 1 ? (uint32_t)x[from[i] & 31]
                                               : 0);
    pred_set(w, in->dst2, mask, in_range);
}

HANDLER(shfl) {
    leave_32(w, in->src[0], mask);
    return meet_by(w, in, mask, in->src[3]);
}

SELECT(shfl) {
    out->cmp = ptx_has_mod(in, PTX_MOD_up) ? SHFL_UP
             : ptx_has_mod(in, PTX_MOD_down) ? SHFL_DOWN
             : ptx_has_mod(in, PTX_MOD_bfly) ? SHFL_BFLY : SHFL_IDX;
    out->ext = (const void *)shfl_complete;
    return ptx_has_mod(in, PTX_MOD_sync) ? shfl : NULL;
}

/* ---- vote ------------------------------------------------------------------------- */

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void vote_complete(struct warp *w, const struct insn *in,
                          uint32_t mask, uint32_t all) {
    uint32_t yes = w->exchange_pred & all;
    uint32_t *d = ROW(uint32_t, in->dst);
    bool holds = in->cmp == VOTE_ALL ? yes == all
               : in->cmp == VOTE_ANY ? yes != 0 : yes == 0 || yes == all;
    if (in->cmp == VOTE_BALLOT)
        LANES_SET(d, yes);
    else
        pred_set(w, in->dst, mask, holds ? FULL_MASK : 0);
}

HANDLER(vote) {
    w->exchange_pred = (w->exchange_pred & ~mask) | (PRED(in->src[0]) & mask);
    return meet_by(w, in, mask, in->src[1]);
}

SELECT(vote) {
    out->cmp = ptx_has_mod(in, PTX_MOD_all) ? VOTE_ALL
             : ptx_has_mod(in, PTX_MOD_any) ? VOTE_ANY
             : ptx_has_mod(in, PTX_MOD_uni) ? VOTE_UNI : VOTE_BALLOT;
    out->ext = (const void *)vote_complete;
    bool fits = out->dst_bytes == (out->cmp == VOTE_BALLOT ? 4 : 1);
    return fits && ptx_has_mod(in, PTX_MOD_sync) && slot_valid(out->src[1])
               ? vote : NULL;
}

/* ---- match ------------------------------------------------------------------------ */

static void match_any(struct warp *w, const struct insn *in, uint32_t lanes,
                      uint32_t all) {
    uint32_t *d = ROW(uint32_t, in->dst);
    FOR_LANES(i, lanes) {
        uint32_t same = 0;
        FOR_LANES(k, all)
            same |= (uint32_t)(w->exchange[k] == w->exchange[i]) << k;
        d[i] = same;
    }
}

static void match_all(struct warp *w, const struct insn *in, uint32_t lanes,
                      uint32_t all) {
    uint32_t *d = ROW(uint32_t, in->dst);
    uint64_t first = w->exchange[__builtin_ctz(all)];
    bool same = true;
    FOR_LANES(k, all) same = same && w->exchange[k] == first;
    FOR_LANES(i, lanes) d[i] = same ? all : 0;
    pred_set(w, in->dst2, lanes, same ? FULL_MASK : 0);
}

HANDLER(match_32) {
    leave_32(w, in->src[0], mask);
    return meet_by(w, in, mask, in->src[1]);
}

HANDLER(match_64) {
    leave_64(w, in->src[0], mask);
    return meet_by(w, in, mask, in->src[1]);
}

SELECT(match) {
    out->ext = ptx_has_mod(in, PTX_MOD_any) ? (const void *)match_any
                                            : (const void *)match_all;
    return out->bytes == 8 ? match_64 : out->bytes == 4 ? match_32 : NULL;
}

/* ---- redux ------------------------------------------------------------------------ */

#define REDUX(name, T, expr)                                               \
    static void redux_##name(struct warp *w, const struct insn *in,        \
                             uint32_t mask, uint32_t all) {                \
        uint32_t *d = ROW(uint32_t, in->dst);                              \
        T r = (T)w->exchange[__builtin_ctz(all)];                          \
        FOR_LANES(k, all & (all - 1)) {                                    \
            T x = (T)w->exchange[k];                                       \
            r = (expr);                                                    \
        }                                                                  \
        LANES_SET(d, (uint32_t)r);                                         \
    }
REDUX(add, uint32_t, r + x)
REDUX(and, uint32_t, r & x)
REDUX(or, uint32_t, r | x)
REDUX(xor, uint32_t, r ^ x)
REDUX(min_u32, uint32_t, x < r ? x : r)
REDUX(max_u32, uint32_t, x > r ? x : r)
REDUX(min_s32, int32_t, x < r ? x : r)
REDUX(max_s32, int32_t, x > r ? x : r)

HANDLER(redux) {
    leave_32(w, in->src[0], mask);
    return meet_by(w, in, mask, in->src[1]);
}

static sync_complete_fn redux_op(const struct ptx_instr *in) {
    bool is_signed = in->types[0] == PTX_S32;
    for (unsigned i = 0; i < in->n_mods; i++)
        switch (in->mods[i]) {
        case PTX_MOD_add: return redux_add;
        case PTX_MOD_and: return redux_and;
        case PTX_MOD_or: return redux_or;
        case PTX_MOD_xor: return redux_xor;
        case PTX_MOD_min: return is_signed ? redux_min_s32 : redux_min_u32;
        case PTX_MOD_max: return is_signed ? redux_max_s32 : redux_max_u32;
        default: break;
        }
    return NULL;
}

SELECT(redux) {
    bool integer = in->types[0] == PTX_U32 || in->types[0] == PTX_S32 ||
                   in->types[0] == PTX_B32;
    out->ext = (const void *)redux_op(in);
    return integer && out->ext && in->n_mods == 2 ? redux : NULL;
}

/* ---- who is here ------------------------------------------------------------------- */

HANDLER(activemask) {
    uint32_t *d = ROW(uint32_t, in->dst);
    LANES_SET(d, mask);
    return EXEC_NEXT;
}

SELECT(activemask) {
    return activemask;
}

/* The leader is the lowest lane (PTX 9.7.13.15: deterministic). */
static void elect_complete(struct warp *w, const struct insn *in,
                           uint32_t lanes, uint32_t all) {
    uint32_t *d = ROW(uint32_t, in->dst);
    uint32_t leader = (uint32_t)__builtin_ctz(all);
    FOR_LANES(i, lanes) d[i] = leader;
    pred_set(w, in->dst2, lanes, 1u << leader);
}

HANDLER(meet) {
    return meet_by(w, in, mask, in->src[0]);
}

SELECT(elect) {
    out->ext = (const void *)elect_complete;
    return meet;
}

/* ---- barriers ----------------------------------------------------------------------- */

static void nothing(struct warp *w, const struct insn *in, uint32_t lanes,
                    uint32_t all) {
    (void)w;
    (void)in;
    (void)lanes;
    (void)all;
}

static enum exec_result arrive(struct warp *w, const struct insn *in,
                               uint32_t mask, bool wait) {
    uint32_t id = uniform(w, in->src[0], mask);
    uint32_t count =
        slot_valid(in->src[1]) ? uniform(w, in->src[1], mask) : 0;
    if (id >= MAX_BARRIERS)
        return exec_fault(w, in, FAULT_ILLEGAL_INSTRUCTION, mask, 0, 0, false);
    return barrier_arrive(w, mask, id, count, wait);
}

HANDLER(bar_sync) {
    return arrive(w, in, mask, true);
}

HANDLER(bar_arrive) {
    return arrive(w, in, mask, false);
}

HANDLER(bar_red) {
    uint32_t id = uniform(w, in->src[0], mask);
    if (id < MAX_BARRIERS) {
        struct barrier *bar = &w->block->barriers[id];
        uint32_t holds = PRED(in->src[2]) & mask;
        bar->popc += (uint32_t)__builtin_popcount(holds);
        bar->counted += (uint32_t)__builtin_popcount(mask);
    }
    return arrive(w, in, mask, true);
}

static exec_fn select_barrier(const struct ptx_instr *in, struct insn *out) {
    if (!ONLY(in, PTX_MOD_sync, PTX_MOD_arrive, PTX_MOD_red, PTX_MOD_warp,
              PTX_MOD_popc, PTX_MOD_and, PTX_MOD_or, PTX_MOD_aligned,
              PTX_MOD_cta))
        return NULL;
    if (ptx_has_mod(in, PTX_MOD_warp)) {
        out->ext = (const void *)nothing;
        return meet;
    }
    if (ptx_has_mod(in, PTX_MOD_arrive)) return bar_arrive;
    if (ptx_has_mod(in, PTX_MOD_sync)) return bar_sync;
    if (!ptx_has_mod(in, PTX_MOD_red)) return NULL;
    out->cmp = ptx_has_mod(in, PTX_MOD_popc) ? BARRIER_POPC
             : ptx_has_mod(in, PTX_MOD_and) ? BARRIER_AND : BARRIER_OR;
    return out->dst_bytes == (out->cmp == BARRIER_POPC ? 4 : 1) ? bar_red
                                                                : NULL;
}

SELECT(bar) {
    return select_barrier(in, out);
}

SELECT(barrier) {
    return select_barrier(in, out);
}
