/* atom and red, PTX 9.7.13.5 and .6: atomic for real, against other workers
 * and the host, whatever scope is named; sequentially consistent, whatever
 * order. Lanes of a warp go in their order.
 */
#include "ptx/exec_access.h"
#include "ptx/sem_float.h"

#define P_(x) PTX_MOD_##x

/* The address of b in lane i, all lanes checked; a fault ends the handler. */
#define RESOLVE(T)                                                           \
    struct access x;                                                         \
    enum pattern at = resolve(w, in, mask, sizeof(T), sizeof(T), ATOMIC, &x);\
    if (at == AT_FAULT) return EXEC_FAULT;                                   \
    T *d = slot_valid(in->dst) ? ROW(T, in->dst) : NULL;                     \
    const T *b = ROW(const T, in->src[1]);                                   \
    (void)b, (void)d;
#define CELL(T) ((T *)lane_at(&x, at, i, sizeof(T)))

/* What the processor has an instruction for. */
#define DIRECT(name, T, call)                                                \
    HANDLER(atom_##name##_##T) {                                             \
        RESOLVE(T)                                                           \
        FOR_LANES(i, mask) {                                                 \
            T old = call(CELL(T), b[i], __ATOMIC_SEQ_CST);                   \
            if (d) d[i] = old;                                               \
        }                                                                    \
        return EXEC_NEXT;                                                    \
    }
/* Everything else: replace `old` by the expression until nobody came between.
 * old is the cell's value as a T. */
#define LOOP(name, T, next)                                                  \
    HANDLER(atom_##name##_##T) {                                             \
        RESOLVE(T)                                                           \
        FOR_LANES(i, mask) {                                                 \
            T old = __atomic_load_n(CELL(T), __ATOMIC_RELAXED);              \
            while (!__atomic_compare_exchange_n(                             \
                CELL(T), &old, (T)(next), true, __ATOMIC_SEQ_CST,            \
                __ATOMIC_RELAXED)) {}                                        \
            if (d) d[i] = old;                                               \
        }                                                                    \
        return EXEC_NEXT;                                                    \
    }

/* Adding, the commonest: lanes that add to one cell are added up first, and
 * each gets what it would have seen in its turn. */
#define ADD(T)                                                               \
    HANDLER(atom_add_##T) {                                                  \
        RESOLVE(T)                                                           \
        if (at != AT_ONE) {                                                  \
            FOR_LANES(i, mask) {                                             \
                T old = __atomic_fetch_add(CELL(T), b[i], __ATOMIC_SEQ_CST); \
                if (d) d[i] = old;                                           \
            }                                                                \
            return EXEC_NEXT;                                                \
        }                                                                    \
        T sum = 0;                                                           \
        FOR_LANES(i, mask) sum += b[i];                                      \
        T before = __atomic_fetch_add((T *)x.host, sum, __ATOMIC_SEQ_CST);   \
        if (d)                                                               \
            FOR_LANES(i, mask) {                                             \
                T add = b[i];                                                \
                d[i] = before;                                               \
                before += add;                                               \
            }                                                                \
        return EXEC_NEXT;                                                    \
    }
ADD(u32) ADD(u64)

#define BITWISE(T)                                                           \
    DIRECT(and, T, __atomic_fetch_and) DIRECT(or, T, __atomic_fetch_or)      \
    DIRECT(xor, T, __atomic_fetch_xor) DIRECT(exch, T, __atomic_exchange_n)
BITWISE(u32) BITWISE(u64)

#define EXTREMES(T)                                                          \
    LOOP(min, T, b[i] < old ? b[i] : old) LOOP(max, T, b[i] > old ? b[i] : old)
EXTREMES(u32) EXTREMES(s32) EXTREMES(u64) EXTREMES(s64)

LOOP(inc, u32, old >= b[i] ? 0 : old + 1)
LOOP(dec, u32, old == 0 || old > b[i] ? b[i] : old - 1)

#define CAS(T)                                                               \
    HANDLER(atom_cas_##T) {                                                  \
        RESOLVE(T)                                                           \
        const T *c = ROW(const T, in->src[2]);                               \
        FOR_LANES(i, mask) {                                                 \
            T old = b[i];                                                    \
            __atomic_compare_exchange_n(CELL(T), &old, c[i], false,          \
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
            if (d) d[i] = old;                                               \
        }                                                                    \
        return EXEC_NEXT;                                                    \
    }
CAS(u16) CAS(u32) CAS(u64)

/* ---- floating addition ---------------------------------------------------- */

/* On global memory f32 flushes subnormals whatever the program says, on shared
 * memory never (seen on hardware; PTX 9.7.13.5 says so too). */
static inline u32 add_bits_f32(u32 p, u32 q, f32 tiny) {
    f32 r = flush_f32(f32_bits(p), tiny) + flush_f32(f32_bits(q), tiny);
    return bits_f32(flush_f32(nan_f32(r), tiny));
}
static inline f32 tiny_at(const struct insn *in, const struct access *x,
                          unsigned lane) {
    return in->space == PTX_SPACE_SHARED || x->shared >> lane & 1 ? 0
                                                                  : TINY_F32;
}
typedef u32 f32_cell;
LOOP(add, f32_cell, add_bits_f32(old, b[i], tiny_at(in, &x, i)))

typedef u64 f64_cell;
LOOP(add, f64_cell, bits_f64(f64_bits(old) + f64_bits(b[i])))

static inline u16 add_half_f16(u16 p, u16 q) {
    return f16_f32(f32_f16(p) + f32_f16(q));
}
static inline u16 add_half_bf16(u16 p, u16 q) {
    return bf16_f32(f32_bf16(p) + f32_bf16(q));
}
typedef u16 f16_cell;
typedef u16 bf16_cell;
typedef u32 f16x2_cell;
typedef u32 bf16x2_cell;
LOOP(add, f16_cell, add_half_f16(old, b[i]))
LOOP(add, bf16_cell, add_half_bf16(old, b[i]))
LOOP(add, f16x2_cell, HALVES(u16, add_half_f16, old, b[i]))
LOOP(add, bf16x2_cell, HALVES(u16, add_half_bf16, old, b[i]))

/* ---- selectors ------------------------------------------------------------ */

static exec_fn add_of(enum ptx_type t, bool noftz) {
    switch (t) {
    case PTX_U32: case PTX_S32: return noftz ? NULL : atom_add_u32;
    case PTX_U64: case PTX_S64: return noftz ? NULL : atom_add_u64;
    case PTX_F32: return noftz ? NULL : atom_add_f32_cell;
    case PTX_F64: return noftz ? NULL : atom_add_f64_cell;
    case PTX_F16: return noftz ? atom_add_f16_cell : NULL;
    case PTX_F16X2: return noftz ? atom_add_f16x2_cell : NULL;
    case PTX_BF16: return noftz ? atom_add_bf16_cell : NULL;
    case PTX_BF16X2: return noftz ? atom_add_bf16x2_cell : NULL;
    default: return NULL;
    }
}
static exec_fn bits_of(enum ptx_type t, exec_fn b32, exec_fn b64) {
    return t == PTX_B32 || t == PTX_U32 || t == PTX_S32 ? b32
         : t == PTX_B64 || t == PTX_U64 || t == PTX_S64 ? b64 : NULL;
}

/* The one operation among the modifiers; order, scope and caching change
 * nothing. */
static exec_fn operation(const struct ptx_instr *in) {
    static const exec_fn
        min[N_INT] = {NULL, atom_min_u32, atom_min_u64, NULL, atom_min_s32,
                      atom_min_s64},
        max[N_INT] = {NULL, atom_max_u32, atom_max_u64, NULL, atom_max_s32,
                      atom_max_s64};
    enum ptx_type t = in->types[0];
    if (!MODS_ONLY(P_(relaxed), P_(acquire), P_(release), P_(acq_rel), P_(cta),
                   P_(cluster), P_(gpu), P_(sys), P_(add), P_(min), P_(max),
                   P_(and), P_(or), P_(xor), P_(exch), P_(cas), P_(inc),
                   P_(dec), P_(noftz), P_(cache_hint)))
        return NULL;
    if (HAS(add)) return add_of(t, HAS(noftz));
    if (HAS(noftz)) return NULL;
    if (HAS(min)) return pick_int(t, min);
    if (HAS(max)) return pick_int(t, max);
    if (HAS(and)) return bits_of(t, atom_and_u32, atom_and_u64);
    if (HAS(or)) return bits_of(t, atom_or_u32, atom_or_u64);
    if (HAS(xor)) return bits_of(t, atom_xor_u32, atom_xor_u64);
    if (HAS(exch)) return bits_of(t, atom_exch_u32, atom_exch_u64);
    if (HAS(inc)) return t == PTX_U32 ? atom_inc_u32 : NULL;
    if (HAS(dec)) return t == PTX_U32 ? atom_dec_u32 : NULL;
    if (HAS(cas))
        return t == PTX_B16 ? atom_cas_u16
                            : bits_of(t, atom_cas_u32, atom_cas_u64);
    return NULL;
}

static bool widths_agree(const struct insn *out) {
    return !out->ext && out->src_bytes[1] == out->bytes &&
           (!slot_valid(out->dst) || out->dst_bytes == out->bytes);
}

SELECT(atom) {
    if (!widths_agree(out) || HAS(cas) != slot_valid(out->src[2])) return NULL;
    return operation(in);
}
SELECT(red) {
    if (!widths_agree(out) || HAS(cas) || HAS(exch)) return NULL;
    return operation(in);
}
