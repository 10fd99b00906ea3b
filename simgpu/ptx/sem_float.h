/* What PTX's floating-point instructions compute, one value at a time.
 *
 * f32 results that are NaN are the canonical 0x7fffffff, half-precision ones
 * 0x7fff, as the hardware makes them (so that "nan" and not "-nan" is what a
 * program prints); f64 keeps payloads. .ftz is done here by hand and not with
 * the processor's flags, so that the rule is the same everywhere: subnormal
 * inputs, and results that are subnormal after rounding, become zero of their
 * sign. Directed rounding is the processor's (fp_mode); division and square
 * root by it are exact in every mode. Needs -ffp-contract=off.
 */
#ifndef SIMGPU_PTX_SEM_FLOAT_H
#define SIMGPU_PTX_SEM_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if !defined(__x86_64__)
#include <fenv.h>
#endif

#include "ptx/sem_int.h"

typedef float f32;
typedef double f64;

static inline u32 bits_f32(f32 f) { u32 u; memcpy(&u, &f, 4); return u; }
static inline f32 f32_bits(u32 u) { f32 f; memcpy(&f, &u, 4); return f; }
static inline u64 bits_f64(f64 f) { u64 u; memcpy(&u, &f, 8); return u; }
static inline f64 f64_bits(u64 u) { f64 f; memcpy(&f, &u, 8); return f; }

#define NAN_F32 0x7fffffffu
#define NAN_HALF 0x7fffu

/* ---- rounding mode ------------------------------------------------------ */

enum fp_round { FP_RN, FP_RM, FP_RP, FP_RZ }; /* x86's own numbering */

/* Between fp_enter and fp_leave the thread rounds by `r`. The fences keep the
 * loads and stores of the rows, and so the arithmetic between them, inside. */
static inline void fp_enter(enum fp_round r) {
#if defined(__x86_64__)
    u32 csr = 0x1f80 | (u32)r << 13;
    __asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory");
#else
    static const int mode[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD,
                               FE_TOWARDZERO};
    fesetround(mode[r]);
    __asm__ volatile("" : : : "memory");
#endif
}
static inline void fp_leave(void) { fp_enter(FP_RN); }

/* ---- flushing, saturation, NaN ------------------------------------------ */

/* tiny: 0x1p-126f to flush, 0 to keep. */
static inline f32 flush_f32(f32 x, f32 tiny) {
    return f32_bits(fabsf(x) < tiny ? bits_f32(x) & 0x80000000u : bits_f32(x));
}
#define TINY_F32 0x1p-126f

static inline f32 nan_f32(f32 x) {
    return f32_bits(x == x ? bits_f32(x) : NAN_F32);
}
/* [0, 1]; NaN and -0 become +0. */
static inline f32 sat_f32(f32 x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
static inline f64 sat_f64(f64 x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

static inline f32 abs_f32(f32 x) { return f32_bits(bits_f32(x) & 0x7fffffffu); }
static inline f32 neg_f32(f32 x) { return f32_bits(bits_f32(x) ^ 0x80000000u); }
static inline f64 abs_f64(f64 x) { return f64_bits(bits_f64(x) & INT64_MAX); }
static inline f64 neg_f64(f64 x) { return f64_bits(bits_f64(x) ^ 1ull << 63); }

/* a's sign on b. */
static inline f32 copysign_f32(f32 a, f32 b) {
    return f32_bits((bits_f32(a) & 0x80000000u) | (bits_f32(b) & 0x7fffffffu));
}
static inline f64 copysign_f64(f64 a, f64 b) {
    return f64_bits((bits_f64(a) & 1ull << 63) | (bits_f64(b) & INT64_MAX));
}

/* A NaN loses; -0 is below +0. Two NaN give one (nan_f32 comes after). */
#define SEM_MINMAX(T, U, bits, make)                                         \
    static inline T min_##T(T a, T b) {                                      \
        U r = a < b ? bits(a) : bits(b);                                     \
        r = b != b ? bits(a) : r;                                            \
        return make(a == b ? bits(a) | bits(b) : r);                         \
    }                                                                        \
    static inline T max_##T(T a, T b) {                                      \
        U r = a > b ? bits(a) : bits(b);                                     \
        r = b != b ? bits(a) : r;                                            \
        return make(a == b ? bits(a) & bits(b) : r);                         \
    }
SEM_MINMAX(f32, u32, bits_f32, f32_bits)
SEM_MINMAX(f64, u64, bits_f64, f64_bits)

/* The .NaN forms: a NaN wins. The .xorsign.abs forms: magnitudes compared,
 * signs xored. */
static inline f32 nanwins_f32(f32 a, f32 b, f32 r) {
    return f32_bits(a != a || b != b ? NAN_F32 : bits_f32(r));
}
static inline f32 xorsign_f32(f32 a, f32 b, f32 r) {
    u32 sign = (bits_f32(a) ^ bits_f32(b)) & 0x80000000u;
    return f32_bits((bits_f32(r) & 0x7fffffffu) | sign);
}

/* ---- half precision ------------------------------------------------------ */

static inline f32 f32_f16(u16 h) {
    u32 em = (u32)(h & 0x7fff) << 13;
    u32 special = em >= 0x0f800000u ? 0x7f800000u : 0; /* inf, NaN */
    u32 v = bits_f32(f32_bits(em) * 0x1p112f) | special;
    return f32_bits(v | (u32)(h & 0x8000) << 16);
}
static inline f32 f32_bf16(u16 h) { return f32_bits((u32)h << 16); }

/* Round to nearest even. Subnormal results: 0.5 has the ulp of the smallest
 * half, so adding it rounds. */
static inline u16 f16_f32(f32 x) {
    u32 u = bits_f32(x), sign = u >> 16 & 0x8000;
    f32 a = f32_bits(u & 0x7fffffffu);
    u32 m = bits_f32(a);
    u32 normal = (m + 0xfff + (m >> 13 & 1) - (112u << 23)) >> 13;
    u32 small = bits_f32(a + 0.5f) - 0x3f000000u;
    u32 r = a < 0x1p-14f ? small : normal;
    r = a >= 65520.0f ? 0x7c00 : r;
    return (u16)(x != x ? NAN_HALF : sign | r);
}
static inline u16 bf16_f32(f32 x) {
    u32 u = bits_f32(x);
    return (u16)(x != x ? NAN_HALF : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Rounds a finite magnitude to the integer on the side that mode r says. */
static inline f64 round_by(f64 x, enum fp_round r) {
    switch (r) {
    case FP_RM: return floor(x);
    case FP_RP: return ceil(x);
    case FP_RZ: return trunc(x);
    default: return nearbyint(x);
    }
}

/* A small format: precision with the hidden bit, least exponent, bits. */
struct small_format { int precision, min_exponent; u32 infinity, sign; };
static const struct small_format FORMAT_F16 = {11, -14, 0x7c00, 0x8000};
static const struct small_format FORMAT_BF16 = {8, -126, 0x7f80, 0x8000};

/* Any finite double into a small format, one correct rounding in any mode.
 * Overflow goes to infinity, or to the greatest number when rounding towards
 * zero says so. NaN is the caller's. */
static inline u32 small_f64(f64 x, const struct small_format *f,
                            enum fp_round r) {
    bool negative = signbit(x);
    u32 sign = negative ? f->sign : 0;
    enum fp_round mag = negative && r == FP_RM ? FP_RP
                      : negative && r == FP_RP ? FP_RM : r;
    f64 a = fabs(x);
    if (a == 0) return sign;
    bool to_zero = mag == FP_RZ || mag == FP_RM;
    if (isinf(a)) return sign | f->infinity;
    int e = (int)(bits_f64(a) >> 52) - 1023; /* subnormal doubles: -1023 */
    if (e < f->min_exponent) e = f->min_exponent;
    f64 unit = f64_bits((u64)(1023 + f->precision - 1 - e) << 52);
    u32 m = (u32)round_by(a * unit, mag); /* the product is exact */
    u64 v = ((u64)(e - f->min_exponent) << (f->precision - 1)) + m;
    if (v >= f->infinity) v = f->infinity - (to_zero ? 1 : 0);
    return sign | (u32)v;
}
static inline u16 f16_f64(f64 x, enum fp_round r) {
    return x != x ? NAN_HALF : (u16)small_f64(x, &FORMAT_F16, r);
}
static inline u16 bf16_f64(f64 x, enum fp_round r) {
    return x != x ? NAN_HALF : (u16)small_f64(x, &FORMAT_BF16, r);
}

/* a*b+c of half-precision values, rounded once: the product is exact, and the
 * sum is rounded to odd (Boldo and Melquiond), which a second rounding to far
 * fewer bits cannot tell from the exact one. */
static inline f64 fma_odd(f64 a, f64 b, f64 c) {
    f64 p = a * b, s = p + c;
    if (!isfinite(s)) return s;
    f64 t = s - p, e = (p - (s - t)) + (c - t); /* two-sum: s + e is exact */
    u64 u = bits_f64(s);
    if (e != 0 && !(u & 1)) u += (e > 0) == (s > 0) ? 1 : (u64)-1;
    return f64_bits(u);
}

/* The f16 case, without branches. In a double the sum of an exact product and
 * a third value is inexact only where the product is nothing beside it; then
 * it is cut to 24 bits, odd, which f32 holds. */
static inline u16 fma_f16_plain(u16 a, u16 b, u16 c) {
    f64 s = (f64)f32_f16(a) * f32_f16(b) + f32_f16(c);
    u64 u = bits_f64(s), cut = u & 0x1fffffff;
    u = (u ^ cut) | (cut ? 0x20000000 : 0);
    return f16_f32((f32)f64_bits(s != s ? bits_f64(s) : u));
}

/* ---- approximations (PTX 9.7.3), well inside the bounds it states -------- */

/* Divisors past 2^126 have a subnormal reciprocal, which the hardware drops:
 * the quotient is 0, or NaN when the dividend is infinite. */
static inline f32 div_approx_f32(f32 a, f32 b) {
    bool huge = fabsf(b) > 0x1p126f && fabsf(b) < INFINITY;
    return huge ? a * copysignf(0.0f, b) : a / b;
}
/* Only the upper word of the operand counts, only that of the result is made. */
static inline f64 upper_f64(f64 x) {
    return f64_bits(bits_f64(x) & 0xffffffff00000000ull);
}
static inline f64 flush_f64(f64 x) {
    return fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x;
}
static inline f64 rcp_gross_f64(f64 x) {
    return upper_f64(flush_f64(1 / flush_f64(upper_f64(x))));
}
static inline f64 rsqrt_gross_f64(f64 x) {
    return upper_f64(1 / sqrt(flush_f64(upper_f64(x))));
}

#endif
