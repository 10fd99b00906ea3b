/* See exact.h. A number is a signed fixed-point integer of 704 bits whose
 * lowest bit weighs 2^-320: enough for any product of two f32 plus any f32. */
#include "tests/ptx/exact.h"

#include <math.h>
#include <string.h>

const struct format F32_FORMAT = {24, 8}, F16_FORMAT = {11, 5},
                    BF16_FORMAT = {8, 8};

enum { LIMBS = 11, POINT = 320 };
struct big { uint64_t limb[LIMBS]; };

unsigned exact_bits(const struct format *f) {
    return (unsigned)(f->precision + f->exponent_bits);
}
static int bias(const struct format *f) {
    return (1 << (f->exponent_bits - 1)) - 1;
}
static uint64_t infinity(const struct format *f) {
    return ((1ull << f->exponent_bits) - 1) << (f->precision - 1);
}
static uint64_t sign_bit(const struct format *f) {
    return 1ull << (exact_bits(f) - 1);
}
uint64_t exact_nan(const struct format *f) { return sign_bit(f) - 1; }
uint64_t exact_one(const struct format *f) {
    return (uint64_t)bias(f) << (f->precision - 1);
}
bool exact_is_nan(const struct format *f, uint64_t v) {
    return (v & (sign_bit(f) - 1)) > infinity(f);
}
static bool is_finite(const struct format *f, uint64_t v) {
    return (v & (sign_bit(f) - 1)) < infinity(f);
}
uint64_t exact_flush(const struct format *f, uint64_t v) {
    return v & infinity(f) ? v : v & sign_bit(f);
}
uint64_t exact_sat(const struct format *f, uint64_t v) {
    if (exact_is_nan(f, v) || v & sign_bit(f)) return 0;
    return v > exact_one(f) ? exact_one(f) : v;
}

/* v = m * 2^e */
static void split(const struct format *f, uint64_t v, uint64_t *m, int *e) {
    uint64_t fraction = v & ((1ull << (f->precision - 1)) - 1);
    int field = (int)((v & infinity(f)) >> (f->precision - 1));
    *m = field ? fraction | 1ull << (f->precision - 1) : fraction;
    *e = (field ? field : 1) - bias(f) - (f->precision - 1);
}

double exact_value(const struct format *f, uint64_t v) {
    double sign = v & sign_bit(f) ? -1 : 1;
    if (exact_is_nan(f, v)) return NAN;
    if (!is_finite(f, v)) return sign * INFINITY;
    uint64_t m;
    int e;
    split(f, v, &m, &e);
    return sign * ldexp((double)m, e);
}

/* ---- the integer ------------------------------------------------------------ */

static void negate(struct big *x) {
    uint64_t carry = 1;
    for (int i = 0; i < LIMBS; i++) {
        x->limb[i] = ~x->limb[i] + carry;
        carry = carry && !x->limb[i];
    }
}
static bool bit(const struct big *x, int i) {
    return i >= 0 && x->limb[i / 64] >> (i % 64) & 1;
}
static void add(struct big *x, const struct big *y) {
    unsigned __int128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (unsigned __int128)x->limb[i] + y->limb[i];
        x->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}
static struct big scaled(bool negative, unsigned __int128 m, int e) {
    struct big x;
    memset(&x, 0, sizeof x);
    for (int i = 0; i < 128; i++)
        if (m >> i & 1)
            x.limb[(POINT + e + i) / 64] |= 1ull << ((POINT + e + i) % 64);
    if (negative) negate(&x);
    return x;
}

/* The magnitude of a positive x, rounded. */
static uint64_t round_big(const struct format *f, const struct big *x,
                          bool negative, enum rounding mode) {
    int top = LIMBS * 64 - 1;
    while (top >= 0 && !bit(x, top)) top--;
    if (top < 0) return 0;
    int e = top - POINT, least = 1 - bias(f);
    if (e < least) e = least;
    int unit = POINT + e - (f->precision - 1); /* position of the last bit */
    uint64_t m = 0;
    for (int i = top; i >= unit; i--) m = m << 1 | bit(x, i);
    bool half = unit > 0 && bit(x, unit - 1), rest = false;
    for (int i = unit - 2; i >= 0 && !rest; i--) rest = bit(x, i);
    bool away = mode == RN ? half && (rest || m & 1)
              : mode == RP ? !negative && (half || rest)
              : mode == RM ? negative && (half || rest) : false;
    uint64_t v = ((uint64_t)(e - least) << (f->precision - 1)) + m + away;
    if (v < infinity(f)) return v;
    bool inward = mode == RZ || (mode == RP && negative) ||
                  (mode == RM && !negative);
    return inward ? infinity(f) - 1 : infinity(f);
}

uint64_t exact_round(const struct format *f, bool negative,
                     unsigned __int128 m, int e, enum rounding mode) {
    struct big x = scaled(false, m, e);
    return round_big(f, &x, negative, mode) | (negative ? sign_bit(f) : 0);
}

uint64_t exact_fma(const struct format *f, uint64_t a, uint64_t b, uint64_t c,
                   bool add_c, enum rounding mode) {
    if (!add_c) c = 0;
    if (!is_finite(f, a) || !is_finite(f, b) || !is_finite(f, c)) {
        double p = exact_value(f, a) * exact_value(f, b);
        double r = add_c ? p + exact_value(f, c) : p;
        if (isnan(r)) return exact_nan(f);
        return infinity(f) | (signbit(r) ? sign_bit(f) : 0);
    }
    bool sp = (a ^ b) & sign_bit(f), sc = add_c ? c & sign_bit(f) : sp;
    uint64_t ma, mb, mc;
    int ea, eb, ec;
    split(f, a, &ma, &ea);
    split(f, b, &mb, &eb);
    split(f, c, &mc, &ec);
    struct big x = scaled(sp, (unsigned __int128)ma * mb, ea + eb);
    struct big y = scaled(sc, mc, ec);
    add(&x, &y);
    bool negative = bit(&x, LIMBS * 64 - 1), zero = true;
    for (int i = 0; i < LIMBS; i++) zero = zero && !x.limb[i];
    if (zero) /* of the common sign, else -0 only when rounding down */
        return (sp == sc ? sp : mode == RM) ? sign_bit(f) : 0;
    if (negative) negate(&x);
    return round_big(f, &x, negative, mode) | (negative ? sign_bit(f) : 0);
}
