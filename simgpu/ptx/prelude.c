/* What the decoder puts before an instruction whose operand is no plain row: a
 * negated predicate, the address of a variable in local memory, a special
 * register that changes. They write a temporary row, which nobody else reads. */
#include "ptx/decode.h"
#include "ptx/exec_ops.h"

HANDLER(not_pred) {
    pred_set(w, in->dst, mask, ~PRED(in->src[0]));
    return EXEC_NEXT;
}

exec_fn prelude_not_pred(void) {
    return not_pred;
}

HANDLER(local_addr_64) {
    uint64_t *d = ROW(uint64_t, in->dst);
    const uint64_t *base = ROW(uint64_t, FRAME_LOCAL_BASE | SLOT_FRAME);
    LANES_SET(d, base[i] + (uint64_t)in->imm);
    return EXEC_NEXT;
}

HANDLER(local_addr_32) {
    uint32_t *d = ROW(uint32_t, in->dst);
    const uint64_t *base = ROW(uint64_t, FRAME_LOCAL_BASE | SLOT_FRAME);
    LANES_SET(d, (uint32_t)(base[i] + (uint64_t)in->imm));
    return EXEC_NEXT;
}

exec_fn prelude_local_addr(unsigned bytes) {
    return bytes == 8 ? local_addr_64 : local_addr_32;
}

HANDLER(address_64) {
    uint64_t *d = ROW(uint64_t, in->dst);
    const uint64_t *a = ROW(uint64_t, in->src[0]);
    LANES_SET(d, a[i] + (uint64_t)in->imm);
    return EXEC_NEXT;
}

HANDLER(address_32) {
    uint64_t *d = ROW(uint64_t, in->dst);
    const uint32_t *a = ROW(uint32_t, in->src[0]);
    LANES_SET(d, (uint32_t)(a[i] + (uint32_t)in->imm));
    return EXEC_NEXT;
}

exec_fn prelude_address(unsigned bytes) {
    return bytes == 8 ? address_64 : address_32;
}

/* One reading a warp instruction, the same for all its lanes. */
static uint64_t read_clock(struct warp *w) {
    struct exec_services *s = w->block->launch->services;
    return s->clock(s->ctx);
}

static uint64_t read_timer(struct warp *w) {
    struct exec_services *s = w->block->launch->services;
    return s->globaltimer(s->ctx);
}

#define SREG_HANDLER(name, T, value)                                       \
    HANDLER(name) {                                                        \
        T *d = ROW(T, in->dst);                                            \
        const T now = (T)(value);                                          \
        LANES_SET(d, now);                                                 \
        return EXEC_NEXT;                                                  \
    }
SREG_HANDLER(clock_lo, uint32_t, read_clock(w))
SREG_HANDLER(clock_hi, uint32_t, read_clock(w) >> 32)
SREG_HANDLER(clock_64, uint64_t, read_clock(w))
SREG_HANDLER(timer_lo, uint32_t, read_timer(w))
SREG_HANDLER(timer_hi, uint32_t, read_timer(w) >> 32)
SREG_HANDLER(timer_64, uint64_t, read_timer(w))

exec_fn prelude_sreg(enum ptx_sreg r) {
    switch (r) {
    case PTX_SREG_CLOCK: return clock_lo;
    case PTX_SREG_CLOCK_HI: return clock_hi;
    case PTX_SREG_CLOCK64: return clock_64;
    case PTX_SREG_GLOBALTIMER_LO: return timer_lo;
    case PTX_SREG_GLOBALTIMER_HI: return timer_hi;
    default: return timer_64;
    }
}
