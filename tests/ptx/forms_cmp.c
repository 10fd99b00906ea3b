/* setp, set, selp, slct and mov. A comparison has three outcomes and a fourth
 * for NaN; the rows say which of them make it true. */
#include <math.h>
#include <string.h>

#include "tests/ptx/exact.h"
#include "tests/ptx/reference.h"

enum outcome { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
enum type { U, S, F16, BF16, F32, F64 };
/* Of a combination with a predicate, and of what a pair of results holds. */
enum { NOTHING, AND, OR, XOR };

static int order(double x, double y) {
    return isnan(x) || isnan(y) ? UNORDERED
         : x < y ? LESS : x > y ? GREATER : EQUAL;
}
static double double_of(enum type t, uint64_t v, bool ftz) {
    double x;
    switch (t) {
    case F16: case BF16: case F32: {
        const struct format *f = t == F16 ? &F16_FORMAT
                               : t == BF16 ? &BF16_FORMAT : &F32_FORMAT;
        v &= (1ull << exact_bits(f)) - 1;
        return exact_value(f, ftz ? exact_flush(f, v) : v);
    }
    default: memcpy(&x, &v, 8); return x;
    }
}
static int outcome(enum type t, int bits, uint64_t a, uint64_t b, bool ftz) {
    if (t > S) return order(double_of(t, a, ftz), double_of(t, b, ftz));
    uint64_t flip = t == S ? 1ull << (bits - 1) : 0;
    uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
    a = (a & all) ^ flip, b = (b & all) ^ flip;
    return a < b ? LESS : a > b ? GREATER : EQUAL;
}
static uint64_t combined(int how, uint64_t t, uint64_t c) {
    return how == AND ? t & c : how == OR ? t | c : how == XOR ? t ^ c : t;
}

/* arg: type, bits, outcomes that are true, combination, flags: 1 .ftz, 2 the
 * operands are pairs. */
enum { FTZ = 1, PAIR = 2 };
static uint64_t holds(const struct form *f, uint64_t a, uint64_t b) {
    return (outcome(f->arg[0], f->arg[1], a, b, f->arg[4] & FTZ) &
            f->arg[2]) != 0;
}
static void ref_setp(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint64_t p = holds(f, s[0], s[1]), q = !p;
    if (f->arg[4] & PAIR) q = holds(f, s[0] >> 16, s[1] >> 16);
    d[0] = combined(f->arg[3], p, s[2]);
    d[1] = combined(f->arg[3], q, s[2]);
}
/* set to integers, to f32, to f16 and bf16. */
#define REF_SET(name, yes)                                                   \
    static void name(const struct form *f, const uint64_t *s, uint64_t *d) { \
        d[0] = combined(f->arg[3], holds(f, s[0], s[1]), s[2]) ? (yes) : 0;  \
    }
REF_SET(ref_set_int, ~0ull)
REF_SET(ref_set_f32, 0x3f800000)
REF_SET(ref_set_f16, 0x3c00)
REF_SET(ref_set_bf16, 0x3f80)
#define REF_SET_PAIR(name, yes)                                              \
    static void name(const struct form *f, const uint64_t *s, uint64_t *d) { \
        uint64_t low = combined(f->arg[3], holds(f, s[0], s[1]), s[2]);      \
        uint64_t high =                                                      \
            combined(f->arg[3], holds(f, s[0] >> 16, s[1] >> 16), s[2]);     \
        d[0] = (low ? (yes) : 0) | (high ? (uint64_t)(yes) << 16 : 0);       \
    }
REF_SET_PAIR(ref_set_f16x2, 0x3c00)
REF_SET_PAIR(ref_set_bf16x2, 0x3f80)
REF_SET_PAIR(ref_set_ones, 0xffff)

static void ref_selp(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[2] ? s[0] : s[1];
}
static void ref_slct_s32(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[2] >> 31 & 1 ? s[1] : s[0];
}
static void ref_slct_f32(const struct form *f, const uint64_t *s, uint64_t *d) {
    d[0] = double_of(F32, s[2], f->arg[0]) >= 0 ? s[0] : s[1];
}
static void ref_mov(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[0];
}
/* arg: bits of a part, parts. */
static void ref_pack(const struct form *f, const uint64_t *s, uint64_t *d) {
    d[0] = 0;
    for (int i = 0; i < f->arg[1]; i++) d[0] |= s[i] << i * f->arg[0];
}
static void ref_unpack(const struct form *f, const uint64_t *s, uint64_t *d) {
    for (int i = 0; i < f->arg[1]; i++)
        d[i] = s[0] >> i * f->arg[0] & ((1ull << f->arg[0]) - 1);
}
static void ref_upper(const struct form *f, const uint64_t *s, uint64_t *d) {
    d[0] = s[0] >> f->arg[0];
}

/* ---- the rows ---------------------------------------------------------------- */

#define SETP(cmp, type, ops, T, bits, yes)                                   \
    {"setp." #cmp "." type, "p:" ops ops, 0, ref_setp, 0, {T, bits, yes}},   \
    {"setp." #cmp "." type, "pp:" ops ops, "setp." #cmp "." type             \
     " $d|$e, $0, $1", ref_setp, 0, {T, bits, yes}},                         \
    {"setp." #cmp ".and." type, "p:" ops ops "p", 0, ref_setp, 0,            \
     {T, bits, yes, AND}},                                                   \
    {"setp." #cmp ".or." type, "pp:" ops ops "p", "setp." #cmp ".or." type   \
     " $d|$e, $0, $1, $2", ref_setp, 0, {T, bits, yes, OR}},                 \
    {"setp." #cmp ".xor." type, "p:" ops ops "p", 0, ref_setp, 0,            \
     {T, bits, yes, XOR}},                                                   \
    {"set." #cmp ".u32." type, "r:" ops ops, 0, ref_set_int, 0,              \
     {T, bits, yes}},
#define SET_INT(cmp, type, ops, T, bits, yes)                                \
    SETP(cmp, type, ops, T, bits, yes)                                       \
    {"set." #cmp ".s32." type, "r:" ops ops, 0, ref_set_int, 0,              \
     {T, bits, yes}},                                                        \
    {"set." #cmp ".f32." type, "F:" ops ops, 0, ref_set_f32, 0,              \
     {T, bits, yes}},                                                        \
    {"set." #cmp ".and.f32." type, "F:" ops ops "p", 0, ref_set_f32, 0,      \
     {T, bits, yes, AND}},
#define SAME(type, ops, T, bits)                                             \
    SET_INT(eq, type, ops, T, bits, EQUAL)                                   \
    SET_INT(ne, type, ops, T, bits, LESS | GREATER)
#define INTS(type, ops, T, bits)                                             \
    SAME(type, ops, T, bits)                                                 \
    SET_INT(lt, type, ops, T, bits, LESS)                                    \
    SET_INT(le, type, ops, T, bits, LESS | EQUAL)                            \
    SET_INT(gt, type, ops, T, bits, GREATER)                                 \
    SET_INT(ge, type, ops, T, bits, GREATER | EQUAL)
#define UNSIGNED(type, ops, bits)                                            \
    INTS(type, ops, U, bits)                                                 \
    SET_INT(lo, type, ops, U, bits, LESS)                                    \
    SET_INT(ls, type, ops, U, bits, LESS | EQUAL)                            \
    SET_INT(hi, type, ops, U, bits, GREATER)                                 \
    SET_INT(hs, type, ops, U, bits, GREATER | EQUAL)
#define FLOATS(X, type, ops, T)                                              \
    X(eq, type, ops, T, 0, EQUAL)                                            \
    X(ne, type, ops, T, 0, LESS | GREATER)                                   \
    X(lt, type, ops, T, 0, LESS)                                             \
    X(le, type, ops, T, 0, LESS | EQUAL)                                     \
    X(gt, type, ops, T, 0, GREATER)                                          \
    X(ge, type, ops, T, 0, GREATER | EQUAL)                                  \
    X(equ, type, ops, T, 0, EQUAL | UNORDERED)                               \
    X(neu, type, ops, T, 0, LESS | GREATER | UNORDERED)                      \
    X(ltu, type, ops, T, 0, LESS | UNORDERED)                                \
    X(leu, type, ops, T, 0, LESS | EQUAL | UNORDERED)                        \
    X(gtu, type, ops, T, 0, GREATER | UNORDERED)                             \
    X(geu, type, ops, T, 0, GREATER | EQUAL | UNORDERED)                     \
    X(num, type, ops, T, 0, LESS | EQUAL | GREATER)                          \
    X(nan, type, ops, T, 0, UNORDERED)
#define HALF(cmp, type, ops, T, bits, yes)                                   \
    SETP(cmp, type, ops, T, bits, yes)                                       \
    {"set." #cmp ".u16." type, "h:" ops ops, 0, ref_set_int, 0,              \
     {T, bits, yes}},
#define TO_F16(cmp, type, ops, T, bits, yes)                                 \
    {"set." #cmp ".f16." type, "H:" ops ops, 0, ref_set_f16, 0,              \
     {T, bits, yes}},
#define TO_BF16(cmp, type, ops, T, bits, yes)                                \
    {"set." #cmp ".bf16." type, "B:" ops ops, 0, ref_set_bf16, 0,            \
     {T, bits, yes}},
#define FTZ_F32(cmp, type, ops, T, bits, yes)                                \
    {"setp." #cmp ".ftz." type, "p:" ops ops, 0, ref_setp, 0,                \
     {T, bits, yes, 0, FTZ}},                                                \
    {"set." #cmp ".ftz.u32." type, "r:" ops ops, 0, ref_set_int, 0,          \
     {T, bits, yes, 0, FTZ}},
#define PAIRS(cmp, type, ops, T, bits, yes)                                  \
    {"setp." #cmp "." type, "pp:" ops ops, "setp." #cmp "." type             \
     " $d|$e, $0, $1", ref_setp, 0, {T, bits, yes, 0, PAIR}},                \
    {"setp." #cmp ".and." type, "pp:" ops ops "p", "setp." #cmp ".and." type \
     " $d|$e, $0, $1, $2", ref_setp, 0, {T, bits, yes, AND, PAIR}},          \
    {"set." #cmp ".u32." type, "r:" ops ops, 0, ref_set_ones, 0,             \
     {T, bits, yes}},
#define F16X2(cmp, type, ops, T, bits, yes)                                  \
    PAIRS(cmp, type, ops, T, bits, yes)                                      \
    {"set." #cmp ".f16x2." type, ops ":" ops ops, 0, ref_set_f16x2, 0,       \
     {T, bits, yes}},                                                        \
    {"setp." #cmp ".ftz." type, "pp:" ops ops, "setp." #cmp ".ftz." type     \
     " $d|$e, $0, $1", ref_setp, 0, {T, bits, yes, 0, PAIR | FTZ}},
#define BF16X2(cmp, type, ops, T, bits, yes)                                 \
    PAIRS(cmp, type, ops, T, bits, yes)                                      \
    {"set." #cmp ".bf16x2." type, ops ":" ops ops, 0, ref_set_bf16x2, 0,     \
     {T, bits, yes}},

static const struct form cmp_forms[] = {
    SAME("b16", "h", U, 16) SAME("b32", "r", U, 32) SAME("b64", "d", U, 64)
    UNSIGNED("u16", "h", 16) UNSIGNED("u32", "r", 32) UNSIGNED("u64", "d", 64)
    INTS("s16", "h", S, 16) INTS("s32", "r", S, 32) INTS("s64", "d", S, 64)
    FLOATS(SET_INT, "f32", "F", F32) FLOATS(FTZ_F32, "f32", "F", F32)
    FLOATS(SET_INT, "f64", "D", F64)
    FLOATS(HALF, "f16", "H", F16) FLOATS(HALF, "bf16", "B", BF16)
    FLOATS(TO_F16, "f16", "H", F16) FLOATS(TO_BF16, "bf16", "B", BF16)
    FLOATS(TO_F16, "f32", "F", F32) FLOATS(FTZ_F32, "f16", "H", F16)
    FLOATS(F16X2, "f16x2", "X", F16) FLOATS(BF16X2, "bf16x2", "Y", BF16)
};
FORM_LIST(cmp_forms)

#define SELP(type, ops)                                                      \
    {"selp." type, ops ":" ops ops "p", 0, ref_selp, 0, {0}},
#define SLCT(type, ops)                                                      \
    {"slct." type ".s32", ops ":" ops ops "r", 0, ref_slct_s32, 0, {0}},     \
    {"slct." type ".f32", ops ":" ops ops "F", 0, ref_slct_f32, 0, {0}},     \
    {"slct.ftz." type ".f32", ops ":" ops ops "F", 0, ref_slct_f32, 0, {1}},
#define MOV(type, ops) {"mov." type, ops ":" ops, 0, ref_mov, 0, {0}},
#define TYPES(X)                                                             \
    X("b16", "h") X("u16", "h") X("s16", "h") X("b32", "r") X("u32", "r")    \
    X("s32", "r") X("b64", "d") X("u64", "d") X("s64", "d") X("f32", "F")    \
    X("f64", "D")

static const struct form move_forms[] = {
    TYPES(SELP) TYPES(SLCT) TYPES(MOV) MOV("pred", "p")
    {"mov.b32", "r:hh", "mov.b32 $d, {$0, $1}", ref_pack, 0, {16, 2}},
    {"mov.b64", "d:rr", "mov.b64 $d, {$0, $1}", ref_pack, 0, {32, 2}},
    {"mov.b64", "d:hhhh", "mov.b64 $d, {$0, $1, $2, $3}", ref_pack, 0, {16, 4}},
    {"mov.b32", "hh:r", "mov.b32 {$d, $e}, $0", ref_unpack, 0, {16, 2}},
    {"mov.b64", "rr:d", "mov.b64 {$d, $e}, $0", ref_unpack, 0, {32, 2}},
    {"mov.b64", "hhhh:d", "mov.b64 {$d, $e, $f, $g}, $0", ref_unpack, 0,
     {16, 4}},
    {"mov.b64", "r:d", "mov.b64 {_, $d}, $0", ref_upper, 0, {32}},
    {"mov.b32", "r:F", "mov.b32 $d, $0", ref_mov, 0, {0}},
    {"mov.b64", "d:D", "mov.b64 $d, $0", ref_mov, 0, {0}},
};
FORM_LIST(move_forms)
