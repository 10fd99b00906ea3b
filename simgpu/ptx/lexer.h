/* PTX text -> tokens, and the fixed words of the language.
 *
 * PTX as embedded by nvcc has no comments and little white space; text from
 * `nvcc --ptx` and by hand has both, and both are read. The text need not end
 * in NUL. */
#ifndef SIMGPU_PTX_LEXER_H
#define SIMGPU_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOK_END,
    TOK_IDENT,  /* name, %name, $name */
    TOK_WORD,   /* .name; text is without the dot, "::" may be inside */
    TOK_INT,    /* value: 64 bits, unsigned */
    TOK_F32,    /* value: the bits of 0fXXXXXXXX */
    TOK_F64,    /* value: the bits of 0dX... or of a decimal literal */
    TOK_STRING, /* text is between the quotes; nothing is escaped */
    TOK_PUNCT,  /* one character: text[0] */
    TOK_BAD,    /* message says why */
};

struct token {
    uint8_t kind;
    uint32_t line;     /* from 1 */
    uint32_t len;
    uint32_t hash;     /* of an IDENT's text: lexer_hash() */
    const char *text;  /* inside the source */
    uint64_t value;
    const char *message;
};

struct lexer {
    const char *pos, *end;
    uint32_t line;
    struct token tok; /* the current one */
};

/* Longest text: token lengths and line numbers fit 32 bits. */
#define LEXER_MAX_TEXT ((size_t)1 << 30)

void lexer_start(struct lexer *lx, const char *text, size_t len);
void lexer_next(struct lexer *lx);

/* The current token is the identifier that opens a statement. If suffixes
 * follow without a space (ld.global.f32), takes them into the token. */
void lexer_join_suffixes(struct lexer *lx);
/* The current token is a special register's name: takes one .component in. */
void lexer_join_component(struct lexer *lx);

#define LEXER_HASH_SEED 2166136261u
static inline uint32_t lexer_hash_step(uint32_t h, unsigned char c)
{
    return (h ^ c) * 16777619u;
}
uint32_t lexer_hash(const char *text, size_t len);

/* ---- fixed words ------------------------------------------------------- */

enum word_class {
    WORD_OPCODE,    /* enum ptx_opcode */
    WORD_MOD,       /* enum ptx_mod; .L1::x and .L2::x are cache_hint */
    WORD_TYPE,      /* enum ptx_type */
    WORD_SPACE,     /* enum ptx_space, behind an opcode */
    WORD_VEC,       /* 2, 4, 8 */
    WORD_SREG,      /* enum ptx_sreg */
    WORD_DIRECTIVE, /* enum directive */
};

enum directive {
#define PTX_DIRECTIVE(name) DIR_##name,
#include "lexer_directives.def"
#undef PTX_DIRECTIVE
    DIR_COUNT
};

/* The value of a word in a class, or -1. */
int lexer_word(enum word_class cls, const char *text, size_t len);

#endif
