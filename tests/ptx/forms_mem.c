/* Loads, stores and atomics of one lane at a time: every width, vector and
 * space, into registers of the type's width and wider ones. The rows are
 * generated. What lanes do together (patterns of addresses, faults, contention)
 * is in test_memory.c.
 *
 * A load reads 16 bytes that hold the first two sources; a store writes over
 * them and the result is read back whole. Global memory is the thread's own
 * corner of the harness's arrays, %in for loads and %out + 16 for stores.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/exact.h"
#include "tests/ptx/reference.h"

typedef unsigned __int128 U128;

/* How a space's 16 bytes are named and filled. `set` stores {$0, $1}. */
struct place { const char *space, *open, *set, *at; };
#define SHARED_OPEN                                                          \
    "{.shared .align 16 .b8 buf[2048]; .reg .b32 q, b; mov.u32 q, %tid.x; "  \
    "shl.b32 q, q, 4; mov.u32 b, buf; add.s32 q, q, b; "
#define LOCAL_OPEN "{.local .align 16 .b8 buf[16]; "
static const struct place
    at_global = {"global", "{", "st.global.v2.b64 [%out+16], {$0, $1}; ",
                 "%out+16"},
    at_shared = {"shared", SHARED_OPEN, "st.shared.v2.b64 [q], {$0, $1}; ",
                 "q"},
    at_local = {"local", LOCAL_OPEN, "st.local.v2.b64 [buf], {$0, $1}; ",
                "buf"},
    generic_global = {"", "{", "st.v2.b64 [%out+16], {$0, $1}; ", "%out+16"},
    generic_shared = {"", SHARED_OPEN ".reg .b64 g; cvt.u64.u32 g, q; "
                          "cvta.shared.u64 g, g; ",
                      "st.v2.b64 [g], {$0, $1}; ", "g"},
    generic_local = {"", LOCAL_OPEN ".reg .b64 g; mov.u64 g, buf; "
                         "cvta.local.u64 g, g; ",
                     "st.v2.b64 [g], {$0, $1}; ", "g"};
static const struct place *const places[] = {
    &at_global, &at_shared, &at_local, &generic_global, &generic_shared,
    &generic_local};

struct type { const char *name; unsigned bits; int is_signed; const char *regs; };
static const struct type types[] = {
    {"b8", 8, 0, "hrd"}, {"u8", 8, 0, "hrd"}, {"s8", 8, 1, "hrd"},
    {"b16", 16, 0, "hrd"}, {"u16", 16, 0, "hrd"}, {"s16", 16, 1, "hrd"},
    {"b32", 32, 0, "rd"}, {"u32", 32, 0, "rd"}, {"s32", 32, 1, "rd"},
    {"b64", 64, 0, "d"}, {"u64", 64, 0, "d"}, {"s64", 64, 1, "d"},
    {"f32", 32, 0, "F"}, {"f64", 64, 0, "D"}};
enum { N_TYPES = sizeof types / sizeof *types };

/* Qualifiers that may stand before the space of a load, of a store. */
static const char *const load_words[] = {
    "", ".volatile", ".relaxed.sys", ".relaxed.gpu", ".relaxed.cta",
    ".acquire.sys", ".acquire.gpu", ".acquire.cta"};
static const char *const store_words[] = {
    "", ".volatile", ".relaxed.sys", ".relaxed.gpu", ".relaxed.cta",
    ".release.sys", ".release.gpu", ".release.cta"};
/* Caching, after the space. */
static const char *const load_caching[] = {".ca", ".cg", ".cs", ".lu", ".cv",
                                           ".nc", ".nc.L1::no_allocate",
                                           ".nc.L2::128B"};
static const char *const store_caching[] = {".wb", ".cg", ".cs", ".wt"};

/* arg: bits, signed, elements. */
static void ref_load(const struct form *f, const uint64_t *s, uint64_t *d) {
    U128 image = s[0] | (U128)s[1] << 64;
    for (int i = 0; i < f->arg[2]; i++) {
        unsigned up = 128 - (unsigned)f->arg[0];
        U128 v = image >> i * f->arg[0] << up;
        d[i] = (uint64_t)(f->arg[1] ? (U128)((__int128)v >> up) : v >> up);
    }
}
static void ref_store(const struct form *f, const uint64_t *s, uint64_t *d) {
    U128 image = s[0] | (U128)s[1] << 64, one = 1;
    for (int i = 0; i < f->arg[2]; i++) {
        U128 mask = ((one << f->arg[0]) - 1) << i * f->arg[0];
        image = (image & ~mask) | ((U128)s[2 + i] << i * f->arg[0] & mask);
    }
    d[0] = (uint64_t)image;
    d[1] = (uint64_t)(image >> 64);
}

/* ---- rows ------------------------------------------------------------------------ */

enum { MAX_FORMS = 8000 };
static struct form forms[MAX_FORMS];
static char names[MAX_FORMS][48], operands[MAX_FORMS][12], texts[MAX_FORMS][640];
static unsigned n_forms;
extern struct form_list list_mem_forms;
struct form_list list_mem_forms = {"mem_forms", forms, 0};

static void add(form_ref ref, const int *arg) {
    if (n_forms + 1 == MAX_FORMS) abort();
    forms[n_forms] = (struct form){names[n_forms], operands[n_forms],
                                   texts[n_forms], ref, 0, {0}};
    memcpy(forms[n_forms++].arg, arg, sizeof forms[0].arg);
}

static void spell(char *name, size_t n, const char *op, const char *word,
                  const char *space, const char *caching, unsigned vec,
                  const char *type) {
    char v[16] = "";
    if (vec > 1) snprintf(v, sizeof v, ".v%u", vec);
    snprintf(name, n, "%s%s%s%s%s%s.%s", op, word, *space ? "." : "", space,
             caching, v, type);
}

static void add_load(const struct place *p, const char *word,
                     const char *caching, const struct type *t, unsigned vec,
                     char reg) {
    static const char *const list[] = {0, "$d", "{$d, $e}", 0,
                                       "{$d, $e, $f, $g}"};
    char *name = names[n_forms];
    if (t->bits * vec > 128) return;
    spell(name, sizeof names[0], "ld", word, p->space, caching, vec,
          t->name);
    snprintf(operands[n_forms], sizeof operands[0], "%.*s:dd", (int)vec,
             (char[]){reg, reg, reg, reg, 0});
    bool direct = p == &at_global || p == &generic_global;
    snprintf(texts[n_forms], sizeof texts[0], "%s%s%s %s, [%s];}",
             p->open, direct ? "" : p->set, name, list[vec],
             direct ? "%in" : p->at);
    add(ref_load, (int[5]){(int)t->bits, t->is_signed, (int)vec});
}

static void add_store(const struct place *p, const char *word,
                      const char *caching, const struct type *t, unsigned vec,
                      char reg) {
    static const char *const list[] = {0, "$2", "{$2, $3}", 0,
                                       "{$2, $3, $4, $5}"};
    char *name = names[n_forms];
    if (t->bits * vec > 128 || t->is_signed) return;
    spell(name, sizeof names[0], "st", word, p->space, caching, vec,
          t->name);
    snprintf(operands[n_forms], sizeof operands[0], "dd:dd%.*s", (int)vec,
             (char[]){reg, reg, reg, reg, 0});
    snprintf(texts[n_forms], sizeof texts[0],
             "%s%s%s [%s], %s; ld%s%s.v2.b64 {$d, $e}, [%s];}", p->open, p->set,
             name, p->at, list[vec], *p->space ? "." : "", p->space, p->at);
    add(ref_store, (int[5]){(int)t->bits, 0, (int)vec});
}

static void add_accesses(const struct place *p) {
    bool shared_with_others = p != &at_local && p != &generic_local;
    for (unsigned k = 0; k < N_TYPES; k++) {
        const struct type *t = &types[k];
        for (unsigned vec = 1; vec <= 4; vec *= 2)
            for (const char *r = t->regs; *r && (vec == 1 || r == t->regs); r++) {
                add_load(p, "", "", t, vec, *r);
                add_store(p, "", "", t, vec, *r);
            }
        for (unsigned w = 1; shared_with_others && w < 8; w++) {
            add_load(p, load_words[w], "", t, 1, t->regs[0]);
            add_store(p, store_words[w], "", t, 1, t->regs[0]);
            add_load(p, load_words[w], "", t, 2, t->regs[0]);
            add_store(p, store_words[w], "", t, 2, t->regs[0]);
        }
    }
    if (p != &at_global && p != &generic_global) return;
    for (unsigned k = 6; k < N_TYPES; k++) {
        for (unsigned c = 0; c < 8; c++) {
            if (c >= 5 && p == &generic_global) break; /* .nc is .global's */
            add_load(p, "", load_caching[c], &types[k], 1, types[k].regs[0]);
            add_load(p, "", load_caching[c], &types[k], 4, types[k].regs[0]);
            add_load(p, "", load_caching[c], &types[k], 2, types[k].regs[0]);
        }
        for (unsigned c = 0; c < 4; c++)
            add_store(p, "", store_caching[c], &types[k], 1, types[k].regs[0]);
    }
}

/* Constants and parameters: 16 bytes that are the same for every thread. */
static void ref_image(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint64_t image[2];
    (void)s;
    memcpy(image, form_image, 16);
    ref_load(f, image, d);
}
static void add_image(const char *space, const char *variable,
                      const struct type *t, unsigned vec, char reg) {
    static const char *const list[] = {0, "$d", "{$d, $e}", 0,
                                       "{$d, $e, $f, $g}"};
    if (t->bits * vec > 128) return;
    spell(names[n_forms], sizeof names[0], "ld", "", space, "", vec, t->name);
    snprintf(operands[n_forms], sizeof operands[0], "%.*s:", (int)vec,
             (char[]){reg, reg, reg, reg, 0});
    snprintf(texts[n_forms], sizeof texts[0], "%s %s, [%s];", names[n_forms],
             list[vec], variable);
    add(ref_image, (int[5]){(int)t->bits, t->is_signed, (int)vec});
}
static void add_images(void) {
    for (unsigned k = 0; k < N_TYPES; k++)
        for (unsigned vec = 1; vec <= 4; vec *= 2)
            for (const char *r = types[k].regs; *r; r++) {
                add_image("const", "image", &types[k], vec, *r);
                add_image("param", "image_param", &types[k], vec, *r);
            }
}

/* ---- atomics ------------------------------------------------------------------------ */

enum op { ADD, MIN, MAX, AND, OR, XOR, EXCH, CAS, INC, DEC };
enum number { UINT, SINT, REAL32, REAL64, HALF, BHALF, HALF2, BHALF2 };
enum { NO_FLUSH = 1 };

static uint64_t sum_of(const struct format *f, uint64_t a, uint64_t b,
                       bool flush) {
    if (flush) a = exact_flush(f, a), b = exact_flush(f, b);
    uint64_t r = exact_fma(f, a, exact_one(f), b, true, RN);
    return flush ? exact_flush(f, r) : r;
}
static uint64_t added(enum number t, uint64_t old, uint64_t b, bool flush) {
    double x, y;
    const struct format *h = t == HALF || t == HALF2 ? &F16_FORMAT
                                                     : &BF16_FORMAT;
    switch (t) {
    case REAL32: return sum_of(&F32_FORMAT, old, b, flush);
    case REAL64:
        memcpy(&x, &old, 8), memcpy(&y, &b, 8);
        x += y;
        memcpy(&old, &x, 8);
        return old;
    case HALF: case BHALF: return sum_of(h, old, b, false);
    case HALF2: case BHALF2:
        return sum_of(h, old & 0xffff, b & 0xffff, false) |
               sum_of(h, old >> 16, b >> 16, false) << 16;
    default: return old + b;
    }
}
/* The first source is the cell, then b (and c). arg: operation, number, bits,
 * flags. */
static void ref_atom(const struct form *f, const uint64_t *s, uint64_t *d) {
    unsigned bits = (unsigned)f->arg[2];
    uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1, old = s[0] & all;
    uint64_t flip = f->arg[1] == SINT ? 1ull << (bits - 1) : 0, b = s[1], r = 0;
    bool less = (b ^ flip) < (old ^ flip);
    switch ((enum op)f->arg[0]) {
    case ADD: r = added(f->arg[1], old, b, !(f->arg[3] & NO_FLUSH)); break;
    case MIN: r = less ? b : old; break;
    case MAX: r = less ? old : b; break;
    case AND: r = old & b; break;
    case OR: r = old | b; break;
    case XOR: r = old ^ b; break;
    case EXCH: r = b; break;
    case CAS: r = old == b ? s[2] : old; break;
    case INC: r = old >= b ? 0 : old + 1; break;
    case DEC: r = old == 0 || old > b ? b : old - 1; break;
    }
    d[0] = old;
    d[1] = r & all;
}
static void ref_red(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint64_t both[2];
    ref_atom(f, s, both);
    d[0] = both[1];
}
/* The sum of two f64 that is a NaN may be any. */
static bool near_nan_f64(const uint64_t *s, uint64_t got, uint64_t want) {
    double g, w;
    (void)s;
    memcpy(&g, &got, 8), memcpy(&w, &want, 8);
    return isnan(g) && isnan(w);
}

/* often: tested with every order and scope, others with a few. */
struct atomic { const char *op, *type; enum op code; enum number number;
                unsigned bits; char reg; bool often; };
static const struct atomic atomics[] = {
    {"add", "u32", ADD, UINT, 32, 'r', true}, {"add", "s32", ADD, SINT, 32, 'r'},
    {"add", "u64", ADD, UINT, 64, 'd', true}, {"add", "f32", ADD, REAL32, 32, 'F'},
    {"add", "f64", ADD, REAL64, 64, 'D'},
    {"add.noftz", "f16", ADD, HALF, 16, 'H'},
    {"add.noftz", "f16x2", ADD, HALF2, 32, 'X'},
    {"add.noftz", "bf16", ADD, BHALF, 16, 'B'},
    {"add.noftz", "bf16x2", ADD, BHALF2, 32, 'Y'},
    {"min", "u32", MIN, UINT, 32, 'r'}, {"min", "s32", MIN, SINT, 32, 'r', true},
    {"min", "u64", MIN, UINT, 64, 'd'}, {"min", "s64", MIN, SINT, 64, 'd'},
    {"max", "u32", MAX, UINT, 32, 'r'}, {"max", "s32", MAX, SINT, 32, 'r'},
    {"max", "u64", MAX, UINT, 64, 'd'}, {"max", "s64", MAX, SINT, 64, 'd'},
    {"and", "b32", AND, UINT, 32, 'r', true}, {"and", "b64", AND, UINT, 64, 'd'},
    {"or", "b32", OR, UINT, 32, 'r', true}, {"or", "b64", OR, UINT, 64, 'd'},
    {"xor", "b32", XOR, UINT, 32, 'r'}, {"xor", "b64", XOR, UINT, 64, 'd'},
    {"exch", "b32", EXCH, UINT, 32, 'r', true}, {"exch", "b64", EXCH, UINT, 64, 'd'},
    {"cas", "b16", CAS, UINT, 16, 'h'}, {"cas", "b32", CAS, UINT, 32, 'r', true},
    {"cas", "b64", CAS, UINT, 64, 'd'},
    {"inc", "u32", INC, UINT, 32, 'r'}, {"dec", "u32", DEC, UINT, 32, 'r'}};
enum { N_ATOMICS = sizeof atomics / sizeof *atomics };

/* Order and scope, where they stand: before the space. */
static const char *const atomic_words[] = {
    "", ".relaxed.cta", ".relaxed.gpu", ".relaxed.sys", ".acquire.cta",
    ".acquire.sys", ".release.cta", ".release.gpu", ".acq_rel.cta",
    ".acq_rel.gpu"};
/* A scope alone, after the space. */
static const char *const atomic_scopes[] = {"", ".cta", ".gpu", ".sys"};

static void add_atomic(const struct place *p, const char *word,
                       const char *scope, const struct atomic *a, bool red) {
    char *name = names[n_forms];
    const char *size = a->bits == 16 ? "b16" : a->bits == 32 ? "b32" : "b64";
    const char *dot = *p->space ? "." : "";
    if (red && (a->code == CAS || a->code == EXCH)) return;
    snprintf(name, sizeof names[0], "%s%s%s%s%s.%s.%s",
             red ? "red" : "atom", word, dot, p->space, scope, a->op, a->type);
    snprintf(operands[n_forms], sizeof operands[0], "%.*s:%.*s",
             red ? 1 : 2, (char[]){a->reg, a->reg, 0}, a->code == CAS ? 3 : 2,
             (char[]){a->reg, a->reg, a->reg, 0});
    snprintf(texts[n_forms], sizeof texts[0],
             "%sst%s%s.%s [%s], $0; %s %s[%s], $1%s; ld%s%s.%s %s, [%s];}",
             p->open, dot, p->space, size, p->at, name, red ? "" : "$d, ",
             p->at, a->code == CAS ? ", $2" : "", dot, p->space, size,
             red ? "$d" : "$e", p->at);
    bool in_shared = p == &at_shared || p == &generic_shared;
    add(red ? ref_red : ref_atom,
        (int[5]){a->code, a->number, (int)a->bits, in_shared ? NO_FLUSH : 0});
    if (a->number == REAL64) forms[n_forms - 1].near = near_nan_f64;
}

static void add_atomics(const struct place *p) {
    for (unsigned k = 0; k < N_ATOMICS; k++)
        for (int red = 0; red < 2; red++) {
            unsigned step = atomics[k].often ? 1 : 4;
            for (unsigned w = 0; w < 10; w += step)
                add_atomic(p, atomic_words[w], "", &atomics[k], red);
            for (unsigned c = 1; c < 4; c++)
                add_atomic(p, "", atomic_scopes[c], &atomics[k], red);
        }
}

/* ---- the rest: addresses between spaces, arguments, hints --------------------------- */

static void ref_same(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[0];
}
static void ref_second(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)f;
    d[0] = s[1];
}
/* 16 bytes, of which only s[2] & 15 come from the source. */
static void ref_filled(const struct form *f, const uint64_t *s, uint64_t *d) {
    uint8_t image[16] = {0};
    (void)f;
    memcpy(image, s, s[2] & 15);
    memcpy(d, image, 16);
}
/* Answers of isspacep, a bit a space: param, global, local, shared. */
static void ref_arg(const struct form *f, const uint64_t *s, uint64_t *d) {
    (void)s;
    d[0] = (uint64_t)f->arg[0];
}
#define SAME(name, text) {name, "d:d", text, ref_same, 0, {0}},
#define SPACES "{.shared .align 8 .b64 sh; .local .align 8 .b64 lo; "        \
               ".reg .b64 g; .reg .pred p; .reg .b32 x; mov.b32 $d, 0; "
#define ASK(space, bit) "isspacep." space " p, g; selp.b32 x, " bit          \
                        ", 0, p; or.b32 $d, $d, x; "
#define ASK_ALL ASK("param", "1") ASK("global", "2") ASK("local", "4")      \
                ASK("shared", "8") "}"
#define CALL(name, word, bits, reg)                                          \
    {name, reg ":" reg, "{.param .b" bits " a; .param .b" bits " r; "        \
     "st.param." word " [a], $0; call.uni (r), same" bits ", (a); "          \
     "ld.param." word " $d, [r];}", ref_same, 0, {0}},
static const struct form others[] = {
    SAME("cvta.global.u64", "{.reg .b64 g; cvta.global.u64 g, %out; "
         "st.b64 [g+16], $0; ld.global.b64 $d, [%out+16];}")
    SAME("cvta.to.global.u64", "{.reg .b64 g; cvta.to.global.u64 g, %out; "
         "st.global.b64 [g+16], $0; ld.b64 $d, [%out+16];}")
    SAME("cvta.local.u64", LOCAL_OPEN ".reg .b64 g; mov.u64 g, buf; "
         "cvta.local.u64 g, g; st.b64 [g+8], $0; ld.local.b64 $d, [buf+8];}")
    SAME("cvta.to.local.u64", LOCAL_OPEN ".reg .b64 g; mov.u64 g, buf; "
         "cvta.local.u64 g, g; cvta.to.local.u64 g, g; st.local.b64 [g], $0; "
         "ld.local.b64 $d, [buf];}")
    SAME("cvta.shared.u64", SHARED_OPEN ".reg .b64 g; cvt.u64.u32 g, q; "
         "cvta.shared.u64 g, g; st.b64 [g], $0; ld.shared.b64 $d, [q];}")
    SAME("cvta.to.shared.u64", SHARED_OPEN ".reg .b64 g; cvt.u64.u32 g, q; "
         "cvta.shared.u64 g, g; cvta.to.shared.u64 g, g; "
         "st.shared.b64 [q], $0; ld.shared.b64 $d, [g];}")
    SAME("cvta.const.u64", "{.reg .b64 g; mov.u64 g, image; "
         "cvta.const.u64 g, g; ld.b64 g, [g]; st.global.b64 [%out+16], $0; "
         "ld.const.b64 $d, [image]; xor.b64 g, g, $d; "
         "ld.global.b64 $d, [%out+16]; xor.b64 $d, $d, g;}")
    SAME("cvta.param.u64", "{.reg .b64 g, h; mov.u64 g, image_param; "
         "cvta.param.u64 g, g; ld.b64 h, [g+8]; ld.param.b64 g, [image_param+8]; "
         "xor.b64 g, g, h; add.s64 $d, g, $0;}")
    {"isspacep.global", "r:", SPACES "mov.u64 g, %in; " ASK_ALL, ref_arg, 0, {2}},
    {"isspacep.param", "r:", SPACES "mov.u64 g, image_param; "
     "cvta.param.u64 g, g; " ASK_ALL, ref_arg, 0, {1}},
    {"isspacep.local", "r:", SPACES "mov.u64 g, lo; cvta.local.u64 g, g; "
     ASK_ALL, ref_arg, 0, {4}},
    {"isspacep.shared", "r:", SPACES "mov.u64 g, sh; cvta.shared.u64 g, g; "
     ASK_ALL, ref_arg, 0, {8}},
    CALL("st.param.b32", "b32", "32", "r") CALL("st.param.b64", "b64", "64", "d")
    CALL("st.param.f32", "f32", "32", "F") CALL("st.param.f64", "f64", "64", "D")
    SAME("cp.async.ca.shared.global", SHARED_OPEN
         "st.shared.b64 [q], -1; cp.async.ca.shared.global [q+4], [%in], 4; "
         "cp.async.ca.shared.global [q], [%in+4], 4; cp.async.commit_group; "
         "cp.async.wait_group 0; ld.shared.v2.b32 {b, q}, [q]; "
         "mov.b64 $d, {q, b};}")
    {"cp.async.ca.shared.global", "d:dd", SHARED_OPEN
     "cp.async.ca.shared.global [q+8], [%in+8], 8; cp.async.wait_all; "
     "ld.shared.b64 $d, [q+8];}", ref_second, 0, {0}},
    {"cp.async.cg.shared.global", "dd:ddr", SHARED_OPEN "and.b32 b, $2, 15; "
     "st.shared.v2.b64 [q], {-1, -1}; "
     "cp.async.cg.shared.global.L2::128B [q], [%in], 16, b; "
     "cp.async.commit_group; cp.async.wait_group 0; "
     "ld.shared.v2.b64 {$d, $e}, [q];}", ref_filled, 0, {0}},
    SAME("ldu.global.b64", "ldu.global.b64 $d, [%in];")
    SAME("discard.global.L2", "{.reg .b64 g; and.b64 g, %in, -128; "
         "add.s64 g, g, 128; discard.global.L2 [g], 128; mov.b64 $d, $0;}")
};

void mem_forms_build(void) {
    add_images();
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        forms[n_forms++] = others[i];
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        add_accesses(places[i]);
        if (places[i] != &at_local && places[i] != &generic_local)
            add_atomics(places[i]);
    }
    list_mem_forms.n = n_forms;
}
