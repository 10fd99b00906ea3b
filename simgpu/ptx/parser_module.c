/* The module's level: header, directives, linkage, what is left for the end
 * (PTX 11). */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

/* "9.0" is one decimal literal to the lexer: read from its text. */
static void parse_version(struct parser *p)
{
    const struct token *t = &p->lex.tok;
    if (at_directive(p) != DIR_version)
        fail(p, "not PTX: .version must come first");
    lexer_next(&p->lex);
    uint32_t part[2] = { 0, 0 };
    unsigned i = 0;
    for (uint32_t k = 0; k < t->len; k++) {
        char c = t->text[k];
        if (c == '.' && i == 0)
            i = 1;
        else if (c >= '0' && c <= '9' && part[i] < 1000)
            part[i] = part[i] * 10 + (uint32_t)(c - '0');
        else
            fail(p, "malformed .version");
    }
    if (!i) fail(p, "malformed .version");
    p->m->version_major = part[0];
    p->m->version_minor = part[1];
    lexer_next(&p->lex);
}

/* .target sm_90a, debug */
static void parse_target(struct parser *p)
{
    lexer_next(&p->lex);
    do {
        const struct token *t = &p->lex.tok;
        if (t->kind != TOK_IDENT) fail(p, ".target needs a name");
        if (t->len > 3 && !memcmp(t->text, "sm_", 3)) {
            uint32_t sm = 0;
            for (uint32_t k = 3; k < t->len && sm < 10000; k++) {
                if (t->text[k] < '0' || t->text[k] > '9') break;
                sm = sm * 10 + (uint32_t)(t->text[k] - '0');
            }
            p->m->sm = sm;
        }
        lexer_next(&p->lex);
    } while (accept(p, ','));
}

static void parse_address_size(struct parser *p)
{
    lexer_next(&p->lex);
    if (expect_u32(p) != 64)
        fail(p, "only 64-bit addresses are supported (.address_size 64)");
}

/* .alias new, old: the new function gets the old one's body at the end. */
static void parse_alias(struct parser *p)
{
    lexer_next(&p->lex);
    struct name *names[2];
    for (int i = 0; i < 2; i++) {
        if (i) expect(p, ',');
        names[i] = expect_name(p);
    }
    expect(p, ';');
    struct symbol *to = find_symbol(p, names[0]);
    struct symbol *from = find_symbol(p, names[1]);
    if (!to || !from || to->kind != SYM_FUNC || from->kind != SYM_FUNC)
        fail(p, ".alias needs two declared functions");
    struct ptx_func *t = &p->funcs.at[to->index];
    const struct ptx_func *f = &p->funcs.at[from->index];
    if (t->has_body) fail(p, "'%.80s' has a body already", t->name);
    if (!f->has_body)
        fail(p, ".alias of '%.80s', which has no body yet", f->name);
    struct ptx_func copy = *f;
    copy.name = t->name;
    copy.is_visible = t->is_visible;
    copy.is_weak = t->is_weak;
    *t = copy;
}

/* [.extern|.visible|.weak|.common] then a function or variables. */
static void parse_linked(struct parser *p)
{
    struct ptx_var flags = { 0 };
    for (;; lexer_next(&p->lex)) {
        switch (at_directive(p)) {
        case DIR_extern: flags.is_extern = true; continue;
        case DIR_visible: flags.is_visible = true; continue;
        case DIR_weak:
        case DIR_common: flags.is_weak = true; continue;
        default: break;
        }
        break;
    }
    int d = at_directive(p);
    lexer_next(&p->lex);
    switch (d) {
    case DIR_func:
    case DIR_entry:
        parse_function(p, d == DIR_entry, flags.is_extern, flags.is_visible,
                       flags.is_weak);
        break;
    case DIR_const: parse_variables(p, PTX_SPACE_CONST, &flags); break;
    case DIR_global: parse_variables(p, PTX_SPACE_GLOBAL, &flags); break;
    case DIR_shared: parse_variables(p, PTX_SPACE_SHARED, &flags); break;
    case DIR_local: parse_variables(p, PTX_SPACE_LOCAL, &flags); break;
    default: fail(p, "function or variable expected");
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct ptx_file *)a)->number;
    uint32_t y = ((const struct ptx_file *)b)->number;
    return (x > y) - (x < y);
}

void parse_module(struct parser *p)
{
    struct ptx_module *m = p->m;
    m->address_size = 64;
    parse_version(p);
    if (at_directive(p) != DIR_target) fail(p, ".target must follow .version");
    while (p->lex.tok.kind != TOK_END) {
        switch (at_directive(p)) {
        case DIR_target: parse_target(p); break;
        case DIR_address_size: parse_address_size(p); break;
        case DIR_file: parse_file(p); break;
        case DIR_section: parse_section(p); break;
        case DIR_loc: parse_loc(p); break;
        case DIR_alias: parse_alias(p); break;
        case DIR_pragma: skip_past(p, ';'); break;
        case -1:
            if (accept(p, ';')) break;
            fail(p, "directive expected before '%.*s'",
                 (int)(p->lex.tok.len < 40 ? p->lex.tok.len : 40),
                 p->lex.tok.text);
        default: parse_linked(p);
        }
    }
    finish_debug(p);
    if (p->files.n)
        qsort(p->files.at, p->files.n, sizeof *p->files.at, by_number);
    m->files = FREEZE(p, p->files);
    m->n_files = p->files.n;
    m->locs = FREEZE(p, p->locs);
    m->n_locs = p->locs.n;
    m->vars = FREEZE(p, p->module_vars);
    m->n_vars = p->module_vars.n;
    m->funcs = FREEZE(p, p->funcs);
    m->n_funcs = p->funcs.n;
}
