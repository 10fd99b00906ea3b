/* cvt, PTX 9.7.9.21: between all integer and float types.
 *
 * The common conversions have a loop of their own. All others go through one
 * path: the row is read into 64-bit integers or doubles (exact for every
 * type), converted, and written to the destination's width. Registers may be
 * wider than the type: sources use the low part, results are extended as their
 * type says.
 */
#include "ptx/exec_pick.h"
#include "ptx/sem_float.h"

#define P_(x) PTX_MOD_##x

/* How to convert: what in->imm holds for the general path. */
struct how {
    uint8_t to, from;   /* enum ptx_type */
    uint8_t round;      /* enum fp_round, of the result */
    uint8_t integral;   /* 1 + enum fp_round: .rni and so on; 0 none */
    uint8_t sat, ftz, relu, away;
};
union how_bits { struct how h; int64_t bits; };
static inline struct how how_of(const struct insn *in) {
    union how_bits u = {.bits = in->imm};
    return u.h;
}

static bool is_float(enum ptx_type t) {
    switch (t) {
    case PTX_F16: case PTX_BF16: case PTX_F32: case PTX_F64: case PTX_TF32:
    case PTX_F16X2: case PTX_BF16X2: return true;
    default: return false;
    }
}
/* Bits of an integer type; 0 for others. */
static unsigned int_bits(enum ptx_type t) {
    switch (t) {
    case PTX_U8: case PTX_S8: return 8;
    case PTX_U16: case PTX_S16: return 16;
    case PTX_U32: case PTX_S32: return 32;
    case PTX_U64: case PTX_S64: return 64;
    default: return 0;
    }
}

/* ---- rows in and out ------------------------------------------------------ */

/* Element i of a row whose elements are `bytes` wide. */
#define WIDTHS(bytes, row, X)                                                \
    switch (bytes) {                                                         \
    case 2: { const u16 *r_ = row; X(r_[i]) } break;                         \
    case 4: { const u32 *r_ = row; X(r_[i]) } break;                         \
    default: { const u64 *r_ = row; X(r_[i]) }                               \
    }
#define ALL(statement) for (int i = 0; i < LANES; i++) { statement; }

static void read_int(const void *row, unsigned bytes, enum ptx_type t, s64 *v) {
#define AS(T) { _Pragma("GCC ivdep") ALL(v[i] = (s64)(T)v[i]) } break
#define COPY(x) ALL(v[i] = (s64)(x))
    WIDTHS(bytes, row, COPY)
    switch (t) {
    case PTX_U8: AS(u8);
    case PTX_S8: AS(s8);
    case PTX_U16: AS(u16);
    case PTX_S16: AS(s16);
    case PTX_U32: AS(u32);
    case PTX_S32: AS(s32);
    default: break;
    }
#undef AS
#undef COPY
}

static void read_float(const void *row, unsigned bytes, enum ptx_type t,
                       bool ftz, f64 *x) {
    f32 tiny = ftz ? TINY_F32 : 0;
#define F16(u) ALL(x[i] = f32_f16((u16)(u)))
#define BF16(u) ALL(x[i] = f32_bf16((u16)(u)))
#define F32(u) ALL(x[i] = flush_f32(f32_bits((u32)(u)), tiny))
#define F64(u) ALL(x[i] = f64_bits(u))
    switch (t) {
    case PTX_F16: WIDTHS(bytes, row, F16) break;
    case PTX_BF16: WIDTHS(bytes, row, BF16) break;
    case PTX_F32: WIDTHS(bytes, row, F32) break;
    default: WIDTHS(bytes, row, F64)
    }
}

static void write_row(struct warp *w, const struct insn *in, u32 mask,
                      const u64 *r) {
    switch (in->dst_bytes) {
    case 2: { u16 *d = ROW(u16, in->dst); LANES_SET(d, (u16)r[i]); } break;
    case 4: { u32 *d = ROW(u32, in->dst); LANES_SET(d, (u32)r[i]); } break;
    default: { u64 *d = ROW(u64, in->dst); LANES_SET(d, r[i]); }
    }
}

/* ---- to integers ----------------------------------------------------------- */

/* The value of the type's width, extended to 64 bits as the type says. */
static inline u64 extend(u64 v, enum ptx_type t) {
    unsigned up = 64 - int_bits(t);
    return is_signed(t) ? (u64)((s64)(v << up) >> up) : v << up >> up;
}

static u64 int_from_int(s64 v, struct how h) {
    if (!h.sat) return extend((u64)v, h.to);
    unsigned bits = int_bits(h.to);
    u64 top = is_signed(h.to) ? (1ull << (bits - 1)) - 1 : ~0ull >> (64 - bits);
    if (!is_signed(h.from)) return (u64)v > top ? top : (u64)v;
    s64 bottom = is_signed(h.to) ? (s64)(~0ull << (bits - 1)) : 0;
    return v < bottom ? (u64)bottom : v > 0 && (u64)v > top ? top : (u64)v;
}

static void round_row(f64 *x, enum fp_round r) {
    switch (r) {
    case FP_RM: ALL(x[i] = floor(x[i])) break;
    case FP_RP: ALL(x[i] = ceil(x[i])) break;
    case FP_RZ: ALL(x[i] = trunc(x[i])) break;
    default: ALL(x[i] = nearbyint(x[i]))
    }
}

/* Out of range gives the nearest end. NaN gives zero; where f64 or 64 bits are
 * involved, the bit pattern with only the top bit. */
static void int_row(f64 *x, struct how h, u64 *r) {
    unsigned bits = int_bits(h.to);
    bool s = is_signed(h.to), wide = h.from == PTX_F64 || bits == 64;
    u64 sign = 1ull << (bits - 1);
    u64 top = s ? sign - 1 : ~0ull >> (64 - bits), bottom = s ? 0 - sign : 0;
    u64 nan = wide ? extend(sign, h.to) : 0;
    f64 end = s ? (f64)sign : 2 * (f64)sign, low = s ? -end : 0;
    round_row(x, h.integral - 1);
    if (h.to == PTX_U64)
        ALL(r[i] = x[i] >= end ? top : x[i] >= 0 ? (u64)x[i] : 0)
    else
        ALL(r[i] = x[i] >= end ? top : x[i] >= low ? (u64)(s64)x[i] : bottom)
    ALL(r[i] = x[i] != x[i] ? nan : r[i])
}

/* ---- to floats ------------------------------------------------------------- */

/* A double with every bit that matters to a rounding to at most 24 bits. */
static inline f64 odd_f64(s64 v, bool is_unsigned) {
    u64 u = is_unsigned || v >= 0 ? (u64)v : 0 - (u64)v;
    if (u >> 53) u = (u & ~0xfffull) | (u & 0xfff ? 0x1000 : 0);
    return is_unsigned || v >= 0 ? (f64)u : -(f64)u;
}

static inline f64 clamp_float(f64 x, struct how h) {
    if (h.sat) return sat_f64(x);
    return h.relu && !(x > 0) && x == x ? 0 : x; /* -0 too */
}

/* tf32 is f32 with 10 bits of fraction; .rna rounds halves away from zero. */
static u32 tf32_f32(f32 x, struct how h) {
    u32 u = bits_f32(nan_f32(x)), half = 0x1000;
    if (x != x || isinf(x)) return u;
    if (!h.away) half = h.round == FP_RZ ? 0 : 0xfff + (u >> 13 & 1);
    return (u + half) & ~0x1fffu;
}

static u64 half_from(f64 x, enum ptx_type to, struct how h) {
    x = clamp_float(x, h);
    return to == PTX_BF16 || to == PTX_BF16X2 ? bf16_f64(x, h.round)
                                              : f16_f64(x, h.round);
}

/* What the processor rounds is kept out of line, so that the rounding mode is
 * set before and restored after whatever the compiler makes of it. */
static __attribute__((noinline)) void narrow_row(const f64 *x, f32 *d) {
    ALL(d[i] = (f32)x[i])
}
static __attribute__((noinline)) void
int_to_float_row(const s64 *v, bool is_unsigned, bool single, u64 *r) {
    if (single)
        ALL(r[i] = bits_f32(is_unsigned ? (f32)(u64)v[i] : (f32)v[i]))
    else
        ALL(r[i] = bits_f64(is_unsigned ? (f64)(u64)v[i] : (f64)v[i]))
}

/* Doubles to a row of floats. f32 is rounded by the processor, in the mode. */
static void float_row(f64 *x, struct how h, u64 *r) {
    f32 tiny = h.ftz ? TINY_F32 : 0;
    _Alignas(64) f32 narrow[LANES];
    if (h.integral) round_row(x, h.integral - 1);
    ALL(x[i] = clamp_float(x[i], h))
    switch (h.to) {
    case PTX_F32:
        fp_enter(h.round);
        narrow_row(x, narrow);
        fp_leave();
        ALL(r[i] = bits_f32(flush_f32(nan_f32(narrow[i]), tiny)))
        break;
    case PTX_F64: ALL(r[i] = bits_f64(x[i])) break;
    case PTX_TF32: ALL(r[i] = tf32_f32((f32)x[i], h)) break;
    default: ALL(r[i] = half_from(x[i], h.to, h))
    }
}

/* ---- the general path ------------------------------------------------------ */

static void convert_int(const s64 *v, struct how h, u64 *r) {
    bool u = !is_signed(h.from);
    if (!is_float(h.to)) {
        ALL(r[i] = int_from_int(v[i], h))
    } else if (h.to == PTX_F32 || h.to == PTX_F64) {
        fp_enter(h.round);
        int_to_float_row(v, u, h.to == PTX_F32, r);
        fp_leave();
        if (h.sat && h.to == PTX_F32)
            ALL(r[i] = bits_f32(sat_f32(f32_bits((u32)r[i]))))
        else if (h.sat)
            ALL(r[i] = bits_f64(sat_f64(f64_bits(r[i]))))
    } else {
        ALL(r[i] = half_from(odd_f64(v[i], u), h.to, h))
    }
}

HANDLER(cvt_any) {
    struct how h = how_of(in);
    const void *row = slot_at(w, in->src[0]);
    _Alignas(64) u64 r[LANES];
    if (is_float(h.from)) {
        _Alignas(64) f64 x[LANES];
        read_float(row, in->src_bytes[0], h.from, h.ftz, x);
        if (is_float(h.to)) float_row(x, h, r);
        else int_row(x, h, r);
    } else {
        _Alignas(64) s64 v[LANES];
        read_int(row, in->src_bytes[0], h.from, v);
        convert_int(v, h, r);
    }
    write_row(w, in, mask, r);
    return EXEC_NEXT;
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half, b the lower. */
HANDLER(cvt_pair) {
    struct how h = how_of(in);
    _Alignas(64) f64 high[LANES], low[LANES];
    read_float(slot_at(w, in->src[0]), 4, PTX_F32, h.ftz, high);
    read_float(slot_at(w, in->src[1]), 4, PTX_F32, h.ftz, low);
    u32 *d = ROW(u32, in->dst);
    LANES_SET(d, (u32)half_from(high[i], h.to, h) << 16 |
                 (u32)half_from(low[i], h.to, h));
    return EXEC_NEXT;
}

/* To nearest, without flags. */
#define NEAREST_PAIR(F)                                                      \
    HANDLER(cvt_##F##x2) {                                                   \
        u32 *d = ROW(u32, in->dst);                                          \
        const f32 *a = ROW(const f32, in->src[0]);                           \
        const f32 *b = ROW(const f32, in->src[1]);                           \
        LANES_SET(d, (u32)F##_f32(a[i]) << 16 | F##_f32(b[i]));              \
        return EXEC_NEXT;                                                    \
    }
NEAREST_PAIR(f16) NEAREST_PAIR(bf16)

/* ---- the common ones ------------------------------------------------------- */

/* Integers whose registers have the types' widths; the result's sign makes no
 * difference. */
#define X(D)                                                                 \
    LANE_OP1(cvt_##D##_u16, D, u16, (D)a[i])                                 \
    LANE_OP1(cvt_##D##_s16, D, s16, (D)a[i])                                 \
    LANE_OP1(cvt_##D##_u32, D, u32, (D)a[i])                                 \
    LANE_OP1(cvt_##D##_s32, D, s32, (D)a[i])                                 \
    LANE_OP1(cvt_##D##_u64, D, u64, (D)a[i])                                 \
    LANE_OP1(cvt_##D##_u8_16, D, u16, (D)(u8)a[i])                           \
    LANE_OP1(cvt_##D##_s8_16, D, u16, (D)(s8)a[i])                           \
    LANE_OP1(cvt_##D##_u8_32, D, u32, (D)(u8)a[i])                           \
    LANE_OP1(cvt_##D##_s8_32, D, u32, (D)(s8)a[i])
X(u16) X(u32) X(u64)
#undef X

LANE_OP1(cvt_f32_s32, f32, s32, (f32)a[i])
LANE_OP1(cvt_f32_u32, f32, u32, (f32)a[i])
LANE_OP1(cvt_f64_s32, f64, s32, (f64)a[i])
LANE_OP1(cvt_f64_u32, f64, u32, (f64)a[i])
LANE_OP1(cvt_f64_f32, f64, f32, (f64)a[i])
LANE_OP1(cvt_f32_f64, f32, f64, nan_f32((f32)a[i]))
LANE_OP1(cvt_f32_f16, f32, u16, nan_f32(f32_f16(a[i])))
LANE_OP1(cvt_f32_bf16, f32, u16, nan_f32(f32_bf16(a[i])))
LANE_OP1(cvt_f16_f32, u16, f32, f16_f32(a[i]))
LANE_OP1(cvt_bf16_f32, u16, f32, bf16_f32(a[i]))

/* Total: what does not fit is replaced before the cast. */
static inline s32 s32_f32(f32 x) {
    f32 fits = x >= -0x1p31f && x < 0x1p31f ? x : 0;
    s32 end = x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : 0;
    return (s32)fits | end;
}
LANE_OP1(cvt_s32_f32_rz, s32, f32, s32_f32(a[i]))
LANE_OP1(cvt_s32_f32_rn, s32, f32, s32_f32(rintf(a[i])))
LANE_OP1(cvt_s32_f32_rm, s32, f32, s32_f32(floorf(a[i])))
LANE_OP1(cvt_s32_f32_rp, s32, f32, s32_f32(ceilf(a[i])))

static exec_fn common_int(struct how h, const struct insn *out) {
    static const exec_fn by_width[3][9] = {
#define X(D) {cvt_##D##_u16, cvt_##D##_s16, cvt_##D##_u32, cvt_##D##_s32,    \
              cvt_##D##_u64, cvt_##D##_u8_16, cvt_##D##_s8_16,               \
              cvt_##D##_u8_32, cvt_##D##_s8_32}
        X(u16), X(u32), X(u64)
#undef X
    };
    unsigned to = int_bits(h.to), from = int_bits(h.from), col;
    if (h.sat || to != 8u * out->dst_bytes) return NULL;
    bool s = is_signed(h.from);
    if (from == 8 && out->src_bytes[0] <= 4)
        col = (out->src_bytes[0] == 2 ? 5 : 7) + s;
    else if (from == 8u * out->src_bytes[0])
        col = from == 16 ? 0 + s : from == 32 ? 2 + s : 4;
    else
        return NULL;
    return by_width[to == 16 ? 0 : to == 32 ? 1 : 2][col];
}

static exec_fn common_float(struct how h) {
    static const exec_fn to_int[] = {NULL, cvt_s32_f32_rn, cvt_s32_f32_rm,
                                     cvt_s32_f32_rp, cvt_s32_f32_rz};
    static const struct { uint8_t to, from; exec_fn fn; } table[] = {
        {PTX_F32, PTX_S32, cvt_f32_s32}, {PTX_F32, PTX_U32, cvt_f32_u32},
        {PTX_F64, PTX_S32, cvt_f64_s32}, {PTX_F64, PTX_U32, cvt_f64_u32},
        {PTX_F64, PTX_F32, cvt_f64_f32}, {PTX_F32, PTX_F64, cvt_f32_f64},
        {PTX_F32, PTX_F16, cvt_f32_f16}, {PTX_F32, PTX_BF16, cvt_f32_bf16},
        {PTX_F16, PTX_F32, cvt_f16_f32}, {PTX_BF16, PTX_F32, cvt_bf16_f32}};
    if (h.sat || h.ftz || h.relu || h.round != FP_RN) return NULL;
    if (h.to == PTX_S32 && h.from == PTX_F32) return to_int[h.integral];
    for (unsigned i = 0; !h.integral && i < sizeof table / sizeof *table; i++)
        if (table[i].to == h.to && table[i].from == h.from) return table[i].fn;
    return NULL;
}

/* Do the registers have the types' widths? */
static bool same_widths(struct how h, const struct insn *out) {
    static const uint8_t bytes[] = {
#define PTX_TYPE(name, text, bytes) bytes,
#include "ptx/types.def"
#undef PTX_TYPE
    };
    return bytes[h.to] == out->dst_bytes && bytes[h.from] == out->src_bytes[0];
}

/* ---- selector -------------------------------------------------------------- */

static bool read_how(const struct ptx_instr *in, struct how *h) {
    *h = (struct how){.to = in->types[0], .from = in->types[1]};
    for (unsigned i = 0; i < in->n_mods; i++)
        switch (in->mods[i]) {
        case P_(rn): h->round = FP_RN; break;
        case P_(rz): h->round = FP_RZ; break;
        case P_(rm): h->round = FP_RM; break;
        case P_(rp): h->round = FP_RP; break;
        case P_(rna): h->away = 1; break;
        case P_(rni): h->integral = 1 + FP_RN; break;
        case P_(rzi): h->integral = 1 + FP_RZ; break;
        case P_(rmi): h->integral = 1 + FP_RM; break;
        case P_(rpi): h->integral = 1 + FP_RP; break;
        case P_(sat): h->sat = 1; break;
        case P_(ftz): h->ftz = 1; break;
        case P_(relu): h->relu = 1; break;
        default: return false;
        }
    return true;
}

/* .relu and .ftz only where PTX has them, .rna only to tf32; an integer needs
 * an integral rounding of a float. */
static bool how_allowed(struct how h) {
    bool f_to = is_float(h.to), f_from = is_float(h.from);
    if (h.relu && h.to != PTX_F16 && h.to != PTX_BF16 && h.to != PTX_F16X2 &&
        h.to != PTX_BF16X2)
        return false;
    if (h.away != (h.to == PTX_TF32 && h.away)) return false;
    if (h.ftz && h.to != PTX_F32 && h.from != PTX_F32) return false;
    if (h.integral && (!f_from || (f_to && h.to != h.from))) return false;
    if (f_from && !f_to && !h.integral) return false;
    if (h.to == PTX_TF32 && h.from != PTX_F32) return false;
    return (f_to || int_bits(h.to)) && (f_from || int_bits(h.from)) &&
           h.from != PTX_F16X2 && h.from != PTX_BF16X2 && h.from != PTX_TF32;
}

SELECT(cvt) {
    union how_bits u = {.bits = 0};
    if (in->n_types != 2 || !read_how(in, &u.h) || !how_allowed(u.h))
        return NULL;
    bool pair = u.h.to == PTX_F16X2 || u.h.to == PTX_BF16X2;
    if (pair != slot_valid(out->src[1])) return NULL;
    if (pair) {
        if (u.h.from != PTX_F32) return NULL;
        out->imm = u.bits;
        if (u.h.round || u.h.sat || u.h.relu || u.h.ftz) return cvt_pair;
        return u.h.to == PTX_F16X2 ? cvt_f16x2 : cvt_bf16x2;
    }
    bool ints = int_bits(u.h.to) && int_bits(u.h.from);
    exec_fn quick = ints ? common_int(u.h, out) : common_float(u.h);
    if (quick && (ints || same_widths(u.h, out))) return quick;
    out->imm = u.bits;
    return cvt_any;
}
