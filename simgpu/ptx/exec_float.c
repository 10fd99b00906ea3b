/* f32 and f64 arithmetic, PTX 9.7.3. Each operation has a plain handler (round
 * to nearest, no flags), which is the hot one, and one that obeys the mode in
 * in->cmp. sem_float.h says what each computes and why NaN and .ftz are done
 * there. */
#include "ptx/exec_pick.h"
#include "ptx/sem_float.h"

#define P_(x) PTX_MOD_##x

/* in->cmp: two bits of enum fp_round, then flags. */
enum { ROUND = 3, FTZ = 4, SAT = 8, NAN_WINS = 16, XORSIGN = 32 };

/* The mode as the loops want it: loop-invariant values instead of branches. */
struct mode { f32 tiny; bool sat; };
static inline struct mode mode_of(const struct insn *in) {
    return (struct mode){in->cmp & FTZ ? TINY_F32 : 0, in->cmp & SAT};
}
static inline f32 out_f32(f32 x, struct mode m) {
    x = flush_f32(nan_f32(x), m.tiny);
    return m.sat ? sat_f32(x) : x;
}
#define IN(x) flush_f32((x), md.tiny)

/* Plain and moded handlers of an operation on f32; op takes the operands. The
 * result row is written inside the rounding mode (see fp_enter). */
#define F32_OP1(name, op)                                                    \
    LANE_OP1(name##_f32, f32, f32, nan_f32(op(a[i])))                        \
    HANDLER(name##_f32_mode) {                                               \
        f32 *d = ROW(f32, in->dst);                                          \
        const f32 *a = ROW(const f32, in->src[0]);                           \
        struct mode md = mode_of(in);                                        \
        fp_enter(in->cmp & ROUND);                                           \
        LANES_SET(d, out_f32(op(IN(a[i])), md));                             \
        fp_leave();                                                          \
        return EXEC_NEXT;                                                    \
    }
#define F32_OP2(name, op)                                                    \
    LANE_OP2(name##_f32, f32, f32, nan_f32(op(a[i], b[i])))                  \
    HANDLER(name##_f32_mode) {                                               \
        f32 *d = ROW(f32, in->dst);                                          \
        const f32 *a = ROW(const f32, in->src[0]);                           \
        const f32 *b = ROW(const f32, in->src[1]);                           \
        struct mode md = mode_of(in);                                        \
        fp_enter(in->cmp & ROUND);                                           \
        LANES_SET(d, out_f32(op(IN(a[i]), IN(b[i])), md));                   \
        fp_leave();                                                          \
        return EXEC_NEXT;                                                    \
    }
#define F32_OP3(name, op)                                                    \
    LANE_OP3(name##_f32, f32, f32, nan_f32(op(a[i], b[i], c[i])))            \
    HANDLER(name##_f32_mode) {                                               \
        f32 *d = ROW(f32, in->dst);                                          \
        const f32 *a = ROW(const f32, in->src[0]);                           \
        const f32 *b = ROW(const f32, in->src[1]);                           \
        const f32 *c = ROW(const f32, in->src[2]);                           \
        struct mode md = mode_of(in);                                        \
        fp_enter(in->cmp & ROUND);                                           \
        LANES_SET(d, out_f32(op(IN(a[i]), IN(b[i]), IN(c[i])), md));         \
        fp_leave();                                                          \
        return EXEC_NEXT;                                                    \
    }
/* f64 knows rounding modes only. */
#define F64_MODE(name)                                                    \
    HANDLER(name##_f64_mode) {                                               \
        fp_enter(in->cmp & ROUND);                                           \
        name##_f64(w, in, mask);                                             \
        fp_leave();                                                          \
        return EXEC_NEXT;                                                    \
    }

#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define RCP(a) (1 / (a))
F32_OP2(add, ADD)
F32_OP2(sub, SUB)
F32_OP2(mul, MUL)
F32_OP2(div, DIV)
F32_OP3(fma, __builtin_fmaf)
F32_OP1(rcp, RCP)
F32_OP1(sqrt, __builtin_sqrtf)

LANE_OP2(add_f64, f64, f64, a[i] + b[i])
LANE_OP2(sub_f64, f64, f64, a[i] - b[i])
LANE_OP2(mul_f64, f64, f64, a[i] * b[i])
LANE_OP2(div_f64, f64, f64, a[i] / b[i])
LANE_OP3(fma_f64, f64, f64, __builtin_fma(a[i], b[i], c[i]))
LANE_OP1(rcp_f64, f64, f64, 1 / a[i])
LANE_OP1(sqrt_f64, f64, f64, __builtin_sqrt(a[i]))
F64_MODE(add) F64_MODE(sub) F64_MODE(mul) F64_MODE(div)
F64_MODE(fma) F64_MODE(rcp) F64_MODE(sqrt)

/* ---- approximations ------------------------------------------------------ */

F32_OP2(quick_div, div_approx_f32)
#define RSQRT(a) (1 / __builtin_sqrtf(a))
F32_OP1(rsqrt, RSQRT)
F32_OP1(sin, sinf)
F32_OP1(cos, cosf)
F32_OP1(ex2, exp2f)
F32_OP1(lg2, log2f)
F32_OP1(tanh, tanhf)
LANE_OP1(rcp_gross, f64, f64, rcp_gross_f64(a[i]))
LANE_OP1(rsqrt_gross, f64, f64, rsqrt_gross_f64(a[i]))
LANE_OP1(rsqrt_f64, f64, f64, 1 / __builtin_sqrt(a[i]))

/* ---- signs and extremes -------------------------------------------------- */

LANE_OP1(abs_row_f32, f32, f32, abs_f32(a[i]))
LANE_OP1(neg_row_f32, f32, f32, neg_f32(a[i]))
LANE_OP1(abs_ftz_f32, f32, f32, abs_f32(flush_f32(a[i], TINY_F32)))
LANE_OP1(neg_ftz_f32, f32, f32, neg_f32(flush_f32(a[i], TINY_F32)))
LANE_OP1(abs_row_f64, f64, f64, abs_f64(a[i]))
LANE_OP1(neg_row_f64, f64, f64, neg_f64(a[i]))
LANE_OP2(copysign_row_f32, f32, f32, copysign_f32(a[i], b[i]))
LANE_OP2(copysign_row_f64, f64, f64, copysign_f64(a[i], b[i]))

#define MINMAX(name)                                                         \
    static inline f32 name##_by_mode(f32 x, f32 y, uint8_t flags) {          \
        f32 r = flags & XORSIGN                                              \
                    ? xorsign_f32(x, y, name##_f32(abs_f32(x), abs_f32(y)))  \
                    : name##_f32(x, y);                                      \
        return nan_f32(flags & NAN_WINS ? nanwins_f32(x, y, r) : r);         \
    }                                                                        \
    LANE_OP2(name##_row_f32, f32, f32, nan_f32(name##_f32(a[i], b[i])))      \
    LANE_OP2(name##_row_f64, f64, f64, name##_f64(a[i], b[i]))               \
    HANDLER(name##_mode_f32) {                                               \
        f32 *d = ROW(f32, in->dst);                                          \
        const f32 *a = ROW(const f32, in->src[0]);                           \
        const f32 *b = ROW(const f32, in->src[1]);                           \
        struct mode md = mode_of(in);                                        \
        LANES_SET(d, name##_by_mode(IN(a[i]), IN(b[i]), in->cmp));           \
        return EXEC_NEXT;                                                    \
    }                                                                        \
    SELECT(float_##name) {                                                   \
        if (in->types[0] == PTX_F64) return in->n_mods ? NULL : name##_row_f64;\
        if (in->types[0] != PTX_F32) return NULL;                            \
        if (in->n_mods == 0) return name##_row_f32;                          \
        if (!MODS_ONLY(P_(ftz), P_(NaN), P_(xorsign), P_(abs))) return NULL; \
        if (HAS(xorsign) != HAS(abs)) return NULL;                           \
        out->cmp = (HAS(ftz) ? FTZ : 0) | (HAS(NaN) ? NAN_WINS : 0) |        \
                   (HAS(xorsign) ? XORSIGN : 0);                             \
        return name##_mode_f32;                                              \
    }
MINMAX(min) MINMAX(max)

/* ---- testp --------------------------------------------------------------- */

/* A value's class, from the bits without the sign. */
#define CLASSES(T, magnitude, ones, least)                                   \
    HANDLER(testp_##T) {                                                     \
        const T *a = ROW(const T, in->src[0]);                               \
        const T all = (ones), normal = (least);                              \
        u32 bits;                                                            \
        switch (in->cmp) {                                                   \
        case P_(finite): LANES_TEST(bits, (magnitude) < all); break;         \
        case P_(infinite): LANES_TEST(bits, (magnitude) == all); break;      \
        case P_(number): LANES_TEST(bits, (magnitude) <= all); break;        \
        case P_(notanumber): LANES_TEST(bits, (magnitude) > all); break;     \
        case P_(normal): /* zero counts as one (PTX 9.7.3.1) */              \
            LANES_TEST(bits, (magnitude) < all &&                            \
                       ((magnitude) >= normal || (magnitude) == 0));         \
            break;                                                           \
        default: LANES_TEST(bits, (magnitude) != 0 && (magnitude) < normal); \
        }                                                                    \
        pred_set(w, in->dst, mask, bits);                                    \
        return EXEC_NEXT;                                                    \
    }
CLASSES(u32, a[i] & 0x7fffffffu, 0x7f800000u, 0x00800000u)
CLASSES(u64, a[i] & (u64)INT64_MAX, 0x7ffull << 52, 1ull << 52)

SELECT(testp) {
    if (in->n_mods != 1 ||
        !MODS_ONLY(P_(finite), P_(infinite), P_(number), P_(notanumber),
                   P_(normal), P_(subnormal)))
        return NULL;
    out->cmp = in->mods[0];
    return in->types[0] == PTX_F32 ? testp_u32
         : in->types[0] == PTX_F64 ? testp_u64 : NULL;
}

/* ---- selectors ----------------------------------------------------------- */

/* The rounding of the instruction, nearest when it names none. */
static uint8_t rounding(const struct ptx_instr *in) {
    return HAS(rm) ? FP_RM : HAS(rp) ? FP_RP : HAS(rz) ? FP_RZ : FP_RN;
}
/* Handlers of an operation that rounds: f32 plain and moded, f64 likewise. */
static exec_fn pick_rounded(const struct ptx_instr *in, struct insn *out,
                            const exec_fn table[4]) {
    if (!MODS_ONLY(P_(rn), P_(rz), P_(rm), P_(rp), P_(ftz), P_(sat)))
        return NULL;
    uint8_t flags = (HAS(ftz) ? FTZ : 0) | (HAS(sat) ? SAT : 0);
    out->cmp = rounding(in) | flags;
    if (in->types[0] == PTX_F32) return table[out->cmp ? 1 : 0];
    if (in->types[0] == PTX_F64 && !flags) return table[out->cmp ? 3 : 2];
    return NULL;
}
#define ROUNDED(op, name)                                                    \
    SELECT(op) {                                                             \
        static const exec_fn table[4] = {name##_f32, name##_f32_mode,        \
                                         name##_f64, name##_f64_mode};       \
        return pick_rounded(in, out, table);                                 \
    }
ROUNDED(float_add, add) ROUNDED(float_sub, sub) ROUNDED(float_mul, mul)
ROUNDED(float_fma, fma)

/* .approx and .full of f32, plain or with .ftz. */
static exec_fn pick_approx(const struct ptx_instr *in, struct insn *out,
                           exec_fn plain, exec_fn mode) {
    if (in->types[0] != PTX_F32) return NULL;
    if (!MODS_ONLY(P_(approx), P_(full), P_(ftz))) return NULL;
    out->cmp = HAS(ftz) ? FTZ : 0;
    return HAS(ftz) ? mode : plain;
}
#define APPROX(op, name)                                                     \
    SELECT(op) {                                                             \
        return HAS(approx) ? pick_approx(in, out, name##_f32,                \
                                         name##_f32_mode) : NULL;            \
    }
APPROX(sin, sin) APPROX(cos, cos) APPROX(lg2, lg2) APPROX(float_ex2, ex2)
APPROX(float_tanh, tanh)

SELECT(float_div) {
    static const exec_fn table[4] = {div_f32, div_f32_mode, div_f64,
                                     div_f64_mode};
    if (HAS(approx))
        return pick_approx(in, out, quick_div_f32, quick_div_f32_mode);
    if (HAS(full)) return pick_approx(in, out, div_f32, div_f32_mode);
    return pick_rounded(in, out, table);
}
/* The f64 forms of .approx need .ftz, except rsqrt's. */
SELECT(rcp) {
    static const exec_fn table[4] = {rcp_f32, rcp_f32_mode, rcp_f64,
                                     rcp_f64_mode};
    if (!HAS(approx)) return pick_rounded(in, out, table);
    if (in->types[0] == PTX_F64)
        return HAS(ftz) && in->n_mods == 2 ? rcp_gross : NULL;
    return pick_approx(in, out, rcp_f32, rcp_f32_mode);
}
SELECT(sqrt) {
    static const exec_fn table[4] = {sqrt_f32, sqrt_f32_mode, sqrt_f64,
                                     sqrt_f64_mode};
    if (!HAS(approx)) return pick_rounded(in, out, table);
    return pick_approx(in, out, sqrt_f32, sqrt_f32_mode);
}
SELECT(rsqrt) {
    if (!HAS(approx)) return NULL;
    if (in->types[0] == PTX_F64)
        return HAS(ftz) ? rsqrt_gross : in->n_mods == 1 ? rsqrt_f64 : NULL;
    return pick_approx(in, out, rsqrt_f32, rsqrt_f32_mode);
}

#define SIGN(op, name)                                                       \
    SELECT(op) {                                                             \
        if (in->types[0] == PTX_F64) return in->n_mods ? NULL : name##_row_f64;\
        if (in->types[0] != PTX_F32 || !MODS_ONLY(P_(ftz))) return NULL;     \
        return HAS(ftz) ? name##_ftz_f32 : name##_row_f32;                   \
    }
SIGN(float_abs, abs) SIGN(float_neg, neg)

SELECT(copysign) {
    if (in->n_mods) return NULL;
    return in->types[0] == PTX_F32 ? copysign_row_f32
         : in->types[0] == PTX_F64 ? copysign_row_f64 : NULL;
}
