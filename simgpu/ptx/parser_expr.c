/* Integer constant expressions (PTX 4.5.4), as assembly written by hand has
 * them: [%rd1 + 4*32], (1<<5)-1. nvcc itself writes numbers with a sign. All
 * arithmetic is 64-bit and wraps; there are no comparisons. */
#include "ptx/parser.h"

static uint64_t parse_binary(struct parser *p, int least);

/* Signs are folded as they come, so that no text makes the stack deep:
 * what stands so far makes of x: (x ^ flip) + add. */
static uint64_t parse_unary(struct parser *p)
{
    uint64_t flip = 0, add = 0, v;
    for (;; lexer_next(&p->lex)) {
        bool minus = at_punct(p, '-');
        if (minus || at_punct(p, '~')) {
            flip = ~flip;
            if (minus) add += flip ? 1 : -(uint64_t)1;
        } else if (!at_punct(p, '+')) {
            break;
        }
    }
    if (accept(p, '(')) {
        if (++p->parens > 64) fail(p, "too many parentheses");
        v = parse_binary(p, 1);
        p->parens--;
        expect(p, ')');
    } else {
        if (p->lex.tok.kind != TOK_INT) fail(p, "integer expected");
        v = p->lex.tok.value;
        lexer_next(&p->lex);
    }
    return (v ^ flip) + add;
}

/* C's precedence of the operator at hand, 0 if there is none. */
static int precedence(const struct parser *p)
{
    const struct token *t = &p->lex.tok;
    if (t->kind != TOK_PUNCT) return 0;
    char c = *t->text;
    switch (c) {
    case '*': case '/': case '%': return 6;
    case '+': case '-': return 5;
    case '<': case '>':
        return p->lex.pos < p->lex.end && *p->lex.pos == c ? 4 : 0;
    case '&': return 3;
    case '^': return 2;
    case '|': return 1;
    default: return 0;
    }
}

static uint64_t apply(struct parser *p, char op, uint64_t a, uint64_t b)
{
    switch (op) {
    case '*': return a * b;
    case '+': return a + b;
    case '-': return a - b;
    case '<': return b < 64 ? a << b : 0;
    case '>': return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
    case '&': return a & b;
    case '^': return a ^ b;
    case '|': return a | b;
    default: break;
    }
    if (!b) fail(p, "division by zero");
    if (b == UINT64_MAX) return op == '/' ? -a : 0; /* INT64_MIN / -1 */
    return (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b
                                : (int64_t)a % (int64_t)b);
}

/* Operators that bind at least so tightly, from the left. */
static uint64_t parse_binary(struct parser *p, int least)
{
    uint64_t v = parse_unary(p);
    for (int prec; (prec = precedence(p)) >= least;) {
        char op = *p->lex.tok.text;
        lexer_next(&p->lex);
        if (prec == 4) lexer_next(&p->lex); /* << and >> are two tokens */
        v = apply(p, op, v, parse_binary(p, prec + 1));
    }
    return v;
}

int64_t expect_int(struct parser *p)
{
    p->parens = 0;
    return (int64_t)parse_binary(p, 1);
}

bool accept_float(struct parser *p, struct token *t)
{
    struct lexer before = p->lex;
    bool minus = accept(p, '-');
    *t = p->lex.tok;
    if (t->kind == TOK_F32 || t->kind == TOK_F64) {
        if (minus) t->value ^= (uint64_t)1 << (t->kind == TOK_F32 ? 31 : 63);
        lexer_next(&p->lex);
        return true;
    }
    if (minus) p->lex = before;
    return false;
}
