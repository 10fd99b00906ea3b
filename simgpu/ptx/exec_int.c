/* Integer arithmetic, PTX 9.7.1 and 9.7.2 (carries), 9.7.11 (SIMD in a word).
 * sem_int.h says what each computes; here they become loops over rows, and
 * the selectors. Bit operations are in exec_bits.c. */
#include "ptx/exec_pick.h"
#include "ptx/sem_float.h"

#define P_(x) PTX_MOD_##x

/* ---- add, sub, neg, abs ------------------------------------------------- */

/* Unsigned, so that overflow wraps as PTX says; the sign makes no difference
 * to the low half. */
#define X(T, P)                                                              \
    LANE_OP2(add_##T, T, T, (T)((P)a[i] + b[i]))                             \
    LANE_OP2(sub_##T, T, T, (T)((P)a[i] - b[i]))                             \
    LANE_OP1(neg_##T, T, T, (T)(0 - (P)a[i]))                                \
    LANE_OP2(mul_lo_##T, T, T, (T)((P)a[i] * b[i]))                          \
    LANE_OP3(mad_lo_##T, T, T, (T)((P)a[i] * b[i] + c[i]))
X(u16, u32) X(u32, u32) X(u64, u64)
#undef X

LANE_OP2(add_sat_s32, s32, s32, sat_s32((s64)a[i] + b[i]))
LANE_OP2(sub_sat_s32, s32, s32, sat_s32((s64)a[i] - b[i]))

static inline u16 add_half(u16 a, u16 b) { return (u16)(a + b); }
LANE_OP2(add_16x2, u32, u32, HALVES(u16, add_half, a[i], b[i]))

#define X(T) LANE_OP1(abs_##T, T, T, a[i] < 0 ? (T)(0 - (u64)a[i]) : a[i])
X(s16) X(s32) X(s64)
#undef X

/* ---- products ----------------------------------------------------------- */

#define X(T, P)                                                              \
    LANE_OP2(mul_hi_##T, T, T, mulhi_##T(a[i], b[i]))                        \
    LANE_OP3(mad_hi_##T, T, T, (T)((P)mulhi_##T(a[i], b[i]) + (P)c[i]))
EACH_INT(X)
#undef X

#define WIDE(T, D, U)                                                        \
    LANE_OP2(mul_wide_##T, D, T, (D)a[i] * b[i])                             \
    HANDLER(mad_wide_##T) {                                                  \
        D *d = ROW(D, in->dst);                                              \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        const D *c = ROW(const D, in->src[2]);                               \
        LANES_SET(d, (D)((U)((D)a[i] * b[i]) + (U)c[i]));                    \
        return EXEC_NEXT;                                                    \
    }
WIDE(u16, u32, u32) WIDE(s16, s32, u32) WIDE(u32, u64, u64) WIDE(s32, s64, u64)

LANE_OP3(mad_hi_sat_s32, s32, s32,
         sat_s32((s64)mulhi_s32(a[i], b[i]) + c[i]))

#define MUL24(T)                                                             \
    LANE_OP2(mul24_lo_##T, T, T, (T)mul24_##T(a[i], b[i]))                   \
    LANE_OP2(mul24_hi_##T, T, T, (T)(mul24_##T(a[i], b[i]) >> 16))           \
    LANE_OP3(mad24_lo_##T, T, T, (T)((u32)mul24_##T(a[i], b[i]) + (u32)c[i]))\
    LANE_OP3(mad24_hi_##T, T, T,                                             \
             (T)((u32)(mul24_##T(a[i], b[i]) >> 16) + (u32)c[i]))
MUL24(u32) MUL24(s32)
LANE_OP3(mad24_hi_sat_s32, s32, s32,
         sat_s32((s64)(s32)(mul24_s32(a[i], b[i]) >> 16) + c[i]))

/* ---- quotients, differences, extremes ----------------------------------- */

#define X(T, P)                                                              \
    LANE_OP2(min_##T, T, T, a[i] < b[i] ? a[i] : b[i])                       \
    LANE_OP2(max_##T, T, T, a[i] > b[i] ? a[i] : b[i])                       \
    LANE_OP3(sad_##T, T, T, (T)((P)c[i] + absdiff_##T(a[i], b[i])))
EACH_INT(X)
#undef X

/* 32-bit quotients go through doubles where there are vectors of them that
 * round down: a / b is at least 1 / b away from the next integer, which is far
 * more than a double's rounding of it. */
#define X(T)                                                                 \
    LANE_OP2(div_##T, T, T, quot_##T(a[i], b[i]))                            \
    LANE_OP2(rem_##T, T, T, rest_##T(a[i], b[i]))
X(u16) X(u64) X(s16) X(s64)
#ifdef __AVX2__
static inline u32 fast_u32(u32 a, u32 b) {
    f64 q = __builtin_floor((f64)a / (f64)b);
    return (u32)(s32)(q - 0x1p31) ^ 0x80000000u;
}
LANE_OP2(div_u32, u32, u32, b[i] ? fast_u32(a[i], b[i] ? b[i] : 1) : ~0u)
LANE_OP2(rem_u32, u32, u32,
         b[i] ? a[i] - fast_u32(a[i], b[i] ? b[i] : 1) * b[i] : a[i])

/* Divisors 0 and -1 are special: the quotient by the latter may not fit. */
static inline s32 safe_s32(s32 b) { return b == 0 || b == -1 ? 1 : b; }
static inline s32 fast_div_s32(s32 a, s32 b) {
    s32 q = (s32)((f64)a / (f64)safe_s32(b));
    return b == 0 ? -1 : b == -1 ? (s32)(0 - (u32)a) : q;
}
static inline s32 fast_rem_s32(s32 a, s32 b) {
    s32 q = (s32)((f64)a / (f64)safe_s32(b));
    return b == 0 ? a : b == -1 ? 0 : (s32)((u32)a - (u32)q * (u32)b);
}
LANE_OP2(div_s32, s32, s32, fast_div_s32(a[i], b[i]))
LANE_OP2(rem_s32, s32, s32, fast_rem_s32(a[i], b[i]))
#else
X(u32) X(s32)
#endif
#undef X

#define MINMAX_HALF(T)                                                       \
    static inline T min_half_##T(T a, T b) { return a < b ? a : b; }         \
    static inline T max_half_##T(T a, T b) { return a > b ? a : b; }         \
    static inline T relu_##T(T a) { return a > (T)0 ? a : (T)0; }            \
    LANE_OP2(min_##T##x2, u32, u32, HALVES(T, min_half_##T, a[i], b[i]))     \
    LANE_OP2(max_##T##x2, u32, u32, HALVES(T, max_half_##T, a[i], b[i]))
MINMAX_HALF(u16) MINMAX_HALF(s16)
static inline s16 min_relu_half(s16 a, s16 b) { return relu_s16(min_half_s16(a, b)); }
static inline s16 max_relu_half(s16 a, s16 b) { return relu_s16(max_half_s16(a, b)); }
LANE_OP2(min_relu_s16x2, u32, u32, HALVES(s16, min_relu_half, a[i], b[i]))
LANE_OP2(max_relu_s16x2, u32, u32, HALVES(s16, max_relu_half, a[i], b[i]))

static inline s32 relu_word(s32 a) { return a > 0 ? a : 0; }
LANE_OP2(min_relu_s32, s32, s32, relu_word(a[i] < b[i] ? a[i] : b[i]))
LANE_OP2(max_relu_s32, s32, s32, relu_word(a[i] > b[i] ? a[i] : b[i]))

/* ---- dot products, SIMD in a word --------------------------------------- */

enum { SIGN_A = 1, SIGN_B = 2, HIGH = 4 }; /* in->cmp */
LANE_OP3(dp4a_, u32, u32,
         dp4a(a[i], b[i], c[i], in->cmp & SIGN_A, in->cmp & SIGN_B))
LANE_OP3(dp2a_, u32, u32,
         dp2a(a[i], b[i], c[i], in->cmp & SIGN_A, in->cmp & SIGN_B,
              in->cmp & HIGH ? 1 : 0))

static inline u32 sum_absdiff(u32 a, u32 b, u32 c, u32 signs) {
    for (u32 i = 0; i < 4; i++)
        c += absdiff_byte(a, b, i, signs & SIGN_A, signs & SIGN_B);
    return c;
}
static inline u32 each_absdiff(u32 a, u32 b, u32 signs) {
    u32 d = 0;
    for (u32 i = 0; i < 4; i++)
        d |= absdiff_byte(a, b, i, signs & SIGN_A, signs & SIGN_B) << 8 * i;
    return d;
}
LANE_OP3(vabsdiff4_add, u32, u32, sum_absdiff(a[i], b[i], c[i], in->cmp))
LANE_OP2(vabsdiff4_each, u32, u32, each_absdiff(a[i], b[i], in->cmp))

/* ---- carries: CC.CF is one bit a lane in the warp (PTX 9.7.2) ------------ */

enum { CARRY_IN = 1, CARRY_OUT = 2 }; /* in->cmp */

/* sum = x + y + carry; the carry out is what does not fit. A subtraction is
 * the sum with the complement and a first carry of one, so its flag is set
 * when nothing was borrowed. The manual calls the flag the borrow, which is
 * the same within a chain of subtractions; what nvcc makes of a division of
 * __int128 follows subc.cc with addc and counts on the flag as it is here
 * (and so did programs that ZLUDA had wrong, its pull request 197).
 * One row is written before the flags are read again, so destination and
 * sources may be the same row. */
#define CARRY_LOOP(T, first, sum, out)                                       \
    T *d = ROW(T, in->dst);                                                  \
    u32 flags = w->carry, set = 0;                                           \
    FOR_LANES(i, mask) {                                                     \
        u32 cf = in->cmp & CARRY_IN ? flags >> i & 1 : first;                \
        T r = (T)(sum);                                                      \
        set |= (u32)(out) << i;                                              \
        d[i] = r;                                                            \
    }                                                                        \
    if (in->cmp & CARRY_OUT) w->carry = (flags & ~mask) | set;               \
    return EXEC_NEXT;

#define CARRY(T, W)                                                          \
    HANDLER(addc_##T) {                                                      \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        CARRY_LOOP(T, 0, a[i] + b[i] + cf, ((W)a[i] + b[i] + cf) >> BITS(T)) \
    }                                                                        \
    HANDLER(subc_##T) {                                                      \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        CARRY_LOOP(T, 1, a[i] + ~b[i] + cf,                                  \
                   ((W)a[i] + (T)~b[i] + cf) >> BITS(T))                     \
    }                                                                        \
    HANDLER(madc_lo_##T) {                                                   \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]),\
                *c = ROW(const T, in->src[2]);                               \
        CARRY_LOOP(T, 0, a[i] * b[i] + c[i] + cf,                            \
                   ((W)(T)(a[i] * b[i]) + c[i] + cf) >> BITS(T))             \
    }
CARRY(u32, u64) CARRY(u64, u128)

#define CARRY_HI(T, U, W)                                                    \
    HANDLER(madc_hi_##T) {                                                   \
        const T *a = ROW(const T, in->src[0]), *b = ROW(const T, in->src[1]);\
        const U *c = ROW(const U, in->src[2]);                               \
        CARRY_LOOP(U, 0, (U)mulhi_##T(a[i], b[i]) + c[i] + cf,               \
                   ((W)(U)mulhi_##T(a[i], b[i]) + c[i] + cf) >> BITS(T))     \
    }
CARRY_HI(u32, u32, u64) CARRY_HI(s32, u32, u64)
CARRY_HI(u64, u64, u128) CARRY_HI(s64, u64, u128)

static exec_fn pick_carry(const struct ptx_instr *in, struct insn *out,
                          bool carry_in, const exec_fn table[N_INT]) {
    out->cmp = (carry_in ? CARRY_IN : 0) | (HAS(cc) ? CARRY_OUT : 0);
    return pick_int(in->types[0], table);
}
static const exec_fn addc_table[N_INT] = BITS_TABLE_BUT_16(addc);
static const exec_fn subc_table[N_INT] = BITS_TABLE_BUT_16(subc);
static const exec_fn madc_lo_table[N_INT] = BITS_TABLE_BUT_16(madc_lo);
static const exec_fn madc_hi_table[N_INT] = INT_TABLE_BUT_16(madc_hi);

SELECT(addc) {
    return MODS_ONLY(P_(cc)) ? pick_carry(in, out, true, addc_table) : NULL;
}
SELECT(subc) {
    return MODS_ONLY(P_(cc)) ? pick_carry(in, out, true, subc_table) : NULL;
}
SELECT(madc) {
    if (!MODS_ONLY(P_(cc), P_(lo), P_(hi))) return NULL;
    return pick_carry(in, out, true, HAS(hi) ? madc_hi_table : madc_lo_table);
}

/* ---- selectors ----------------------------------------------------------- */

SELECT(int_add) {
    static const exec_fn table[N_INT] = BITS_TABLE(add);
    if (HAS(cc))
        return MODS_ONLY(P_(cc)) ? pick_carry(in, out, false, addc_table) : NULL;
    if (HAS(sat))
        return in->types[0] == PTX_S32 && in->n_mods == 1 ? add_sat_s32 : NULL;
    if (in->n_mods) return NULL;
    if (in->types[0] == PTX_U16X2 || in->types[0] == PTX_S16X2) return add_16x2;
    return pick_int(in->types[0], table);
}
SELECT(int_sub) {
    static const exec_fn table[N_INT] = BITS_TABLE(sub);
    if (HAS(cc))
        return MODS_ONLY(P_(cc)) ? pick_carry(in, out, false, subc_table) : NULL;
    if (HAS(sat))
        return in->types[0] == PTX_S32 && in->n_mods == 1 ? sub_sat_s32 : NULL;
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}
SELECT(int_neg) {
    static const exec_fn table[N_INT] = {NULL, NULL, NULL,
                                         neg_u16, neg_u32, neg_u64};
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}
SELECT(int_abs) {
    static const exec_fn table[N_INT] = {NULL, NULL, NULL,
                                         abs_s16, abs_s32, abs_s64};
    return in->n_mods ? NULL : pick_int(in->types[0], table);
}

SELECT(int_mul) {
    static const exec_fn lo[N_INT] = BITS_TABLE(mul_lo),
                         hi[N_INT] = INT_TABLE(mul_hi);
    static const exec_fn wide[N_INT] = {mul_wide_u16, mul_wide_u32, NULL,
                                        mul_wide_s16, mul_wide_s32, NULL};
    if (in->n_mods != 1) return NULL;
    return HAS(lo) ? pick_int(in->types[0], lo)
         : HAS(hi) ? pick_int(in->types[0], hi)
         : HAS(wide) ? pick_int(in->types[0], wide) : NULL;
}
SELECT(int_mad) {
    static const exec_fn lo[N_INT] = BITS_TABLE(mad_lo),
                         hi[N_INT] = INT_TABLE(mad_hi);
    static const exec_fn wide[N_INT] = {mad_wide_u16, mad_wide_u32, NULL,
                                        mad_wide_s16, mad_wide_s32, NULL};
    if (!MODS_ONLY(P_(lo), P_(hi), P_(wide), P_(sat), P_(cc))) return NULL;
    if (HAS(cc))
        return pick_carry(in, out, false,
                          HAS(hi) ? madc_hi_table : madc_lo_table);
    if (HAS(sat))
        return HAS(hi) && in->types[0] == PTX_S32 ? mad_hi_sat_s32 : NULL;
    return HAS(lo) ? pick_int(in->types[0], lo)
         : HAS(hi) ? pick_int(in->types[0], hi)
         : HAS(wide) ? pick_int(in->types[0], wide) : NULL;
}
SELECT(mul24) {
    if (in->n_mods != 1) return NULL;
    bool s = in->types[0] == PTX_S32;
    if (!s && in->types[0] != PTX_U32) return NULL;
    return HAS(lo) ? (s ? mul24_lo_s32 : mul24_lo_u32)
         : HAS(hi) ? (s ? mul24_hi_s32 : mul24_hi_u32) : NULL;
}
SELECT(mad24) {
    bool s = in->types[0] == PTX_S32;
    if (!s && in->types[0] != PTX_U32) return NULL;
    if (!MODS_ONLY(P_(lo), P_(hi), P_(sat))) return NULL;
    if (HAS(sat)) return HAS(hi) && s ? mad24_hi_sat_s32 : NULL;
    return HAS(lo) ? (s ? mad24_lo_s32 : mad24_lo_u32)
         : HAS(hi) ? (s ? mad24_hi_s32 : mad24_hi_u32) : NULL;
}

#define PLAIN_INT(op, name)                                                  \
    SELECT(op) {                                                             \
        static const exec_fn table[N_INT] = INT_TABLE(name);                 \
        return in->n_mods ? NULL : pick_int(in->types[0], table);            \
    }
PLAIN_INT(int_div, div) PLAIN_INT(rem, rem) PLAIN_INT(sad, sad)

#define MINMAX(name)                                                         \
    SELECT(int_##name) {                                                     \
        static const exec_fn table[N_INT] = INT_TABLE(name);                 \
        if (!MODS_ONLY(P_(relu))) return NULL;                               \
        switch (in->types[0]) {                                              \
        case PTX_U16X2: return HAS(relu) ? NULL : name##_u16x2;              \
        case PTX_S16X2: return HAS(relu) ? name##_relu_s16x2                 \
                                         : name##_s16x2;                     \
        case PTX_S32: if (HAS(relu)) return name##_relu_s32; break;          \
        default: break;                                                      \
        }                                                                    \
        return HAS(relu) ? NULL : pick_int(in->types[0], table);             \
    }
MINMAX(min) MINMAX(max)

/* Types: of a, then of b (dp4a, dp2a); of the result, a, b (vabsdiff4). */
static uint8_t signs(enum ptx_type a, enum ptx_type b) {
    return (is_signed(a) ? SIGN_A : 0) | (is_signed(b) ? SIGN_B : 0);
}
SELECT(dp4a) {
    if (in->n_mods || in->n_types != 2) return NULL;
    out->cmp = signs(in->types[0], in->types[1]);
    return dp4a_;
}
SELECT(dp2a) {
    if (in->n_mods != 1 || in->n_types != 2) return NULL;
    if (!HAS(lo) && !HAS(hi)) return NULL;
    out->cmp = signs(in->types[0], in->types[1]) | (HAS(hi) ? HIGH : 0);
    return dp2a_;
}
/* Differences of bytes always fit a byte unsigned; without .add they replace
 * the four bytes of c (no byte mask, no .sat: those are other forms). */
SELECT(vabsdiff4) {
    if (in->n_types != 3 || !MODS_ONLY(P_(add))) return NULL;
    out->cmp = signs(in->types[1], in->types[2]);
    return HAS(add) ? vabsdiff4_add : vabsdiff4_each;
}
