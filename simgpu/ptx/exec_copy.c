/* cp.async, PTX 9.7.9.25: copies from global to shared memory that a GPU makes
 * in the background. Here they are made at once, which is one of the times at
 * which they may be; committing and waiting then have nothing to do.
 */
#include "ptx/exec_access.h"

#define P_(x) PTX_MOD_##x

/* Bytes 0 to size-1 come from the source, the rest of the n are zero. Lanes
 * with size 0 have no source at all. */
static void copy_lanes(const struct access *to, enum pattern at_to,
                       const struct access *from, enum pattern at_from,
                       u32 mask, unsigned n, unsigned size) {
    FOR_LANES(i, mask) {
        char buffer[16] = {0};
        if (size) guest_copy(buffer, lane_at(from, at_from, i, size), size);
        guest_copy(lane_at(to, at_to, i, n), buffer, n);
    }
}

/* in->cmp is the size of the copy. Lanes with the same source size go
 * together. */
HANDLER(copy_async) {
    unsigned n = in->cmp;
    struct access to, from;
    _Alignas(64) u64 a[LANES];
    enum pattern at_from = AT_ONE, at_to = resolve(w, in, mask, n, n, WRITE, &to);
    if (at_to == AT_FAULT) return EXEC_FAULT;
    addresses(w, in->src[1], 8, 0, a);
    const u32 *sizes = slot_valid(in->src[3]) ? ROW(const u32, in->src[3]) : NULL;
    while (mask) {
        u32 size = sizes ? sizes[__builtin_ctz(mask)] : n, same = 0;
        FOR_LANES(i, mask) same |= (u32)(!sizes || sizes[i] == size) << i;
        u32 used = size < n ? size : n;
        if (used & (used - 1)) /* not a power of two: no patterns */
            at_from = resolve_each(w, in, PTX_SPACE_GLOBAL, same, a, used, n,
                                   READ, &from);
        else if (used)
            at_from = resolve_at(w, in, PTX_SPACE_GLOBAL, a, same, used, n,
                                 READ, &from);
        if (at_from == AT_FAULT) return EXEC_FAULT;
        copy_lanes(&to, at_to, &from, at_from, same, n, used);
        mask &= ~same;
    }
    return EXEC_NEXT;
}

/* Nothing is outstanding. */
HANDLER(copy_done) { return EXEC_NEXT; }

static exec_fn select_copy(const struct ptx_instr *in, struct insn *out) {
    const struct ptx_operand *size = &in->operands[2];
    if (!MODS_ONLY(P_(async), P_(ca), P_(cg), P_(cache_hint))) return NULL;
    if (in->n_operands < 3 || size->kind != PTX_OPND_INT) return NULL;
    if (in->space != PTX_SPACE_SHARED || in->space2 != PTX_SPACE_GLOBAL)
        return NULL;
    if (!slot_valid(out->src[1])) return NULL;
    if (size->imm != 4 && size->imm != 8 && size->imm != 16) return NULL;
    if (HAS(cg) && size->imm != 16) return NULL;
    out->cmp = (uint8_t)size->imm;
    return copy_async;
}

exec_fn EXEC(select_mbarrier)(const struct ptx_module *m,
                              const struct ptx_instr *in, struct insn *out);

/* cp.async.mbarrier.arrive is exec_mbarrier.c's; cp.async.bulk is not here. */
SELECT(cp) {
    if (!HAS(async) || HAS(bulk)) return NULL;
    if (HAS(mbarrier)) return EXEC(select_mbarrier)(m, in, out);
    if (HAS(commit_group) || HAS(wait_group) || HAS(wait_all))
        return copy_done;
    return select_copy(in, out);
}
