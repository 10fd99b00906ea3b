/* From the addresses of a warp's lanes to host addresses: the check that every
 * load, store and atomic passes.
 *
 * One pass over the row of addresses asks at once whether all of them lie in
 * one span, whether they are aligned, and whether they are consecutive or all
 * the same; nearly every access is decided there. Only when a lane is outside
 * the span are lanes looked at one by one.
 *
 * A fault is the whole instruction's: when one lane's address is bad, no lane
 * has loaded or stored anything. PTX leaves open what the other lanes did; the
 * record names the lowest bad lane.
 */
#ifndef SIMGPU_PTX_EXEC_ACCESS_H
#define SIMGPU_PTX_EXEC_ACCESS_H

#include "core/guest.h"
#include "ptx/exec_pick.h"

enum access_kind { READ, WRITE, ATOMIC };

enum pattern {
    AT_FAULT, /* already reported: return EXEC_FAULT */
    AT_ROW,   /* lane i at host + i * n; idle lanes are readable too */
    AT_ONE,   /* all lanes at host */
    AT_EACH,  /* lane i at each[i]; idle lanes at an active lane's address */
};

struct access {
    char *host;
    char *each[LANES];
    u32 shared; /* lanes whose generic address is in shared memory */
};

struct scan { u64 outside, low, step, same; };

/* n is a power of two.
 * `outside` is negative as a signed number if a lane's n bytes at `a` are not
 * all in [lo, last + n): a - lo or last - a has wrapped. Spans are smaller
 * than 2^63 bytes, so nothing wraps twice. Idle lanes count as lane f. */
static inline struct scan scan_row(const u64 *a, u64 lo, u64 last, u64 n,
                                   u32 mask, const u32 *on, unsigned f) {
    struct scan s = {0, 0, 0, 0};
    u64 first = a[f], row = first - f * n;
    int log2 = __builtin_ctzll(n); /* a shift: there is no vector product */
    if (mask == FULL_MASK) {
        for (u64 i = 0; i < LANES; i++) {
            s.outside |= (a[i] - lo) | (last - a[i]);
            s.low |= a[i];
            s.step |= a[i] - (row + (i << log2));
            s.same |= a[i] - first;
        }
        return s;
    }
    for (u64 i = 0; i < LANES; i++) {
        u64 keep = (u64)(s64)(s32)on[i];
        u64 x = (a[i] & keep) | (first & ~keep);
        s.outside |= (x - lo) | (last - x);
        s.low |= x;
        s.step |= (x - (row + (i << log2))) & keep;
        s.same |= x - first;
    }
    return s;
}

/* Turns a scan that found everything inside into a pattern. */
static inline enum pattern pattern_of(struct scan s, const u64 *a, unsigned n,
                                      const struct span *in_span, u32 mask,
                                      const u32 *on, unsigned f,
                                      struct access *x) {
    u64 first = a[f], row = first - f * n, delta = (u64)in_span->delta;
    /* Idle lanes are read with the others if that stays in the span (a row may
     * begin below address 0 of shared memory). */
    bool row_inside = first - in_span->lo >= (u64)f * n &&
                      row + (u64)LANES * n <= in_span->hi;
    if (s.step == 0 && (mask == FULL_MASK || row_inside)) {
        x->host = (char *)(row + delta);
        return AT_ROW;
    }
    if (s.same == 0) {
        x->host = (char *)(first + delta);
        return AT_ONE;
    }
    for (unsigned i = 0; i < LANES; i++)
        x->each[i] = (char *)((mask == FULL_MASK || on[i] ? a[i] : first) +
                              delta);
    return AT_EACH;
}

static inline struct memory *memory_of(const struct warp *w) {
    return w->block->launch->services->memory;
}

/* ---- one lane at a time -------------------------------------------------- */

/* What a generic address is in. Offsets in the windows are 24 bits, so the
 * subtraction decides. */
struct windows { u64 shared, local, param; };
static inline struct windows windows_of(struct memory *m) {
    return (struct windows){memory_shared_window(m), memory_local_window(m),
                            memory_param_window(m)};
}

static inline bool fits(u64 offset, u64 n, u64 size) {
    return offset <= size && n <= size - offset;
}

/* The host address of one lane's access, or NULL with *kind set. */
static char *lane_host(struct warp *w, enum ptx_space space, unsigned lane,
                       u64 a, u64 n, enum access_kind what, struct access *x,
                       enum fault_kind *kind) {
    struct block *b = w->block;
    *kind = FAULT_ILLEGAL_ADDRESS;
    if (space == PTX_SPACE_NONE) {
        struct windows v = windows_of(memory_of(w));
        if (a - v.shared < WINDOW_BYTES) {
            space = PTX_SPACE_SHARED, a -= v.shared;
            x->shared |= 1u << lane;
        } else if (a - v.local < WINDOW_BYTES) {
            space = PTX_SPACE_LOCAL, a -= v.local;
        } else if (a - v.param < WINDOW_BYTES) {
            space = PTX_SPACE_PARAM, a -= v.param;
        }
        if (what == ATOMIC &&
            (space == PTX_SPACE_LOCAL || space == PTX_SPACE_PARAM)) {
            *kind = FAULT_ADDRESS_SPACE;
            return NULL;
        }
    }
    switch (space) {
    case PTX_SPACE_SHARED:
        return fits(a, n, b->shared_bytes) ? (char *)b->shared + a : NULL;
    case PTX_SPACE_LOCAL:
        return fits(a, n, w->local_stride)
                   ? (char *)w->local + (u64)lane * w->local_stride + a : NULL;
    case PTX_SPACE_PARAM:
        return what == READ && fits(a, n, b->launch->program->param_bytes)
                   ? (char *)b->launch->params + a : NULL;
    default: break;
    }
    struct span s = w->cache;
    if (s.epoch != memory_epoch(memory_of(w)) || a < s.lo || a >= s.hi) {
        if (!memory_find(memory_of(w), a, &s)) return NULL;
        w->cache = s;
    }
    if (!fits(a - s.lo, n, s.hi - s.lo) || (what != READ && !s.writable))
        return NULL;
    return (char *)(a + (u64)s.delta);
}

/* Every lane by itself: several allocations, windows of generic addresses,
 * faults. */
static __attribute__((noinline)) enum pattern
resolve_each(struct warp *w, const struct insn *in, enum ptx_space space,
             u32 mask, const u64 *a, u64 n, u64 align, enum access_kind what,
             struct access *x) {
    u32 bad[FAULT_KIND_COUNT] = {0}, any = 0;
    FOR_LANES(i, mask) {
        enum fault_kind kind = FAULT_MISALIGNED;
        char *p = NULL;
        if ((a[i] & (align - 1)) == 0)
            p = lane_host(w, space, i, a[i], n, what, x, &kind);
        if (!p) bad[kind] |= 1u << i, any |= 1u << i;
        x->each[i] = p;
    }
    if (any) {
        unsigned lane = (unsigned)__builtin_ctz(any), kind = 0;
        while (!(bad[kind] >> lane & 1)) kind++;
        exec_fault(w, in, kind, bad[kind], a[lane], (u32)n, what != READ);
        return AT_FAULT;
    }
    char *first = x->each[__builtin_ctz(mask)];
    FOR_LANES(i, ~mask) x->each[i] = first;
    return AT_EACH;
}

/* ---- the whole warp ------------------------------------------------------ */

/* The span that an address of this space is in, as far as one holds for all
 * lanes: not for local memory, which is each lane's own. Epochs start at 1, so
 * 0 can mark the span that a generic address has in shared memory. */
enum { EPOCH_SHARED = 0 };
static inline bool span_of(struct warp *w, enum ptx_space space, u64 first,
                           struct span *s) {
    struct block *b = w->block;
    struct memory *m = memory_of(w);
    switch (space) {
    case PTX_SPACE_SHARED:
        *s = (struct span){.hi = b->shared_bytes, .writable = true,
                           .delta = (int64_t)b->shared};
        return true;
    case PTX_SPACE_PARAM:
        *s = (struct span){.hi = b->launch->program->param_bytes,
                           .delta = (int64_t)b->launch->params};
        return true;
    case PTX_SPACE_LOCAL: return false;
    default: break;
    }
    struct windows v = windows_of(m);
    if (space == PTX_SPACE_NONE && first - v.shared < WINDOW_BYTES) {
        *s = (struct span){.lo = v.shared, .hi = v.shared + b->shared_bytes,
                           .delta = (int64_t)b->shared - (int64_t)v.shared,
                           .writable = true, .epoch = EPOCH_SHARED};
        return true;
    }
    if (!memory_find(m, first, s)) return false;
    w->cache = *s;
    return true;
}

static inline bool is_global(unsigned space) {
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE ||
           space == PTX_SPACE_CONST;
}

/* The two commonest accesses, decided without looking at spans: AT_FAULT means
 * "not decided". All lanes are active.
 *
 * 64-bit addresses that are consecutive or equal, in the span hit last: the
 * ends answer for the rest. */
static inline enum pattern quick_row(struct warp *w, const struct insn *in,
                                     u64 n, u64 align, enum access_kind what,
                                     struct access *x) {
    const u64 *row = ROW(const u64, in->src[0]);
    const struct span *s = &w->cache;
    u64 first = row[0], step = 0, same = 0;
    for (u64 i = 0; i < LANES; i++) {
        step |= row[i] - (first + i * n);
        same |= row[i] - first;
    }
    if (step && same) return AT_FAULT;
    u64 a = first + (u64)in->imm, bytes = same ? LANES * n : n;
    if (s->epoch != memory_epoch(memory_of(w)) || (a & (align - 1)) ||
        a < s->lo || a >= s->hi || bytes > s->hi - a ||
        (what != READ && !s->writable))
        return AT_FAULT;
    x->host = (char *)(a + (u64)s->delta);
    return same ? AT_ROW : AT_ONE;
}

/* 32-bit addresses in shared memory: half the width, one known span. */
static inline enum pattern quick_shared(struct warp *w, const struct insn *in,
                                        u32 n, u32 align, struct access *x) {
    const u32 *row = ROW(const u32, in->src[0]);
    const struct block *b = w->block;
    u32 first = row[0] + (u32)in->imm, last = b->shared_bytes - n;
    u32 outside = 0, low = 0, step = 0, same = 0;
    if (b->shared_bytes < n) return AT_FAULT;
    for (u32 i = 0; i < LANES; i++) {
        u32 a = row[i] + (u32)in->imm;
        outside |= a | (last - a); /* shared memory ends below 2^31 */
        low |= a;
        step |= a - (first + i * n);
        same |= a - first;
    }
    if ((s32)outside < 0 || (low & (align - 1))) return AT_FAULT;
    x->host = (char *)b->shared + first;
    if (!step) return AT_ROW;
    if (!same) return AT_ONE;
    for (u32 i = 0; i < LANES; i++)
        x->each[i] = (char *)b->shared + (u32)(row[i] + (u32)in->imm);
    return AT_EACH;
}

/* The addresses in a row, plus an offset; no row: the offset is absolute.
 * 32-bit addresses wrap at 32 bits. */
static inline void addresses(const struct warp *w, slot_t slot, unsigned bytes,
                             int64_t offset, u64 *a) {
    if (!slot_valid(slot)) {
        for (unsigned i = 0; i < LANES; i++) a[i] = (u64)offset;
    } else if (bytes == 8) {
        const u64 *row = ROW(const u64, slot);
        for (unsigned i = 0; i < LANES; i++) a[i] = row[i] + (u64)offset;
    } else {
        const u32 *row = ROW(const u32, slot);
        for (unsigned i = 0; i < LANES; i++) a[i] = row[i] + (u32)offset;
    }
}

/* Checks n bytes (a power of two) at the address of every active lane, aligned
 * to `align` (another). */
static inline enum pattern
resolve_at(struct warp *w, const struct insn *in, enum ptx_space space,
           const u64 *a, u32 mask, unsigned n, unsigned align,
           enum access_kind what, struct access *x) {
    x->shared = 0;
    const u32 *on = exec_lanes(w, mask);
    unsigned f = (unsigned)__builtin_ctz(mask);
    struct span s;
    bool cached = is_global(space) && w->cache.epoch == memory_epoch(memory_of(w));
    if (cached) s = w->cache;
    for (int attempt = cached ? 0 : 1; attempt < 2; attempt++) {
        if (attempt == 1 && !span_of(w, space, a[f], &s)) break;
        struct scan r = scan_row(a, s.lo, s.hi - n, n, mask, on, f);
        if (r.low & (align - 1)) break;
        if ((s64)r.outside < 0) continue;
        if (what != READ && !s.writable) break;
        if (space == PTX_SPACE_NONE && s.epoch == EPOCH_SHARED)
            x->shared = mask;
        return pattern_of(r, a, n, &s, mask, on, f, x);
    }
    return resolve_each(w, in, space, mask, a, n, align, what, x);
}

/* Local memory: every lane has its own, at a fixed distance from the next. */
static inline enum pattern local_row(struct warp *w, const u64 *a, u32 mask,
                                     unsigned n, unsigned align,
                                     struct access *x) {
    const u32 *on = exec_lanes(w, mask);
    u64 first = a[__builtin_ctz(mask)], last = (u64)w->local_stride - n;
    u64 outside = 0, low = 0;
    for (u64 i = 0; i < LANES; i++) {
        u64 at = on[i] ? a[i] : first;
        outside |= at | (last - at);
        low |= at;
        x->each[i] = (char *)((u64)w->local + i * w->local_stride + at);
    }
    return (s64)outside < 0 || (low & (align - 1)) ? AT_FAULT : AT_EACH;
}

/* The same for the instruction's first address. */
static __attribute__((noinline)) enum pattern
resolve(struct warp *w, const struct insn *in, u32 mask, unsigned n,
        unsigned align, enum access_kind what, struct access *x) {
    if (mask == FULL_MASK && slot_valid(in->src[0])) {
        enum pattern p = AT_FAULT;
        x->shared = 0;
        if (in->src_bytes[0] == 8 && is_global(in->space))
            p = quick_row(w, in, n, align, what, x);
        else if (in->src_bytes[0] == 4 && in->space == PTX_SPACE_SHARED)
            p = quick_shared(w, in, n, align, x);
        if (p != AT_FAULT) return p;
    }
    _Alignas(64) u64 a[LANES];
    addresses(w, in->src[0], in->src_bytes[0], in->imm, a);
    if (in->space == PTX_SPACE_LOCAL && w->local_stride >= n &&
        local_row(w, a, mask, n, align, x) == AT_EACH)
        return AT_EACH;
    return resolve_at(w, in, in->space, a, mask, n, align, what, x);
}

/* The address of lane i. */
static inline char *lane_at(const struct access *x, enum pattern p, unsigned i,
                            unsigned n) {
    return p == AT_EACH ? x->each[i] : p == AT_ROW ? x->host + i * n : x->host;
}

#endif
