/* Where instructions come from: .file, .loc, and the function names that
 * -lineinfo puts into .section .debug_str (PTX 11.5). Other sections are
 * DWARF for debuggers and are skipped. */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

/* .file N "path" [, timestamp, size] */
void parse_file(struct parser *p)
{
    lexer_next(&p->lex);
    uint32_t number = expect_u32(p);
    const struct token *t = &p->lex.tok;
    if (t->kind != TOK_STRING) fail(p, ".file needs a path in quotes");
    char *path = arena_copy(p->arena, t->text, t->len);
    if (!path) fail_memory(p);
    *PUSH(p, p->files) = (struct ptx_file){ number, path };
    lexer_next(&p->lex);
    while (accept(p, ',')) expect_int(p);
}

/* ---- .loc -------------------------------------------------------------- */

/* The place in the index for a position: where the latest .loc of it is, or
 * where one may be entered. */
static uint32_t *loc_place(struct parser *p, uint32_t file, uint32_t line,
                           uint32_t column)
{
    uint32_t mask = p->loc_index_cap - 1;
    uint32_t h = (file * 0x9e3779b1u ^ line) * 0x85ebca6bu ^ column;
    h = (h ^ h >> 15) * 0xc2b2ae35u;
    uint32_t s = (h ^ h >> 16) & mask;
    for (; p->loc_index[s]; s = (s + 1) & mask) {
        const struct ptx_loc *l = &p->locs.at[p->loc_index[s] - 1];
        if (l->file == file && l->line == line && l->column == column) break;
    }
    return &p->loc_index[s];
}

static void grow_loc_index(struct parser *p)
{
    free(p->loc_index);
    p->loc_index = NULL;
    p->loc_index_cap = p->loc_index_cap ? p->loc_index_cap * 2 : 1024;
    p->loc_index = calloc(p->loc_index_cap, sizeof *p->loc_index);
    if (!p->loc_index) fail_memory(p);
    for (uint32_t i = 0; i < p->locs.n; i++) {
        const struct ptx_loc *l = &p->locs.at[i];
        *loc_place(p, l->file, l->line, l->column) = i + 1;
    }
}

static int32_t add_loc(struct parser *p, struct ptx_loc loc)
{
    if (p->locs.n >= p->loc_index_cap / 2) grow_loc_index(p);
    *PUSH(p, p->locs) = loc;
    *loc_place(p, loc.file, loc.line, loc.column) = p->locs.n;
    return (int32_t)(p->locs.n - 1);
}

/* The loc that an inlined_at names: the latest of that position in this
 * function, which says in turn where *it* was inlined. */
static int32_t find_loc(struct parser *p, uint32_t file, uint32_t line,
                        uint32_t column)
{
    if (p->loc_index_cap) {
        uint32_t at = *loc_place(p, file, line, column);
        if (at > p->func_first_loc) return (int32_t)at - 1;
    }
    return add_loc(p, (struct ptx_loc){ file, line, column, NULL, -1 });
}

static bool accept_word(struct parser *p, const char *word)
{
    const struct token *t = &p->lex.tok;
    if (t->kind != TOK_IDENT || t->len != strlen(word) ||
        memcmp(t->text, word, t->len))
        return false;
    lexer_next(&p->lex);
    return true;
}

/* .loc F L C [, function_name LABEL[+N], inlined_at F L C] */
void parse_loc(struct parser *p)
{
    uint32_t at[3], line = p->lex.tok.line;
    lexer_next(&p->lex);
    for (int i = 0; i < 3; i++) at[i] = expect_u32(p);
    struct ptx_loc loc = { at[0], at[1], at[2], NULL, -1 };
    struct debug_ref ref = { NULL, 0, 0, line };
    while (accept(p, ',')) {
        if (accept_word(p, "function_name")) {
            struct name *n = expect_name(p);
            ref.label = find_at(p, n, 0);
            if (!ref.label) ref.label = declare(p, n, 0, SYM_DEBUG, 0);
            if (accept(p, '+')) ref.offset = expect_u32(p);
        } else if (accept_word(p, "inlined_at")) {
            for (int i = 0; i < 3; i++) at[i] = expect_u32(p);
            loc.inlined_at = find_loc(p, at[0], at[1], at[2]);
        } else {
            fail(p, "function_name or inlined_at expected");
        }
    }
    p->loc = add_loc(p, loc);
    if (ref.label) {
        ref.loc = (uint32_t)p->loc;
        *PUSH(p, p->debug_refs) = ref;
    }
}

/* ---- sections ---------------------------------------------------------- */

static void parse_debug_str(struct parser *p)
{
    while (!accept(p, '}')) {
        const struct token *t = &p->lex.tok;
        if (t->kind == TOK_IDENT) {
            struct name *n = expect_name(p);
            struct symbol *s = find_at(p, n, 0);
            if (!s) s = declare(p, n, 0, SYM_DEBUG, 0);
            if (s->kind != SYM_DEBUG || s->count)
                fail(p, "'%.80s' is declared twice", n->text);
            s->index = p->debug_str.n;
            s->count = 1;
            expect(p, ':');
        } else if (t->kind == TOK_WORD && t->len == 2 &&
                   !memcmp(t->text, "b8", 2)) {
            lexer_next(&p->lex);
            do *PUSH(p, p->debug_str) = (char)expect_int(p);
            while (accept(p, ','));
        } else {
            fail(p, "label or .b8 expected in .debug_str");
        }
    }
}

void parse_section(struct parser *p)
{
    lexer_next(&p->lex);
    const struct token *t = &p->lex.tok;
    if (t->kind != TOK_WORD && t->kind != TOK_IDENT)
        fail(p, ".section needs a name");
    bool strings = t->len == 9 && !memcmp(t->text, "debug_str", 9);
    lexer_next(&p->lex);
    expect(p, '{');
    if (strings)
        parse_debug_str(p);
    else
        skip_past(p, '}');
}

void finish_debug(struct parser *p)
{
    if (!p->debug_refs.n) return;
    uint32_t size = p->debug_str.n;
    *PUSH(p, p->debug_str) = 0;
    const char *text = FREEZE(p, p->debug_str);
    for (uint32_t i = 0; i < p->debug_refs.n; i++) {
        const struct debug_ref *r = &p->debug_refs.at[i];
        if (r->label->kind != SYM_DEBUG || !r->label->count)
            fail_at(p, r->line, "function_name of .loc is not defined");
        uint64_t at = (uint64_t)r->label->index + r->offset;
        if (at < size) p->locs.at[r->loc].function = text + at;
    }
}
