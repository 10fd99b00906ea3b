/* Functions and entries: signature, performance directives, body. */
#include <string.h>

#include "ptx/parser.h"

/* ---- signature --------------------------------------------------------- */

/* What may stand between the parameters and the body, PTX 11.4. */
static void parse_attributes(struct parser *p)
{
    struct ptx_func *f = p->func;
    uint32_t one;
    for (;;) {
        int d = at_directive(p);
        if (d < 0) return;
        if (d != DIR_pragma) lexer_next(&p->lex);
        switch (d) {
        case DIR_maxntid: parse_dims(p, f->maxntid, 3); break;
        case DIR_reqntid: parse_dims(p, f->reqntid, 3); break;
        case DIR_reqnctapercluster: parse_dims(p, f->cluster, 3); break;
        case DIR_minnctapersm: parse_dims(p, &f->minnctapersm, 1); break;
        case DIR_maxnreg: parse_dims(p, &f->maxnreg, 1); break;
        case DIR_maxnctapersm:
        case DIR_maxclusterrank:
        case DIR_abi_preserve:
        case DIR_abi_preserve_control: parse_dims(p, &one, 1); break;
        case DIR_noreturn: f->noreturn = true; break;
        case DIR_explicitcluster:
        case DIR_blocksareclusters: break;
        case DIR_pragma: skip_past(p, ';'); break;
        case DIR_attribute:
            parse_attribute(p, &(struct ptx_var){ 0 });
            break;
        default: fail(p, "directive that a function cannot have here");
        }
    }
}

/* .callprototype (ret) _ (args) [.noreturn]; */
static void parse_proto(struct parser *p, struct name *label)
{
    struct ptx_proto proto = { .name = label->text };
    p->params.n = 0;
    if (at_punct(p, '(')) parse_params(p, true);
    proto.n_rets = p->params.n;
    expect_name(p);
    if (at_punct(p, '(')) parse_params(p, true);
    proto.n_args = p->params.n - proto.n_rets;
    struct ptx_var *vars = FREEZE(p, p->params);
    proto.rets = vars;
    proto.args = vars ? vars + proto.n_rets : NULL;
    while (at_directive(p) >= 0) {
        int d = at_directive(p);
        lexer_next(&p->lex);
        if (d == DIR_noreturn)
            proto.noreturn = true;
        else if (d == DIR_abi_preserve || d == DIR_abi_preserve_control)
            expect_u32(p);
        else
            fail(p, "directive that a prototype cannot have");
    }
    expect(p, ';');
    declare(p, label, p->depth, SYM_PROTO, p->protos.n);
    *PUSH(p, p->protos) = proto;
}

/* .calltargets f, g;  All have one signature: that of the first. */
static void parse_calltargets(struct parser *p, struct name *label)
{
    struct ptx_proto proto = { .name = label->text };
    bool first = true;
    do {
        struct symbol *s = find_symbol(p, expect_name(p));
        if (!s || s->kind != SYM_FUNC)
            fail(p, ".calltargets names something that is no function");
        if (!first) continue;
        first = false;
        const struct ptx_func *f = &p->funcs.at[s->index];
        proto.n_rets = (uint32_t)f->ret_count;
        proto.n_args = (uint32_t)f->arg_count;
        proto.rets = f->vars;
        proto.args = f->vars ? f->vars + f->ret_count : NULL;
        proto.noreturn = f->noreturn;
    } while (accept(p, ','));
    expect(p, ';');
    declare(p, label, p->depth, SYM_PROTO, p->protos.n);
    *PUSH(p, p->protos) = proto;
}

/* .branchtargets L0, L1, ...; */
static void parse_branchtargets(struct parser *p, struct name *label)
{
    uint32_t index = p->tables.n, n = 0;
    declare(p, label, p->depth, SYM_TABLE, index);
    *PUSH(p, p->tables) = (struct ptx_table){ label->text, NULL, 0 };
    do add_label_ref(p, (int32_t)index, n++, 0);
    while (accept(p, ','));
    expect(p, ';');
    p->tables.at[index].labels = parser_alloc(p, n, sizeof(uint32_t));
    p->tables.at[index].n = n;
}

/* ---- body -------------------------------------------------------------- */

static void parse_label(struct parser *p, struct name *name)
{
    int d = at_directive(p);
    switch (d) {
    case DIR_callprototype:
        lexer_next(&p->lex);
        parse_proto(p, name);
        return;
    case DIR_calltargets:
        lexer_next(&p->lex);
        parse_calltargets(p, name);
        return;
    case DIR_branchtargets:
        lexer_next(&p->lex);
        parse_branchtargets(p, name);
        return;
    default: break;
    }
    declare(p, name, p->depth, SYM_LABEL, p->labels.n);
    *PUSH(p, p->labels) = p->instrs.n;
    *PUSH(p, p->label_names) = name->text;
}

static void parse_directive(struct parser *p)
{
    static const struct ptx_var no_flags;
    int d = at_directive(p);
    switch (d) {
    case DIR_loc: parse_loc(p); return;
    case DIR_file: parse_file(p); return;
    case DIR_section: parse_section(p); return;
    case DIR_pragma: skip_past(p, ';'); return;
    default: break;
    }
    lexer_next(&p->lex);
    switch (d) {
    case DIR_reg: parse_registers(p); break;
    case DIR_param: parse_variables(p, PTX_SPACE_PARAM, &no_flags); break;
    case DIR_local: parse_variables(p, PTX_SPACE_LOCAL, &no_flags); break;
    case DIR_shared: parse_variables(p, PTX_SPACE_SHARED, &no_flags); break;
    default: fail(p, "directive that a body cannot have");
    }
}

static void parse_guarded(struct parser *p)
{
    bool negated = accept(p, '!');
    struct symbol *s = find_symbol(p, expect_name(p));
    if (!s || s->kind != SYM_REG || s->type != PTX_PRED)
        fail(p, "guard is no predicate register");
    if (p->lex.tok.kind != TOK_IDENT) fail(p, "instruction expected");
    lexer_join_suffixes(&p->lex);
    parse_instruction(p, (int32_t)s->index, negated);
}

/* A statement that begins with a name: a label if ':' follows. The name must
 * not be interned as one before that is known: most are opcodes. */
static void parse_named(struct parser *p)
{
    struct lexer *lx = &p->lex;
    const char *c = lx->pos;
    while (c < lx->end && (*c == ' ' || *c == '\t' || *c == '\n')) c++;
    if (c < lx->end && *c == ':') {
        struct name *name = expect_name(p);
        expect(p, ':');
        parse_label(p, name);
        return;
    }
    lexer_join_suffixes(lx);
    parse_instruction(p, -1, false);
}

static void parse_body(struct parser *p)
{
    uint32_t outer = p->depth;
    expect(p, '{');
    for (;;) {
        const struct token *t = &p->lex.tok;
        if (t->kind == TOK_IDENT) {
            parse_named(p);
        } else if (t->kind == TOK_WORD) {
            parse_directive(p);
        } else if (accept(p, '@')) {
            parse_guarded(p);
        } else if (accept(p, '{')) {
            scope_push(p);
        } else if (at_punct(p, '}')) {
            if (p->depth == outer) break;
            scope_pop(p);
            lexer_next(&p->lex);
        } else if (!accept(p, ';')) {
            fail(p, t->kind == TOK_END ? "text ends inside '%.80s'"
                                       : "statement expected in '%.80s'",
                 p->func->name);
        }
    }
    expect(p, '}');
}

/* ---- the whole --------------------------------------------------------- */

static void start(struct parser *p, struct ptx_func *f)
{
    p->func = f;
    p->func_first_loc = p->locs.n;
    p->loc = -1;
    p->inner_ranges = false;
    p->regs.n = p->vars.n = p->instrs.n = p->vec.n = 0;
    p->labels.n = p->label_names.n = p->protos.n = p->tables.n = 0;
    p->label_refs.n = 0;
    scope_push(p);
}

static void finish(struct parser *p)
{
    struct ptx_func *f = p->func;
    scope_pop(p);
    f->regs = FREEZE(p, p->regs), f->n_regs = p->regs.n;
    f->vars = FREEZE(p, p->vars), f->n_vars = p->vars.n;
    f->instrs = FREEZE(p, p->instrs), f->n_instrs = p->instrs.n;
    f->vec = FREEZE(p, p->vec), f->n_vec = p->vec.n;
    f->labels = FREEZE(p, p->labels), f->n_labels = p->labels.n;
    f->label_names = FREEZE(p, p->label_names);
    f->protos = FREEZE(p, p->protos), f->n_protos = p->protos.n;
    f->tables = FREEZE(p, p->tables), f->n_tables = p->tables.n;
    p->func = NULL;
}

static bool same_params(const struct ptx_var *a, const struct ptx_var *b,
                        int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (a[i].size != b[i].size) return false;
    return true;
}

/* Declaration and definition of one function are one row of the module. */
static uint32_t enter(struct parser *p, struct name *name,
                      const struct ptx_func *f)
{
    struct symbol *s = find_at(p, name, 0);
    if (!s) {
        declare(p, name, 0, SYM_FUNC, p->funcs.n);
        *PUSH(p, p->funcs) = *f;
        return p->funcs.n - 1;
    }
    if (s->kind != SYM_FUNC) fail(p, "'%.80s' is declared twice", name->text);
    struct ptx_func *old = &p->funcs.at[s->index];
    if (old->is_entry != f->is_entry || old->ret_count != f->ret_count ||
        old->arg_count != f->arg_count ||
        !same_params(old->vars, p->vars.at, f->ret_count + f->arg_count))
        fail(p, "'%.80s' was declared with another signature", name->text);
    return s->index;
}

void parse_function(struct parser *p, bool is_entry, bool is_extern,
                    bool is_visible, bool is_weak)
{
    struct ptx_func f = { .is_entry = is_entry, .is_extern = is_extern,
                          .is_visible = is_visible, .is_weak = is_weak,
                          .text_line = p->lex.tok.line };
    start(p, &f);
    parse_attributes(p);
    if (at_punct(p, '(')) {
        if (is_entry) fail(p, "an entry returns nothing");
        parse_params(p, false);
    }
    f.ret_count = (int32_t)p->vars.n;
    struct name *name = expect_name(p);
    f.name = name->text;
    if (at_punct(p, '(')) parse_params(p, false);
    f.arg_first = f.ret_count;
    f.arg_count = (int32_t)p->vars.n - f.ret_count;
    parse_attributes(p);
    f.vars = FREEZE(p, p->vars); /* the body may ask for its own signature */
    uint32_t index = enter(p, name, &f);
    bool body = at_punct(p, '{');
    if (body) {
        if (p->funcs.at[index].has_body)
            fail(p, "'%.80s' has two bodies", name->text);
        f.has_body = true;
        parse_body(p);
    } else {
        expect(p, ';');
    }
    finish(p);
    struct ptx_func *old = &p->funcs.at[index];
    if (old->has_body) return; /* declared again after its definition */
    f.is_visible |= old->is_visible;
    f.is_weak |= old->is_weak;
    f.noreturn |= old->noreturn;
    *old = f;
}
