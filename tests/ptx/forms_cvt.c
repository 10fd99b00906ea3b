/* cvt between all types. The rows are generated: every pair of types, with
 * every rounding and modifier that PTX 9.7.9.21 gives the pair, in registers
 * of the types' widths and in wider ones. References go through a sign, an
 * integer and a power of two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/exact.h"
#include "tests/ptx/reference.h"

enum kind { UINT, SINT, FLOAT };
struct type {
    const char *name;
    enum kind kind;
    unsigned bits;
    const char *letters; /* of the registers that may hold it */
    const struct format *format;
};
static const struct format F64_FORMAT = {53, 11};
static const struct type types[] = {
    {"u8", UINT, 8, "hrd", 0}, {"s8", SINT, 8, "hrd", 0},
    {"u16", UINT, 16, "hrd", 0}, {"s16", SINT, 16, "hrd", 0},
    {"u32", UINT, 32, "rd", 0}, {"s32", SINT, 32, "rd", 0},
    {"u64", UINT, 64, "d", 0}, {"s64", SINT, 64, "d", 0},
    {"f16", FLOAT, 16, "H", &F16_FORMAT}, {"bf16", FLOAT, 16, "B", &BF16_FORMAT},
    {"f32", FLOAT, 32, "F", &F32_FORMAT}, {"f64", FLOAT, 64, "D", &F64_FORMAT},
};
enum { N_TYPES = sizeof types / sizeof *types, F32 = 10, F64 = 11 };

enum flag { FTZ = 1, SAT = 2, RELU = 4, INTEGRAL = 8, AWAY = 16 };
static const char *const round_name[] = {".rn", ".rz", ".rm", ".rp"};
static const char *const integral_name[] = {".rni", ".rzi", ".rmi", ".rpi"};

/* ---- the reference ------------------------------------------------------------ */

static double double_of(const struct type *t, uint64_t v) {
    double x;
    if (t->bits != 64) return exact_value(t->format, v);
    memcpy(&x, &v, 8);
    return x;
}

/* To an integral double, exactly. */
static double integral(double x, enum rounding mode) {
    double low = floor(x), over = x - low;
    if (over == 0 || !isfinite(x)) return x;
    bool up = mode == RP || (mode == RZ && x < 0) ||
              (mode == RN && (over > 0.5 || (over == 0.5 && fmod(low, 2) != 0)));
    return copysign(low + (up ? 1 : 0), x);
}

static uint64_t to_float(const struct type *t, double x, enum rounding mode) {
    if (isnan(x)) return exact_nan(t->format);
    if (t->bits == 64) {
        uint64_t v;
        memcpy(&v, &x, 8);
        return v;
    }
    uint64_t sign = signbit(x) ? 1ull << (t->bits - 1) : 0;
    if (isinf(x)) /* infinity is all exponent bits, in every mode */
        return sign | (((1ull << t->format->exponent_bits) - 1)
                       << (t->format->precision - 1));
    if (fabs(x) > 0x1p200) x = copysign(0x1p200, x);
    if (x != 0 && fabs(x) < 0x1p-240) x = copysign(0x1p-240, x);
    int e;
    double m = frexp(fabs(x), &e);
    return exact_round(t->format, signbit(x),
                       (unsigned __int128)ldexp(m, 53), e - 53, mode);
}

static uint64_t to_int(const struct type *t, const struct type *from, double x,
                       enum rounding mode) {
    if (isnan(x)) {
        uint64_t top_bit = t->kind == SINT ? ~0ull << (t->bits - 1)
                                           : 1ull << (t->bits - 1);
        return from->bits == 64 || t->bits == 64 ? top_bit : 0;
    }
    x = integral(x, mode);
    unsigned __int128 one = 1;
    __int128 top = (__int128)(one << (t->bits - (t->kind == SINT))) - 1;
    __int128 bottom = t->kind == SINT ? -top - 1 : 0;
    __int128 v = x > 0x1p100 ? top : x < -0x1p100 ? bottom : (__int128)x;
    return (uint64_t)(v > top ? top : v < bottom ? bottom : v);
}

/* The type's value in the source register: its low bits. */
static __int128 int_of(const struct type *t, uint64_t v) {
    unsigned up = 128 - t->bits;
    unsigned __int128 x = (unsigned __int128)v << up;
    return t->kind == SINT ? (__int128)x >> up : (__int128)(x >> up);
}

static uint64_t clamped(const struct type *t, uint64_t v, int flags) {
    uint64_t sign = 1ull << (t->bits - 1);
    if (flags & SAT) return exact_sat(t->format, v);
    return flags & RELU && v & sign && !exact_is_nan(t->format, v) ? 0 : v;
}

static uint64_t from_int(const struct type *t, const struct type *from,
                         uint64_t s, int flags, enum rounding mode) {
    __int128 v = int_of(from, s);
    if (t->kind == FLOAT)
        return clamped(t, exact_round(t->format, v < 0,
                                      (unsigned __int128)(v < 0 ? -v : v), 0,
                                      mode), flags);
    unsigned __int128 one = 1;
    __int128 top = (__int128)(one << (t->bits - (t->kind == SINT))) - 1;
    __int128 bottom = t->kind == SINT ? -top - 1 : 0;
    if (flags & SAT) return (uint64_t)(v > top ? top : v < bottom ? bottom : v);
    return (uint64_t)int_of(t, (uint64_t)v);
}

/* arg: to, from, rounding, flags. The result fills its register as its type
 * says, and whoever compares cuts it to the register. */
static void ref_cvt(const struct form *f, const uint64_t *s, uint64_t *d) {
    const struct type *t = &types[f->arg[0]], *from = &types[f->arg[1]];
    int flags = f->arg[3];
    if (from->kind != FLOAT) {
        d[0] = from_int(t, from, s[0], flags, f->arg[2]);
        return;
    }
    uint64_t v = s[0];
    if (flags & FTZ && f->arg[1] == F32) v = exact_flush(from->format, v);
    double x = double_of(from, v);
    if (t->kind != FLOAT) {
        d[0] = to_int(t, from, x, f->arg[2]);
        return;
    }
    if (flags & INTEGRAL) x = integral(x, f->arg[2]);
    uint64_t r = to_float(t, x, flags & INTEGRAL ? RN : f->arg[2]);
    if (flags & FTZ && f->arg[0] == F32) r = exact_flush(t->format, r);
    d[0] = clamped(t, r, flags);
}
static bool near_nan_f64(const uint64_t *s, uint64_t got, uint64_t want) {
    (void)s;
    return isnan(double_of(&types[F64], got)) &&
           isnan(double_of(&types[F64], want));
}

/* Two f32 into a word: the first is the upper half. */
static void ref_pair(const struct form *f, const uint64_t *s, uint64_t *d) {
    struct form half = *f;
    uint64_t high, low;
    ref_cvt(&half, s, &high);
    ref_cvt(&half, s + 1, &low);
    d[0] = high << 16 | low;
}

/* tf32: 10 bits of fraction in an f32's place. */
static void ref_tf32(const struct form *f, const uint64_t *s, uint64_t *d) {
    static const struct format tf32 = {11, 8};
    double x = exact_value(&F32_FORMAT, s[0]);
    if (isnan(x)) { d[0] = exact_nan(&F32_FORMAT); return; }
    if (isinf(x)) { d[0] = s[0]; return; }
    if (f->arg[3] & AWAY) { /* halves away from zero */
        double unit = ldexp(1, ilogb(x) < -126 ? -136 : ilogb(x) - 10);
        x = x == 0 ? x : copysign(floor(fabs(x) / unit + 0.5) * unit, x);
    }
    int e;
    double m = frexp(fabs(x), &e);
    d[0] = exact_round(&tf32, signbit(x), (unsigned __int128)ldexp(m, 53),
                       e - 53, f->arg[2]) << 13;
}

/* ---- the rows ------------------------------------------------------------------ */

enum { MAX_FORMS = 2400 };
static struct form forms[MAX_FORMS];
static char names[MAX_FORMS][40], ops[MAX_FORMS][4];
static unsigned n_forms;
extern struct form_list list_cvt_forms;
struct form_list list_cvt_forms = {"cvt_forms", forms, 0};

static void add(int to, int from, char reg_to, char reg_from, int round,
                int flags) {
    if (n_forms + 1 == MAX_FORMS) abort();
    bool floats = types[to].kind == FLOAT || types[from].kind == FLOAT;
    const char *rounding = round < 0 || !floats ? ""
                         : flags & INTEGRAL ? integral_name[round]
                                            : round_name[round];
    snprintf(names[n_forms], sizeof names[0], "cvt%s%s%s%s.%s.%s", rounding,
             flags & FTZ ? ".ftz" : "", flags & SAT ? ".sat" : "",
             flags & RELU ? ".relu" : "", types[to].name, types[from].name);
    snprintf(ops[n_forms], sizeof ops[0], "%c:%c", reg_to, reg_from);
    forms[n_forms] = (struct form){names[n_forms], ops[n_forms], 0, ref_cvt,
                                   to == F64 ? near_nan_f64 : 0,
                                   {to, from, round < 0 ? RN : round, flags}};
    n_forms++;
}

static void add_modes(int to, int from, char reg_to, char reg_from, int flags) {
    for (int r = RN; r <= RP; r++) add(to, from, reg_to, reg_from, r, flags);
}

static void add_pair(int to, int from, char reg_to, char reg_from) {
    const struct type *t = &types[to], *s = &types[from];
    int ftz = from == F32 ? FTZ : 0;
    if (t->kind != FLOAT && s->kind != FLOAT) {
        add(to, from, reg_to, reg_from, -1, 0);
        add(to, from, reg_to, reg_from, -1, SAT);
    } else if (t->kind != FLOAT) {
        add_modes(to, from, reg_to, reg_from, INTEGRAL);
        if (ftz) add_modes(to, from, reg_to, reg_from, INTEGRAL | FTZ);
    } else if (s->kind != FLOAT) {
        add_modes(to, from, reg_to, reg_from, 0);
        add(to, from, reg_to, reg_from, RN, SAT);
    } else if (to == from) {
        add(to, from, reg_to, reg_from, -1, 0);
        add(to, from, reg_to, reg_from, -1, SAT);
        add_modes(to, from, reg_to, reg_from, INTEGRAL);
        if (ftz) add_modes(to, from, reg_to, reg_from, INTEGRAL | FTZ);
        if (ftz) add(to, from, reg_to, reg_from, -1, FTZ);
        if (ftz) add(to, from, reg_to, reg_from, -1, FTZ | SAT);
    } else if (t->bits > s->bits) { /* exact: no rounding */
        add(to, from, reg_to, reg_from, -1, 0);
        add(to, from, reg_to, reg_from, -1, SAT);
        if (ftz) add(to, from, reg_to, reg_from, -1, FTZ);
    } else if (s->bits > t->bits) {
        add_modes(to, from, reg_to, reg_from, 0);
        add(to, from, reg_to, reg_from, RN, SAT);
        if (ftz || to == F32) add(to, from, reg_to, reg_from, RN, FTZ);
        if (t->bits == 16 && ftz) add(to, from, reg_to, reg_from, RN, RELU);
    }
}

static const struct form others[] = {
    {"cvt.rn.f16x2.f32", "X:FF", 0, ref_pair, 0, {8, F32, RN, 0}},
    {"cvt.rz.f16x2.f32", "X:FF", 0, ref_pair, 0, {8, F32, RZ, 0}},
    {"cvt.rn.relu.f16x2.f32", "X:FF", 0, ref_pair, 0, {8, F32, RN, RELU}},
    {"cvt.rn.bf16x2.f32", "Y:FF", 0, ref_pair, 0, {9, F32, RN, 0}},
    {"cvt.rz.bf16x2.f32", "Y:FF", 0, ref_pair, 0, {9, F32, RZ, 0}},
    {"cvt.rn.relu.bf16x2.f32", "Y:FF", 0, ref_pair, 0, {9, F32, RN, RELU}},
    {"cvt.rna.tf32.f32", "r:F", 0, ref_tf32, 0, {0, 0, RN, AWAY}},
    {"cvt.rn.tf32.f32", "r:F", 0, ref_tf32, 0, {0, 0, RN, 0}},
    {"cvt.rz.tf32.f32", "r:F", 0, ref_tf32, 0, {0, 0, RZ, 0}},
};

void cvt_forms_build(void) {
    for (int to = 0; to < N_TYPES; to++)
        for (int from = 0; from < N_TYPES; from++) {
            const char *t = types[to].letters, *s = types[from].letters;
            add_pair(to, from, t[0], s[0]);
            if (t[0] == 'h' && types[to].bits == 8) add_pair(to, from, 'r', s[0]);
            if (types[from].kind != FLOAT && s[1])
                add_pair(to, from, t[strlen(t) - 1], s[1]);
        }
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        forms[n_forms++] = others[i];
    list_cvt_forms.n = n_forms;
}
