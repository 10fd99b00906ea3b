/* Half precision: sums and products from exact.c, in either format; pairs are
 * two of them. */
#include <math.h>

#include "tests/ptx/exact.h"
#include "tests/ptx/reference.h"

enum op { ADD, SUB, MUL, FMA, MIN, MAX, ABS, NEG, EX2, TANH };
enum flag { FTZ = 1, SAT = 2, NANS = 4, XORSIGN = 8, RELU = 16 };

/* A double rounded to the format; exact_round takes an integer and a power. */
static uint64_t rounded(const struct format *t, double x) {
    if (isnan(x)) return exact_nan(t);
    if (fabs(x) > 0x1p140) x = copysign(0x1p140, x); /* overflows anyway */
    if (x != 0 && fabs(x) < 0x1p-200) x = copysign(0x1p-200, x);
    int e;
    double m = frexp(fabs(x), &e);
    return exact_round(t, signbit(x), (unsigned __int128)ldexp(m, 53), e - 53,
                       RN);
}

static uint64_t key(uint64_t v) { return v & 0x8000 ? ~v & 0xffff : v | 0x8000; }

static uint64_t extreme(const struct format *t, enum op op, uint64_t a,
                        uint64_t b, int flags) {
    bool na = exact_is_nan(t, a), nb = exact_is_nan(t, b);
    uint64_t flip = (a ^ b) & 0x8000;
    if (flags & XORSIGN) a &= 0x7fff, b &= 0x7fff;
    uint64_t r = na ? b : nb ? a : (key(a) < key(b)) == (op == MIN) ? a : b;
    if (flags & XORSIGN) r = (r & 0x7fff) | flip;
    return (flags & NANS ? na || nb : na && nb) ? exact_nan(t) : r;
}

static uint64_t one(const struct format *t, enum op op, const uint64_t *s,
                    int flags) {
    uint64_t v[3], r, one_ = exact_one(t);
    for (int i = 0; i < 3; i++) v[i] = flags & FTZ ? exact_flush(t, s[i]) : s[i];
    switch (op) {
    case ADD: r = exact_fma(t, v[0], one_, v[1], true, RN); break;
    case SUB:
        r = exact_fma(t, v[0], one_, v[1] ^ 0x8000, true, RN);
        break;
    case MUL: r = exact_fma(t, v[0], v[1], 0, false, RN); break;
    case FMA: r = exact_fma(t, v[0], v[1], v[2], true, RN); break;
    case MIN: case MAX: r = extreme(t, op, v[0], v[1], flags); break;
    case ABS: return v[0] & 0x7fff;
    case NEG: return v[0] ^ 0x8000;
    case EX2: r = rounded(t, exp2(exact_value(t, v[0]))); break;
    default: r = rounded(t, tanh(exact_value(t, v[0])));
    }
    if (flags & FTZ) r = exact_flush(t, r);
    if (flags & SAT) r = exact_sat(t, r);
    return flags & RELU && r & 0x8000 ? 0 : r;
}

/* arg: op, flags, 1 for bf16, 1 for pairs. */
static void ref_half(const struct form *f, const uint64_t *s, uint64_t *d) {
    const struct format *t = f->arg[2] ? &BF16_FORMAT : &F16_FORMAT;
    uint64_t low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = s[i] & 0xffff;
        high[i] = s[i] >> 16 & 0xffff;
    }
    d[0] = one(t, f->arg[0], low, f->arg[1]);
    if (f->arg[3]) d[0] |= one(t, f->arg[0], high, f->arg[1]) << 16;
}

/* ex2 and tanh: relative error 2^-9.9 and 2^-10.987 for f16, 2^-7 and 2^-8 for
 * bf16 (PTX 9.7.4); one unit in the last place is within all of them. */
static bool near_half(uint64_t got, uint64_t want) {
    uint64_t apart = got > want ? got - want : want - got;
    return apart <= 1 && got < 0x7c00;
}
static bool near_one(const uint64_t *s, uint64_t got, uint64_t want) {
    (void)s;
    return near_half(got, want);
}
static bool near_both(const uint64_t *s, uint64_t got, uint64_t want) {
    (void)s;
    return (got % 65536 == want % 65536 ||
            near_half(got % 65536, want % 65536)) &&
           (got >> 16 == want >> 16 || near_half(got >> 16, want >> 16));
}

#define F16_FORM(name, n, OP, flags)                                         \
    {name ".f16", "H:" n("H"), 0, ref_half, 0, {OP, flags, 0, 0}},           \
    {name ".f16x2", "X:" n("X"), 0, ref_half, 0, {OP, flags, 0, 1}},
#define BF16_FORM(name, n, OP, flags)                                        \
    {name ".bf16", "B:" n("B"), 0, ref_half, 0, {OP, flags, 1, 0}},          \
    {name ".bf16x2", "Y:" n("Y"), 0, ref_half, 0, {OP, flags, 1, 1}},
#define BOTH(name, n, OP, flags)                                             \
    F16_FORM(name, n, OP, flags) BF16_FORM(name, n, OP, flags)
#define N1(x) x
#define N2(x) x x
#define N3(x) x x x

static const struct form half_forms[] = {
    BOTH("add", N2, ADD, 0) BOTH("add.rn", N2, ADD, 0)
    F16_FORM("add.ftz", N2, ADD, FTZ) F16_FORM("add.sat", N2, ADD, SAT)
    F16_FORM("add.rn.ftz.sat", N2, ADD, FTZ | SAT)
    BOTH("sub", N2, SUB, 0) F16_FORM("sub.rn.ftz.sat", N2, SUB, FTZ | SAT)
    BOTH("mul", N2, MUL, 0) BOTH("mul.rn", N2, MUL, 0)
    F16_FORM("mul.ftz", N2, MUL, FTZ) F16_FORM("mul.sat", N2, MUL, SAT)
    BOTH("fma.rn", N3, FMA, 0) BOTH("fma.rn.relu", N3, FMA, RELU)
    F16_FORM("fma.rn.ftz", N3, FMA, FTZ) F16_FORM("fma.rn.sat", N3, FMA, SAT)
    F16_FORM("fma.rn.ftz.relu", N3, FMA, FTZ | RELU)
    BOTH("min", N2, MIN, 0) BOTH("min.NaN", N2, MIN, NANS)
    F16_FORM("min.ftz", N2, MIN, FTZ)
    BOTH("min.xorsign.abs", N2, MIN, XORSIGN)
    BOTH("max", N2, MAX, 0) BOTH("max.NaN", N2, MAX, NANS)
    F16_FORM("max.ftz.NaN", N2, MAX, FTZ | NANS)
    BOTH("max.NaN.xorsign.abs", N2, MAX, NANS | XORSIGN)
    BOTH("abs", N1, ABS, 0) BOTH("neg", N1, NEG, 0)
    F16_FORM("abs.ftz", N1, ABS, FTZ) F16_FORM("neg.ftz", N1, NEG, FTZ)
    {"ex2.approx.f16", "H:H", 0, ref_half, near_one, {EX2, 0, 0, 0}},
    {"ex2.approx.f16x2", "X:X", 0, ref_half, near_both, {EX2, 0, 0, 1}},
    {"ex2.approx.ftz.bf16", "B:B", 0, ref_half, near_one, {EX2, FTZ, 1, 0}},
    {"ex2.approx.ftz.bf16x2", "Y:Y", 0, ref_half, near_both, {EX2, FTZ, 1, 1}},
    {"tanh.approx.f16", "H:H", 0, ref_half, near_one, {TANH, 0, 0, 0}},
    {"tanh.approx.f16x2", "X:X", 0, ref_half, near_both, {TANH, 0, 0, 1}},
    {"tanh.approx.bf16", "B:B", 0, ref_half, near_one, {TANH, 0, 1, 0}},
    {"tanh.approx.bf16x2", "Y:Y", 0, ref_half, near_both, {TANH, 0, 1, 1}},
};
FORM_LIST(half_forms)
