/* Does a parsed module hold together? Operands are held against their
 * opcode's shape (opcodes.def), registers against the instruction's types.
 *
 * Types follow PTX 9.4 "Type Information for Instructions and Operands": sizes
 * must agree; untyped bits go with everything, signed with unsigned, and a
 * float only with floats of its size. Loads, stores and conversions may use a
 * register wider than the type (9.4.1 "Operand Size Exceeding
 * Instruction-Type Size"). */
#include "ptx/check_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct check_type check_types[PTX_TYPE_COUNT] = {
#define PTX_TYPE(name, text, bytes)                                            \
    { text, bytes,                                                             \
      PTX_##name == PTX_PRED ? CLASS_PRED                                      \
      : PTX_##name == PTX_BF16 || PTX_##name == PTX_BF16X2 ? CLASS_FLOAT       \
      : text[0] == 'b' ? CLASS_BITS                                            \
      : text[0] == 'u' || text[0] == 's' ? CLASS_INT                           \
      : text[0] ? CLASS_FLOAT : CLASS_NONE },
#include "types.def"
#undef PTX_TYPE
};

static const char *const SHAPES[PTX_OP_COUNT] = {
#define PTX_OP(name, text, shape, select) shape,
#include "opcodes.def"
#undef PTX_OP
};

static const uint8_t SREG_TYPES[PTX_SREG_COUNT] = {
#define PTX_SREG(name, text, type) PTX_##type,
#include "sregs.def"
#undef PTX_SREG
};

bool check_wrong(const struct check *c, const char *format, ...)
{
    struct ptx_error *e = c->err;
    if (!e) return false;
    e->line = c->in->text_line;
    int n = snprintf(e->text, sizeof e->text, "%.80s:%u: %.60s: ", c->source,
                     e->line, c->in->text);
    if (n < 0 || (size_t)n >= sizeof e->text) return false;
    size_t at = (size_t)n;
    if (c->operand) {
        n = snprintf(e->text + at, sizeof e->text - at, "operand %u: ",
                     c->operand);
        if (n > 0) at += (size_t)n;
    }
    va_list args;
    va_start(args, format);
    if (at < sizeof e->text)
        vsnprintf(e->text + at, sizeof e->text - at, format, args);
    va_end(args);
    return false;
}

/* ---- types ------------------------------------------------------------- */

/* May a register wider than the type be used? */
static bool is_relaxed(const struct ptx_instr *in)
{
    switch (in->opcode) {
    case PTX_OP_ld:
    case PTX_OP_ldu:
    case PTX_OP_st:
    case PTX_OP_cvt: return true;
    default: return false;
    }
}

static bool is_real(uint8_t type) { return type == PTX_F32 || type == PTX_F64; }

static bool fits(uint8_t reg, uint8_t want, bool relaxed)
{
    const struct check_type *r = &check_types[reg], *w = &check_types[want];
    if (r->cls == CLASS_PRED || w->cls == CLASS_PRED) return r->cls == w->cls;
    if (r->bytes < w->bytes) return false;
    if (r->bytes > w->bytes && (!relaxed || r->cls == CLASS_FLOAT))
        return false;
    if (r->cls == w->cls || r->cls == CLASS_BITS || w->cls == CLASS_BITS)
        return true;
    return !is_real(reg) && !is_real(want); /* halves, packed values */
}

static bool check_reg(const struct check *c, int32_t index, uint8_t want,
                      bool relaxed)
{
    const struct ptx_reg *r = &c->f->regs[index];
    if (fits(r->type, want, relaxed)) return true;
    return check_wrong(c, "register %.40s is .%s, .%s wanted", r->name,
                 check_types[r->type].text, check_types[want].text);
}

/* A value of type `want` in one operand that is no vector. */
static bool check_value(const struct check *c, const struct ptx_operand *op,
                        uint8_t want, bool is_dest)
{
    const struct check_type *w = &check_types[want];
    if (op->negated && w->cls != CLASS_PRED)
        return check_wrong(c, "'!' before something that is no predicate");
    if (is_dest && op->kind != PTX_OPND_REG && op->kind != PTX_OPND_SINK)
        return check_wrong(c, "destination is no register");
    switch (op->kind) {
    case PTX_OPND_REG:
        return check_reg(c, op->index, want, is_relaxed(c->in));
    case PTX_OPND_SINK:
        return is_dest || check_wrong(c, "'_' is no value");
    case PTX_OPND_INT:
        return !is_real(want) ||
               check_wrong(c, "integer where .%s is wanted", w->text);
    case PTX_OPND_F32:
    case PTX_OPND_F64:
        return w->cls == CLASS_FLOAT || w->cls == CLASS_BITS ||
               check_wrong(c, "floating-point number where .%s is wanted",
                           w->text);
    case PTX_OPND_SREG:
        return fits(SREG_TYPES[op->index], want, false) ||
               check_wrong(c, "special register is .%s, .%s wanted",
                     check_types[SREG_TYPES[op->index]].text, w->text);
    case PTX_OPND_VAR:
    case PTX_OPND_FUNC:
        return (w->bytes >= 4 && w->cls != CLASS_FLOAT) ||
               check_wrong(c, "address where .%s is wanted", w->text);
    default: return check_wrong(c, "kind of operand that cannot stand here");
    }
}

static bool check_vector(const struct check *c, const struct ptx_operand *op,
                         uint8_t want, bool is_dest)
{
    for (int32_t i = 0; i < op->count; i++)
        if (!check_value(c, &c->f->vec[op->index + i], want, is_dest))
            return false;
    return true;
}

/* ---- shapes ------------------------------------------------------------ */

const struct ptx_var *check_var(const struct check *c,
                                const struct ptx_operand *op)
{
    return op->scope == PTX_SCOPE_FUNC ? &c->f->vars[op->index]
                                       : &c->m->vars[op->index];
}

static bool check_memory(const struct check *c, const struct ptx_operand *op)
{
    if (op->kind != PTX_OPND_MEM) return check_wrong(c, "address in [] wanted");
    if (op->base_kind == PTX_OPND_REG) {
        const struct ptx_reg *r = &c->f->regs[op->index];
        const struct check_type *t = &check_types[r->type];
        return ((t->bytes == 4 || t->bytes == 8) &&
                (t->cls == CLASS_BITS || t->cls == CLASS_INT)) ||
               check_wrong(c, "register %.40s is .%s, no address", r->name,
                           t->text);
    }
    if (op->base_kind != PTX_OPND_VAR || !c->in->space) return true;
    const struct ptx_var *v = check_var(c, op);
    return v->space == c->in->space || v->space == c->in->space2 ||
           check_wrong(c, "'%.60s' is in another state space", v->name);
}

/* .v2 and .v4 want a vector of as many. */
static bool check_vector_or_value(const struct check *c,
                                  const struct ptx_operand *op, uint8_t want,
                                  bool is_dest)
{
    if (op->kind != PTX_OPND_VEC)
        return c->in->vec ? check_wrong(c, "vector of %u wanted", c->in->vec)
                          : check_value(c, op, want, is_dest);
    if (op->count != c->in->vec)
        return check_wrong(c, "vector of %d, %u wanted", op->count, c->in->vec);
    return check_vector(c, op, want, is_dest);
}

/* mov.b64 {%r1, %r2}, %rd: registers that together have the type's size. */
static bool check_packed(const struct check *c, const struct ptx_operand *op,
                         uint8_t want, bool is_dest)
{
    if (op->kind != PTX_OPND_VEC) return check_value(c, op, want, is_dest);
    for (int32_t i = 0; i < op->count; i++) {
        const struct ptx_operand *e = &c->f->vec[op->index + i];
        uint32_t bytes = check_types[want].bytes / (uint32_t)op->count;
        if (is_dest && e->kind == PTX_OPND_SINK) continue;
        if (e->kind == PTX_OPND_INT && !is_dest) continue;
        if (e->kind != PTX_OPND_REG)
            return check_wrong(c, "vector of something else than registers");
        const struct ptx_reg *r = &c->f->regs[e->index];
        if (!bytes || check_types[r->type].bytes != bytes)
            return check_wrong(c, "register %.40s is .%s, %u bytes wanted",
                               r->name, check_types[r->type].text, bytes);
    }
    return true;
}

bool check_sized(const struct check *c, const struct ptx_operand *op,
                 unsigned bytes, bool is_dest)
{
    if (op->kind == PTX_OPND_REG) {
        const struct ptx_reg *r = &c->f->regs[op->index];
        return check_types[r->type].bytes == bytes ||
               check_wrong(c, "register %.40s is .%s, %u bits wanted", r->name,
                     check_types[r->type].text, bytes * 8);
    }
    return check_value(c, op, bytes == 4 ? PTX_B32 : PTX_B64, is_dest);
}

static bool check_any(const struct check *c, const struct ptx_operand *op,
                      bool is_dest)
{
    if (op->kind == PTX_OPND_REG) return true;
    return check_value(c, op, PTX_B32, is_dest);
}

static bool type_at(const struct check *c, unsigned i, uint8_t *type)
{
    if (i >= c->in->n_types) return check_wrong(c, "type is missing");
    *type = c->in->types[i];
    return true;
}

/* Twice as wide: the result of mul.wide. */
static uint8_t widened(uint8_t type)
{
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_B16: return PTX_B32;
    case PTX_U32: return PTX_U64;
    case PTX_S32: return PTX_S64;
    case PTX_B32: return PTX_B64;
    default: return type;
    }
}

static bool has_mod(const struct ptx_instr *in, enum ptx_mod mod)
{
    return memchr(in->mods, mod, in->n_mods) != NULL;
}

static bool check_letter(const struct check *c, char letter,
                         const struct ptx_operand *op, bool is_dest)
{
    uint8_t type = PTX_NONE;
    switch (letter) {
    case 't': case 'T': case 'v': case 'V': case 'k': case 'W':
        if (!type_at(c, 0, &type)) return false;
        break;
    case 'u': case 'U':
        if (!type_at(c, 1, &type)) return false;
        break;
    default: break;
    }
    switch (letter) {
    case 'p': case 'P': return check_value(c, op, PTX_PRED, is_dest);
    case 'v': case 'V': return check_vector_or_value(c, op, type, is_dest);
    case 'k': return check_packed(c, op, type, is_dest);
    case 'W':
        if (has_mod(c->in, PTX_MOD_wide)) type = widened(type);
        return check_value(c, op, type, is_dest);
    case '3': return check_sized(c, op, 4, is_dest);
    case '6': return check_sized(c, op, 8, is_dest);
    case 'r': case 'R': case 'N': return check_any(c, op, is_dest);
    case 'm': case 'M': return check_memory(c, op);
    case 'l':
        return op->kind == PTX_OPND_LABEL || check_wrong(c, "label wanted");
    case 't': case 'T': case 'u': case 'U':
        return check_value(c, op, type, is_dest);
    default: return check_wrong(c, "no rule for shape letter '%c'", letter);
    }
}

static bool check_pair(const struct check *c, const struct ptx_operand *op,
                       bool is_dest)
{
    if (op->pair < 0) return true;
    if (!is_dest) return check_wrong(c, "a|b where a source is wanted");
    return check_reg(c, op->pair, PTX_PRED, false);
}

/* Operands beyond the shape belong to a form that nobody here knows: that is
 * no fault of the module, the instruction becomes an unsupported one. */
static bool check_shape(struct check *c, const char *shape)
{
    struct ptx_instr *in = c->in;
    bool is_dest = true;
    unsigned n = 0;
    for (; *shape; shape++) {
        if (*shape == ':') {
            is_dest = false;
            continue;
        }
        c->operand = n + 1;
        if (*shape == 'M' && n < in->n_operands &&
            in->operands[n].kind != PTX_OPND_MEM)
            continue;
        if (n == in->n_operands) {
            if (*shape >= 'A' && *shape <= 'Z' && *shape != 'W') continue;
            return check_wrong(c, "is missing");
        }
        const struct ptx_operand *op = &in->operands[n++];
        if (!check_letter(c, *shape, op, is_dest) ||
            !check_pair(c, op, is_dest))
            return false;
    }
    c->operand = 0;
    if (n < in->n_operands) in->opcode = PTX_OP_unsupported;
    return true;
}

/* ---- the whole --------------------------------------------------------- */

static bool check_instr(struct check *c)
{
    c->operand = 0;
    switch (c->in->opcode) {
    case PTX_OP_call: return check_call(c);
    case PTX_OP_brx: return check_brx(c);
    default: break;
    }
    const char *shape = SHAPES[c->in->opcode];
    return *shape == 'x' || check_shape(c, shape);
}

/* Addresses in initialisers may name what is declared later: only now can
 * they be looked up. */
static bool check_fixups(const struct check *c)
{
    for (uint32_t i = 0; i < c->m->n_vars; i++) {
        const struct ptx_var *v = &c->m->vars[i];
        for (uint32_t k = 0; k < v->n_fixups; k++) {
            const char *symbol = v->fixups[k].symbol;
            if (ptx_find_var(c->m, symbol) >= 0 ||
                ptx_find_func(c->m, symbol) >= 0)
                continue;
            if (c->err)
                snprintf(c->err->text, sizeof c->err->text,
                         "%.80s: value of '%.60s': '%.60s' is not declared",
                         c->source, v->name, symbol);
            return false;
        }
    }
    return true;
}

bool ptx_check(struct ptx_module *m, const char *source, struct ptx_error *err)
{
    struct check c = { .m = m, .source = source, .err = err };
    if (!check_fixups(&c)) return false;
    for (uint32_t i = 0; i < m->n_funcs; i++) {
        c.f = &m->funcs[i];
        for (uint32_t k = 0; k < c.f->n_instrs; k++) {
            c.in = &c.f->instrs[k];
            if (!check_instr(&c)) return false;
        }
    }
    return true;
}
