/* mov, cvt, setp, set, selp, slct: moving, converting, comparing. */
#include "ptx/exec_ops.h"

LANE_OP1(mov_b16, uint16_t, uint16_t, a[i])
LANE_OP1(mov_b32, uint32_t, uint32_t, a[i])
LANE_OP1(mov_b64, uint64_t, uint64_t, a[i])

HANDLER(mov_pred) {
    pred_set(w, in->dst, mask, PRED(in->src[0]));
    return EXEC_NEXT;
}

SELECT(mov) {
    if (out->ext) return NULL;
    switch (out->dst_bytes) {
    case 1: return mov_pred;
    case 2: return mov_b16;
    case 4: return mov_b32;
    case 8: return mov_b64;
    default: return NULL;
    }
}
