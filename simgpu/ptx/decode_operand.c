/* Operands to slots: registers, immediates, special registers, addresses,
 * vectors, and the shapes of opcodes.def that string them together. */
#include "ptx/decode.h"

unsigned decode_reg_bytes(const struct ptx_func *f, int32_t reg) {
    return decode_row_bytes((enum ptx_type)f->regs[reg].type);
}

slot_t decode_temp(struct decoder *d, unsigned bytes) {
    uint32_t at = d->f->frame;
    d->f->frame += bytes == 1 ? 64 : LANES * bytes;
    return at | SLOT_FRAME;
}

/* ---- values -------------------------------------------------------------- */

static bool emit_prelude(struct decoder *d, struct insn in) {
    struct insn *at = decode_emit(d);
    if (!at) return false;
    in.dst2 = in.pred = SLOT_NONE;
    *at = in;
    return true;
}

static bool sreg_source(struct decoder *d, enum ptx_sreg r, slot_t *slot,
                        uint8_t *width) {
    static const uint8_t types[PTX_SREG_COUNT] = {
#define PTX_SREG(name, text, type) [PTX_SREG_##name] = PTX_##type,
#include "ptx/sregs.def"
#undef PTX_SREG
    };
    *width = (uint8_t)decode_row_bytes((enum ptx_type)types[r]);
    d->program->sregs_used |= 1ull << r;
    if (!sreg_is_dynamic(r)) {
        *slot = sreg_slot(r);
        return true;
    }
    *slot = decode_temp(d, *width);
    return emit_prelude(d, (struct insn){
        .fn = prelude_sreg(r), .dst = *slot, .dst_bytes = *width});
}

/* Where a variable is: a constant, or an offset from the frame's local base. */
struct place {
    enum ptx_space space;
    bool from_local_base;
    uint64_t value;
};

static bool func_var_place(struct decoder *d, const struct ptx_operand *o,
                           struct place *p) {
    const struct ptx_func *f = d->f->ast;
    const struct ptx_var *v = &f->vars[o->index];
    *p = (struct place){.space = v->space,
                        .value = d->f->var_offset[o->index]};
    bool kernel_param = v->space == PTX_SPACE_PARAM && f->is_entry &&
                        o->index >= f->arg_first &&
                        o->index < f->arg_first + f->arg_count;
    if (v->space == PTX_SPACE_SHARED) {
        if (p->value == DECODE_DYNAMIC) p->value = d->dynamic_at;
    } else if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) {
        if (!d->symbol(d->symbol_ctx, v->name, &p->value))
            return decode_unsupported(d, v->name);
    } else if (!kernel_param) {
        p->space = PTX_SPACE_LOCAL;
        p->from_local_base = true;
    }
    p->value += (uint64_t)o->imm;
    return true;
}

static bool var_place(struct decoder *d, const struct ptx_operand *o,
                      struct place *p) {
    if (o->scope == PTX_SCOPE_FUNC) return func_var_place(d, o, p);
    const struct ptx_var *v = &d->module->vars[o->index];
    *p = (struct place){.space = v->space};
    if (v->space == PTX_SPACE_SHARED) {
        p->value = d->shared_offset[o->index];
        if (p->value == DECODE_DYNAMIC) p->value = d->dynamic_at;
    } else if (!d->symbol(d->symbol_ctx, v->name, &p->value)) {
        return decode_unsupported(d, v->name);
    }
    p->value += (uint64_t)o->imm;
    return true;
}

static bool var_source(struct decoder *d, const struct ptx_operand *o,
                       unsigned bytes, slot_t *slot) {
    struct place p;
    if (!var_place(d, o, &p)) return false;
    if (!p.from_local_base) return decode_const(d, p.value, bytes, slot);
    if (p.value == 0 && bytes == 8) {
        *slot = FRAME_LOCAL_BASE | SLOT_FRAME;
        return true;
    }
    *slot = decode_temp(d, bytes);
    return emit_prelude(d, (struct insn){
        .fn = prelude_local_addr(bytes), .dst = *slot,
        .dst_bytes = (uint8_t)bytes, .imm = (int64_t)p.value});
}

static bool reg_source(struct decoder *d, const struct ptx_operand *o,
                       slot_t *slot, uint8_t *width) {
    *slot = d->f->regs[o->index];
    *width = (uint8_t)decode_reg_bytes(d->f->ast, o->index);
    if (!o->negated) return true;
    if (*width != 1) return decode_unsupported(d, NULL);
    slot_t from = *slot;
    *slot = decode_temp(d, 1);
    return emit_prelude(d, (struct insn){
        .fn = prelude_not_pred(), .dst = *slot, .dst_bytes = 1,
        .src = {from, SLOT_NONE, SLOT_NONE, SLOT_NONE}});
}

bool decode_source(struct decoder *d, const struct ptx_operand *o,
                   enum ptx_type type, slot_t *slot, uint8_t *width) {
    uint8_t ignored;
    if (!width) width = &ignored;
    *slot = SLOT_NONE;
    *width = (uint8_t)decode_row_bytes(type);
    switch (o->kind) {
    case PTX_OPND_SINK: case PTX_OPND_NONE:
        return true;
    case PTX_OPND_REG:
        return reg_source(d, o, slot, width);
    case PTX_OPND_INT: case PTX_OPND_F32: case PTX_OPND_F64:
        return decode_const(d, decode_literal(o, type), *width, slot);
    case PTX_OPND_SREG:
        return sreg_source(d, (enum ptx_sreg)o->index, slot, width);
    case PTX_OPND_VAR:
        if (*width < 4) break;
        return var_source(d, o, *width, slot);
    case PTX_OPND_FUNC:
        if (*width != 8) break;
        return decode_const(d, exec_func_address(o->index), 8, slot);
    default:
        break;
    }
    return decode_unsupported(d, NULL);
}

bool decode_dest(struct decoder *d, const struct ptx_operand *o, slot_t *slot,
                 slot_t *pair, uint8_t *width) {
    *pair = o->pair >= 0 ? d->f->regs[o->pair] : SLOT_NONE;
    if (o->kind == PTX_OPND_REG) {
        *slot = d->f->regs[o->index];
        *width = (uint8_t)decode_reg_bytes(d->f->ast, o->index);
        return true;
    }
    if (o->kind != PTX_OPND_SINK) return decode_unsupported(d, NULL);
    *width = 8; /* somewhere to write to that nobody reads */
    *slot = decode_temp(d, 8);
    return true;
}

/* ---- memory operands and vectors ----------------------------------------- */

/* An instruction has one offset: a second address (cp.async) becomes a row. */
static bool second_address(struct decoder *d, const struct ptx_operand *o,
                           unsigned at, struct insn *out) {
    struct ptx_operand base = *o;
    base.kind = o->base_kind;
    if (at < 3) out->src_bytes[at] = 8;
    if (base.kind != PTX_OPND_REG)
        return decode_source(d, &base, PTX_B64, &out->src[at], NULL);
    out->src[at] = decode_temp(d, 8);
    unsigned bytes = decode_reg_bytes(d->f->ast, o->index);
    if (bytes < 4) return decode_unsupported(d, NULL);
    return emit_prelude(d, (struct insn){
        .fn = prelude_address(bytes), .dst = out->src[at], .dst_bytes = 8,
        .src = {d->f->regs[o->index], SLOT_NONE, SLOT_NONE, SLOT_NONE},
        .imm = o->imm});
}

static bool memory_operand(struct decoder *d, const struct ptx_operand *o,
                           unsigned at, struct insn *out) {
    if (o->kind != PTX_OPND_MEM) return decode_unsupported(d, NULL);
    if (at > 0) return second_address(d, o, at, out);
    out->imm = o->imm;
    if (o->base_kind == PTX_OPND_REG) {
        out->src[at] = d->f->regs[o->index];
        out->src_bytes[at] = (uint8_t)decode_reg_bytes(d->f->ast, o->index);
        return out->src_bytes[at] >= 4 || decode_unsupported(d, NULL);
    }
    if (o->base_kind != PTX_OPND_VAR) return true; /* absolute */
    struct place p;
    if (!var_place(d, o, &p)) return false;
    out->imm = (int64_t)p.value;
    if (p.space == PTX_SPACE_LOCAL) {
        out->space = PTX_SPACE_LOCAL; /* .param of functions is local too */
        if (p.from_local_base) {
            out->src[at] = FRAME_LOCAL_BASE | SLOT_FRAME;
            out->src_bytes[at] = 8;
        }
    } else if (out->space == PTX_SPACE_NONE) {
        /* [var] without a state space is a generic access: PTX 6.4.1 lets the
         * assembler take the variable's own. */
        out->space = (uint8_t)p.space;
    }
    return true;
}

/* `type` NONE: registers as they are. */
static bool vector_operand(struct decoder *d, const struct ptx_operand *o,
                           enum ptx_type type, bool is_dest,
                           struct insn_vec *v) {
    if (o->count < 1 || o->count > 8) return decode_unsupported(d, NULL);
    v->n = (uint8_t)o->count;
    for (int i = 0; i < o->count; i++) {
        const struct ptx_operand *e = &d->f->ast->vec[o->index + i];
        slot_t pair;
        if (is_dest && e->kind == PTX_OPND_SINK) {
            v->slot[i] = SLOT_NONE;
            v->bytes[i] = (uint8_t)decode_row_bytes(type);
        } else if (is_dest) {
            if (!decode_dest(d, e, &v->slot[i], &pair, &v->bytes[i]))
                return false;
        } else if (!decode_source(d, e, type, &v->slot[i], &v->bytes[i])) {
            return false;
        }
    }
    return true;
}

/* An unsigned type of the given size: elements of a packed value. */
static enum ptx_type piece_type(enum ptx_type whole, int32_t pieces) {
    if (pieces < 1) return PTX_NONE;
    switch (decode_element_bytes(whole) / (unsigned)pieces) {
    case 1: return PTX_B8;
    case 2: return PTX_B16;
    case 4: return PTX_B32;
    case 8: return PTX_B64;
    default: return PTX_NONE;
    }
}

static bool vector_side(struct decoder *d, const struct ptx_operand *o,
                        enum ptx_type type, bool is_dest, struct insn *out) {
    struct insn_vec *pair = (struct insn_vec *)out->ext;
    if (!pair) {
        pair = arena_array(d->arena, 2, sizeof *pair);
        if (!pair) return decode_no_memory(d);
        out->ext = pair;
    }
    return vector_operand(d, o, type, is_dest, &pair[!is_dest]);
}

/* ---- shapes --------------------------------------------------------------- */

static enum ptx_type letter_type(char letter, const struct ptx_instr *in) {
    enum ptx_type t = in->n_types > 0 ? in->types[0] : PTX_NONE;
    switch (letter) {
    case 'u': return in->n_types > 1 ? in->types[1] : PTX_NONE;
    case 'w':
        if (!ptx_has_mod(in, PTX_MOD_wide)) return t;
        switch (t) {
        case PTX_U16: return PTX_U32;
        case PTX_S16: return PTX_S32;
        case PTX_U32: return PTX_U64;
        case PTX_S32: return PTX_S64;
        default: return PTX_NONE;
        }
    case '3': case 'r': case 'n': return PTX_B32;
    case '6': return PTX_B64;
    case 'p': return PTX_PRED;
    default: return t;
    }
}

static bool shape_dest(struct decoder *d, char letter,
                       const struct ptx_instr *in, const struct ptx_operand *o,
                       struct insn *out) {
    enum ptx_type type = letter_type(letter, in);
    if (o->kind != PTX_OPND_VEC)
        return decode_dest(d, o, &out->dst, &out->dst2, &out->dst_bytes);
    if (letter == 'k') type = piece_type(type, o->count);
    if (letter != 'v' && letter != 'k') return decode_unsupported(d, NULL);
    if (!vector_side(d, o, type, true, out)) return false;
    out->vec = (uint8_t)o->count;
    out->dst = insn_dst_vec(out)->slot[0];
    out->dst_bytes = insn_dst_vec(out)->bytes[0];
    return true;
}

static bool shape_source(struct decoder *d, char letter,
                         const struct ptx_instr *in,
                         const struct ptx_operand *o, unsigned at,
                         struct insn *out) {
    enum ptx_type type = letter_type(letter, in);
    uint8_t ignored, *width = at < 3 ? &out->src_bytes[at] : &ignored;
    if (letter == 'm') return memory_operand(d, o, at, out);
    if (letter == 'l') {
        if (o->kind != PTX_OPND_LABEL) return decode_unsupported(d, NULL);
        out->imm = o->index;
        return true;
    }
    if (o->kind != PTX_OPND_VEC)
        return decode_source(d, o, type, &out->src[at], width) &&
               (letter != 'n' || *width == 4 || decode_unsupported(d, NULL));
    if (letter == 'k') type = piece_type(type, o->count);
    if (letter != 'v' && letter != 'k') return decode_unsupported(d, NULL);
    if (!vector_side(d, o, type, false, out)) return false;
    out->vec = (uint8_t)o->count;
    out->src[at] = insn_src_vec(out)->slot[0];
    *width = insn_src_vec(out)->bytes[0];
    return true;
}

bool decode_shape(struct decoder *d, const char *shape,
                  const struct ptx_instr *in, struct insn *out) {
    unsigned n = 0, at = 0;
    bool source = false;
    out->bytes = (uint8_t)decode_element_bytes(
        in->n_types ? (enum ptx_type)in->types[0] : PTX_NONE);
    for (const char *s = shape; *s; s++) {
        if (*s == ':') {
            source = true;
            continue;
        }
        bool optional = *s >= 'A' && *s <= 'Z' && *s != 'W';
        char letter = *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s;
        bool skipped = *s == 'M' && n < in->n_operands &&
                       in->operands[n].kind != PTX_OPND_MEM;
        if (n == in->n_operands || skipped) {
            if (!optional) return decode_unsupported(d, NULL);
            at++;
            continue;
        }
        const struct ptx_operand *o = &in->operands[n++];
        if (source ? !shape_source(d, letter, in, o, at, out)
                   : !shape_dest(d, letter, in, o, out))
            return false;
        at += source;
    }
    return n == in->n_operands || decode_unsupported(d, NULL);
}
