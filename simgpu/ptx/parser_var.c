/* Declarations: registers, parameters, variables (PTX 5). */
#include <string.h>

#include "ptx/parser.h"

#define MAX_DIMS 8
#define MAX_ALIGN 65536u
#define MAX_SIZE ((uint64_t)1 << 48) /* of a variable: the address space's */

static const uint8_t TYPE_BYTES[PTX_TYPE_COUNT] = {
#define PTX_TYPE(name, text, bytes) bytes,
#include "types.def"
#undef PTX_TYPE
};

static void parse_align(struct parser *p, struct ptx_var *v)
{
    uint32_t align = expect_u32(p);
    if (!align || align & (align - 1) || align > MAX_ALIGN)
        fail(p, "alignment is no power of two up to %u", MAX_ALIGN);
    v->align = align;
}

void parse_attribute(struct parser *p, struct ptx_var *v)
{
    expect(p, '(');
    do {
        int d = at_directive(p);
        lexer_next(&p->lex);
        if (d == DIR_managed) {
            v->is_managed = true;
        } else if (d == DIR_unified) { /* two ids for a linker */
            expect(p, '(');
            expect_int(p);
            expect(p, ',');
            expect_int(p);
            expect(p, ')');
        } else {
            fail(p, "unknown .attribute");
        }
    } while (accept(p, ','));
    expect(p, ')');
}

/* .ptr [.space]: what the parameter points at; its .align is not the
 * parameter's own. */
static void parse_ptr(struct parser *p, struct ptx_var *v)
{
    v->is_pointer_param = true;
    for (;;) {
        switch (at_directive(p)) {
        case DIR_align:
            lexer_next(&p->lex);
            expect_u32(p);
            break;
        case DIR_const:
        case DIR_global:
        case DIR_local:
        case DIR_shared: lexer_next(&p->lex); break;
        default: return;
        }
    }
}

/* [.align N] [.v4] .type [.ptr ...], up to the name. */
static void parse_type(struct parser *p, struct ptx_var *v)
{
    const struct token *t = &p->lex.tok;
    v->vec = 1;
    while (t->kind == TOK_WORD) {
        int type = lexer_word(WORD_TYPE, t->text, t->len);
        int vec = lexer_word(WORD_VEC, t->text, t->len);
        int d = at_directive(p);
        if (type < 0 && vec < 0 && d < 0)
            fail(p, "type '.%.*s' is not supported",
                 (int)(t->len < 40 ? t->len : 40), t->text);
        lexer_next(&p->lex);
        if (type >= 0)
            v->type = (uint8_t)type;
        else if (vec >= 0)
            v->vec = (uint32_t)vec;
        else if (d == DIR_align)
            parse_align(p, v);
        else if (d == DIR_attribute)
            parse_attribute(p, v);
        else if (d == DIR_ptr)
            parse_ptr(p, v);
        else
            fail(p, "directive that a declaration cannot have");
    }
    if (v->type == PTX_NONE) fail(p, "declaration without a type");
    uint32_t natural = TYPE_BYTES[v->type] * v->vec;
    if (v->align < natural) v->align = natural;
}

/* name [3][4]; an empty first dimension is open: dims[0] becomes 0. */
static unsigned parse_array(struct parser *p, uint64_t dims[MAX_DIMS])
{
    unsigned n = 0;
    while (accept(p, '[')) {
        if (n == MAX_DIMS) fail(p, "more than %d dimensions", MAX_DIMS);
        dims[n] = 0;
        if (!at_punct(p, ']')) {
            int64_t d = expect_int(p);
            if (d < 0 || (uint64_t)d > MAX_SIZE) fail(p, "array size");
            dims[n] = (uint64_t)d;
        } else if (n) {
            fail(p, "only the first dimension may be open");
        }
        n++;
        expect(p, ']');
    }
    return n;
}

static void set_size(struct parser *p, struct ptx_var *v, const uint64_t *dims,
                     unsigned n)
{
    uint64_t size = (uint64_t)TYPE_BYTES[v->type] * v->vec;
    for (unsigned i = 0; i < n; i++)
        if (__builtin_mul_overflow(size, dims[i], &size) || size > MAX_SIZE)
            fail(p, "'%.80s' is too large", v->name);
    v->size = size;
}

static void check_storable(struct parser *p, const struct ptx_var *v)
{
    if (!TYPE_BYTES[v->type]) fail(p, "predicates have no memory");
}

/* ---- parameters -------------------------------------------------------- */

static void parse_param(struct parser *p, bool proto)
{
    uint64_t dims[MAX_DIMS];
    struct ptx_var v = { .space = PTX_SPACE_PARAM };
    int d = at_directive(p);
    if (d == DIR_reg) fail(p, "parameters in registers are not supported");
    if (d != DIR_param) fail(p, ".param expected");
    lexer_next(&p->lex);
    parse_type(p, &v);
    check_storable(p, &v);
    struct name *name = expect_name(p);
    v.name = name->text;
    set_size(p, &v, dims, parse_array(p, dims));
    if (proto) {
        *PUSH(p, p->params) = v;
        return;
    }
    if (strcmp(v.name, "_")) declare(p, name, p->depth, SYM_VAR, p->vars.n);
    *PUSH(p, p->vars) = v;
}

void parse_params(struct parser *p, bool proto)
{
    expect(p, '(');
    if (accept(p, ')')) return;
    do parse_param(p, proto);
    while (accept(p, ','));
    expect(p, ')');
}

/* ---- registers --------------------------------------------------------- */

/* .reg .b32 %r<9>, %a, %b; */
void parse_registers(struct parser *p)
{
    struct ptx_var v = { 0 };
    parse_type(p, &v);
    if (v.vec != 1) fail(p, "vector registers are not supported");
    do {
        const struct token t = p->lex.tok;
        p->name_line = t.line;
        if (t.kind != TOK_IDENT) fail(p, "register name expected");
        lexer_next(&p->lex);
        struct symbol *s;
        if (accept(p, '<')) {
            struct name *prefix =
                intern(p, NAME_PREFIX, t.text, t.len, t.hash);
            s = declare(p, prefix, p->depth, SYM_RANGE, 0);
            s->count = expect_u32(p);
            if (p->depth > 1) p->inner_ranges = true;
            expect(p, '>');
        } else {
            struct name *name =
                intern(p, NAME_IDENT, t.text, t.len, t.hash);
            s = declare(p, name, p->depth, SYM_REG, p->regs.n);
            *PUSH(p, p->regs) = (struct ptx_reg){ name->text, v.type };
        }
        s->type = v.type;
    } while (accept(p, ','));
    expect(p, ';');
}

/* ---- variables --------------------------------------------------------- */

/* A module variable may be declared extern and defined later. */
static void enter_variable(struct parser *p, struct name *name,
                           const struct ptx_var *v)
{
    if (p->func) {
        declare(p, name, p->depth, SYM_VAR, p->vars.n);
        *PUSH(p, p->vars) = *v;
        return;
    }
    struct symbol *s = find_at(p, name, 0);
    if (!s) {
        declare(p, name, 0, SYM_VAR, p->module_vars.n);
        *PUSH(p, p->module_vars) = *v;
        return;
    }
    struct ptx_var *old =
        s->kind == SYM_VAR ? &p->module_vars.at[s->index] : NULL;
    if (!old || old->space != v->space || !(old->is_extern || v->is_extern))
        fail(p, "'%.80s' is declared twice", name->text);
    if (!v->is_extern) *old = *v;
}

void parse_variables(struct parser *p, enum ptx_space space,
                     const struct ptx_var *flags)
{
    uint64_t dims[MAX_DIMS];
    struct ptx_var common = *flags;
    common.space = (uint8_t)space;
    if (accept(p, '[')) { /* .const[2]: a bank, PTX before 2.2 */
        fail(p, "banks of constant memory are not supported");
    }
    parse_type(p, &common);
    check_storable(p, &common);
    do {
        struct ptx_var v = common;
        struct name *name = expect_name(p);
        v.name = name->text;
        unsigned n = parse_array(p, dims);
        set_size(p, &v, dims, n);
        if (accept(p, '=')) {
            if (p->func || v.is_extern || space == PTX_SPACE_SHARED)
                fail(p, "'%.80s' cannot have a value", v.name);
            parse_initialiser(p, &v, dims, n);
        } else if (n && !dims[0] && !v.is_extern && !p->func) {
            fail(p, "'%.80s' has no size", v.name);
        }
        enter_variable(p, name, &v);
    } while (accept(p, ','));
    expect(p, ';');
}
