/* Values of variables: numbers, nested lists, addresses (PTX 5.4.4).
 *
 * An address cannot be known here: its bytes stay zero (or hold nothing) and
 * a fixup is noted. In packed structures nvcc writes an address a byte at a
 * time, 0xFF(sym), 0xFF00(sym), ...: those are put together again. */
#include <string.h>

#include "ptx/parser.h"

/* All initialised variables of a module together: far more than compilers
 * write, and little enough that a short text cannot ask for all memory. */
#define MAX_INIT_TOTAL ((uint64_t)1 << 28)

static const uint8_t TYPE_BYTES[PTX_TYPE_COUNT] = {
#define PTX_TYPE(name, text, bytes) bytes,
#include "types.def"
#undef PTX_TYPE
};

struct filler {
    struct ptx_var *v;
    uint64_t sizes[10]; /* elements of one item at each level of nesting */
    unsigned levels;
    uint32_t bytes;     /* of one element */
};

/* Room for element `at`, zero at first; returns its byte offset. */
static uint32_t room(struct parser *p, const struct filler *f, uint64_t at)
{
    uint64_t end = (at + 1) * f->bytes;
    if (end > MAX_INIT_TOTAL) fail(p, "'%.80s' is too large", f->v->name);
    while (p->bytes.cap < end)
        p->bytes.at = grow(p, p->bytes.at, &p->bytes.cap, p->bytes.cap, 1);
    if (p->bytes.n < end) {
        memset(p->bytes.at + p->bytes.n, 0, end - p->bytes.n);
        p->bytes.n = (uint32_t)end;
    }
    return (uint32_t)(end - f->bytes);
}

static void put(struct parser *p, const struct filler *f, uint64_t at,
                uint64_t value)
{
    uint32_t offset = room(p, f, at);
    uint32_t n = f->bytes < 8 ? f->bytes : 8; /* .b128: upper half zero */
    for (uint32_t i = 0; i < n; i++)
        p->bytes.at[offset + i] = (uint8_t)(value >> (8 * i));
}

/* sym, sym+8, generic(sym), generic(sym)+8 */
static struct ptx_fixup parse_address(struct parser *p)
{
    struct ptx_fixup x = { 0 };
    struct name *name = expect_name(p);
    if (!strcmp(name->text, "generic") && accept(p, '(')) {
        x.generic = true;
        name = expect_name(p);
        expect(p, ')');
    }
    x.symbol = name->text;
    if (at_punct(p, '+') || at_punct(p, '-')) x.addend = expect_int(p);
    return x;
}

/* 0xFF00(generic(sym)+8): byte 1 of an address. Byte 0 opens a fixup, the
 * others must continue it. */
static void parse_masked(struct parser *p, const struct filler *f, uint64_t at,
                         uint64_t mask)
{
    lexer_next(&p->lex);
    struct ptx_fixup x = parse_address(p);
    expect(p, ')');
    unsigned byte = mask ? (unsigned)__builtin_ctzll(mask) / 8 : 0;
    if (f->bytes != 1 || mask != (uint64_t)0xff << (8 * byte))
        fail(p, "mask other than one byte of an address is not supported");
    uint32_t offset = room(p, f, at);
    struct ptx_fixup *last =
        p->fixups.n ? &p->fixups.at[p->fixups.n - 1] : NULL;
    if (!byte) {
        x.offset = offset;
        x.bytes = 1;
        *PUSH(p, p->fixups) = x;
    } else if (last && last->offset + byte == offset && last->bytes == byte &&
               !strcmp(last->symbol, x.symbol) && last->addend == x.addend) {
        last->bytes++;
    } else {
        fail(p, "single bytes of an address are not supported");
    }
}

/* PTX 4.5.2: 0f and 0d literals are exact bits; decimal ones are double and
 * may be rounded to float. */
static uint64_t float_bits(struct parser *p, const struct filler *f,
                           const struct token *t)
{
    if (t->kind == TOK_F32 && f->bytes == 4) return t->value;
    if (t->kind == TOK_F64 && f->bytes == 8) return t->value;
    if (t->kind != TOK_F64 || f->bytes != 4)
        fail(p, "floating-point value of another size than the variable");
    double d;
    uint32_t bits;
    memcpy(&d, &t->value, sizeof d);
    float s = (float)d;
    memcpy(&bits, &s, sizeof bits);
    return bits;
}

static void parse_element(struct parser *p, const struct filler *f,
                          uint64_t at)
{
    struct token t;
    if (p->lex.tok.kind == TOK_IDENT) {
        struct ptx_fixup x = parse_address(p);
        if (f->bytes != 4 && f->bytes != 8)
            fail(p, "address in elements of %u bytes", f->bytes);
        x.offset = room(p, f, at);
        x.bytes = f->bytes;
        *PUSH(p, p->fixups) = x;
        return;
    }
    if (accept_float(p, &t)) {
        put(p, f, at, float_bits(p, f, &t));
        return;
    }
    uint64_t value = (uint64_t)expect_int(p);
    if (at_punct(p, '('))
        parse_masked(p, f, at, value);
    else
        put(p, f, at, value);
}

/* One list in braces that starts at element `at` and may reach `end`. Lists
 * may be shorter than the array, the rest is zero. Returns the furthest
 * element written. */
static uint64_t parse_list(struct parser *p, const struct filler *f,
                           unsigned level, uint64_t at, uint64_t end)
{
    expect(p, '{');
    if (level >= f->levels) fail(p, "more braces than dimensions");
    uint64_t furthest = at;
    while (!accept(p, '}')) {
        bool nested = at_punct(p, '{');
        uint64_t n = nested ? f->sizes[level] : 1;
        if (n > end - at) fail(p, "more values than '%.80s' holds", f->v->name);
        if (nested)
            parse_list(p, f, level + 1, at, at + n);
        else
            parse_element(p, f, at);
        at += n;
        furthest = at;
        if (!at_punct(p, '}')) expect(p, ',');
    }
    return furthest;
}

/* Puts what was read where the module keeps it. */
static void store(struct parser *p, struct ptx_var *v)
{
    p->init_total += v->size;
    if (p->init_total > MAX_INIT_TOTAL)
        fail(p, "initialised variables are too large");
    uint8_t *init = parser_alloc(p, v->size ? v->size : 1, 1);
    if (p->bytes.n) memcpy(init, p->bytes.at, p->bytes.n);
    v->init = init;
    for (uint32_t i = 0; i < p->fixups.n; i++)
        if (p->fixups.at[i].bytes != 8 && p->fixups.at[i].bytes != 4)
            fail(p, "single bytes of an address are not supported");
    v->fixups = FREEZE(p, p->fixups);
    v->n_fixups = p->fixups.n;
}

void parse_initialiser(struct parser *p, struct ptx_var *v,
                       const uint64_t *dims, unsigned n_dims)
{
    struct filler f = { .v = v, .bytes = TYPE_BYTES[v->type] };
    p->bytes.n = 0;
    p->fixups.n = 0;
    /* A vector's elements are one more, innermost dimension. */
    uint64_t inner = v->vec;
    f.levels = n_dims + (v->vec > 1);
    if (v->vec > 1) f.sizes[n_dims] = 1;
    for (unsigned i = n_dims; i-- > 0; inner *= dims[i]) f.sizes[i] = inner;
    bool open = n_dims && !dims[0];
    uint64_t end = open ? UINT64_MAX / f.bytes : v->size / f.bytes;
    if (f.levels == 0) {
        parse_element(p, &f, 0);
    } else {
        uint64_t n = parse_list(p, &f, 0, 0, end);
        uint64_t item = f.sizes[0];
        if (open && item) v->size = (n + item - 1) / item * item * f.bytes;
    }
    if (p->bytes.n > v->size)
        fail(p, "more values than '%.80s' holds", v->name);
    store(p, v);
}
