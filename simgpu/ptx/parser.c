/* Entry and exit of the parser: memory, errors, small steps over tokens. */
#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ast_index.h"
#include "ptx/check.h"

/* ---- errors ------------------------------------------------------------ */

static void report(struct parser *p, uint32_t line, const char *format,
                   va_list args)
{
    struct ptx_error *e = p->err;
    if (!e) return;
    e->line = line;
    int n = snprintf(e->text, sizeof e->text, "%.100s:%u: ", p->source, line);
    if (n > 0 && (size_t)n < sizeof e->text)
        vsnprintf(e->text + n, sizeof e->text - (size_t)n, format, args);
}

_Noreturn void fail_at(struct parser *p, uint32_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(p, line, format, args);
    va_end(args);
    longjmp(p->on_error, 1);
}

_Noreturn void fail(struct parser *p, const char *format, ...)
{
    const struct token *t = &p->lex.tok;
    if (t->kind == TOK_BAD) fail_at(p, t->line, "%s", t->message);
    va_list args;
    va_start(args, format);
    report(p, t->line, format, args);
    va_end(args);
    longjmp(p->on_error, 1);
}

_Noreturn void fail_memory(struct parser *p)
{
    fail_at(p, p->lex.tok.line, "out of memory");
}

/* ---- memory ------------------------------------------------------------ */

void *grow(struct parser *p, void *at, uint32_t *cap, uint32_t n, size_t size)
{
    if (n < *cap) return at;
    uint64_t want = *cap ? (uint64_t)*cap * 2 : 16;
    if (want > UINT32_MAX / 2) fail_memory(p); /* counts must fit int32_t */
    at = realloc(at, (size_t)want * size);
    if (!at) fail_memory(p);
    *cap = (uint32_t)want;
    return at;
}

void *parser_alloc(struct parser *p, size_t n, size_t size)
{
    void *at = arena_array(p->arena, n, size);
    if (!at) fail_memory(p);
    return at;
}

void *parser_copy(struct parser *p, const void *data, size_t n, size_t size)
{
    if (!n) return NULL;
    void *at = parser_alloc(p, n, size);
    memcpy(at, data, n * size);
    return at;
}

/* ---- tokens ------------------------------------------------------------ */

void expect(struct parser *p, char c)
{
    const struct token *t = &p->lex.tok;
    if (accept(p, c)) return;
    if (t->kind == TOK_END) fail(p, "text ends where '%c' should be", c);
    fail(p, "'%c' expected before '%.*s'", c, (int)(t->len < 40 ? t->len : 40),
         t->text);
}

uint32_t expect_u32(struct parser *p)
{
    const struct token *t = &p->lex.tok;
    if (t->kind != TOK_INT || t->value > UINT32_MAX)
        fail(p, "number from 0 to 4294967295 expected");
    uint32_t v = (uint32_t)t->value;
    lexer_next(&p->lex);
    return v;
}

struct name *expect_name(struct parser *p)
{
    if (p->lex.tok.kind != TOK_IDENT) fail(p, "name expected");
    struct name *n = intern_token(p);
    p->name_line = p->lex.tok.line;
    lexer_next(&p->lex);
    return n;
}

int at_directive(const struct parser *p)
{
    const struct token *t = &p->lex.tok;
    return t->kind == TOK_WORD ? lexer_word(WORD_DIRECTIVE, t->text, t->len)
                               : -1;
}

void skip_past(struct parser *p, char c)
{
    while (!accept(p, c)) {
        if (p->lex.tok.kind == TOK_END || p->lex.tok.kind == TOK_BAD)
            fail(p, "text ends where '%c' should be", c);
        lexer_next(&p->lex);
    }
}

void parse_dims(struct parser *p, uint32_t *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) out[i] = 1;
    for (unsigned i = 0; i < n; i++) {
        out[i] = expect_u32(p);
        if (!accept(p, ',')) break;
    }
}

/* ---- the whole --------------------------------------------------------- */

static void free_scratch(struct parser *p)
{
    free(p->names);
    free(p->funcs.at);
    free(p->module_vars.at);
    free(p->locs.at);
    free(p->files.at);
    free(p->debug_str.at);
    free(p->debug_refs.at);
    free(p->loc_index);
    free(p->regs.at);
    free(p->vars.at);
    free(p->instrs.at);
    free(p->vec.at);
    free(p->labels.at);
    free(p->label_names.at);
    free(p->protos.at);
    free(p->tables.at);
    free(p->label_refs.at);
    free(p->bytes.at);
    free(p->fixups.at);
    free(p->params.at);
    free(p);
}

/* Apart from ptx_parse() so that no local of it lives across the longjmp. */
static bool run(struct parser *p, const char *text, size_t len)
{
    if (setjmp(p->on_error)) return false;
    lexer_start(&p->lex, text, len);
    parse_module(p);
    if (!ptx_index_names(p->m)) fail_memory(p);
    return ptx_check(p->m, p->source, p->err);
}

struct ptx_module *ptx_parse(const char *text, size_t len, const char *name,
                             struct ptx_error *err)
{
    struct parser *p = calloc(1, sizeof *p);
    struct arena *arena = arena_create();
    struct ptx_module *m = arena ? arena_alloc(arena, sizeof *m) : NULL;
    if (!p || !m) {
        if (err) *err = (struct ptx_error){ .text = "out of memory" };
        free(p);
        arena_destroy(arena);
        return NULL;
    }
    m->arena = arena;
    p->m = m;
    p->arena = arena;
    p->err = err;
    p->source = name && *name ? name : "PTX";
    bool ok = run(p, text, len);
    free_scratch(p);
    if (ok) return m;
    ptx_module_free(m);
    return NULL;
}
