/* How many registers a kernel needs, for attributes, occupancy and launches
 * that ask for too many (701): the most 32-bit values that are live at once.
 *
 * Virtual registers are no measure, since an unrolled loop has hundreds and
 * keeps few. A compiler that schedules for latency uses more than this, one
 * that spills fewer; launch bounds make it spill.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/decode.h"

enum { REGISTER_FILE = 65536, MOST = 255, LEAST = 8, OVERHEAD = 6 };

struct liveness {
    const struct ptx_func *f;
    size_t words;            /* 64-bit words of a set of registers */
    uint64_t *live;          /* before the instruction looked at */
    uint64_t *at_label;      /* one set a label */
    int32_t *label_head;     /* instruction -> a label there, or -1 */
    int32_t *label_next;     /* label -> another label at the same place */
    uint32_t count, most;    /* 32-bit values in `live`; largest seen */
    bool changed;
};

static uint32_t width(const struct liveness *l, int32_t reg)
{
    unsigned bytes = decode_reg_bytes(l->f, reg);
    return bytes == 1 ? 0 : bytes <= 4 ? 1 : bytes / 4;
}

static void set(struct liveness *l, int32_t reg, bool value)
{
    if (reg < 0) return;
    uint64_t bit = 1ull << (reg % 64), *w = &l->live[reg / 64];
    if (!(*w & bit) == !value) return;
    *w ^= bit;
    if (value) l->count += width(l, reg);
    else l->count -= width(l, reg);
}

static void recount(struct liveness *l)
{
    l->count = 0;
    for (size_t w = 0; w < l->words; w++)
        for (uint64_t bits = l->live[w]; bits; bits &= bits - 1)
            l->count += width(l, (int32_t)(w * 64) + __builtin_ctzll(bits));
}

/* Registers of an operand; as a destination a memory operand's base is still
 * only read. */
static void touch(struct liveness *l, const struct ptx_operand *o, bool dest)
{
    switch (o->kind) {
    case PTX_OPND_REG:
        set(l, o->index, !dest);
        set(l, o->pair, !dest);
        break;
    case PTX_OPND_MEM:
        if (!dest && o->base_kind == PTX_OPND_REG) set(l, o->index, true);
        break;
    case PTX_OPND_VEC:
        for (int32_t i = 0; i < o->count; i++)
            touch(l, &l->f->vec[o->index + i], dest);
        break;
    default:
        break;
    }
}

/* Destinations come first; "x" shapes have one unless listed here. */
static unsigned n_dests(const struct ptx_instr *in)
{
    static const char *const shapes[PTX_OP_COUNT] = {
#define PTX_OP(name, text, shape, select) [PTX_OP_##name] = shape,
#include "ptx/opcodes.def"
#undef PTX_OP
    };
    const char *shape = shapes[in->opcode];
    switch (in->opcode) {
    case PTX_OP_bar:
    case PTX_OP_barrier:
    case PTX_OP_brx:
    case PTX_OP_call:
    case PTX_OP_unsupported: return 0;
    default: break;
    }
    if (shape[0] == 'x') return 1;
    return (unsigned)(strchr(shape, ':') - shape);
}

static bool ends_here(const struct ptx_instr *in)
{
    return in->pred < 0 &&
           (in->opcode == PTX_OP_ret || in->opcode == PTX_OP_exit ||
            in->opcode == PTX_OP_trap || in->opcode == PTX_OP_bra ||
            in->opcode == PTX_OP_brx);
}

static void join(struct liveness *l, uint32_t label)
{
    const uint64_t *there = l->at_label + label * l->words;
    for (size_t w = 0; w < l->words; w++) l->live[w] |= there[w];
}

static void follow_branches(struct liveness *l, const struct ptx_instr *in)
{
    if (ends_here(in)) memset(l->live, 0, l->words * sizeof *l->live);
    if (in->opcode == PTX_OP_bra && in->operands[0].kind == PTX_OPND_LABEL)
        join(l, (uint32_t)in->operands[0].index);
    if (in->opcode == PTX_OP_brx)
        for (uint32_t i = 0; i < l->f->n_labels; i++) join(l, i);
    recount(l);
}

static void call_operands(struct liveness *l, const struct ptx_instr *in,
                          bool dest)
{
    int32_t first = dest ? in->call_ret_first : in->call_arg_first;
    int32_t count = dest ? in->call_ret_count : in->call_arg_count;
    for (int32_t i = 0; i < count; i++)
        touch(l, &l->f->vec[first + i], dest);
}

static void step_back(struct liveness *l, const struct ptx_instr *in)
{
    unsigned dests = n_dests(in);
    bool call = in->opcode == PTX_OP_call;
    if (in->opcode == PTX_OP_bra || in->opcode == PTX_OP_brx || ends_here(in))
        follow_branches(l, in);
    if (in->pred < 0) { /* a guarded write may leave the old value */
        for (unsigned i = 0; i < dests && i < in->n_operands; i++)
            touch(l, &in->operands[i], true);
        if (call) call_operands(l, in, true);
    }
    for (unsigned i = 0; i < in->n_operands; i++)
        if (i >= dests || in->operands[i].kind == PTX_OPND_MEM)
            touch(l, &in->operands[i], false);
    if (call) call_operands(l, in, false);
    set(l, in->pred, true);
    if (l->count > l->most) l->most = l->count;
}

static void arrive(struct liveness *l, int32_t label)
{
    for (; label >= 0; label = l->label_next[label]) {
        uint64_t *there = l->at_label + (size_t)label * l->words;
        if (!memcmp(there, l->live, l->words * sizeof *there)) continue;
        memcpy(there, l->live, l->words * sizeof *there);
        l->changed = true;
    }
}

static void solve(struct liveness *l)
{
    const struct ptx_func *f = l->f;
    do {
        l->changed = false;
        memset(l->live, 0, l->words * sizeof *l->live);
        l->count = 0;
        for (uint32_t i = f->n_instrs; i-- > 0;) {
            step_back(l, &f->instrs[i]);
            arrive(l, l->label_head[i]);
        }
    } while (l->changed);
}

/* 0 when there is no memory to find out. */
static uint32_t most_live(const struct ptx_func *f)
{
    struct liveness l = {.f = f, .words = f->n_regs / 64 + 1};
    l.live = calloc(l.words, sizeof *l.live);
    l.at_label = calloc(l.words * (f->n_labels + 1), sizeof *l.at_label);
    l.label_head = malloc((f->n_instrs + 1) * sizeof *l.label_head);
    l.label_next = malloc((f->n_labels + 1) * sizeof *l.label_next);
    if (l.live && l.at_label && l.label_head && l.label_next) {
        for (uint32_t i = 0; i <= f->n_instrs; i++) l.label_head[i] = -1;
        for (uint32_t i = 0; i < f->n_labels; i++) {
            l.label_next[i] = l.label_head[f->labels[i]];
            l.label_head[f->labels[i]] = (int32_t)i;
        }
        solve(&l);
    }
    free(l.live);
    free(l.at_label);
    free(l.label_head);
    free(l.label_next);
    return l.most;
}

uint32_t decode_registers(const struct ptx_func *f, uint32_t maxntid)
{
    uint32_t n = most_live(f) + OVERHEAD, limit = MOST;
    if (f->maxnreg && f->maxnreg < limit) limit = f->maxnreg;
    uint32_t fit = maxntid ? REGISTER_FILE / ((maxntid + 31) / 32 * 32) / 8 * 8
                           : MOST;
    if (fit < limit) limit = fit;
    if (n < LEAST) n = LEAST;
    return n < limit ? n : limit;
}
