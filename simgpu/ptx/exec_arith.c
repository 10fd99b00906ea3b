/* The opcodes that integers, floats and halves share: which family's selector
 * to ask. */
#include "ptx/exec_pick.h"

enum family { INT, FLOAT, HALF };

static enum family family_of(enum ptx_type t) {
    switch (t) {
    case PTX_F32: case PTX_F64: case PTX_F32X2: return FLOAT;
    case PTX_F16: case PTX_F16X2: case PTX_BF16: case PTX_BF16X2: return HALF;
    default: return INT;
    }
}

#define DECLARE(name)                                                        \
    exec_fn EXEC(select_##name)(const struct ptx_module *,                   \
                                const struct ptx_instr *, struct insn *);
#define SHARED(name)                                                         \
    DECLARE(int_##name) DECLARE(float_##name) DECLARE(half_##name)           \
    SELECT(name) {                                                           \
        switch (family_of(in->types[0])) {                                   \
        case FLOAT: return EXEC(select_float_##name)(m, in, out);            \
        case HALF: return EXEC(select_half_##name)(m, in, out);              \
        default: return EXEC(select_int_##name)(m, in, out);                 \
        }                                                                    \
    }
SHARED(add) SHARED(sub) SHARED(mul) SHARED(neg) SHARED(abs) SHARED(min)
SHARED(max)

/* Floats only: fma; mad is another name of it there. Integers and floats. */
#define FLOATS(name)                                                         \
    DECLARE(float_##name) DECLARE(half_##name)                               \
    SELECT(name) {                                                           \
        return family_of(in->types[0]) == HALF                               \
                   ? EXEC(select_half_##name)(m, in, out)                    \
                   : EXEC(select_float_##name)(m, in, out);                  \
    }
FLOATS(fma) FLOATS(ex2) FLOATS(tanh)

DECLARE(int_mad)
SELECT(mad) {
    return family_of(in->types[0]) == FLOAT
               ? EXEC(select_float_fma)(m, in, out)
               : EXEC(select_int_mad)(m, in, out);
}
DECLARE(int_div) DECLARE(float_div)
SELECT(div) {
    return family_of(in->types[0]) == FLOAT
               ? EXEC(select_float_div)(m, in, out)
               : EXEC(select_int_div)(m, in, out);
}
