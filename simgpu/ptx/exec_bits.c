/* Logic, shifts and bit fields, PTX 9.7.1 (bit counting and fields), 9.7.8,
 * 9.7.9.7 (prmt). sem_int.h says what each computes. */
#include "ptx/exec_pick.h"

#define P_(x) PTX_MOD_##x

/* ---- logic; a predicate is 32 lanes in one word -------------------------- */

#define LOGIC(name, op)                                                      \
    LANE_OP2(name##_u16, u16, u16, (u16)(a[i] op b[i]))                      \
    LANE_OP2(name##_u32, u32, u32, a[i] op b[i])                             \
    LANE_OP2(name##_u64, u64, u64, a[i] op b[i])                             \
    HANDLER(name##_pred) {                                                   \
        pred_set(w, in->dst, mask, PRED(in->src[0]) op PRED(in->src[1]));    \
        return EXEC_NEXT;                                                    \
    }                                                                        \
    SELECT(name) {                                                           \
        static const exec_fn table[N_INT] = BITS_TABLE(name);                \
        if (in->n_mods) return NULL;                                         \
        return in->types[0] == PTX_PRED ? name##_pred                        \
                                        : pick_int(in->types[0], table);     \
    }
LOGIC(and, &) LOGIC(or, |) LOGIC(xor, ^)

#define X(T)                                                                 \
    LANE_OP1(not_##T, T, T, (T)~a[i])                                        \
    LANE_OP1(cnot_##T, T, T, a[i] == 0)                                      \
    HANDLER(shl_row_##T) {                                                       \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]);                               \
        const u32 *n = ROW(const u32, in->src[1]);                           \
        LANES_SET(d, shl_##T(a[i], n[i]));                                   \
        return EXEC_NEXT;                                                    \
    }
X(u16) X(u32) X(u64)
#undef X

#define X(T, P)                                                              \
    HANDLER(shr_row_##T) {                                                   \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]);                               \
        const u32 *n = ROW(const u32, in->src[1]);                           \
        LANES_SET(d, shr_##T(a[i], n[i]));                                   \
        return EXEC_NEXT;                                                    \
    }
EACH_INT(X)
#undef X

HANDLER(not_pred) {
    pred_set(w, in->dst, mask, ~PRED(in->src[0]));
    return EXEC_NEXT;
}

SELECT(not) {
    static const exec_fn table[N_INT] = BITS_TABLE(not);
    if (in->n_mods) return NULL;
    return in->types[0] == PTX_PRED ? not_pred
                                    : pick_int(in->types[0], table);
}
SELECT(cnot) {
    static const exec_fn table[N_INT] = BITS_TABLE(cnot);
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}
SELECT(shl) {
    static const exec_fn table[N_INT] = BITS_TABLE(shl_row);
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}
SELECT(shr) {
    static const exec_fn table[N_INT] = INT_TABLE(shr_row);
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}

/* Funnel shifts. */
LANE_OP3(shf_l_clamp, u32, u32, shf_l(a[i], b[i], min32(c[i])))
LANE_OP3(shf_l_wrap, u32, u32, shf_l(a[i], b[i], c[i] & 31))
LANE_OP3(shf_r_clamp, u32, u32, shf_r(a[i], b[i], min32(c[i])))
LANE_OP3(shf_r_wrap, u32, u32, shf_r(a[i], b[i], c[i] & 31))

SELECT(shf) {
    if (!MODS_ONLY(P_(l), P_(r), P_(clamp), P_(wrap)) || in->n_mods != 2)
        return NULL;
    return HAS(l) ? (HAS(clamp) ? shf_l_clamp : shf_l_wrap)
                  : (HAS(clamp) ? shf_r_clamp : shf_r_wrap);
}

/* ---- counting and finding ------------------------------------------------ */

#define X(T, P)                                                              \
    LANE_OP1(bfind_row_##T, u32, T, bfind_##T(a[i]))                         \
    LANE_OP1(bfind_shift_##T, u32, T,                                        \
             bfind_##T(a[i]) == ~0u ? ~0u : BITS(T) - 1 - bfind_##T(a[i]))
EACH_INT_BUT_16(X)
#undef X

#define X(T)                                                                 \
    LANE_OP1(clz_row_##T, u32, T, clz_##T(a[i]))                             \
    LANE_OP1(popc_row_##T, u32, T, popc_##T(a[i]))                           \
    LANE_OP1(brev_row_##T, T, T, brev_##T(a[i]))
X(u32) X(u64)
#undef X

#define COUNT(name)                                                          \
    SELECT(name) {                                                           \
        static const exec_fn table[N_INT] = BITS_TABLE_BUT_16(name##_row);   \
        return in->n_mods ? NULL : pick_int(in->types[0], table);            \
    }
COUNT(clz) COUNT(popc) COUNT(brev)

SELECT(bfind) {
    static const exec_fn at[N_INT] = INT_TABLE_BUT_16(bfind_row),
                         shift[N_INT] = INT_TABLE_BUT_16(bfind_shift);
    if (!MODS_ONLY(P_(shiftamt))) return NULL;
    return pick_int(in->types[0], HAS(shiftamt) ? shift : at);
}

HANDLER(fns_row) {
    u32 *d = ROW(u32, in->dst);
    const u32 *a = ROW(const u32, in->src[0]), *b = ROW(const u32, in->src[1]);
    const s32 *c = ROW(const s32, in->src[2]);
    FOR_LANES(i, mask) d[i] = fns_b32(a[i], b[i], c[i]);
    return EXEC_NEXT;
}
SELECT(fns) { return in->n_mods ? NULL : fns_row; }

/* ---- fields -------------------------------------------------------------- */

#define X(T, P)                                                              \
    HANDLER(bfe_row_##T) {                                                   \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]);                               \
        const u32 *b = ROW(const u32, in->src[1]);                           \
        const u32 *c = ROW(const u32, in->src[2]);                           \
        LANES_SET(d, bfe_##T(a[i], b[i], c[i]));                             \
        return EXEC_NEXT;                                                    \
    }
EACH_INT_BUT_16(X)
#undef X

#define X(T)                                                                 \
    HANDLER(bfi_row_##T) {                                                   \
        T *d = ROW(T, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        const u32 *c = ROW(const u32, in->src[2]);                           \
        const u32 *e = ROW(const u32, in->src[3]);                           \
        LANES_SET(d, bfi_##T(a[i], b[i], c[i], e[i]));                       \
        return EXEC_NEXT;                                                    \
    }
X(u32) X(u64)
#undef X

SELECT(bfe) {
    static const exec_fn table[N_INT] = INT_TABLE_BUT_16(bfe_row);
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}
SELECT(bfi) {
    static const exec_fn table[N_INT] = BITS_TABLE_BUT_16(bfi_row);
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}

LANE_OP2(bmsk_clamp_row, u32, u32, bmsk_clamp(a[i], b[i]))
LANE_OP2(bmsk_wrap_row, u32, u32, bmsk_wrap(a[i], b[i]))
SELECT(bmsk) {
    if (in->n_mods != 1) return NULL;
    return HAS(clamp) ? bmsk_clamp_row : HAS(wrap) ? bmsk_wrap_row : NULL;
}

/* ---- tables: three-input logic, byte permutation ------------------------- */

/* The look-up table is an immediate, so one row holds it for every lane. */
HANDLER(lop3_row) {
    u32 *d = ROW(u32, in->dst);
    const u32 *a = ROW(const u32, in->src[0]), *b = ROW(const u32, in->src[1]);
    const u32 *c = ROW(const u32, in->src[2]);
    u32 lut = ROW(const u32, in->src[3])[0];
    LANES_SET(d, lop3(a[i], b[i], c[i], lut));
    return EXEC_NEXT;
}
SELECT(lop3) { return in->n_mods ? NULL : lop3_row; }

LANE_OP3(prmt_row, u32, u32, prmt_b32(a[i], b[i], c[i]))
LANE_OP3(prmt_mode_row, u32, u32,
         prmt_b32(a[i], b[i], prmt_selector(in->cmp, c[i])))

SELECT(prmt) {
    static const uint8_t mode[] = {P_(f4e), P_(b4e), P_(rc8), P_(ecl), P_(ecr),
                                   P_(rc16)};
    if (in->n_mods == 0) return prmt_row;
    for (unsigned i = 0; i < sizeof mode && in->n_mods == 1; i++)
        if (in->mods[0] == mode[i]) {
            out->cmp = (uint8_t)i;
            return prmt_mode_row;
        }
    return NULL;
}
