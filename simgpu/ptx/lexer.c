/* The PTX lexer: one pass, one token ahead, no memory of its own.
 * Literals follow PTX 4.5, identifiers PTX 4.4. */
#define _GNU_SOURCE /* strtod_l: the program's locale must not matter */
#include "ptx/lexer.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SPACE = 1, START = 2, PART = 4, DIGIT = 8 };

/* Classes of the ASCII characters; everything else has none. */
static const uint8_t CLASS[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, ['\n'] = SPACE,
    ['\f'] = SPACE, ['\v'] = SPACE,
    ['0' ... '9'] = PART | DIGIT,
    ['a' ... 'z'] = START | PART, ['A' ... 'Z'] = START | PART,
    ['_'] = START | PART, ['$'] = START | PART,
    ['%'] = START, /* %r1; alone it is the remainder of constants */
};

static inline bool is(char c, int cls) { return CLASS[(uint8_t)c] & cls; }

uint32_t lexer_hash(const char *text, size_t len)
{
    uint32_t h = LEXER_HASH_SEED;
    for (size_t i = 0; i < len; i++)
        h = lexer_hash_step(h, (unsigned char)text[i]);
    return h;
}

static void bad(struct lexer *lx, const char *message)
{
    lx->tok.kind = TOK_BAD;
    lx->tok.message = message;
    lx->pos = lx->end; /* nothing after it is looked at */
}

/* Skips white space and comments; false if a comment does not end. */
static bool skip_space(struct lexer *lx)
{
    const char *p = lx->pos, *end = lx->end;
    while (p < end) {
        if (is(*p, SPACE)) {
            lx->line += *p++ == '\n';
        } else if (*p == '/' && end - p > 1 && p[1] == '/') {
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            p = nl ? nl : end;
        } else if (*p == '/' && end - p > 1 && p[1] == '*') {
            for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/'); p++)
                lx->line += *p == '\n';
            if (end - p < 2) return false;
            p += 2;
        } else {
            break;
        }
    }
    lx->pos = p;
    return true;
}

/* Takes identifier characters, dots and "::" from `p` on. */
static const char *scan_suffixes(const char *p, const char *end, bool dots)
{
    while (p < end) {
        if (is(*p, PART) || (dots && *p == '.'))
            p++;
        else if (*p == ':' && end - p > 2 && p[1] == ':' && is(p[2], PART))
            p += 2;
        else
            break;
    }
    return p;
}

static void take_ident(struct lexer *lx)
{
    const char *p = lx->pos, *end = lx->end;
    uint32_t h = LEXER_HASH_SEED;
    do h = lexer_hash_step(h, (unsigned char)*p++);
    while (p < end && is(*p, PART));
    lx->tok.kind = TOK_IDENT;
    lx->tok.hash = h;
    lx->tok.len = (uint32_t)(p - lx->pos);
    lx->pos = p;
}

static void extend(struct lexer *lx, const char *p)
{
    for (; lx->pos < p; lx->pos++)
        lx->tok.hash = lexer_hash_step(lx->tok.hash, (unsigned char)*lx->pos);
    lx->tok.len = (uint32_t)(p - lx->tok.text);
}

void lexer_join_suffixes(struct lexer *lx)
{
    if (lx->pos < lx->end && *lx->pos == '.')
        extend(lx, scan_suffixes(lx->pos, lx->end, true));
}

void lexer_join_component(struct lexer *lx)
{
    if (lx->end - lx->pos > 1 && *lx->pos == '.' && is(lx->pos[1], START))
        extend(lx, scan_suffixes(lx->pos + 1, lx->end, false));
}

/* ---- numbers ----------------------------------------------------------- */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Digits of one base at p; sets *after. False on overflow or no digit. */
static bool digits(const char *p, const char *end, unsigned base,
                   uint64_t *value, const char **after)
{
    const char *start = p;
    uint64_t v = 0;
    for (; p < end && (unsigned)digit_value(*p) < base; p++)
        if (__builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, (unsigned)digit_value(*p), &v))
            return false;
    *value = v;
    *after = p;
    return p > start;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is(*p, DIGIT)) p++;
    return p;
}

/* 1.5, 2.0e-3, 1e10: double precision, PTX 4.5.2. NULL if it is none. */
static const char *decimal(const char *p, const char *end, uint64_t *bits)
{
    char text[64];
    const char *q = skip_digits(p, end);
    if (q < end && *q == '.') q = skip_digits(q + 1, end);
    if (q < end && (*q == 'e' || *q == 'E')) {
        q++;
        if (q < end && (*q == '+' || *q == '-')) q++;
        if (q == end || !is(*q, DIGIT)) return NULL;
        q = skip_digits(q, end);
    }
    size_t n = (size_t)(q - p);
    if (n >= sizeof text) return NULL;
    memcpy(text, p, n);
    text[n] = 0;
    pthread_once(&c_locale_once, make_c_locale);
    if (!c_locale) return NULL;
    double d = strtod_l(text, NULL, c_locale);
    memcpy(bits, &d, sizeof d);
    return q;
}

static void take_number(struct lexer *lx)
{
    struct token *t = &lx->tok;
    const char *p = lx->pos, *end = lx->end, *q = NULL;
    char prefix = end - p > 1 && *p == '0' ? (char)(p[1] | 0x20) : 0;
    bool ok;
    t->kind = TOK_INT;
    if (prefix == 'f' || prefix == 'd') {
        t->kind = prefix == 'f' ? TOK_F32 : TOK_F64;
        ok = digits(p + 2, end, 16, &t->value, &q) &&
             q - p == (prefix == 'f' ? 10 : 18);
    } else if (prefix == 'x') {
        ok = digits(p + 2, end, 16, &t->value, &q);
    } else if (prefix == 'b') {
        ok = digits(p + 2, end, 2, &t->value, &q);
    } else {
        const char *after = skip_digits(p, end);
        if (after < end && (*after == '.' || (*after | 0x20) == 'e')) {
            t->kind = TOK_F64;
            q = decimal(p, end, &t->value);
            ok = q != NULL;
        } else {
            ok = digits(p, end, *p == '0' ? 8 : 10, &t->value, &q);
        }
    }
    if (ok && t->kind == TOK_INT && q < end && (*q == 'U' || *q == 'u')) q++;
    if (!ok || (q < end && is(*q, PART))) {
        bad(lx, "malformed number");
        return;
    }
    t->len = (uint32_t)(q - p);
    lx->pos = q;
}

/* ---- tokens ------------------------------------------------------------ */

static void take_string(struct lexer *lx)
{
    const char *start = lx->pos + 1;
    const char *quote = memchr(start, '"', (size_t)(lx->end - start));
    if (!quote || memchr(start, '\n', (size_t)(quote - start))) {
        bad(lx, "string does not end");
        return;
    }
    lx->tok.kind = TOK_STRING;
    lx->tok.text = start;
    lx->tok.len = (uint32_t)(quote - start);
    lx->pos = quote + 1;
}

void lexer_start(struct lexer *lx, const char *text, size_t len)
{
    while (len && !text[len - 1]) len--; /* padding of stored fat binaries */
    *lx = (struct lexer){ .pos = text, .end = text + len, .line = 1 };
    if (len > LEXER_MAX_TEXT) {
        lx->tok.line = 1;
        bad(lx, "text is too long");
        return;
    }
    lexer_next(lx);
}

void lexer_next(struct lexer *lx)
{
    if (lx->tok.kind == TOK_BAD) return;
    bool ok = skip_space(lx);
    struct token *t = &lx->tok;
    t->line = lx->line;
    t->text = lx->pos;
    t->len = 0;
    if (!ok) {
        bad(lx, "comment does not end");
        return;
    }
    if (lx->pos == lx->end) {
        t->kind = TOK_END;
        return;
    }
    char c = *lx->pos;
    bool lone = lx->end - lx->pos < 2 || !is(lx->pos[1], PART);
    if (is(c, START) && !(c == '%' && lone)) {
        take_ident(lx);
    } else if (is(c, DIGIT)) {
        take_number(lx);
    } else if (c == '.' && lx->end - lx->pos > 1 && is(lx->pos[1], PART)) {
        t->text = ++lx->pos;
        const char *p = scan_suffixes(lx->pos, lx->end, false);
        t->kind = TOK_WORD;
        t->len = (uint32_t)(p - lx->pos);
        lx->pos = p;
    } else if (c == '"') {
        take_string(lx);
    } else if (c > ' ' && c < 0x7f) {
        t->kind = TOK_PUNCT;
        t->len = 1;
        lx->pos++;
    } else {
        bad(lx, "character that PTX does not have");
    }
}
