/* Half precision, PTX 9.7.4: f16, bf16 and pairs of them in a word.
 *
 * Done in f32, which has more than twice the bits and two more, so that the
 * second rounding changes nothing; products of bf16 (they can leave f32's
 * range) and fma in f64. All of these round to nearest.
 */
#include "ptx/exec_pick.h"
#include "ptx/sem_float.h"

#define P_(x) PTX_MOD_##x

/* in->cmp */
enum { FTZ = 4, SAT = 8, NAN_WINS = 16, XORSIGN = 32, RELU = 64 };

static inline u16 in_f16(u16 h, u8 flags) {
    return flags & FTZ && !(h & 0x7c00) ? h & 0x8000 : h;
}
static inline u16 out_f16(u16 h, u8 flags) {
    h = in_f16(h, flags);
    if (flags & SAT) h = f16_f32(sat_f32(f32_f16(h)));
    return flags & RELU && h >> 15 ? 0 : h; /* a NaN here has no sign */
}
static inline u16 in_bf16(u16 h, u8 flags) {
    return flags & FTZ && !(h & 0x7f80) ? h & 0x8000 : h;
}
static inline u16 out_bf16(u16 h, u8 flags) {
    h = in_bf16(h, flags);
    return flags & RELU && h >> 15 ? 0 : h;
}

#define HALF_SEM(F)                                                          \
    static inline u16 add_##F(u16 a, u16 b, u8 fl) {                         \
        f32 x = f32_##F(in_##F(a, fl)), y = f32_##F(in_##F(b, fl));          \
        return out_##F(F##_f32(x + y), fl);                                  \
    }                                                                        \
    static inline u16 sub_##F(u16 a, u16 b, u8 fl) {                         \
        f32 x = f32_##F(in_##F(a, fl)), y = f32_##F(in_##F(b, fl));          \
        return out_##F(F##_f32(x - y), fl);                                  \
    }                                                                        \
    static inline u16 fma_##F(u16 a, u16 b, u16 c, u8 fl) {                  \
        f64 x = f32_##F(in_##F(a, fl)), y = f32_##F(in_##F(b, fl));          \
        f64 z = f32_##F(in_##F(c, fl));                                      \
        return out_##F(F##_f64(fma_odd(x, y, z), FP_RN), fl);                \
    }                                                                        \
    static inline u16 ex2_##F(u16 a, u8 fl) {                                \
        return out_##F(F##_f32(exp2f(f32_##F(in_##F(a, fl)))), fl);          \
    }                                                                        \
    static inline u16 tanh_##F(u16 a, u8 fl) {                               \
        (void)fl;                                                            \
        return F##_f32(tanhf(f32_##F(a)));                                   \
    }                                                                        \
    static inline u16 neg_##F(u16 a, u8 fl) { return in_##F(a, fl) ^ 0x8000; }\
    static inline u16 abs_##F(u16 a, u8 fl) { return in_##F(a, fl) & 0x7fff; }\
    EXTREME(min, F) EXTREME(max, F)

#define EXTREME(name, F)                                                     \
    static inline u16 name##_##F(u16 a, u16 b, u8 fl) {                      \
        f32 x = f32_##F(in_##F(a, fl)), y = f32_##F(in_##F(b, fl));          \
        f32 r = fl & XORSIGN                                                 \
                    ? xorsign_f32(x, y, name##_f32(abs_f32(x), abs_f32(y)))  \
                    : name##_f32(x, y);                                      \
        return F##_f32(fl & NAN_WINS ? nanwins_f32(x, y, r) : r);            \
    }
HALF_SEM(f16) HALF_SEM(bf16)

static inline u16 mul_f16(u16 a, u16 b, u8 fl) {
    f32 x = f32_f16(in_f16(a, fl)), y = f32_f16(in_f16(b, fl));
    return out_f16(f16_f32(x * y), fl);
}
static inline u16 mul_bf16(u16 a, u16 b, u8 fl) {
    return out_bf16(bf16_f64((f64)f32_bf16(a) * f32_bf16(b), FP_RN), fl);
}

/* ---- handlers: one value, or two in a word ------------------------------- */

#define LOW(x) ((u16)(x))
#define HIGH(x) ((u16)((x) >> 16))
#define PAIR(low, high) ((u32)(low) | (u32)(high) << 16)

#define HALF1(op, F)                                                         \
    LANE_OP1(op##_row_##F, u16, u16, op##_##F(a[i], in->cmp))                \
    LANE_OP1(op##_row_##F##x2, u32, u32,                                     \
             PAIR(op##_##F(LOW(a[i]), in->cmp), op##_##F(HIGH(a[i]), in->cmp)))
#define HALF2(op, F)                                                         \
    LANE_OP2(op##_row_##F, u16, u16, op##_##F(a[i], b[i], in->cmp))          \
    LANE_OP2(op##_row_##F##x2, u32, u32,                                     \
             PAIR(op##_##F(LOW(a[i]), LOW(b[i]), in->cmp),                   \
                  op##_##F(HIGH(a[i]), HIGH(b[i]), in->cmp)))
#define HALF3(op, F)                                                         \
    LANE_OP3(op##_row_##F, u16, u16, op##_##F(a[i], b[i], c[i], in->cmp))    \
    LANE_OP3(op##_row_##F##x2, u32, u32,                                     \
             PAIR(op##_##F(LOW(a[i]), LOW(b[i]), LOW(c[i]), in->cmp),        \
                  op##_##F(HIGH(a[i]), HIGH(b[i]), HIGH(c[i]), in->cmp)))
#define HALF_ROWS(F)                                                         \
    HALF1(neg, F) HALF1(abs, F) HALF1(ex2, F) HALF1(tanh, F)                 \
    HALF2(add, F) HALF2(sub, F) HALF2(mul, F) HALF2(min, F) HALF2(max, F)    \
    HALF3(fma, F)
HALF_ROWS(f16) HALF_ROWS(bf16)

/* The common ones without flags, in a form that vectorises. */
#define PLAIN_ADD(a, b) f16_f32(f32_f16(a) + f32_f16(b))
#define PLAIN_SUB(a, b) f16_f32(f32_f16(a) - f32_f16(b))
#define PLAIN_MUL(a, b) f16_f32(f32_f16(a) * f32_f16(b))
#define PLAIN2(op, OP)                                                       \
    LANE_OP2(op##_plain_f16, u16, u16, OP(a[i], b[i]))                       \
    LANE_OP2(op##_plain_f16x2, u32, u32,                                     \
             PAIR(OP(LOW(a[i]), LOW(b[i])), OP(HIGH(a[i]), HIGH(b[i]))))
PLAIN2(add, PLAIN_ADD) PLAIN2(sub, PLAIN_SUB) PLAIN2(mul, PLAIN_MUL)
LANE_OP3(fma_plain_f16, u16, u16, fma_f16_plain(a[i], b[i], c[i]))
LANE_OP3(fma_plain_f16x2, u32, u32,
         PAIR(fma_f16_plain(LOW(a[i]), LOW(b[i]), LOW(c[i])),
              fma_f16_plain(HIGH(a[i]), HIGH(b[i]), HIGH(c[i]))))

/* ---- selectors ----------------------------------------------------------- */

static bool is_bf16(enum ptx_type t) {
    return t == PTX_BF16 || t == PTX_BF16X2;
}
static void set_flags(const struct ptx_instr *in, struct insn *out) {
    out->cmp = (HAS(ftz) ? FTZ : 0) | (HAS(sat) ? SAT : 0) |
               (HAS(NaN) ? NAN_WINS : 0) | (HAS(xorsign) ? XORSIGN : 0) |
               (HAS(relu) ? RELU : 0);
}
/* f16 knows all modifiers in the list, bf16 those without .ftz and .sat. */
#define HALF_SELECT(op, ...) HALF_SELECT_(op, row, __VA_ARGS__)
#define PLAIN_SELECT(op, ...) HALF_SELECT_(op, plain, __VA_ARGS__)
#define HALF_SELECT_(op, quick, ...)                                                 \
    SELECT(half_##op) {                                                      \
        static const uint8_t known[] = {__VA_ARGS__, MODS_END};              \
        if (!mods_in(in, known)) return NULL;                                \
        if (is_bf16(in->types[0]) && (HAS(ftz) || HAS(sat))) return NULL;    \
        set_flags(in, out);                                                  \
        switch (in->types[0]) {                                              \
        case PTX_F16: return out->cmp ? op##_row_f16 : op##_##quick##_f16;   \
        case PTX_F16X2:                                                      \
            return out->cmp ? op##_row_f16x2 : op##_##quick##_f16x2;         \
        case PTX_BF16: return op##_row_bf16;                                 \
        default: return op##_row_bf16x2;                                     \
        }                                                                    \
    }
PLAIN_SELECT(add, P_(rn), P_(ftz), P_(sat))
PLAIN_SELECT(sub, P_(rn), P_(ftz), P_(sat))
PLAIN_SELECT(mul, P_(rn), P_(ftz), P_(sat))
PLAIN_SELECT(fma, P_(rn), P_(ftz), P_(sat), P_(relu))
HALF_SELECT(min, P_(ftz), P_(NaN), P_(xorsign), P_(abs))
HALF_SELECT(max, P_(ftz), P_(NaN), P_(xorsign), P_(abs))
HALF_SELECT(neg, P_(ftz))
HALF_SELECT(abs, P_(ftz))
HALF_SELECT(tanh, P_(approx))

/* bf16 always flushes here, and has to say so. */
SELECT(half_ex2) {
    bool bf = is_bf16(in->types[0]);
    if (!MODS_ONLY(P_(approx), P_(ftz)) || HAS(ftz) != bf) return NULL;
    out->cmp = bf ? FTZ : 0;
    switch (in->types[0]) {
    case PTX_F16: return ex2_row_f16;
    case PTX_F16X2: return ex2_row_f16x2;
    case PTX_BF16: return ex2_row_bf16;
    default: return ex2_row_bf16x2;
    }
}
