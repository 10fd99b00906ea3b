/* f32 and f64 arithmetic. f32 sums and products come from exact.c; quotients
 * and roots from doubles (a double's quotient or root of two f32 rounds again
 * to the right f32: it has more than twice the bits); f64 from the C library
 * and fesetround. Approximations are held to the bounds of PTX 9.7.3. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "tests/ptx/exact.h"
#include "tests/ptx/reference.h"

enum op { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH,
          MIN, MAX, ABS, NEG, COPYSIGN };
enum flag { FTZ = 1, SAT = 2, NANS = 4, XORSIGN = 8 };
static const int host_mode[] = {[RN] = FE_TONEAREST, [RZ] = FE_TOWARDZERO,
                                [RM] = FE_DOWNWARD, [RP] = FE_UPWARD};

static float as_f32(uint64_t v) {
    uint32_t u = (uint32_t)v;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static uint64_t f32_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return isnan(f) ? 0x7fffffff : u;
}
static double as_f64(uint64_t v) {
    double f;
    memcpy(&f, &v, 8);
    return f;
}
static uint64_t f64_bits(double f) {
    uint64_t u;
    memcpy(&u, &f, 8);
    return u;
}

/* arg: op, rounding, flags. */
static uint64_t arith_f32(enum op op, uint64_t a, uint64_t b, uint64_t c,
                          enum rounding mode) {
    const struct format *f = &F32_FORMAT;
    volatile double x = as_f32(a), y = as_f32(b), r = 0;
    switch (op) {
    case ADD: return exact_fma(f, a, exact_one(f), b, true, mode);
    case SUB: return exact_is_nan(f, b) ? exact_nan(f)
                   : exact_fma(f, a, exact_one(f), b ^ 0x80000000, true, mode);
    case MUL: return exact_fma(f, a, b, 0, false, mode);
    case FMA: return exact_fma(f, a, b, c, true, mode);
    default: break;
    }
    fesetround(host_mode[mode]);
    r = op == DIV ? x / y : op == RCP ? 1 / x : sqrt(x);
    volatile float narrow = (float)r;
    fesetround(FE_TONEAREST);
    return f32_bits(narrow);
}
static void ref_f32(const struct form *f, const uint64_t *s, uint64_t *d) {
    const struct format *t = &F32_FORMAT;
    uint64_t v[3];
    for (int i = 0; i < 3; i++)
        v[i] = f->arg[2] & FTZ ? exact_flush(t, s[i]) : s[i];
    uint64_t r = arith_f32(f->arg[0], v[0], v[1], v[2], f->arg[1]);
    if (f->arg[2] & FTZ) r = exact_flush(t, r);
    d[0] = f->arg[2] & SAT ? exact_sat(t, r) : r;
}
static void ref_f64(const struct form *f, const uint64_t *s, uint64_t *d) {
    volatile double a = as_f64(s[0]), b = as_f64(s[1]), c = as_f64(s[2]), r = 0;
    fesetround(host_mode[f->arg[1]]);
    switch ((enum op)f->arg[0]) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case FMA: r = fma(a, b, c); break;
    case DIV: r = a / b; break;
    case RCP: r = 1 / a; break;
    default: r = sqrt(a);
    }
    fesetround(FE_TONEAREST);
    d[0] = f64_bits(r);
}
/* Which NaN an f64 operation gives is not specified. */
static bool near_nan_f64(const uint64_t *s, uint64_t got, uint64_t want) {
    (void)s;
    return isnan(as_f64(got)) && isnan(as_f64(want));
}

/* ---- extremes and signs ------------------------------------------------------ */

static uint64_t order_key(uint64_t v, uint64_t sign) { /* -0 below +0 */
    return v & sign ? ~v & (sign | (sign - 1)) : v | sign;
}
static uint64_t extreme(enum op op, uint64_t a, uint64_t b, uint64_t sign) {
    bool less = order_key(a, sign) < order_key(b, sign);
    return (op == MIN) == less ? a : b;
}
static void ref_extreme_f32(const struct form *f, const uint64_t *s,
                            uint64_t *d) {
    const struct format *t = &F32_FORMAT;
    uint64_t sign = 0x80000000, a = s[0] & 0xffffffff, b = s[1] & 0xffffffff;
    if (f->arg[2] & FTZ) a = exact_flush(t, a), b = exact_flush(t, b);
    bool na = exact_is_nan(t, a), nb = exact_is_nan(t, b);
    uint64_t flip = (a ^ b) & sign;
    if (f->arg[2] & XORSIGN) a &= ~sign, b &= ~sign;
    uint64_t r = na ? b : nb ? a : extreme(f->arg[0], a, b, sign);
    if (f->arg[2] & XORSIGN) r = (r & ~sign) | flip;
    bool nan = f->arg[2] & NANS ? na || nb : na && nb;
    d[0] = nan ? exact_nan(t) : r;
}
static void ref_extreme_f64(const struct form *f, const uint64_t *s,
                            uint64_t *d) {
    bool na = isnan(as_f64(s[0])), nb = isnan(as_f64(s[1]));
    d[0] = na ? s[1] : nb ? s[0] : extreme(f->arg[0], s[0], s[1], 1ull << 63);
}
static void ref_sign_f32(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint64_t a = f->arg[2] & FTZ ? exact_flush(&F32_FORMAT, s[0]) : s[0];
    d[0] = f->arg[0] == ABS ? a & 0x7fffffff
         : f->arg[0] == NEG ? a ^ 0x80000000
                            : (a & 0x80000000) | (s[1] & 0x7fffffff);
}
static void ref_sign_f64(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint64_t sign = 1ull << 63;
    d[0] = f->arg[0] == ABS ? s[0] & ~sign
         : f->arg[0] == NEG ? s[0] ^ sign : (s[0] & sign) | (s[1] & ~sign);
}

/* ---- approximations ---------------------------------------------------------- */

/* The exact result, rounded to f32 for want; near_* know the bound. */
static void ref_approx(const struct form *f, const uint64_t *s, uint64_t *d) {
    const struct format *t = &F32_FORMAT;
    bool ftz = f->arg[2] & FTZ;
    double x = as_f32(ftz ? exact_flush(t, s[0]) : s[0]);
    double y = as_f32(ftz ? exact_flush(t, s[1]) : s[1]), r = 0;
    switch ((enum op)f->arg[0]) {
    case DIV:
        /* beyond 2^126 the quotient is dropped (not so for .full) */
        r = fabs(y) > 0x1p126 && !isinf(y) && f->arg[1] ? x * copysign(0, y)
                                                       : x / y;
        break;
    case RCP: r = 1 / x; break;
    case SQRT: r = sqrt(x); break;
    case RSQRT: r = 1 / sqrt(x); break;
    case SIN: r = sin(x); break;
    case COS: r = cos(x); break;
    case LG2: r = log2(x); break;
    case EX2: r = exp2(x); break;
    default: r = tanh(x);
    }
    d[0] = f32_bits((float)r);
    if (ftz) d[0] = exact_flush(t, d[0]);
}
static bool within(uint64_t got, uint64_t want, double relative,
                   double absolute) {
    double g = as_f32(got), w = as_f32(want);
    if (isnan(w) || isinf(w) || isnan(g) || isinf(g)) return false;
    return fabs(g - w) <= fabs(w) * relative + absolute;
}
#define NEAR(name, relative, absolute)                                       \
    static bool near_##name(const uint64_t *s, uint64_t got, uint64_t want) {\
        (void)s;                                                             \
        return within(got, want, relative, absolute);                        \
    }
NEAR(2_ulp, 0x1p-22, 0x1p-148)
NEAR(1_ulp, 0x1p-23, 0x1p-149)
NEAR(sin, 0, 0x1p-20)
NEAR(tanh, 0x1p-11, 0x1p-149)
NEAR(lg2, 0x1p-22, 0x1p-22)

/* rcp and rsqrt of f64's upper word: the lower word of the result is zero and
 * the upper one is right but for its last bits. */
static void ref_gross(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint64_t top = s[0] >> 32 << 32;
    double x = as_f64((top & 0x7ff0000000000000) ? top : top & 1ull << 63);
    double r = f->arg[0] == RCP ? 1 / x : 1 / sqrt(x);
    if (fabs(r) < 0x1p-1022) r = copysign(0, r);
    d[0] = f64_bits(r) >> 32 << 32;
}
static bool near_gross(const uint64_t *s, uint64_t got, uint64_t want) {
    (void)s;
    double g = as_f64(got), w = as_f64(want);
    if (isnan(w)) return isnan(g);
    return !(got << 32) && fabs(g - w) <= fabs(w) * 0x1p-18;
}
static void ref_rsqrt_f64(const struct form *f, const uint64_t *s,
                          uint64_t *d) {
    (void)f;
    d[0] = f64_bits((double)(1 / sqrtl((long double)as_f64(s[0]))));
}
static bool near_rsqrt_f64(const uint64_t *s, uint64_t got, uint64_t want) {
    (void)s;
    double g = as_f64(got), w = as_f64(want);
    return isnan(w) ? isnan(g) : fabs(g - w) <= fabs(w) * 0x1p-50;
}

/* ---- testp -------------------------------------------------------------------- */

static void ref_testp(const struct form *f, const uint64_t *s, uint64_t *d) {
    int wide = f->arg[1];
    int c = wide ? fpclassify(as_f64(s[0])) : fpclassify(as_f32(s[0]));
    switch (f->arg[0]) {
    case 0: d[0] = c != FP_NAN && c != FP_INFINITE; break;
    case 1: d[0] = c == FP_INFINITE; break;
    case 2: d[0] = c != FP_NAN; break;
    case 3: d[0] = c == FP_NAN; break;
    case 4: d[0] = c == FP_NORMAL || c == FP_ZERO; break;
    default: d[0] = c == FP_SUBNORMAL;
    }
}

/* ---- the rows ------------------------------------------------------------------ */

#define ROUNDED_1(op, OP, m, M)                                              \
    {#op "." #m ".f32", "F:F", 0, ref_f32, 0, {OP, M}},                      \
    {#op "." #m ".ftz.f32", "F:F", 0, ref_f32, 0, {OP, M, FTZ}},             \
    {#op "." #m ".f64", "D:D", 0, ref_f64, near_nan_f64, {OP, M}},
#define ROUNDED_2(op, OP, m, M)                                              \
    {#op "." #m ".f32", "F:FF", 0, ref_f32, 0, {OP, M}},                     \
    {#op "." #m ".ftz.f32", "F:FF", 0, ref_f32, 0, {OP, M, FTZ}},            \
    {#op "." #m ".f64", "D:DD", 0, ref_f64, near_nan_f64, {OP, M}},
#define SATURATED_2(op, OP, m, M)                                            \
    {#op "." #m ".sat.f32", "F:FF", 0, ref_f32, 0, {OP, M, SAT}},            \
    {#op "." #m ".ftz.sat.f32", "F:FF", 0, ref_f32, 0, {OP, M, FTZ | SAT}},
#define ROUNDED_3(op, m, M)                                                  \
    {#op "." #m ".f32", "F:FFF", 0, ref_f32, 0, {FMA, M}},                   \
    {#op "." #m ".ftz.f32", "F:FFF", 0, ref_f32, 0, {FMA, M, FTZ}},          \
    {#op "." #m ".sat.f32", "F:FFF", 0, ref_f32, 0, {FMA, M, SAT}},          \
    {#op "." #m ".f64", "D:DDD", 0, ref_f64, near_nan_f64, {FMA, M}},
#define MODES(X, ...)                                                        \
    X(__VA_ARGS__, rn, RN) X(__VA_ARGS__, rz, RZ) X(__VA_ARGS__, rm, RM)     \
    X(__VA_ARGS__, rp, RP)
#define PLAIN_2(op, OP)                                                      \
    {#op ".f32", "F:FF", 0, ref_f32, 0, {OP}},                               \
    {#op ".ftz.f32", "F:FF", 0, ref_f32, 0, {OP, RN, FTZ}},                  \
    {#op ".sat.f32", "F:FF", 0, ref_f32, 0, {OP, RN, SAT}},                  \
    {#op ".ftz.sat.f32", "F:FF", 0, ref_f32, 0, {OP, RN, FTZ | SAT}},        \
    {#op ".f64", "D:DD", 0, ref_f64, near_nan_f64, {OP}},
#define EXTREME(op, OP)                                                      \
    {#op ".f32", "F:FF", 0, ref_extreme_f32, 0, {OP}},                       \
    {#op ".ftz.f32", "F:FF", 0, ref_extreme_f32, 0, {OP, 0, FTZ}},           \
    {#op ".NaN.f32", "F:FF", 0, ref_extreme_f32, 0, {OP, 0, NANS}},          \
    {#op ".ftz.NaN.f32", "F:FF", 0, ref_extreme_f32, 0, {OP, 0, FTZ | NANS}},\
    {#op ".xorsign.abs.f32", "F:FF", 0, ref_extreme_f32, 0,                  \
     {OP, 0, XORSIGN}},                                                      \
    {#op ".NaN.xorsign.abs.f32", "F:FF", 0, ref_extreme_f32, 0,              \
     {OP, 0, NANS | XORSIGN}},                                               \
    {#op ".f64", "D:DD", 0, ref_extreme_f64, near_nan_f64, {OP}},
#define APPROX(op, OP, near)                                                 \
    {#op ".approx.f32", "F:F", 0, ref_approx, near, {OP}},                   \
    {#op ".approx.ftz.f32", "F:F", 0, ref_approx, near, {OP, 0, FTZ}},
#define TESTP(name, k)                                                       \
    {"testp." #name ".f32", "p:F", 0, ref_testp, 0, {k, 0}},                 \
    {"testp." #name ".f64", "p:D", 0, ref_testp, 0, {k, 1}},

static const struct form float_forms[] = {
    PLAIN_2(add, ADD) PLAIN_2(sub, SUB) PLAIN_2(mul, MUL)
    MODES(ROUNDED_2, add, ADD) MODES(ROUNDED_2, sub, SUB)
    MODES(ROUNDED_2, mul, MUL) MODES(ROUNDED_2, div, DIV)
    MODES(SATURATED_2, add, ADD) MODES(SATURATED_2, mul, MUL)
    MODES(ROUNDED_1, rcp, RCP) MODES(ROUNDED_1, sqrt, SQRT)
    MODES(ROUNDED_3, fma) MODES(ROUNDED_3, mad)
    EXTREME(min, MIN) EXTREME(max, MAX)
    {"abs.f32", "F:F", 0, ref_sign_f32, 0, {ABS}},
    {"abs.ftz.f32", "F:F", 0, ref_sign_f32, 0, {ABS, 0, FTZ}},
    {"abs.f64", "D:D", 0, ref_sign_f64, 0, {ABS}},
    {"neg.f32", "F:F", 0, ref_sign_f32, 0, {NEG}},
    {"neg.ftz.f32", "F:F", 0, ref_sign_f32, 0, {NEG, 0, FTZ}},
    {"neg.f64", "D:D", 0, ref_sign_f64, 0, {NEG}},
    {"copysign.f32", "F:FF", 0, ref_sign_f32, 0, {COPYSIGN}},
    {"copysign.f64", "D:DD", 0, ref_sign_f64, 0, {COPYSIGN}},
    {"div.approx.f32", "F:FF", 0, ref_approx, near_2_ulp, {DIV, 1}},
    {"div.approx.ftz.f32", "F:FF", 0, ref_approx, near_2_ulp, {DIV, 1, FTZ}},
    {"div.full.f32", "F:FF", 0, ref_approx, near_2_ulp, {DIV}},
    {"div.full.ftz.f32", "F:FF", 0, ref_approx, near_2_ulp, {DIV, 0, FTZ}},
    APPROX(rcp, RCP, near_1_ulp) APPROX(sqrt, SQRT, near_1_ulp)
    APPROX(rsqrt, RSQRT, near_2_ulp) APPROX(sin, SIN, near_sin)
    APPROX(cos, COS, near_sin) APPROX(lg2, LG2, near_lg2)
    APPROX(ex2, EX2, near_2_ulp)
    {"tanh.approx.f32", "F:F", 0, ref_approx, near_tanh, {TANH}},
    {"rcp.approx.ftz.f64", "D:D", 0, ref_gross, near_gross, {RCP}},
    {"rsqrt.approx.ftz.f64", "D:D", 0, ref_gross, near_gross, {RSQRT}},
    {"rsqrt.approx.f64", "D:D", 0, ref_rsqrt_f64, near_rsqrt_f64, {RSQRT}},
    TESTP(finite, 0) TESTP(infinite, 1) TESTP(number, 2) TESTP(notanumber, 3)
    TESTP(normal, 4) TESTP(subnormal, 5)
};
FORM_LIST(float_forms)
