/* mbarrier: barriers that are objects in shared memory, PTX 9.7.13.15. Only
 * the block's own worker touches shared memory, so plain loads and stores do.
 *
 * The object is one word: arrivals still awaited in this phase, arrivals
 * awaited in every phase, bytes of asynchronous copies awaited (signed), and
 * the parity of the phase. The "state" that arrive gives is the word as it was
 * before, as PTX says of it. */
#include "ptx/exec_access.h"
#include "ptx/warp.h"

#define COUNT_MAX 0xfffffu /* 2^20 - 1 */

struct mbar {
    uint32_t pending, expected, parity;
    int32_t tx;
};

static struct mbar unpack(uint64_t word) {
    return (struct mbar){
        .pending = word & COUNT_MAX, .expected = word >> 20 & COUNT_MAX,
        .tx = (int32_t)((int64_t)(word << 3) >> 43), .parity = word >> 61 & 1};
}

static uint64_t pack(struct mbar b) {
    return (b.pending & COUNT_MAX) | (uint64_t)(b.expected & COUNT_MAX) << 20 |
           ((uint64_t)b.tx & 0x1fffff) << 40 | (uint64_t)b.parity << 61;
}

static struct mbar complete_phase(struct mbar b) {
    if (b.pending || b.tx) return b;
    b.pending = b.expected;
    b.parity ^= 1;
    return b;
}

/* Runs `change` for each lane in turn, with b its barrier, n its count (src[1],
 * 1 without), and old the word before. */
#define EACH_MBARRIER(name, change, after)                                 \
    HANDLER(name) {                                                        \
        struct access x;                                                   \
        enum pattern p = resolve(w, in, mask, 8, 8, ATOMIC, &x);           \
        if (p == AT_FAULT) return EXEC_FAULT;                              \
        const uint32_t *counts =                                           \
            slot_valid(in->src[1]) ? ROW(const uint32_t, in->src[1]) : NULL; \
        FOR_LANES(i, mask) {                                               \
            uint64_t *at = (uint64_t *)lane_at(&x, p, i, 8);               \
            uint64_t old = *at;                                            \
            struct mbar b = unpack(old);                                   \
            uint32_t n __attribute__((unused)) = counts ? counts[i] : 1;   \
            change;                                                        \
            *at = pack(b);                                                 \
            after;                                                         \
        }                                                                  \
        return EXEC_NEXT;                                                  \
    }
#define GIVE_STATE                                                         \
    if (slot_valid(in->dst)) ROW(uint64_t, in->dst)[i] = old

EACH_MBARRIER(init, b = ((struct mbar){.pending = n, .expected = n}), )
EACH_MBARRIER(inval, b = (struct mbar){0}, )
EACH_MBARRIER(expect_tx, b.tx += (int32_t)n, )
EACH_MBARRIER(complete_tx, b.tx -= (int32_t)n; b = complete_phase(b), )
EACH_MBARRIER(arrive, b.pending -= n; b = complete_phase(b), GIVE_STATE)
EACH_MBARRIER(arrive_drop, b.pending -= n; b.expected -= n;
              b = complete_phase(b), GIVE_STATE)
EACH_MBARRIER(arrive_expect, b.tx += (int32_t)n; b.pending--;
              b = complete_phase(b), GIVE_STATE)
EACH_MBARRIER(drop_expect, b.tx += (int32_t)n; b.pending--; b.expected--;
              b = complete_phase(b), GIVE_STATE)

/* cp.async.mbarrier.arrive, PTX 9.7.9.25.3: the barrier awaits one arrival
 * more, and that comes when the thread's copies are done, which they are.
 * With .noinc the arrival is one of those that were awaited anyway. */
EACH_MBARRIER(arrive_at_once, , )

/* A phase is over when the barrier stands in the other parity. src[1] is a
 * state or, with .parity, a parity. */
static uint32_t over(struct warp *w, const struct insn *in, uint32_t mask,
                     enum pattern p, const struct access *x) {
    uint32_t done = 0;
    FOR_LANES(i, mask) {
        const uint64_t *at = (const uint64_t *)lane_at(x, p, i, 8);
        uint32_t phase = in->cmp ? ROW(const uint32_t, in->src[1])[i] & 1
                                 : unpack(ROW(const uint64_t,
                                              in->src[1])[i]).parity;
        done |= (uint32_t)(unpack(*at).parity != phase) << i;
    }
    return done;
}

HANDLER(test_wait) {
    struct access x;
    enum pattern p = resolve(w, in, mask, 8, 8, ATOMIC, &x);
    if (p == AT_FAULT) return EXEC_FAULT;
    pred_set(w, in->dst, mask, over(w, in, mask, p, &x));
    return EXEC_NEXT;
}

/* May wait for a while: the lanes that are told "not yet" let others go
 * first. */
HANDLER(try_wait) {
    struct access x;
    enum pattern p = resolve(w, in, mask, 8, 8, ATOMIC, &x);
    if (p == AT_FAULT) return EXEC_FAULT;
    uint32_t done = over(w, in, mask, p, &x);
    pred_set(w, in->dst, mask, done);
    if (!(mask & ~done)) return EXEC_NEXT;
    warp_park(w, mask & ~done, FRAG_ASLEEP);
    return EXEC_SWITCH;
}

HANDLER(pending_count) {
    uint32_t *d = ROW(uint32_t, in->dst);
    const uint64_t *a = ROW(const uint64_t, in->src[0]);
    LANES_SET(d, (uint32_t)a[i] & COUNT_MAX);
    return EXEC_NEXT;
}

SELECT(mbarrier) {
    bool tx = ptx_has_mod(in, PTX_MOD_expect_tx);
    out->cmp = ptx_has_mod(in, PTX_MOD_parity);
    for (unsigned i = 0; i < in->n_mods; i++)
        switch (in->mods[i]) {
        case PTX_MOD_init: return init;
        case PTX_MOD_inval: return inval;
        case PTX_MOD_async:
            return ptx_has_mod(in, PTX_MOD_noinc) ? arrive : arrive_at_once;
        case PTX_MOD_complete_tx: return complete_tx;
        case PTX_MOD_arrive: return tx ? arrive_expect : arrive;
        case PTX_MOD_arrive_drop: return tx ? drop_expect : arrive_drop;
        case PTX_MOD_test_wait: return test_wait;
        case PTX_MOD_try_wait: return try_wait;
        case PTX_MOD_pending_count: return pending_count;
        default: break;
        }
    return tx ? expect_tx : NULL;
}
