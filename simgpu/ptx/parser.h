/* What the parser's files share: its state, its errors, its symbol table.
 *
 * Errors leave by longjmp to ptx_parse(), which frees the scratch arrays and
 * the module. Scratch arrays are kept from function to function; what lasts
 * is copied into the arena at its exact size. */
#ifndef SIMGPU_PTX_PARSER_H
#define SIMGPU_PTX_PARSER_H

#include <setjmp.h>

#include "ptx/ast.h"
#include "ptx/ast_arena.h"
#include "ptx/lexer.h"

/* ---- names and symbols (parser_symbols.c) ------------------------------ */

enum name_class {
    NAME_IDENT,
    NAME_PREFIX,   /* "%r" of %r<9> */
    NAME_SPELLING, /* an opcode with its suffixes */
};

enum symbol_kind {
    SYM_REG, SYM_RANGE, SYM_VAR, SYM_FUNC, SYM_LABEL, SYM_PROTO, SYM_TABLE,
    SYM_DEBUG, /* label in .section .debug_str */
};

/* One meaning of a name; an inner block's lies on top of an outer one's. */
struct symbol {
    struct symbol *below;
    uint32_t depth;  /* of the block that declares it; 0: the module */
    uint32_t serial; /* of that block: a block's end kills its symbols */
    uint8_t kind, type;
    uint32_t index;
    uint32_t count;  /* SYM_RANGE: registers; SYM_DEBUG: 1 when defined */
};

/* A distinct text, kept once for the whole parse. */
struct name {
    const char *text; /* in the arena, NUL terminated */
    uint32_t len, hash;
    uint8_t cls;
    struct symbol *top;
    const struct ptx_instr *spelling; /* NAME_SPELLING: what it decodes to */
};

#define MAX_DEPTH 250 /* nested blocks; nvcc's output has about 4 */

/* ---- state ------------------------------------------------------------- */

#define ARRAY(type) struct { type *at; uint32_t n, cap; }

/* A label named before its block has ended. */
struct label_ref {
    struct name *name;
    uint32_t line;
    int32_t table;       /* index of the .branchtargets list, or -1 */
    uint32_t item, slot; /* instruction and operand; or item of the list */
};

/* A .loc whose function name stands in a section still to come. */
struct debug_ref {
    struct symbol *label;
    uint32_t loc, offset, line;
};

struct parser {
    jmp_buf on_error;
    struct lexer lex;
    struct ptx_error *err;
    const char *source; /* name for messages */
    struct ptx_module *m;
    struct arena *arena;

    struct name **names; /* open addressing */
    uint32_t n_names, names_cap;

    uint32_t name_line; /* where expect_name() found the latest */
    uint32_t depth, next_serial;
    uint32_t serials[MAX_DEPTH + 1];
    uint32_t label_base[MAX_DEPTH + 1]; /* label_refs.n at a block's start */
    bool inner_ranges; /* a block inside this function declares a range */

    /* module */
    ARRAY(struct ptx_func) funcs;
    ARRAY(struct ptx_var) module_vars;
    ARRAY(struct ptx_loc) locs;
    ARRAY(struct ptx_file) files;
    ARRAY(char) debug_str;
    ARRAY(struct debug_ref) debug_refs;
    uint64_t init_total;   /* bytes of initialised variables so far */
    uint32_t *loc_index;   /* hash of (file, line, column) -> loc + 1 */
    uint32_t loc_index_cap;

    /* the function being read */
    struct ptx_func *func;
    uint32_t func_first_loc;
    int32_t loc;
    ARRAY(struct ptx_reg) regs;
    ARRAY(struct ptx_var) vars;
    ARRAY(struct ptx_instr) instrs;
    ARRAY(struct ptx_operand) vec;
    ARRAY(uint32_t) labels;
    ARRAY(const char *) label_names;
    ARRAY(struct ptx_proto) protos;
    ARRAY(struct ptx_table) tables;
    ARRAY(struct label_ref) label_refs;
    const char *other_special; /* operand of the instruction being read that
                                  is a special register without a row */

    unsigned parens; /* open in the expression being read */

    /* the variable being read */
    ARRAY(uint8_t) bytes;
    ARRAY(struct ptx_fixup) fixups;
    ARRAY(struct ptx_var) params; /* of a prototype */
};

/* ---- errors, memory (parser.c) ----------------------------------------- */

_Noreturn void fail(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void fail_at(struct parser *p, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void fail_memory(struct parser *p);

void *grow(struct parser *p, void *at, uint32_t *cap, uint32_t n, size_t size);
/* Appends one element, not initialised, and gives its address. */
#define PUSH(p, a)                                                             \
    ((a).n < (a).cap                                                           \
         ? 0                                                                   \
         : ((a).at = grow((p), (a).at, &(a).cap, (a).n, sizeof *(a).at), 0),   \
     &(a).at[(a).n++])

/* Arena memory or failure; n elements of `size` zero bytes. */
void *parser_alloc(struct parser *p, size_t n, size_t size);
void *parser_copy(struct parser *p, const void *data, size_t n, size_t size);
#define FREEZE(p, a) parser_copy((p), (a).at, (a).n, sizeof *(a).at)

/* ---- tokens (parser.c) ------------------------------------------------- */

static inline bool at_punct(const struct parser *p, char c)
{
    return p->lex.tok.kind == TOK_PUNCT && *p->lex.tok.text == c;
}
static inline bool accept(struct parser *p, char c)
{
    if (!at_punct(p, c)) return false;
    lexer_next(&p->lex);
    return true;
}
void expect(struct parser *p, char c);
uint32_t expect_u32(struct parser *p);
struct name *expect_name(struct parser *p);
/* Directive of the current .word, or -1. */
int at_directive(const struct parser *p);
/* To the next c and over it. */
void skip_past(struct parser *p, char c);
/* Up to n comma-separated numbers: .maxntid 128, 1, 1. */
void parse_dims(struct parser *p, uint32_t *out, unsigned n);

/* ---- numbers (parser_expr.c) ------------------------------------------- */

/* An integer or a constant expression: -3, ~0, 4*(8+1). */
int64_t expect_int(struct parser *p);
/* A floating-point literal with its sign, if one stands here: kind and bits
 * in *t. */
bool accept_float(struct parser *p, struct token *t);

/* ---- names ------------------------------------------------------------- */

struct name *intern(struct parser *p, enum name_class cls, const char *text,
                    uint32_t len, uint32_t hash);
static inline struct name *intern_token(struct parser *p)
{
    const struct token *t = &p->lex.tok;
    return intern(p, NAME_IDENT, t->text, t->len, t->hash);
}
/* The innermost living symbol, or NULL. Makes the register when the name
 * belongs to a range. */
struct symbol *find_symbol(struct parser *p, struct name *name);
/* New symbol in the block at `depth`; fails when it has one of that name. */
struct symbol *declare(struct parser *p, struct name *name, uint32_t depth,
                       enum symbol_kind kind, uint32_t index);
/* The symbol of exactly that block, or NULL. */
struct symbol *find_at(struct parser *p, struct name *name, uint32_t depth);
void scope_push(struct parser *p);
void scope_pop(struct parser *p); /* resolves the block's labels */

/* ---- the pieces -------------------------------------------------------- */

void parse_module(struct parser *p);                     /* parser_module.c */
/* Behind .func or .entry. */
void parse_function(struct parser *p, bool is_entry, bool is_extern,
                    bool is_visible, bool is_weak);      /* parser_func.c */
/* ( .param ..., .param ... ): appended to p->vars and declared in the current
 * block, or, for a prototype, appended to p->params. */
void parse_params(struct parser *p, bool proto);         /* parser_var.c */
/* Behind a variable's state space, up to and over the ';'. `flags` gives the
 * linkage; variables of a function go to p->vars, others to the module. */
void parse_variables(struct parser *p, enum ptx_space space,
                     const struct ptx_var *flags);       /* parser_var.c */
void parse_registers(struct parser *p);                  /* parser_var.c */
/* Behind .attribute: (.managed) or (.unified(id, id)). */
void parse_attribute(struct parser *p, struct ptx_var *v);
void parse_initialiser(struct parser *p, struct ptx_var *v,
                       const uint64_t *dims, unsigned n_dims); /* parser_init.c */
/* A statement that begins with an opcode, already joined with its suffixes;
 * up to and over the ';'. */
void parse_instruction(struct parser *p, int32_t pred, bool negated);
void parse_operand(struct parser *p, struct ptx_operand *op);
void add_label_ref(struct parser *p, int32_t table, uint32_t item,
                   uint32_t slot);                       /* parser_operand.c */
void parse_loc(struct parser *p);                        /* parser_debug.c */
void parse_file(struct parser *p);
void parse_section(struct parser *p);
void finish_debug(struct parser *p);

#endif
