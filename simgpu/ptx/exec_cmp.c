/* setp and set: comparing, PTX 9.7.6, and for halves 9.7.7.
 *
 * One function a type and comparison gives the bits of all lanes; setp and set
 * differ only in what they make of them. Ordered comparisons are false with a
 * NaN, the ones that end in u are true.
 */
#include "ptx/exec_pick.h"
#include "ptx/sem_float.h"

#define P_(x) PTX_MOD_##x

/* Bits of the lanes for which a CMP b. tiny: flush f32 below it. */
typedef u32 (*test_fn)(const void *a, const void *b, f32 tiny);

#define TEST(name, T, cond)                                                  \
    static inline u32 test_##name##_##T(const void *pa, const void *pb,      \
                                        f32 tiny) {                          \
        const T *a = __builtin_assume_aligned(pa, 64);                       \
        const T *b = __builtin_assume_aligned(pb, 64);                       \
        u32 bits;                                                            \
        (void)tiny;                                                          \
        LANES_TEST(bits, cond);                                              \
        return bits;                                                         \
    }
#define ORDER(T)                                                             \
    TEST(lt, T, a[i] < b[i]) TEST(le, T, a[i] <= b[i])                       \
    TEST(gt, T, a[i] > b[i]) TEST(ge, T, a[i] >= b[i])                       \
    TEST(eq, T, a[i] == b[i]) TEST(ne, T, a[i] != b[i])
ORDER(u16) ORDER(u32) ORDER(u64) ORDER(s16) ORDER(s32) ORDER(s64)

/* X, Y: the operands as numbers of the float type. */
#define FLOAT_ORDER(T, X, Y)                                                 \
    TEST(eq, T, X == Y) TEST(ne, T, X < Y || X > Y)                          \
    TEST(lt, T, X < Y) TEST(le, T, X <= Y)                                   \
    TEST(gt, T, X > Y) TEST(ge, T, X >= Y)                                   \
    TEST(equ, T, !(X < Y || X > Y)) TEST(neu, T, X != Y)                     \
    TEST(ltu, T, !(X >= Y)) TEST(leu, T, !(X > Y))                           \
    TEST(gtu, T, !(X <= Y)) TEST(geu, T, !(X < Y))                           \
    TEST(num, T, X == X && Y == Y) TEST(nan, T, X != X || Y != Y)
typedef u16 f16;
typedef u16 bf16;
FLOAT_ORDER(f32, flush_f32(a[i], tiny), flush_f32(b[i], tiny))
FLOAT_ORDER(f64, a[i], b[i])
#define H(x) flush_f32(f32_f16(x), tiny)
FLOAT_ORDER(f16, H(a[i]), H(b[i]))
FLOAT_ORDER(bf16, f32_bf16(a[i]), f32_bf16(b[i]))

/* ---- what becomes of the bits -------------------------------------------- */

/* in->cmp: combination with the third operand, then flags. */
enum { COMBINE = 3, AND = 1, OR, XOR, FTZ = 4, FTZ_HALF = 8 };

static inline u32 combine(struct warp *w, const struct insn *in, u32 bits) {
    switch (in->cmp & COMBINE) {
    case AND: return bits & PRED(in->src[2]);
    case OR: return bits | PRED(in->src[2]);
    case XOR: return bits ^ PRED(in->src[2]);
    default: return bits;
    }
}

/* setp p|q: q is made from the comparison's opposite. */
static inline enum exec_result setp(struct warp *w, const struct insn *in,
                                    u32 mask, u32 bits) {
    u32 p = combine(w, in, bits), q = combine(w, in, ~bits);
    pred_set(w, in->dst, mask, p);
    pred_set(w, in->dst2, mask, q);
    return EXEC_NEXT;
}

#define SETP(name, T, tiny)                                                  \
    HANDLER(setp_##name##_##T) {                                             \
        return setp(w, in, mask,                                             \
                    test_##name##_##T(slot_at(w, in->src[0]),                \
                                      slot_at(w, in->src[1]), tiny));        \
    }
#define EACH_ORDER(X, ...)                                                   \
    X(eq, __VA_ARGS__) X(ne, __VA_ARGS__) X(lt, __VA_ARGS__)                 \
    X(le, __VA_ARGS__) X(gt, __VA_ARGS__) X(ge, __VA_ARGS__)
#define EACH_FLOAT_ORDER(X, ...)                                             \
    EACH_ORDER(X, __VA_ARGS__)                                               \
    X(equ, __VA_ARGS__) X(neu, __VA_ARGS__) X(ltu, __VA_ARGS__)              \
    X(leu, __VA_ARGS__) X(gtu, __VA_ARGS__) X(geu, __VA_ARGS__)              \
    X(num, __VA_ARGS__) X(nan, __VA_ARGS__)
EACH_ORDER(SETP, u16, 0) EACH_ORDER(SETP, u32, 0) EACH_ORDER(SETP, u64, 0)
EACH_ORDER(SETP, s16, 0) EACH_ORDER(SETP, s32, 0) EACH_ORDER(SETP, s64, 0)
EACH_FLOAT_ORDER(SETP, f32, 0) EACH_FLOAT_ORDER(SETP, f64, 0)
EACH_FLOAT_ORDER(SETP, f16, 0) EACH_FLOAT_ORDER(SETP, bf16, 0)

/* The rest goes through in->imm, the test's address: setp with .ftz, pairs of
 * halves, and set. */
static inline f32 tiny_of(const struct insn *in) {
    return in->cmp & FTZ ? TINY_F32 : in->cmp & FTZ_HALF ? 0x1p-14f : 0;
}
static inline u32 test_by(struct warp *w, const struct insn *in) {
    test_fn test = (test_fn)(intptr_t)in->imm;
    return test(slot_at(w, in->src[0]), slot_at(w, in->src[1]), tiny_of(in));
}

HANDLER(setp_ftz) { return setp(w, in, mask, test_by(w, in)); }

/* The two halves of a row of pairs, compared one after the other. */
static u32 test_halves(struct warp *w, const struct insn *in, u32 *high) {
    const u32 *a = ROW(const u32, in->src[0]), *b = ROW(const u32, in->src[1]);
    test_fn test = (test_fn)(intptr_t)in->imm;
    f32 tiny = tiny_of(in);
    _Alignas(64) u16 x[2][LANES], y[2][LANES];
    for (int i = 0; i < LANES; i++) {
        x[0][i] = (u16)a[i], x[1][i] = (u16)(a[i] >> 16);
        y[0][i] = (u16)b[i], y[1][i] = (u16)(b[i] >> 16);
    }
    *high = test(x[1], y[1], tiny);
    return test(x[0], y[0], tiny);
}

/* setp of pairs: p is of the low halves, q of the high ones. */
HANDLER(setp_halves) {
    u32 high, low = test_halves(w, in, &high);
    u32 p = combine(w, in, low), q = combine(w, in, high);
    pred_set(w, in->dst, mask, p);
    pred_set(w, in->dst2, mask, q);
    return EXEC_NEXT;
}

/* set: true is all ones for integers, 1.0 for floats; the value is in
 * in->cmp's upper bits as an index. */
enum { TRUE_ONES, TRUE_F32, TRUE_F16, TRUE_BF16, TRUE_SHIFT = 4 };
static u32 true_value(const struct insn *in) {
    static const u32 value[] = {~0u, 0x3f800000u, 0x3c00u, 0x3f80u};
    return value[in->cmp >> TRUE_SHIFT];
}
#define SET(T)                                                               \
    {                                                                        \
        T *d = ROW(T, in->dst);                                              \
        const T yes = (T)true_value(in);                                     \
        _Alignas(64) u32 on[LANES];                                          \
        lanes_expand(combine(w, in, test_by(w, in)), on);              \
        LANES_SET(d, on[i] ? yes : 0);                                       \
        return EXEC_NEXT;                                                    \
    }
HANDLER(set_u16) SET(u16)
HANDLER(set_u32) SET(u32)

HANDLER(set_halves) {
    u32 *d = ROW(u32, in->dst);
    const u32 yes = true_value(in) & 0xffff;
    _Alignas(64) u32 on[2][LANES];
    u32 high, low = test_halves(w, in, &high);
    lanes_expand(combine(w, in, low), on[0]);
    lanes_expand(combine(w, in, high), on[1]);
    LANES_SET(d, (on[0][i] ? yes : 0) | (on[1][i] ? yes << 16 : 0));
    return EXEC_NEXT;
}

/* ---- selectors ----------------------------------------------------------- */

enum order { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_,
             N_ORDER };
/* .lo .ls .hi .hs are unsigned < <= > >=. */
static int order_of(const struct ptx_instr *in) {
    static const struct { uint8_t mod, order; } table[] = {
        {P_(eq), EQ}, {P_(ne), NE}, {P_(lt), LT}, {P_(le), LE}, {P_(gt), GT},
        {P_(ge), GE}, {P_(lo), LT}, {P_(ls), LE}, {P_(hi), GT}, {P_(hs), GE},
        {P_(equ), EQU}, {P_(neu), NEU}, {P_(ltu), LTU}, {P_(leu), LEU},
        {P_(gtu), GTU}, {P_(geu), GEU}, {P_(num), NUM}, {P_(nan), NAN_}};
    for (unsigned i = 0; in->n_mods && i < sizeof table / sizeof *table; i++)
        if (table[i].mod == in->mods[0]) return table[i].order;
    return -1;
}

struct ordering { test_fn test; exec_fn setp; };
#define ENTRY(name, T) {test_##name##_##T, setp_##name##_##T},
#define INT_ENTRIES(T) {EACH_ORDER(ENTRY, T)}
#define FLOAT_ENTRIES(T) {EACH_FLOAT_ORDER(ENTRY, T)}

static const struct ordering *ordering_of(enum ptx_type t, int order) {
    static const struct ordering
        t_u16[N_ORDER] = INT_ENTRIES(u16), t_u32[N_ORDER] = INT_ENTRIES(u32),
        t_u64[N_ORDER] = INT_ENTRIES(u64), t_s16[N_ORDER] = INT_ENTRIES(s16),
        t_s32[N_ORDER] = INT_ENTRIES(s32), t_s64[N_ORDER] = INT_ENTRIES(s64),
        t_f32[N_ORDER] = FLOAT_ENTRIES(f32), t_f64[N_ORDER] = FLOAT_ENTRIES(f64),
        t_f16[N_ORDER] = FLOAT_ENTRIES(f16),
        t_bf16[N_ORDER] = FLOAT_ENTRIES(bf16);
    const struct ordering *t_of;
    switch (t) {
    case PTX_B16: case PTX_U16: t_of = t_u16; break;
    case PTX_B32: case PTX_U32: t_of = t_u32; break;
    case PTX_B64: case PTX_U64: t_of = t_u64; break;
    case PTX_S16: t_of = t_s16; break;
    case PTX_S32: t_of = t_s32; break;
    case PTX_S64: t_of = t_s64; break;
    case PTX_F32: t_of = t_f32; break;
    case PTX_F64: t_of = t_f64; break;
    case PTX_F16: case PTX_F16X2: t_of = t_f16; break;
    case PTX_BF16: case PTX_BF16X2: t_of = t_bf16; break;
    default: return NULL;
    }
    return order >= 0 && t_of[order].test ? &t_of[order] : NULL;
}

static bool is_pair(enum ptx_type t) {
    return t == PTX_F16X2 || t == PTX_BF16X2;
}
static bool is_half(enum ptx_type t) {
    return is_pair(t) || t == PTX_F16 || t == PTX_BF16;
}

/* The modifiers after the comparison: .and .or .xor, .ftz. `t` is the type
 * that is compared. */
static bool rest_of(const struct ptx_instr *in, struct insn *out,
                    enum ptx_type t) {
    out->cmp = 0;
    for (unsigned i = 1; i < in->n_mods; i++)
        switch (in->mods[i]) {
        case P_(and): out->cmp |= AND; break;
        case P_(or): out->cmp |= OR; break;
        case P_(xor): out->cmp |= XOR; break;
        case P_(ftz):
            if (t == PTX_F32) out->cmp |= FTZ;
            else if (t == PTX_F16 || t == PTX_F16X2) out->cmp |= FTZ_HALF;
            else return false;
            break;
        default: return false;
        }
    return ((out->cmp & COMBINE) != 0) == slot_valid(out->src[2]);
}

SELECT(setp) {
    enum ptx_type t = in->types[0];
    const struct ordering *o = ordering_of(t, order_of(in));
    if (!o || !rest_of(in, out, t)) return NULL;
    out->imm = (intptr_t)o->test;
    if (is_pair(t)) return setp_halves;
    return out->cmp & (FTZ | FTZ_HALF) ? setp_ftz : o->setp;
}

SELECT(set) {
    enum ptx_type d = in->types[0], t = in->types[1];
    const struct ordering *o = ordering_of(t, order_of(in));
    if (!o || !rest_of(in, out, t)) return NULL;
    out->imm = (intptr_t)o->test;
    switch (d) {
    case PTX_U32: case PTX_S32: return is_pair(t) ? set_halves : set_u32;
    case PTX_U16: case PTX_S16:
        return is_half(t) && !is_pair(t) ? set_u16 : NULL;
    case PTX_F32:
        out->cmp |= TRUE_F32 << TRUE_SHIFT;
        return is_half(t) ? NULL : set_u32;
    case PTX_F16: case PTX_F16X2:
        out->cmp |= TRUE_F16 << TRUE_SHIFT;
        break;
    case PTX_BF16: case PTX_BF16X2:
        out->cmp |= TRUE_BF16 << TRUE_SHIFT;
        break;
    default: return NULL;
    }
    if (is_pair(d) != is_pair(t)) return NULL;
    return is_pair(d) ? set_halves : set_u16;
}
