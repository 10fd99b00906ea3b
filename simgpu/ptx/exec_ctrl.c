/* Control flow, PTX 9.7.12, and what else only moves or ends lanes. */
#include "ptx/exec_ops.h"
#include "ptx/warp.h"

/* ---- branches ------------------------------------------------------------------ */

HANDLER(bra) {
    if (mask != w->mask) {
        warp_split(w, mask, (uint32_t)in->imm, w->fp);
        return EXEC_SWITCH;
    }
    w->pc = (uint32_t)in->imm;
    return w->strict ? EXEC_SWITCH : EXEC_NEXT;
}

SELECT(bra) {
    return bra;
}

/* An index past the table is undefined (PTX 9.7.12.3): a bad jump. */
HANDLER(brx) {
    const struct insn_table *t = in->ext;
    const uint32_t *index = ROW(const uint32_t, in->src[0]);
    for (uint32_t rest = mask; rest;) {
        uint32_t i = index[__builtin_ctz(rest)], lanes = 0;
        FOR_LANES(k, rest) lanes |= (uint32_t)(index[k] == i) << k;
        if (i >= t->n)
            return exec_fault(w, in, FAULT_INVALID_PC, lanes, 0, 0, false);
        rest &= ~lanes;
        if (lanes != w->mask) {
            warp_split(w, lanes, t->pc[i], w->fp);
            continue;
        }
        w->pc = t->pc[i];
        if (lanes == mask && w->n_frags == 1) return EXEC_NEXT;
    }
    return EXEC_SWITCH;
}

SELECT(brx) {
    return ptx_has_mod(in, PTX_MOD_idx) ? brx : NULL;
}

/* ---- ends ---------------------------------------------------------------------- */

HANDLER(exit_lanes) {
    return warp_exit(w, mask);
}

SELECT(exit) {
    return exit_lanes;
}

HANDLER(trap) {
    return exec_fault(w, in, FAULT_LAUNCH_FAILURE, mask, 0, 0, false);
}

SELECT(trap) {
    return trap;
}

/* Without a debugger a breakpoint is a trap. */
SELECT(brkpt) {
    return trap;
}

/* ---- hints ---------------------------------------------------------------------- */

/* The lanes let everyone else go first, once. PTX allows any time between
 * nothing and twice the argument. */
HANDLER(nanosleep) {
    warp_park(w, mask, FRAG_ASLEEP);
    return EXEC_SWITCH;
}

SELECT(nanosleep) {
    return nanosleep;
}

HANDLER(nothing) {
    return EXEC_NEXT;
}

SELECT(pmevent) {
    return nothing;
}

/* A launch starts only when those before it in its stream are complete, so
 * there is never anything to wait for (PTX 9.7.14.18). */
SELECT(griddepcontrol) {
    return nothing;
}
