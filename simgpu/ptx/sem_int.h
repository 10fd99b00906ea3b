/* What PTX's integer and bit instructions compute, one value at a time.
 *
 * Pure functions without branches on data where that is cheap, so that a loop
 * over the lanes of a row becomes vector code. Each family is generated for
 * the widths that PTX 9.7.1 to 9.7.2 and 9.7.8 give it; names end in the type.
 * Signed arithmetic wraps (it is done unsigned).
 */
#ifndef SIMGPU_PTX_SEM_INT_H
#define SIMGPU_PTX_SEM_INT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

#define BITS(T) (8 * (unsigned)sizeof(T))

/* ---- arithmetic --------------------------------------------------------- */

static inline s32 sat_s32(s64 v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v;
}

/* High half of the full product. */
static inline u16 mulhi_u16(u16 a, u16 b) { return (u32)a * b >> 16; }
static inline s16 mulhi_s16(s16 a, s16 b) { return (s16)((s32)a * b >> 16); }
static inline u32 mulhi_u32(u32 a, u32 b) { return (u64)a * b >> 32; }
static inline s32 mulhi_s32(s32 a, s32 b) { return (s32)((s64)a * b >> 32); }
static inline u64 mulhi_u64(u64 a, u64 b) { return (u128)a * b >> 64; }
static inline s64 mulhi_s64(s64 a, s64 b) { return (s64)((s128)a * b >> 64); }

/* Division by zero gives all ones, the remainder then is the dividend: what
 * the hardware does where PTX leaves it unspecified. MIN / -1 wraps. */
#define SEM_DIV(U, S)                                                        \
    static inline U quot_##U(U a, U b) { return b ? a / b : (U)~(U)0; }       \
    static inline U rest_##U(U a, U b) { return b ? a % b : a; }              \
    static inline S quot_##S(S a, S b) {                                      \
        return b == 0 ? (S)-1 : b == -1 ? (S)(0 - (U)a) : (S)(a / b);        \
    }                                                                        \
    static inline S rest_##S(S a, S b) {                                      \
        return b == 0 ? a : b == -1 ? 0 : (S)(a % b);                        \
    }
SEM_DIV(u16, s16)
SEM_DIV(u32, s32)
SEM_DIV(u64, s64)

#define SEM_ABSDIFF(T, U)                                                    \
    static inline U absdiff_##T(T a, T b) {                                  \
        return a > b ? (U)((U)a - (U)b) : (U)((U)b - (U)a);                  \
    }
SEM_ABSDIFF(u16, u16) SEM_ABSDIFF(s16, u16)
SEM_ABSDIFF(u32, u32) SEM_ABSDIFF(s32, u32)
SEM_ABSDIFF(u64, u64) SEM_ABSDIFF(s64, u64)

/* 24-bit operands; lo and hi are bits 31..0 and 47..16 of the product. */
static inline u64 mul24_u32(u32 a, u32 b) {
    return (u64)(a & 0xffffff) * (b & 0xffffff);
}
static inline s64 mul24_s32(s32 a, s32 b) {
    return (s64)((s32)((u32)a << 8) >> 8) * ((s32)((u32)b << 8) >> 8);
}

/* ---- shifts: amounts clamp at the width (PTX 9.7.8.8) ------------------- */

#define SEM_SHIFT(U, S)                                                      \
    static inline U shl_##U(U a, u32 n) {                                    \
        return n < BITS(U) ? (U)(a << (n & (BITS(U) - 1))) : 0;              \
    }                                                                        \
    static inline U shr_##U(U a, u32 n) {                                    \
        return n < BITS(U) ? (U)(a >> (n & (BITS(U) - 1))) : 0;              \
    }                                                                        \
    static inline S shr_##S(S a, u32 n) {                                    \
        return (S)(a >> (n < BITS(U) ? n : BITS(U) - 1));                    \
    }
SEM_SHIFT(u16, s16)
SEM_SHIFT(u32, s32)
SEM_SHIFT(u64, s64)

/* Funnel shift of b:a (PTX 9.7.8.7). */
static inline u32 shf_l(u32 a, u32 b, u32 n) {
    return (u32)((((u64)b << 32 | a) << n) >> 32);
}
static inline u32 shf_r(u32 a, u32 b, u32 n) {
    return (u32)(((u64)b << 32 | a) >> n);
}
static inline u32 min32(u32 n) { return n < 32 ? n : 32; }

/* ---- counting and finding ---------------------------------------------- */

static inline u32 clz_u32(u32 a) { return a ? (u32)__builtin_clz(a) : 32; }
static inline u32 clz_u64(u64 a) { return a ? (u32)__builtin_clzll(a) : 64; }
static inline u32 popc_u32(u32 a) { return (u32)__builtin_popcount(a); }
static inline u32 popc_u64(u64 a) { return (u32)__builtin_popcountll(a); }

/* Bit number of the top bit that is not a sign bit, or all ones. With
 * shiftamt: how far to shift left to bring it to the top. */
static inline u32 bfind_u32(u32 a) { return 31 - clz_u32(a); }
static inline u32 bfind_u64(u64 a) { return a ? 63 - clz_u64(a) : ~0u; }
static inline u32 bfind_s32(s32 a) { return bfind_u32((u32)(a ^ a >> 31)); }
static inline u32 bfind_s64(s64 a) { return bfind_u64((u64)(a ^ a >> 63)); }

static inline u32 brev_u32(u32 a) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}
static inline u64 brev_u64(u64 a) {
    return (u64)brev_u32((u32)a) << 32 | brev_u32((u32)(a >> 32));
}

/* Position of the n-th set bit at or above `base` (n > 0), or at or below it
 * (n < 0); n == 0 asks for bit `base` itself. All ones if there is none. */
static inline u32 fns_b32(u32 mask, u32 base, s32 n) {
    if (base > 31) return ~0u;
    if (n == 0) return mask >> base & 1 ? base : ~0u;
    int step = n > 0 ? 1 : -1;
    for (int i = (int)base; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && (n -= step) == 0) return (u32)i;
    return ~0u;
}

/* ---- fields ------------------------------------------------------------- */

/* Position and length are taken from the low byte; the field ends at the top
 * bit, beyond which a signed extract repeats the sign (PTX 9.7.1.19). */
#define SEM_BFE(U, S)                                                        \
    static inline U bfe_##U(U a, u32 pos, u32 len) {                         \
        pos &= 255, len &= 255;                                              \
        U v = pos < BITS(U) ? a >> pos : 0;                                  \
        return len < BITS(U) ? v & (((U)1 << len) - 1) : v;                  \
    }                                                                        \
    static inline S bfe_##S(S a, u32 pos, u32 len) {                         \
        pos &= 255, len &= 255;                                              \
        if (len == 0) return 0;                                              \
        S v = a >> (pos < BITS(U) ? pos : BITS(U) - 1);                      \
        if (len >= BITS(U)) return v;                                        \
        u32 up = BITS(U) - len;                                              \
        return pos + len >= BITS(U) ? v : (S)((U)v << up) >> up;             \
    }                                                                        \
    static inline U bfi_##U(U a, U b, u32 pos, u32 len) {                    \
        pos &= 255, len &= 255;                                              \
        if (pos >= BITS(U)) return b;                                        \
        U ones = len < BITS(U) ? ((U)1 << len) - 1 : (U)~(U)0;               \
        return (b & ~(ones << pos)) | (a & ones) << pos;                     \
    }
SEM_BFE(u32, s32)
SEM_BFE(u64, s64)

/* `len` ones from bit `pos` on. wrap: both modulo 32; clamp: both at most 32. */
static inline u32 bmsk_clamp(u32 pos, u32 len) {
    u64 ones = ((u64)1 << min32(len)) - 1;
    return (u32)(ones << min32(pos));
}
static inline u32 bmsk_wrap(u32 pos, u32 len) {
    return ((1u << (len & 31)) - 1) << (pos & 31);
}

static inline u32 lop3(u32 a, u32 b, u32 c, u32 lut) {
    u32 r = 0;
    for (u32 i = 0; i < 8; i++) {
        u32 term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        r |= term & (0 - (lut >> i & 1));
    }
    return r;
}

/* Byte permute: selector nibbles pick bytes of b:a, bit 3 repeats the sign. */
static inline u32 prmt_byte(u64 ba, u32 sel) {
    u32 v = (u32)(ba >> 8 * (sel & 7)) & 255;
    return sel & 8 ? (v & 128 ? 255 : 0) : v;
}
static inline u32 prmt_b32(u32 a, u32 b, u32 c) {
    u64 ba = (u64)b << 32 | a;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++)
        r |= prmt_byte(ba, c >> 4 * i & 15) << 8 * i;
    return r;
}
/* The named modes are selectors too: table by mode and the low bits of c
 * (PTX 9.7.9.7). Order: f4e, b4e, rc8, ecl, ecr, rc16. */
enum prmt_mode { PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };
static inline u32 prmt_selector(enum prmt_mode mode, u32 c) {
    static const u16 table[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
    };
    return table[mode][c & 3];
}

/* ---- dot products and SIMD in a word ------------------------------------ */

static inline u32 byte_at(u32 v, u32 i, bool sign) {
    u32 x = v >> 8 * i & 255;
    return sign ? (u32)(s8)x : x;
}
static inline u32 half_at(u32 v, u32 i, bool sign) {
    u32 x = v >> 16 * i & 65535;
    return sign ? (u32)(s16)x : x;
}
static inline u32 dp4a(u32 a, u32 b, u32 c, bool sa, bool sb) {
    for (u32 i = 0; i < 4; i++) c += byte_at(a, i, sa) * byte_at(b, i, sb);
    return c;
}
/* Halves of a with bytes 0 and 1 (lo) or 2 and 3 (hi) of b. */
static inline u32 dp2a(u32 a, u32 b, u32 c, bool sa, bool sb, u32 hi) {
    for (u32 i = 0; i < 2; i++)
        c += half_at(a, i, sa) * byte_at(b, i + 2 * hi, sb);
    return c;
}
static inline u32 absdiff_byte(u32 a, u32 b, u32 i, bool sa, bool sb) {
    s32 d = (s32)byte_at(a, i, sa) - (s32)byte_at(b, i, sb);
    return (u32)(d < 0 ? -d : d);
}

/* Two 16-bit halves in a word, each by `f(x, y)`. */
#define HALVES(T, f, a, b)                                                   \
    ((u32)(u16)f((T)(u16)(a), (T)(u16)(b)) |                                 \
     (u32)(u16)f((T)(u16)((a) >> 16), (T)(u16)((b) >> 16)) << 16)

#endif
