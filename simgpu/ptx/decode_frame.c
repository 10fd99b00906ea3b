/* What an entry can reach, and where everything it names lives: registers in
 * frames, variables in local, shared and parameter memory. */
#include <string.h>

#include "ptx/decode.h"

static uint32_t align_up(uint32_t n, uint32_t to) {
    return to > 1 ? (n + to - 1) / to * to : n;
}

/* ---- walking operands ----------------------------------------------------- */

typedef bool (*operand_fn)(struct decoder *d, const struct ptx_func *f,
                           uint32_t instr, const struct ptx_operand *o);

/* Every operand of an instruction, those of vectors and call lists too. */
static bool walk_pool(struct decoder *d, const struct ptx_func *f,
                      uint32_t instr, int32_t first, int32_t count,
                      operand_fn fn) {
    for (int32_t i = 0; i < count; i++)
        if (!fn(d, f, instr, &f->vec[first + i])) return false;
    return true;
}

static bool walk_instr(struct decoder *d, const struct ptx_func *f,
                       uint32_t instr, operand_fn fn) {
    const struct ptx_instr *in = &f->instrs[instr];
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct ptx_operand *o = &in->operands[i];
        if (!fn(d, f, instr, o)) return false;
        if (o->kind == PTX_OPND_VEC &&
            !walk_pool(d, f, instr, o->index, o->count, fn))
            return false;
    }
    if (in->opcode != PTX_OP_call) return true;
    return walk_pool(d, f, instr, in->call_ret_first, in->call_ret_count, fn) &&
           walk_pool(d, f, instr, in->call_arg_first, in->call_arg_count, fn);
}

static bool walk_func(struct decoder *d, const struct ptx_func *f,
                      operand_fn fn) {
    for (uint32_t i = 0; i < f->n_instrs; i++)
        if (!walk_instr(d, f, i, fn)) return false;
    return true;
}

static bool is_var(const struct ptx_operand *o, enum ptx_scope scope) {
    return o->scope == scope &&
           (o->kind == PTX_OPND_VAR ||
            (o->kind == PTX_OPND_MEM && o->base_kind == PTX_OPND_VAR));
}

/* ---- registers ------------------------------------------------------------ */

/* Wide rows first, predicates last, so that every row is aligned. */
static bool layout_regs(struct decoder *d, struct decode_func *df) {
    const struct ptx_func *f = df->ast;
    df->regs = arena_array(d->arena, f->n_regs + 1, sizeof *df->regs);
    if (!df->regs) return decode_no_memory(d);
    uint32_t at = FRAME_HEADER;
    for (unsigned bytes = 16; bytes; bytes /= 2)
        for (uint32_t r = 0; r < f->n_regs; r++) {
            if (decode_reg_bytes(f, (int32_t)r) != bytes) continue;
            df->regs[r] = at | SLOT_FRAME;
            at += bytes == 1 ? 4 : LANES * bytes;
        }
    df->frame = align_up(at, 64);
    return true;
}

/* ---- local memory, parameters --------------------------------------------- */

static bool is_signature(const struct ptx_func *f, uint32_t v) {
    int32_t i = (int32_t)v;
    return (i >= f->arg_first && i < f->arg_first + f->arg_count) ||
           (i >= f->ret_first && i < f->ret_first + f->ret_count);
}

/* First and last instruction that names each variable. */
static bool note_span(struct decoder *d, const struct ptx_func *f,
                      uint32_t instr, const struct ptx_operand *o) {
    (void)f;
    if (!is_var(o, PTX_SCOPE_FUNC)) return true;
    if (d->span_first[o->index] > instr) d->span_first[o->index] = instr;
    d->span_last[o->index] = instr;
    return true;
}

/* The next place for a variable; sizes beyond a window of the generic address
 * space are no program's (and would wrap). */
static uint32_t take(struct decoder *d, const struct ptx_var *v,
                     uint32_t *at) {
    uint64_t align = v->align ? v->align : 1;
    uint64_t here = (*at + align - 1) / align * align;
    if (align > WINDOW_BYTES || v->size > WINDOW_BYTES ||
        here + v->size > WINDOW_BYTES) {
        d->too_large = true;
        return 0;
    }
    *at = (uint32_t)(here + v->size);
    return (uint32_t)here;
}

static uint32_t place_var(struct decoder *d, const struct ptx_var *v,
                          uint32_t *at) {
    if (v->align > d->local_align) d->local_align = v->align;
    return take(d, v, at);
}

/* The .param variables of call sequences hold a value only from the first to
 * the last instruction of their sequence, so sequences that do not overlap
 * share their room. */
static void place_call_params(struct decoder *d, struct decode_func *df,
                              uint32_t *end) {
    const struct ptx_func *f = df->ast;
    uint32_t base = *end, at = base, group_last = 0;
    bool any = false;
    for (uint32_t v = 0; v < f->n_vars; v++) {
        if (f->vars[v].space != PTX_SPACE_PARAM || is_signature(f, v)) continue;
        if (any && d->span_first[v] > group_last) at = base;
        any = true;
        df->var_offset[v] = place_var(d, &f->vars[v], &at);
        if (at > *end) *end = at;
        if (d->span_last[v] > group_last) group_last = d->span_last[v];
    }
}

static bool layout_locals(struct decoder *d, struct decode_func *df,
                          struct exec_func *ef) {
    const struct ptx_func *f = df->ast;
    uint32_t at = 0;
    d->span_first = arena_array(d->arena, f->n_vars + 1, sizeof(uint32_t));
    d->span_last = arena_array(d->arena, f->n_vars + 1, sizeof(uint32_t));
    if (!d->span_first || !d->span_last) return decode_no_memory(d);
    memset(d->span_first, 0xff, f->n_vars * sizeof(uint32_t));
    if (!walk_func(d, f, note_span)) return false;
    for (uint32_t v = 0; v < f->n_vars; v++) {
        bool mine = f->vars[v].space == PTX_SPACE_LOCAL ||
                    (f->vars[v].space == PTX_SPACE_PARAM && !f->is_entry &&
                     is_signature(f, v));
        if (mine) df->var_offset[v] = place_var(d, &f->vars[v], &at);
    }
    place_call_params(d, df, &at);
    /* At least something a call, so that endless recursion ends. */
    ef->local_bytes = align_up(at ? at : !f->is_entry, 16);
    return true;
}

static struct exec_param *signature(struct decoder *d, struct decode_func *df,
                                    int32_t first, int32_t count) {
    struct exec_param *p = arena_array(d->arena, (size_t)count + 1, sizeof *p);
    for (int32_t i = 0; p && i < count; i++)
        p[i] = (struct exec_param){df->var_offset[first + i],
                                   (uint32_t)df->ast->vars[first + i].size};
    return p;
}

static bool layout_kernel_params(struct decoder *d, struct decode_func *df) {
    const struct ptx_func *f = df->ast;
    struct program *p = d->program;
    uint32_t at = 0;
    for (int32_t i = 0; i < f->arg_count; i++) {
        const struct ptx_var *v = &f->vars[f->arg_first + i];
        df->var_offset[f->arg_first + i] = take(d, v, &at);
    }
    p->params = signature(d, df, f->arg_first, f->arg_count);
    p->n_params = (uint32_t)f->arg_count;
    p->param_bytes = at;
    return p->params || decode_no_memory(d);
}

/* ---- shared memory --------------------------------------------------------- */

static uint32_t place_shared(struct decoder *d, const struct ptx_var *v) {
    struct program *p = d->program;
    if (v->size == 0) { /* extern: the dynamic part, behind all static */
        if (v->align > d->dynamic_at) d->dynamic_at = v->align;
        return DECODE_DYNAMIC;
    }
    return take(d, v, &p->shared_static);
}

/* Only what the closure names takes room. */
static bool note_shared(struct decoder *d, const struct ptx_func *f,
                        uint32_t instr, const struct ptx_operand *o) {
    (void)f;
    (void)instr;
    if (!is_var(o, PTX_SCOPE_MODULE)) return true;
    const struct ptx_var *v = &d->module->vars[o->index];
    if (v->space == PTX_SPACE_SHARED &&
        d->shared_offset[o->index] == UINT32_MAX)
        d->shared_offset[o->index] = place_shared(d, v);
    return true;
}

/* ---- closure --------------------------------------------------------------- */

static bool add_func(struct decoder *d, int32_t index, bool soft);

static bool note_callee(struct decoder *d, const struct ptx_func *f,
                        uint32_t instr, const struct ptx_operand *o) {
    if (f->instrs[instr].opcode != PTX_OP_call ||
        o != &f->instrs[instr].operands[0])
        return true;
    if (o->kind != PTX_OPND_FUNC) {
        d->indirect = true;
        return true;
    }
    int32_t callee = decode_callee(d->module, o->index);
    return !d->module->funcs[callee].has_body ||
           add_func(d, callee, d->soft[f - d->module->funcs]);
}

static bool add_func(struct decoder *d, int32_t index, bool soft) {
    struct decode_func *df = &d->funcs[index];
    if (!soft) d->soft[index] = false;
    if (df->ast) return true;
    struct exec_func *ef = &d->program->funcs[index];
    const struct ptx_func *f = df->ast = &d->module->funcs[index];
    df->index = index;
    d->soft[index] = soft;
    df->var_offset = arena_array(d->arena, f->n_vars + 1, sizeof(uint32_t));
    if (!df->var_offset) return decode_no_memory(d);
    if (!layout_regs(d, df) || !layout_locals(d, df, ef)) return false;
    if (f->is_entry && !layout_kernel_params(d, df)) return false;
    ef->n_args = f->is_entry ? 0 : (uint32_t)f->arg_count;
    ef->n_rets = f->is_entry ? 0 : (uint32_t)f->ret_count;
    ef->args = signature(d, df, f->arg_first, (int32_t)ef->n_args);
    ef->rets = signature(d, df, f->ret_first, (int32_t)ef->n_rets);
    if (!ef->args || !ef->rets) return decode_no_memory(d);
    for (uint32_t v = 0; v < f->n_vars; v++)
        if (f->vars[v].space == PTX_SPACE_SHARED)
            df->var_offset[v] = place_shared(d, &f->vars[v]);
    return walk_func(d, f, note_shared) && walk_func(d, f, note_callee);
}

/* Marks functions whose address is taken, by an instruction or a variable. */
static bool note_address(struct decoder *d, const struct ptx_func *f,
                         uint32_t instr, const struct ptx_operand *o) {
    bool target = f->instrs[instr].opcode == PTX_OP_call &&
                  o == &f->instrs[instr].operands[0];
    if (o->kind == PTX_OPND_FUNC && !target)
        d->addressed[decode_callee(d->module, o->index)] = true;
    return true;
}

/* When addresses are called, every function whose address is taken anywhere
 * in the module may be meant. One that cannot be decoded is left out: calling
 * it is a fault of its own. */
static bool add_addressed(struct decoder *d) {
    const struct ptx_module *m = d->module;
    for (uint32_t i = 0; i < m->n_funcs; i++)
        walk_func(d, &m->funcs[i], note_address);
    for (uint32_t v = 0; v < m->n_vars; v++)
        for (uint32_t k = 0; k < m->vars[v].n_fixups; k++) {
            int32_t i = ptx_find_func(m, m->vars[v].fixups[k].symbol);
            if (i >= 0) d->addressed[decode_callee(m, i)] = true;
        }
    for (uint32_t i = 0; i < m->n_funcs; i++)
        if (d->addressed[i] && m->funcs[i].has_body && !m->funcs[i].is_entry &&
            !add_func(d, (int32_t)i, true))
            return false;
    return true;
}

bool decode_collect(struct decoder *d, int32_t entry) {
    const struct ptx_module *m = d->module;
    d->funcs = arena_array(d->arena, m->n_funcs, sizeof *d->funcs);
    d->soft = arena_array(d->arena, m->n_funcs, sizeof *d->soft);
    d->addressed = arena_array(d->arena, m->n_funcs, sizeof *d->addressed);
    d->shared_offset = arena_array(d->arena, m->n_vars + 1, sizeof(uint32_t));
    d->program->funcs =
        arena_array(d->arena, m->n_funcs, sizeof *d->program->funcs);
    if (!d->funcs || !d->soft || !d->addressed || !d->shared_offset ||
        !d->program->funcs)
        return decode_no_memory(d);
    memset(d->shared_offset, 0xff, m->n_vars * sizeof(uint32_t));
    d->local_align = 16;
    if (!add_func(d, entry, false)) return false;
    if (d->indirect && !add_addressed(d)) return false;
    if (d->too_large) return decode_too_large(d);
    if (d->dynamic_at) { /* so far the alignment of the dynamic part */
        uint32_t align = d->dynamic_at > 16 ? d->dynamic_at : 16;
        d->dynamic_at = align_up(d->program->shared_static, align);
        d->program->shared_static = d->dynamic_at;
    }
    return true;
}

/* ---- depth ------------------------------------------------------------------ */

/* The deepest chain of known calls, in bytes of frames and local memory. */
struct depth {
    uint8_t state; /* 0 new, 1 on the chain, 2 known */
    uint32_t frame, local;
};

static void deepen(struct decoder *d, struct depth *all, int32_t index) {
    struct depth *me = &all[index];
    const struct ptx_func *f = d->funcs[index].ast;
    uint32_t frame = 0, local = 0;
    me->state = 1;
    for (uint32_t i = 0; i < f->n_instrs; i++) {
        const struct ptx_operand *o = &f->instrs[i].operands[0];
        if (f->instrs[i].opcode != PTX_OP_call || o->kind != PTX_OPND_FUNC)
            continue;
        int32_t callee = decode_callee(d->module, o->index);
        if (!d->funcs[callee].ast) continue; /* built in */
        if (all[callee].state == 0) deepen(d, all, callee);
        if (all[callee].state == 1) {
            d->program->recursive = true;
            continue;
        }
        if (all[callee].frame > frame) frame = all[callee].frame;
        if (all[callee].local > local) local = all[callee].local;
    }
    me->state = 2;
    me->frame = frame + d->program->funcs[index].frame_bytes;
    me->local = local + d->program->funcs[index].local_bytes;
}

bool decode_depth(struct decoder *d, int32_t entry) {
    struct program *p = d->program;
    struct depth *all = arena_array(d->arena, d->module->n_funcs, sizeof *all);
    if (!all) return decode_no_memory(d);
    for (uint32_t i = 0; i < d->module->n_funcs; i++)
        p->funcs[i].local_bytes =
            align_up(p->funcs[i].local_bytes, d->local_align);
    deepen(d, all, entry);
    p->max_frame = all[entry].frame;
    p->local_bytes = all[entry].local;
    if (d->indirect) p->recursive = true;
    return true;
}
