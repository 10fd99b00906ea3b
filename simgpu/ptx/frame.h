/* A frame: what a called function keeps on its warp's stack. The header, then
 * a row a register (64-bit ones first), then predicates, rounded up to 64.
 * The header's rows are per lane, since the lanes of one fragment may have
 * been called from different places. */
#ifndef SIMGPU_PTX_FRAME_H
#define SIMGPU_PTX_FRAME_H

#include "ptx/exec.h"

#define FRAME_LOCAL_BASE 0u   /* u64: offset of its variables in local memory */
#define FRAME_RETURN_PC 256u  /* u32 */
#define FRAME_CALLER_FP 384u  /* u32 */
#define FRAME_HEADER 512u

/* The row of a special register, for those that do not change while a warp
 * runs. */
slot_t sreg_slot(enum ptx_sreg r);
/* Does it change while a warp runs? Such ones have no row. */
bool sreg_is_dynamic(enum ptx_sreg r);

/* Room, and the rows' values: of a block for the whole launch, of a block for
 * one ctaid, of a warp. */
#define SREG_UNIFORM_BYTES (PTX_SREG_COUNT * 256u)
#define SREG_WARP_BYTES (4 * 128u)
void sreg_fill_launch(struct block *b);
void sreg_fill_ctaid(struct block *b);
void sreg_fill_warp(struct warp *w);

/* A function of the program, indexed as in the module. */
struct exec_func {
    uint32_t pc;           /* UINT32_MAX: cannot be called by address */
    uint32_t frame_bytes, local_bytes;
    uint32_t n_args, n_rets;
    struct exec_param *args, *rets; /* offsets in its local memory */
};

/* insn.ext of a call; the target is imm (function index), or src[0] (a row of
 * function addresses) when imm is negative. */
struct insn_call {
    uint8_t builtin;       /* enum exec_builtin */
    uint32_t caller;       /* function that holds the call */
    uint32_t n_args, n_rets;
    struct exec_param *args, *rets; /* offsets in the caller's local memory */
};

/* insn.ext of brx.idx. */
struct insn_table {
    uint32_t n;
    uint32_t pc[];
};

#endif
