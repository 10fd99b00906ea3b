/* What the handler files (exec_*.c) share: how a handler is written, how lanes
 * are looped over, how predicates are packed.
 *
 * Every exec_*.c is compiled twice on x86-64: for the baseline (variant _v1)
 * and for AVX2, FMA and BMI (_v3); decode takes one set for the life of the
 * process (exec_selects). So each function here and there is static, or named
 * through EXEC(): nothing else is shared between the handler files. What need
 * not be compiled twice lives in files of other names.
 *
 * They are compiled with -O3 -ffp-contract=off (a*b+c rounds twice unless the
 * program said fma), -fno-math-errno, and -fno-strict-aliasing (a row is
 * whatever type an instruction says).
 */
#ifndef SIMGPU_PTX_EXEC_OPS_H
#define SIMGPU_PTX_EXEC_OPS_H

#include <string.h>

#include "ptx/exec.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#ifndef EXEC_VARIANT
#define EXEC_VARIANT _v1
#endif
#define EXEC_PASTE2(a, b) a##b
#define EXEC_PASTE(a, b) EXEC_PASTE2(a, b)
#define EXEC(name) EXEC_PASTE(name, EXEC_VARIANT)

/* SELECT(add) { ... return handler; }: see select_fn in exec.h. In it, m is
 * the module, in the parsed instruction, out the decoded one. */
#define SELECT(name)                                                       \
    exec_fn EXEC(select_##name)(const struct ptx_module *m,                \
                                const struct ptx_instr *in,                \
                                struct insn *out);                         \
    exec_fn EXEC(select_##name)(                                           \
        const struct ptx_module *m __attribute__((unused)),                \
        const struct ptx_instr *in __attribute__((unused)),                \
        struct insn *out __attribute__((unused)))

/* HANDLER(add_s32) { ... return EXEC_NEXT; } with w, in, mask in scope. */
#define HANDLER(name)                                                      \
    static enum exec_result name(                                          \
        struct warp *w __attribute__((unused)),                            \
        const struct insn *in __attribute__((unused)),                     \
        uint32_t mask __attribute__((unused)))

/* Rows are the same or apart: a loop over lanes may be vectorised. */
#ifdef __clang__
#define IVDEP
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

/* The mask as one word a lane, 0 or ~0 (kept in w until another is asked). */
static inline void lanes_expand(uint32_t mask, uint32_t *words) {
    static const uint32_t bit[LANES] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,
        1u << 7,  1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13,
        1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20,
        1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27,
        1u << 28, 1u << 29, 1u << 30, 1u << 31};
    IVDEP
    for (int i = 0; i < LANES; i++) words[i] = (mask & bit[i]) ? ~0u : 0u;
}

static inline const uint32_t *exec_lanes(struct warp *w, uint32_t mask) {
    if (w->lanes_mask != mask) {
        lanes_expand(mask, w->lanes);
        w->lanes_mask = mask;
    }
    return w->lanes;
}

/* d[i] = expr for every active lane i. The expression is evaluated for every
 * lane, active or not (so that it vectorises): it must be total and without
 * side effects (no integer division by zero, no access to guest memory). The
 * destination row may be one of the source rows. */
#define LANES_SET(d, expr)                                                 \
    do {                                                                   \
        if (mask == FULL_MASK) {                                           \
            IVDEP for (int i = 0; i < LANES; i++)(d)[i] = (expr);          \
        } else {                                                           \
            const uint32_t *on_ = exec_lanes(w, mask);                     \
            IVDEP for (int i = 0; i < LANES; i++) {                        \
                const __typeof__(*(d)) new_ = (expr);                      \
                (d)[i] = on_[i] ? new_ : (d)[i];                           \
            }                                                              \
        }                                                                  \
    } while (0)

/* For what cannot be evaluated for idle lanes: one lane at a time. */
#define FOR_LANES(i, mask)                                                 \
    for (uint32_t rest_ = (mask), i = 0;                                   \
         rest_ && (i = (uint32_t)__builtin_ctz(rest_), 1);                 \
         rest_ &= rest_ - 1)

/* Handlers of one, two, three operands, element by element. D and T are the
 * C types of the destination's and the sources' elements; the expression uses
 * a[i], b[i], c[i]. */
#define LANE_OP1(name, D, T, expr)                                         \
    HANDLER(name) {                                                        \
        D *d = ROW(D, in->dst);                                            \
        const T *a = ROW(const T, in->src[0]);                             \
        LANES_SET(d, expr);                                                \
        return EXEC_NEXT;                                                  \
    }
#define LANE_OP2(name, D, T, expr)                                         \
    HANDLER(name) {                                                        \
        D *d = ROW(D, in->dst);                                            \
        const T *a = ROW(const T, in->src[0]);                             \
        const T *b = ROW(const T, in->src[1]);                             \
        LANES_SET(d, expr);                                                \
        return EXEC_NEXT;                                                  \
    }
#define LANE_OP3(name, D, T, expr)                                         \
    HANDLER(name) {                                                        \
        D *d = ROW(D, in->dst);                                            \
        const T *a = ROW(const T, in->src[0]);                             \
        const T *b = ROW(const T, in->src[1]);                             \
        const T *c = ROW(const T, in->src[2]);                             \
        LANES_SET(d, expr);                                                \
        return EXEC_NEXT;                                                  \
    }

/* Words of 0 or ~0, one a lane, to bits; the compiler does not find
 * the move-mask instruction by itself. `words` is aligned to 64. */
static inline uint32_t lanes_pack(const uint32_t *words) {
#if defined(__AVX2__)
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps(
                    (const float *)words + 8 * i)) << (8 * i);
    return bits;
#elif defined(__SSE2__)
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint32_t)_mm_movemask_ps(_mm_load_ps(
                    (const float *)words + 4 * i)) << (4 * i);
    return bits;
#else
    uint32_t bits = 0;
    for (int i = 0; i < LANES; i++) bits |= (words[i] & 1u) << i;
    return bits;
#endif
}

/* bits = the lanes for which the condition holds, idle ones too. */
#define LANES_TEST(bits, cond)                                             \
    do {                                                                   \
        _Alignas(64) uint32_t words_[LANES];                               \
        IVDEP for (int i = 0; i < LANES; i++)                              \
            words_[i] = (cond) ? ~0u : 0u;                                 \
        (bits) = lanes_pack(words_);                                       \
    } while (0)

/* Writes the active lanes' bits of a predicate; nothing for SLOT_NONE. */
static inline void pred_set(struct warp *w, slot_t slot, uint32_t mask,
                            uint32_t bits) {
    if (!slot_valid(slot)) return;
    PRED(slot) = (PRED(slot) & ~mask) | (bits & mask);
}

#endif
