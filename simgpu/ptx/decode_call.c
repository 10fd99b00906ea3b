/* Operands of the instructions whose form no shape describes: calls, barriers,
 * mbarrier, indexed branches. */
#include <stdio.h>
#include <string.h>

#include "ptx/decode.h"

int32_t decode_callee(const struct ptx_module *m, int32_t func) {
    if (m->funcs[func].has_body) return func;
    int32_t named = ptx_find_func(m, m->funcs[func].name);
    return named >= 0 && m->funcs[named].has_body ? named : func;
}

static enum exec_builtin builtin(const char *name) {
    static const char *const names[] = {
        [BUILTIN_VPRINTF] = "vprintf",
        [BUILTIN_ASSERTFAIL] = "__assertfail",
        [BUILTIN_MALLOC] = "malloc",
        [BUILTIN_FREE] = "free",
        [BUILTIN_SET_CONDITIONAL] = "cudaGraphSetConditional",
    };
    for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return (enum exec_builtin)i;
    return BUILTIN_NONE;
}

/* The .param variables of one list of a call. */
static bool call_list(struct decoder *d, int32_t first, int32_t count,
                      struct exec_param **list, uint32_t *n) {
    const struct ptx_func *f = d->f->ast;
    *n = (uint32_t)count;
    *list = arena_array(d->arena, (size_t)count + 1, sizeof **list);
    if (!*list) return decode_no_memory(d);
    for (int32_t i = 0; i < count; i++) {
        const struct ptx_operand *o = &f->vec[first + i];
        if (o->kind != PTX_OPND_VAR || o->scope != PTX_SCOPE_FUNC ||
            f->vars[o->index].space != PTX_SPACE_PARAM)
            return decode_unsupported(d, "call with registers as arguments");
        (*list)[i] = (struct exec_param){
            d->f->var_offset[o->index], (uint32_t)f->vars[o->index].size};
    }
    return true;
}

static bool call_target(struct decoder *d, const struct ptx_operand *o,
                        struct insn_call *c, struct insn *out) {
    out->imm = -1;
    if (o->kind == PTX_OPND_REG)
        return decode_source(d, o, PTX_B64, &out->src[0], &out->src_bytes[0]);
    if (o->kind != PTX_OPND_FUNC) return decode_unsupported(d, NULL);
    int32_t callee = decode_callee(d->module, o->index);
    const struct ptx_func *f = &d->module->funcs[callee];
    out->imm = callee;
    if (f->has_body) return !f->is_entry || decode_unsupported(d, NULL);
    c->builtin = (uint8_t)builtin(f->name);
    d->program->builtins |= 1u << c->builtin;
    if (c->builtin) return true;
    char what[160];
    snprintf(what, sizeof what, "call of external function %.100s", f->name);
    return decode_unsupported(d, what);
}

static bool decode_call(struct decoder *d, const struct ptx_instr *in,
                        struct insn *out) {
    struct insn_call *c = arena_alloc(d->arena, sizeof *c);
    if (!c) return decode_no_memory(d);
    out->ext = c;
    c->caller = (uint32_t)d->f->index;
    return call_target(d, &in->operands[0], c, out) &&
           call_list(d, in->call_ret_first, in->call_ret_count, &c->rets,
                     &c->n_rets) &&
           call_list(d, in->call_arg_first, in->call_arg_count, &c->args,
                     &c->n_args);
}

/* bar.sync a{, b}   bar.arrive a, b   bar.red.* d, a{, b}, c
 * bar.warp.sync mask: src is barrier (or mask), thread count, predicate. */
static bool decode_barrier(struct decoder *d, const struct ptx_instr *in,
                           struct insn *out) {
    const struct ptx_operand *o = in->operands, *end = o + in->n_operands;
    bool red = ptx_has_mod(in, PTX_MOD_red);
    slot_t pair;
    if (red) {
        if (in->n_operands < 3) return decode_unsupported(d, NULL);
        if (!decode_dest(d, o++, &out->dst, &pair, &out->dst_bytes) ||
            !decode_source(d, --end, PTX_PRED, &out->src[2], NULL))
            return false;
    }
    if (o == end || end - o > 2) return decode_unsupported(d, NULL);
    for (unsigned at = 0; o < end; o++, at++)
        if (!decode_source(d, o, PTX_B32, &out->src[at], NULL)) return false;
    return true;
}

/* mbarrier's forms differ in whether there is a destination, and in whether
 * the phase is a state or a parity. */
static const char *mbarrier_shape(const struct ptx_instr *in) {
    if (ptx_has_mod(in, PTX_MOD_pending_count)) return "3:6";
    if (ptx_has_mod(in, PTX_MOD_test_wait) ||
        ptx_has_mod(in, PTX_MOD_try_wait))
        return ptx_has_mod(in, PTX_MOD_parity) ? "p:m3R" : "p:m6R";
    bool dest = in->n_operands && in->operands[0].kind != PTX_OPND_MEM;
    return dest ? "6:mR" : ":mR";
}

/* brx.idx %r, table: ext is the table, of labels until they are known. */
static bool decode_brx(struct decoder *d, const struct ptx_instr *in,
                       struct insn *out) {
    if (in->n_operands != 2 || in->operands[1].kind != PTX_OPND_PROTO)
        return decode_unsupported(d, NULL);
    int32_t index = in->operands[1].index;
    if (index < 0 || (uint32_t)index >= d->f->ast->n_tables)
        return decode_unsupported(d, NULL);
    const struct ptx_table *t = &d->f->ast->tables[index];
    struct insn_table *table =
        arena_alloc(d->arena, sizeof *table + t->n * sizeof table->pc[0]);
    if (!table) return decode_no_memory(d);
    table->n = t->n;
    for (uint32_t i = 0; i < t->n; i++) table->pc[i] = t->labels[i];
    out->ext = table;
    return decode_source(d, &in->operands[0], PTX_B32, &out->src[0], NULL);
}

bool decode_special(struct decoder *d, const struct ptx_instr *in,
                    struct insn *out) {
    switch (in->opcode) {
    case PTX_OP_call: return decode_call(d, in, out);
    case PTX_OP_bar: case PTX_OP_barrier: return decode_barrier(d, in, out);
    case PTX_OP_mbarrier:
        return decode_shape(d, mbarrier_shape(in), in, out);
    case PTX_OP_brx: return decode_brx(d, in, out);
    default: return decode_unsupported(d, NULL);
    }
}
