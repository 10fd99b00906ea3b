/* mov, selp, slct: moving and choosing. */
#include "ptx/exec_pick.h"
#include "ptx/sem_float.h"

LANE_OP1(mov_b16, u16, u16, a[i])
LANE_OP1(mov_b32, u32, u32, a[i])
LANE_OP1(mov_b64, u64, u64, a[i])

HANDLER(mov_pred) {
    pred_set(w, in->dst, mask, PRED(in->src[0]));
    return EXEC_NEXT;
}

/* Lane i of a row of `bytes` wide elements. */
static inline u64 lane_get(const void *row, unsigned bytes, unsigned i) {
    u64 v = 0;
    memcpy(&v, (const char *)row + bytes * i, bytes);
    return v;
}
static inline void lane_put(void *row, unsigned bytes, unsigned i, u64 v) {
    memcpy((char *)row + bytes * i, &v, bytes);
}

/* mov.b32 d, {a, b}: the first element is the lowest part. A lane is read
 * whole before it is written: a row may be on both sides. */
HANDLER(mov_pack) {
    const struct insn_vec *v = insn_src_vec(in);
    unsigned part = in->bytes / v->n;
    FOR_LANES(i, mask) {
        u64 whole = 0;
        for (unsigned e = 0; e < v->n; e++)
            whole |= lane_get(slot_at(w, v->slot[e]), part, i) << 8 * part * e;
        lane_put(slot_at(w, in->dst), in->dst_bytes, i, whole);
    }
    return EXEC_NEXT;
}
HANDLER(mov_unpack) {
    const struct insn_vec *v = insn_dst_vec(in);
    unsigned part = in->bytes / v->n;
    FOR_LANES(i, mask) {
        u64 whole = lane_get(slot_at(w, in->src[0]), in->bytes, i);
        for (unsigned e = 0; e < v->n; e++)
            if (slot_valid(v->slot[e]))
                lane_put(slot_at(w, v->slot[e]), part, i,
                         whole >> 8 * part * e);
    }
    return EXEC_NEXT;
}

/* The common ones: halves of a word, of a double word. */
#define HALVES_OF(D, T)                                                      \
    HANDLER(mov_pack_##D) {                                                  \
        const struct insn_vec *v = insn_src_vec(in);                         \
        D *d = ROW(D, in->dst);                                              \
        const T *a = ROW(const T, v->slot[0]), *b = ROW(const T, v->slot[1]);\
        LANES_SET(d, (D)((D)a[i] | (D)b[i] << BITS(T)));                     \
        return EXEC_NEXT;                                                    \
    }                                                                        \
    HANDLER(mov_unpack_##D) {                                                \
        const struct insn_vec *v = insn_dst_vec(in);                         \
        const D *a = ROW(const D, in->src[0]);                               \
        if (slot_valid(v->slot[0])) {                                        \
            T *d = ROW(T, v->slot[0]);                                       \
            LANES_SET(d, (T)a[i]);                                           \
        }                                                                    \
        if (slot_valid(v->slot[1])) {                                        \
            T *d = ROW(T, v->slot[1]);                                       \
            LANES_SET(d, (T)(a[i] >> BITS(T)));                              \
        }                                                                    \
        return EXEC_NEXT;                                                    \
    }
HALVES_OF(u32, u16) HALVES_OF(u64, u32)

/* Packing takes whole elements: {a, b} of .b32 are two 16-bit registers. */
static bool parts_fit(const struct insn *out, const struct insn_vec *v) {
    if (v->n != 2 && v->n != 4) return false;
    for (unsigned e = 0; e < v->n; e++)
        if (slot_valid(v->slot[e]) && v->bytes[e] * v->n != out->bytes)
            return false;
    return out->bytes <= 8;
}

SELECT(mov) {
    if (in->n_mods) return NULL;
    if (out->ext) {
        const struct insn_vec *d = insn_dst_vec(out), *s = insn_src_vec(out);
        if (d->n && s->n) return NULL;
        if (!parts_fit(out, d->n ? d : s)) return NULL;
        bool two = (d->n ? d->n : s->n) == 2;
        if (two && out->bytes == 4) return d->n ? mov_unpack_u32 : mov_pack_u32;
        if (two && out->bytes == 8) return d->n ? mov_unpack_u64 : mov_pack_u64;
        return d->n ? mov_unpack : mov_pack;
    }
    switch (out->dst_bytes) {
    case 1: return mov_pred;
    case 2: return mov_b16;
    case 4: return mov_b32;
    case 8: return mov_b64;
    default: return NULL;
    }
}

/* ---- selp: a where the predicate holds, else b --------------------------- */

#define SELP(T)                                                              \
    HANDLER(selp_##T) {                                                      \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        _Alignas(64) u32 on[LANES];                                          \
        lanes_expand(PRED(in->src[2]), on);                                  \
        LANES_SET(d, on[i] ? a[i] : b[i]);                                   \
        return EXEC_NEXT;                                                    \
    }
SELP(u16) SELP(u32) SELP(u64)

static unsigned size_of(enum ptx_type t) {
    static const uint8_t bytes[] = {
#define PTX_TYPE(name, text, bytes) bytes,
#include "ptx/types.def"
#undef PTX_TYPE
    };
    return bytes[t];
}

SELECT(selp) {
    if (in->n_mods) return NULL;
    switch (size_of(in->types[0])) {
    case 2: return selp_u16;
    case 4: return selp_u32;
    case 8: return selp_u64;
    default: return NULL;
    }
}

/* ---- slct: a where c >= 0, else b; a NaN is not, -0 is ------------------- */

#define SLCT(T)                                                              \
    HANDLER(slct_##T##_s32) {                                                \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        const s32 *c = ROW(const s32, in->src[2]);                           \
        LANES_SET(d, c[i] >= 0 ? a[i] : b[i]);                               \
        return EXEC_NEXT;                                                    \
    }                                                                        \
    HANDLER(slct_##T##_f32) {                                                \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        const f32 *c = ROW(const f32, in->src[2]);                           \
        f32 tiny = in->cmp ? TINY_F32 : 0;                                   \
        LANES_SET(d, flush_f32(c[i], tiny) >= 0 ? a[i] : b[i]);              \
        return EXEC_NEXT;                                                    \
    }
SLCT(u16) SLCT(u32) SLCT(u64)

SELECT(slct) {
    bool f = in->types[1] == PTX_F32;
    if (!MODS_ONLY(PTX_MOD_ftz) || (!f && in->types[1] != PTX_S32)) return NULL;
    if (HAS(ftz) && !f) return NULL;
    out->cmp = HAS(ftz);
    switch (size_of(in->types[0])) {
    case 2: return f ? slct_u16_f32 : slct_u16_s32;
    case 4: return f ? slct_u32_f32 : slct_u32_s32;
    case 8: return f ? slct_u64_f32 : slct_u64_s32;
    default: return NULL;
    }
}
