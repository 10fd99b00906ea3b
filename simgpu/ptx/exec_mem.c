/* ld, st and what goes with them: fences, address conversions, hints. PTX
 * 9.7.9, 9.7.13. The check is in exec_access.h, atomics in exec_atom.c.
 *
 * Memory order: guest loads and stores are the host's own, so x86 gives each
 * acquire and release for nothing but a fence that keeps the compiler from
 * moving them; on other hosts the fence is real. .sc needs a full one. Caching
 * operators and eviction hints mean nothing here.
 */
#include "ptx/exec_access.h"

#define P_(x) PTX_MOD_##x

enum { ORDERED = 1, SEQUENTIAL = 2 }; /* in->cmp */

/* ---- loads and stores ---------------------------------------------------- */

/* Element e of v of each lane, memory type M into register type R: values are
 * sign- or zero-extended as M says. */
#define LOAD(M, R)                                                           \
    static inline void load_##M##_##R(struct warp *w, u32 mask,              \
                                      const struct access *x,                \
                                      enum pattern p, slot_t slot,           \
                                      unsigned v, unsigned e) {              \
        R *d = ROW(R, slot);                                                 \
        if (p == AT_ROW) {                                                   \
            const M *s = (const M *)x->host + e;                             \
            if (v == 1) LANES_SET(d, (R)s[i]);                               \
            else if (v == 2) LANES_SET(d, (R)s[2 * i]);                      \
            else LANES_SET(d, (R)s[v * (unsigned)i]);                        \
        } else if (p == AT_ONE) {                                            \
            const R one = (R)((const M *)x->host)[e];                        \
            LANES_SET(d, one);                                               \
        } else {                                                             \
            LANES_SET(d, (R)((const M *)x->each[i])[e]);                     \
        }                                                                    \
    }                                                                        \
    HANDLER(ld_##M##_##R) {                                                  \
        struct access x;                                                     \
        enum pattern p = resolve(w, in, mask, sizeof(M), sizeof(M), READ, &x);\
        if (p == AT_FAULT) return EXEC_FAULT;                                \
        load_##M##_##R(w, mask, &x, p, in->dst, 1, 0);                       \
        if (in->cmp) __atomic_thread_fence(__ATOMIC_ACQUIRE);                \
        return EXEC_NEXT;                                                    \
    }                                                                        \
    HANDLER(ldv_##M##_##R) {                                                 \
        const struct insn_vec *v = insn_dst_vec(in);                         \
        unsigned n = v->n * (unsigned)sizeof(M);                             \
        struct access x;                                                     \
        enum pattern p = resolve(w, in, mask, n, n, READ, &x);               \
        if (p == AT_FAULT) return EXEC_FAULT;                                \
        for (unsigned e = 0; e < v->n; e++)                                  \
            if (slot_valid(v->slot[e]))                                      \
                load_##M##_##R(w, mask, &x, p, v->slot[e], v->n, e);         \
        if (in->cmp) __atomic_thread_fence(__ATOMIC_ACQUIRE);                \
        return EXEC_NEXT;                                                    \
    }

/* Stores take the low part of the register. Lanes that store to one address
 * do so in their order: the highest wins. */
#define STORE(M, R)                                                          \
    static inline void store_##M##_##R(struct warp *w, u32 mask,             \
                                       const struct access *x,               \
                                       enum pattern p, slot_t slot,          \
                                       unsigned v, unsigned e) {             \
        const R *s = ROW(const R, slot);                                     \
        M *d = p == AT_EACH ? NULL : (M *)x->host + e;                       \
        if (mask != FULL_MASK) {                                             \
            if (p == AT_ROW)                                                 \
                FOR_LANES(i, mask) d[i * v] = (M)s[i];                       \
            else                                                             \
                FOR_LANES(i, mask)                                           \
                    ((M *)lane_at(x, p, i, 0))[e] = (M)s[i];                 \
        } else if (p == AT_EACH) {                                           \
            for (int i = 0; i < LANES; i++) ((M *)x->each[i])[e] = (M)s[i];  \
        } else if (p == AT_ONE) {                                            \
            *d = (M)s[LANES - 1];                                            \
        } else if (v == 1) {                                                 \
            IVDEP for (int i = 0; i < LANES; i++) d[i] = (M)s[i];            \
        } else {                                                             \
            for (unsigned i = 0; i < LANES; i++) d[i * v] = (M)s[i];         \
        }                                                                    \
    }                                                                        \
    HANDLER(st_##M##_##R) {                                                  \
        struct access x;                                                     \
        enum pattern p = resolve(w, in, mask, sizeof(M), sizeof(M), WRITE,   \
                                 &x);                                        \
        if (p == AT_FAULT) return EXEC_FAULT;                                \
        if (in->cmp) __atomic_thread_fence(__ATOMIC_RELEASE);                \
        store_##M##_##R(w, mask, &x, p, in->src[1], 1, 0);                   \
        return EXEC_NEXT;                                                    \
    }                                                                        \
    HANDLER(stv_##M##_##R) {                                                 \
        const struct insn_vec *v = insn_src_vec(in);                         \
        unsigned n = v->n * (unsigned)sizeof(M);                             \
        struct access x;                                                     \
        enum pattern p = resolve(w, in, mask, n, n, WRITE, &x);              \
        if (p == AT_FAULT) return EXEC_FAULT;                                \
        if (in->cmp) __atomic_thread_fence(__ATOMIC_RELEASE);                \
        for (unsigned e = 0; e < v->n; e++)                                  \
            store_##M##_##R(w, mask, &x, p, v->slot[e], v->n, e);            \
        return EXEC_NEXT;                                                    \
    }

LOAD(u8, u16) LOAD(u8, u32) LOAD(u8, u64)
LOAD(s8, s16) LOAD(s8, s32) LOAD(s8, s64)
LOAD(u16, u16) LOAD(u16, u32) LOAD(u16, u64)
LOAD(s16, s32) LOAD(s16, s64)
LOAD(u32, u32) LOAD(u32, u64) LOAD(s32, s64)
LOAD(u64, u64)
STORE(u8, u16) STORE(u8, u32) STORE(u8, u64)
STORE(u16, u16) STORE(u16, u32) STORE(u16, u64)
STORE(u32, u32) STORE(u32, u64)
STORE(u64, u64)

/* A parameter of the kernel at a fixed place: the same for all lanes. */
#define LOAD_PARAM(M, R)                                                     \
    HANDLER(ldp_##M##_##R) {                                                 \
        const struct exec_launch *l = w->block->launch;                      \
        if (!fits((u64)in->imm, sizeof(M), l->program->param_bytes))         \
            return ld_##M##_##R(w, in, mask);                                \
        R *d = ROW(R, in->dst);                                              \
        const R one = *(const M *)(l->params + in->imm);                     \
        LANES_SET(d, one);                                                   \
        return EXEC_NEXT;                                                    \
    }
LOAD_PARAM(u32, u32) LOAD_PARAM(u64, u64)

/* ---- selectors ----------------------------------------------------------- */

/* What changes nothing here: weak and volatile accesses (a volatile one is a
 * relaxed one, and every access is at least that), scopes (the narrowest is
 * served by the widest), caching. */
#define NEUTRAL                                                              \
    P_(weak), P_(volatile), P_(relaxed), P_(mmio), P_(cta), P_(cluster),     \
        P_(gpu), P_(sys), P_(nc), P_(ca), P_(cg), P_(cs), P_(lu), P_(cv),    \
        P_(wb), P_(wt), P_(L1), P_(L2), P_(cache_hint), P_(unified)

/* Rows of the register's width, columns of the memory's type. */
struct width { exec_fn one, vec; };
static const struct width *load_of(enum ptx_type t, unsigned reg) {
#define W(M, R) {ld_##M##_##R, ldv_##M##_##R}
    static const struct width
        u_8[] = {W(u8, u16), W(u8, u32), W(u8, u64)},
        s_8[] = {W(s8, s16), W(s8, s32), W(s8, s64)},
        u_16[] = {W(u16, u16), W(u16, u32), W(u16, u64)},
        s_16[] = {W(u16, u16), W(s16, s32), W(s16, s64)},
        u_32[] = {{0, 0}, W(u32, u32), W(u32, u64)},
        s_32[] = {{0, 0}, W(u32, u32), W(s32, s64)},
        any_64[] = {{0, 0}, {0, 0}, W(u64, u64)};
#undef W
    unsigned row = reg == 2 ? 0 : reg == 4 ? 1 : 2;
    switch (t) {
    case PTX_B8: case PTX_U8: return &u_8[row];
    case PTX_S8: return &s_8[row];
    case PTX_B16: case PTX_U16: case PTX_F16: case PTX_BF16: return &u_16[row];
    case PTX_S16: return &s_16[row];
    case PTX_B32: case PTX_U32: case PTX_F32: case PTX_F16X2: case PTX_BF16X2:
        return &u_32[row];
    case PTX_S32: return &s_32[row];
    case PTX_B64: case PTX_U64: case PTX_S64: case PTX_F64: return &any_64[row];
    default: return NULL;
    }
}
static const struct width *store_of(unsigned bytes, unsigned reg) {
#define W(M, R) {st_##M##_##R, stv_##M##_##R}
    static const struct width
        of_8[] = {W(u8, u16), W(u8, u32), W(u8, u64)},
        of_16[] = {W(u16, u16), W(u16, u32), W(u16, u64)},
        of_32[] = {{0, 0}, W(u32, u32), W(u32, u64)},
        of_64[] = {{0, 0}, {0, 0}, W(u64, u64)};
#undef W
    unsigned row = reg == 2 ? 0 : reg == 4 ? 1 : 2;
    switch (bytes) {
    case 1: return &of_8[row];
    case 2: return &of_16[row];
    case 4: return &of_32[row];
    case 8: return &of_64[row];
    default: return NULL;
    }
}

/* The elements' common register width; 0 if they differ. */
static unsigned element_width(const struct insn_vec *v) {
    unsigned bytes = 0;
    for (unsigned e = 0; e < v->n; e++) {
        if (v->slot[e] == SLOT_NONE) continue;
        if (bytes && v->bytes[e] != bytes) return 0;
        bytes = v->bytes[e];
    }
    return bytes;
}

static exec_fn ldp_of(const struct insn *out) {
    if (out->space != PTX_SPACE_PARAM || slot_valid(out->src[0])) return NULL;
    if (out->bytes != out->dst_bytes || out->imm % out->bytes) return NULL;
    return out->bytes == 4 ? ldp_u32_u32 : out->bytes == 8 ? ldp_u64_u64 : NULL;
}

SELECT(ld) {
    if (!MODS_ONLY(NEUTRAL, P_(acquire))) return NULL;
    bool vec = out->ext && insn_dst_vec(out)->n;
    unsigned reg = vec ? element_width(insn_dst_vec(out)) : out->dst_bytes;
    if (reg < out->bytes || (!vec && !slot_valid(out->dst))) return NULL;
    out->cmp = HAS(acquire) ? ORDERED : 0;
    exec_fn param = vec ? NULL : ldp_of(out);
    if (param) return param;
    const struct width *f = load_of(in->types[0], reg);
    return !f ? NULL : vec ? f->vec : f->one;
}
SELECT(ldu) { return EXEC(select_ld)(m, in, out); }

SELECT(st) {
    if (!MODS_ONLY(NEUTRAL, P_(release))) return NULL;
    bool vec = out->ext && insn_src_vec(out)->n;
    unsigned reg = vec ? element_width(insn_src_vec(out)) : out->src_bytes[1];
    if (reg < out->bytes) return NULL;
    out->cmp = HAS(release) ? ORDERED : 0;
    const struct width *f = store_of(out->bytes, reg);
    return !f ? NULL : vec ? f->vec : f->one;
}

/* ---- fences -------------------------------------------------------------- */

HANDLER(fence_light) {
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    return EXEC_NEXT;
}
HANDLER(fence_full) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return EXEC_NEXT;
}

/* .proxy fences order kinds of access that are one here. */
SELECT(fence) {
    if (!MODS_ONLY(P_(sc), P_(acq_rel), P_(acquire), P_(release), P_(cta),
                   P_(cluster), P_(gpu), P_(sys), P_(proxy), P_(alias),
                   P_(async), P_(mbarrier_init)))
        return NULL;
    return HAS(sc) || HAS(proxy) ? fence_full : fence_light;
}
SELECT(membar) {
    return MODS_ONLY(P_(cta), P_(gl), P_(sys), P_(proxy), P_(alias))
               ? fence_full : NULL;
}

/* ---- address conversion --------------------------------------------------- */

/* Global and constant addresses are generic ones; shared, local and parameter
 * addresses are offsets in their windows. */
static u64 window_of(const struct warp *w, enum ptx_space space) {
    struct memory *mem = memory_of(w);
    switch (space) {
    case PTX_SPACE_SHARED: return memory_shared_window(mem);
    case PTX_SPACE_LOCAL: return memory_local_window(mem);
    case PTX_SPACE_PARAM: return memory_param_window(mem);
    default: return 0;
    }
}
LANE_OP1(cvta_same_u64, u64, u64, a[i])
LANE_OP1(cvta_same_u32, u32, u32, a[i])

/* An offset may come in a 32-bit register (shared addresses do). */
HANDLER(cvta_in) {
    u64 *d = ROW(u64, in->dst), base = window_of(w, in->cmp);
    if (in->src_bytes[0] == 4) {
        const u32 *a = ROW(const u32, in->src[0]);
        LANES_SET(d, a[i] + base);
    } else {
        const u64 *a = ROW(const u64, in->src[0]);
        LANES_SET(d, a[i] + base);
    }
    return EXEC_NEXT;
}
HANDLER(cvta_out) {
    u64 *d = ROW(u64, in->dst), base = window_of(w, in->cmp);
    const u64 *a = ROW(const u64, in->src[0]);
    LANES_SET(d, a[i] - base);
    return EXEC_NEXT;
}

SELECT(cvta) {
    if (!MODS_ONLY(P_(to), P_(cta), P_(cluster))) return NULL;
    out->cmp = in->space;
    if (in->space == PTX_SPACE_NONE) return NULL;
    bool same = in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_CONST;
    if (same && out->dst_bytes == 4) return cvta_same_u32;
    if (out->dst_bytes != 8) return NULL;
    if (same) return out->src_bytes[0] == 8 ? cvta_same_u64 : NULL;
    return HAS(to) ? (out->src_bytes[0] == 8 ? cvta_out : NULL) : cvta_in;
}

HANDLER(isspacep_row) {
    const u64 *a = ROW(const u64, in->src[0]);
    struct windows v = windows_of(memory_of(w));
    u64 base = window_of(w, in->cmp);
    u32 bits = 0;
    if (in->cmp == PTX_SPACE_GLOBAL)
        LANES_TEST(bits, a[i] - v.shared >= WINDOW_BYTES &&
                         a[i] - v.local >= WINDOW_BYTES &&
                         a[i] - v.param >= WINDOW_BYTES);
    else
        LANES_TEST(bits, a[i] - base < WINDOW_BYTES);
    pred_set(w, in->dst, mask, bits);
    return EXEC_NEXT;
}
SELECT(isspacep) {
    if (!MODS_ONLY(P_(cta), P_(cluster)) || out->src_bytes[0] != 8) return NULL;
    /* constant memory is global memory here: the question has no answer */
    if (in->space == PTX_SPACE_NONE || in->space == PTX_SPACE_CONST)
        return NULL;
    out->cmp = in->space;
    return isspacep_row;
}

/* ---- hints ---------------------------------------------------------------- */

/* A prefetch never faults: the hardware drops what it cannot translate. */
HANDLER(hint) { return EXEC_NEXT; }
SELECT(prefetch) {
    return MODS_ONLY(P_(L1), P_(L2), P_(cache_hint)) ? hint : NULL;
}
SELECT(prefetchu) { return MODS_ONLY(P_(L1)) ? hint : NULL; }

/* discard gives up 128 bytes' contents, so it must be allowed to write them;
 * keeping them is one of the values they may have. */
HANDLER(discard_line) {
    struct access x;
    return resolve(w, in, mask, 128, 128, WRITE, &x) == AT_FAULT ? EXEC_FAULT
                                                                 : EXEC_NEXT;
}
SELECT(discard) { return MODS_ONLY(P_(L2)) ? discard_line : NULL; }
