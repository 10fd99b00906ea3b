/* Integer arithmetic and bit operations, PTX 9.7.1, 9.7.2, 9.7.8. */
#include "ptx/exec_ops.h"

/* Unsigned, so that overflow wraps as PTX says; the sign makes no difference
 * to the low half. */
LANE_OP2(add_b16, uint16_t, uint16_t, (uint16_t)(a[i] + b[i]))
LANE_OP2(add_b32, uint32_t, uint32_t, a[i] + b[i])
LANE_OP2(add_b64, uint64_t, uint64_t, a[i] + b[i])

SELECT(add) {
    if (in->n_mods) return NULL;
    switch (in->types[0]) {
    case PTX_U16: case PTX_S16: return add_b16;
    case PTX_U32: case PTX_S32: return add_b32;
    case PTX_U64: case PTX_S64: return add_b64;
    default: return NULL;
    }
}
