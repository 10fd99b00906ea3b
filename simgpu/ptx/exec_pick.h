/* How a SELECT picks among the handlers of a family: by the type, and only
 * when every modifier is one that the family knows.
 */
#ifndef SIMGPU_PTX_EXEC_PICK_H
#define SIMGPU_PTX_EXEC_PICK_H

#include "ptx/exec_ops.h"
#include "ptx/sem_int.h"

/* A family over the integer types. The callback gets the type and the
 * unsigned type in which it is computed (C would promote u16 to int, whose
 * overflow is undefined). */
#define EACH_INT(X) X(u16, u32) X(u32, u32) X(u64, u64) \
                    X(s16, u32) X(s32, u32) X(s64, u64)
#define EACH_INT_BUT_16(X) X(u32, u32) X(u64, u64) X(s32, u32) X(s64, u64)

/* FAMILY row: handlers of u16, u32, u64, s16, s32, s64; NULL where a type is
 * not of the family. */
enum { N_INT = 6 };
#define INT_TABLE(name) {name##_u16, name##_u32, name##_u64, \
                         name##_s16, name##_s32, name##_s64}
#define INT_TABLE_BUT_16(name) {NULL, name##_u32, name##_u64, \
                                NULL, name##_s32, name##_s64}
/* Where the sign makes no difference. */
#define BITS_TABLE(name) {name##_u16, name##_u32, name##_u64, \
                          name##_u16, name##_u32, name##_u64}
#define BITS_TABLE_BUT_16(name) {NULL, name##_u32, name##_u64, \
                                 NULL, name##_u32, name##_u64}

static inline exec_fn pick_int(enum ptx_type t, const exec_fn table[N_INT]) {
    switch (t) {
    case PTX_B16: case PTX_U16: return table[0];
    case PTX_B32: case PTX_U32: return table[1];
    case PTX_B64: case PTX_U64: return table[2];
    case PTX_S16: return table[3];
    case PTX_S32: return table[4];
    case PTX_S64: return table[5];
    default: return NULL;
    }
}

static inline bool is_signed(enum ptx_type t) {
    return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
}

/* Are all modifiers of `in` in the list, which ends in MODS_END? */
#define MODS_END 255
static inline bool mods_in(const struct ptx_instr *in, const uint8_t *known) {
    for (unsigned i = 0; i < in->n_mods; i++) {
        const uint8_t *k = known;
        while (*k != MODS_END && *k != in->mods[i]) k++;
        if (*k == MODS_END) return false;
    }
    return true;
}
#define MODS_ONLY(...) \
    mods_in(in, (const uint8_t[]){__VA_ARGS__, MODS_END})
#define HAS(mod) ptx_has_mod(in, PTX_MOD_##mod)

#endif
