/* Runs one form: writes a kernel around it, feeds it edge values and random
 * ones under full and partial masks, and compares every lane with the
 * reference; idle lanes must keep what they had. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "ptx/exec.h"
#include "tests/ptx/form.h"

enum { BLOCK = 128, BLOCKS = 32, THREADS = BLOCK * BLOCKS };
/* How the lanes are chosen; ALIAS writes the result over the first source, the
 * IMMEDIATE ones have a constant for the last one. */
enum style { GUARDED, BRANCHED, ALIAS, IMMEDIATE, STYLES = IMMEDIATE + 4 };

static unsigned values;
unsigned form_values(void) { return values; }

/* ---- values --------------------------------------------------------------- */

static const uint64_t edges_int[] = {
    0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256,
    0x7fff, 0x8000, 0xffff, 0x10000, 0xffffff, 0x1000000, 0x7fffffff,
    0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x100000000,
    0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001,
    0xfffffffffffffffe, 0xffffffffffffffff, 0xffffffff80000000, 0x5555555555555555,
    0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 0xfedcba9876543210};
static const uint64_t edges_count[] = {
    0, 1, 2, 7, 8, 15, 16, 17, 24, 30, 31, 32, 33, 48, 63, 64, 65, 100, 128,
    255, 256, 257, 287, 0x80000000, 0xffffffff, 0xfffffffe, 0xffffffe0};
static const uint64_t edges_f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
    0x00800000, 0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f7fffff,
    0x3f800001, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xbfc00000,
    0xc0200000, 0x3effffff, 0x40000000, 0x40400000, 0x4b000000, 0x4b7fffff,
    0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff,
    0x4f800000, 0x5effffff, 0x5f000000, 0xdf000000, 0x5f7fffff, 0x5f800000,
    0x7e800000, 0x7f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff, 0xffffffff, 0x33000000,
    0x32ffffff, 0x477fe000, 0x477ff000, 0x477fefff, 0x38800000, 0x387fc000,
    0x33800000, 0x7f7f8000, 0x7f7fffff, 0x40490fdb, 0x42fe0000, 0xc2fe0000};
static const uint64_t edges_f64[] = {
    0, 1ull << 63, 1, 0x000fffffffffffff, 0x0010000000000000,
    0x8010000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x3fefffffffffffff, 0x3ff0000000000001, 0x3fe0000000000000,
    0xbfe0000000000000, 0x3ff8000000000000, 0x4004000000000000,
    0xbff8000000000000, 0xc004000000000000, 0x4330000000000000,
    0x433fffffffffffff, 0x4340000000000000, 0x41dfffffffc00000,
    0x41dfffffffffffff, 0x41e0000000000000, 0xc1e0000000000000,
    0xc1e0000000200000, 0x41efffffffe00000, 0x41efffffffffffff,
    0x41f0000000000000, 0x43dfffffffffffff, 0x43e0000000000000,
    0xc3e0000000000000, 0x43efffffffffffff, 0x43f0000000000000,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
    0x7ff0000000000001, 0x47efffffe0000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x380fffffffffffff, 0x3690000000000000,
    0x36a0000000000000, 0x3680000000000001, 0x40effc0000000000,
    0x40effe0000000000, 0x3e70000000000000, 0x3e60000000000000};
static const uint64_t edges_f16[] = {
    0, 0x8000, 1, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x3c00,
    0xbc00, 0x3bff, 0x3c01, 0x3800, 0xb800, 0x3e00, 0x4100, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7fff, 0xffff, 0x4248, 0x7800,
    0x1419, 0x2c66, 0x6400, 0x6bff};
static const uint64_t edges_bf16[] = {
    0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x8080, 0x0081, 0x3f80, 0xbf80,
    0x3f7f, 0x3f81, 0x3f00, 0x3fc0, 0x4020, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
    0x7fc0, 0xffc0, 0x7f81, 0x7fff, 0x4049, 0x7e80, 0x42fe, 0x4300, 0x5f00,
    0x3380, 0x0100};
static const uint64_t edges_pred[] = {0, 1};

struct pool { const uint64_t *v; unsigned n, bits; };
static struct pool pool_of(char letter) {
#define POOL(array, bits) {array, sizeof array / sizeof *array, bits}
    switch (letter) {
    case 'h': return (struct pool)POOL(edges_int, 16);
    case 'd': return (struct pool)POOL(edges_int, 64);
    case 'n': return (struct pool)POOL(edges_count, 32);
    case 'F': return (struct pool)POOL(edges_f32, 32);
    case 'D': return (struct pool)POOL(edges_f64, 64);
    case 'H': return (struct pool)POOL(edges_f16, 16);
    case 'B': return (struct pool)POOL(edges_bf16, 16);
    case 'X': return (struct pool)POOL(edges_f16, 32);
    case 'Y': return (struct pool)POOL(edges_bf16, 32);
    case 'p': return (struct pool)POOL(edges_pred, 1);
    default: return (struct pool)POOL(edges_int, 32);
    }
#undef POOL
}
static uint64_t low_bits(uint64_t v, unsigned bits) {
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}

/* A value: edge `i` of the pool, or past its end a random one. Random floats
 * are of any exponent half the time, near one otherwise; integers of any
 * magnitude. */
static uint64_t value(struct rng *r, char letter, unsigned i) {
    struct pool p = pool_of(letter);
    uint64_t any = rng_next(r);
    if (letter == 'X' || letter == 'Y') {
        uint64_t low = i < p.n ? p.v[i] : any & 0xffff;
        uint64_t high = any & 1 << 20 ? p.v[any % p.n] : any >> 40 & 0xffff;
        return low | high << 16;
    }
    if (i < p.n) return low_bits(p.v[i], p.bits);
    switch (letter) {
    case 'p': return any & 1;
    case 'n': return any & 1 << 10 ? any % 67 : low_bits(any, 32);
    case 'F':
        return any >> 63 ? low_bits(any, 32)
                         : (any & 0x807fffff) | (110 + (any >> 40) % 36) << 23;
    case 'D':
        return any & 1 ? any : (any & 0x800fffffffffffff) |
                                   (990 + (any >> 52) % 70) << 52;
    case 'H': case 'B': return any & 0xffff;
    default: return low_bits(any, p.bits) >> rng_below(r, p.bits);
    }
}

/* Fills one thread's sources: every combination of edges where they fit in,
 * edges at random in a third of the rest. */
static void fill(struct rng *r, const char *src, unsigned n, unsigned thread,
                 uint64_t *s) {
    unsigned combinations = 1, at = thread;
    for (unsigned k = 0; k < n; k++) combinations *= pool_of(src[k]).n;
    bool all = n > 0 && combinations <= THREADS * 3 / 4 && n <= 2;
    for (unsigned k = 0; k < n; k++) {
        unsigned edges = pool_of(src[k]).n;
        if (all && thread < combinations)
            s[k] = value(r, src[k], at % edges), at /= edges;
        else
            s[k] = value(r, src[k], rng_below(r, 3) ? rng_below(r, edges)
                                                    : edges);
    }
}

/* ---- the kernel ------------------------------------------------------------ */

static const char *reg_prefix(char letter) {
    switch (letter) {
    case 'h': case 'H': case 'B': return "h";
    case 'd': return "d";
    case 'F': return "f";
    case 'D': return "e";
    case 'p': return "p";
    default: return "r";
    }
}
static unsigned reg_bytes(char letter) {
    switch (letter) {
    case 'h': case 'H': case 'B': return 2;
    case 'd': case 'D': return 8;
    default: return 4;
    }
}

struct text { char at[8192]; size_t n; };
static void put(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->at + t->n, sizeof t->at - t->n, format, args);
    va_end(args);
    if (t->n >= sizeof t->at) abort();
}

struct operands { const char *dst, *src; unsigned n_dst, n_src; };
static struct operands operands_of(const struct form *f) {
    const char *colon = strchr(f->ops, ':');
    return (struct operands){f->ops, colon + 1, (unsigned)(colon - f->ops),
                             (unsigned)strlen(colon + 1)};
}
static void put_reg(struct text *t, const struct operands *o, bool dst,
                    unsigned k, enum style style) {
    if (!dst && k == 0 && style == ALIAS) dst = true;
    char letter = dst ? o->dst[k] : o->src[k];
    put(t, "%%%s%s%u", reg_prefix(letter), dst ? "d" : "s", k);
}

/* The constant of an IMMEDIATE style: one of the edges of the last source. */
static uint64_t immediate(const struct operands *o, enum style style) {
    char letter = o->src[o->n_src - 1];
    struct pool p = pool_of(letter);
    return low_bits(p.v[((style - IMMEDIATE) * 7 + p.n / 3) % p.n], p.bits);
}
static void put_immediate(struct text *t, const struct operands *o,
                          enum style style) {
    char letter = o->src[o->n_src - 1];
    uint64_t v = immediate(o, style);
    int up = 64 - (int)pool_of(letter).bits;
    if (letter == 'F') put(t, "0f%08" PRIX64, v);
    else if (letter == 'D') put(t, "0d%016" PRIX64, v);
    else if (style % 2) put(t, "%" PRId64, (int64_t)(v << up) >> up);
    else put(t, "0x%" PRIx64, v);
}

/* The instruction itself, from the template or by default. */
static void put_instruction(struct text *t, const struct form *f,
                            const struct operands *o, enum style style) {
    if (!f->text) {
        put(t, "%s ", f->name);
        for (unsigned k = 0; k < o->n_dst + o->n_src; k++) {
            bool dst = k < o->n_dst;
            if (k) put(t, ", ");
            if (style >= IMMEDIATE && k == o->n_dst + o->n_src - 1)
                put_immediate(t, o, style);
            else put_reg(t, o, dst, dst ? k : k - o->n_dst, style);
        }
        put(t, ";\n");
        return;
    }
    for (const char *p = f->text; *p; p++) {
        if (*p != '$') put(t, "%c", *p);
        else if (*++p >= 'd') put_reg(t, o, true, (unsigned)(*p - 'd'), style);
        else put_reg(t, o, false, (unsigned)(*p - '0'), style);
    }
    put(t, ";\n");
}

static void put_load(struct text *t, char letter, const char *reg, unsigned k,
                     const char *base, unsigned offset) {
    if (letter == 'p') {
        put(t, "ld.global.b32 %%rt, [%s+%u];\nsetp.ne.u32 %%p%s%u, %%rt, 0;\n",
            base, offset, reg, k);
        return;
    }
    put(t, "ld.global.b%u %%%s%s%u, [%s+%u];\n", 8 * reg_bytes(letter),
        reg_prefix(letter), reg, k, base, offset);
}
static void put_store(struct text *t, char letter, unsigned k,
                      const char *base, unsigned offset) {
    if (letter == 'p') {
        put(t, "selp.u32 %%rt, 1, 0, %%pd%u;\nst.global.b32 [%s+%u], %%rt;\n",
            k, base, offset);
        return;
    }
    put(t, "st.global.b%u [%s+%u], %%%sd%u;\n", 8 * reg_bytes(letter), base,
        offset, reg_prefix(letter), k);
}

static void put_kernel(struct text *t, const struct form *f, enum style style) {
    struct operands o = operands_of(f);
    put(t, ".version 9.0\n.target sm_90\n.address_size 64\n"
           ".const .align 16 .b8 image[16];\n"
           ".func (.param .b32 r) same32(.param .b32 a)\n{\n"
           ".reg .b32 %%r;\nld.param.b32 %%r, [a];\n"
           "st.param.b32 [r], %%r;\nret;\n}\n"
           ".func (.param .b64 r) same64(.param .b64 a)\n{\n"
           ".reg .b64 %%r;\nld.param.b64 %%r, [a];\n"
           "st.param.b64 [r], %%r;\nret;\n}\n"
           ".visible .entry k(.param .u64 in, .param .u64 out, "
           ".param .u64 active, .param .u64 pad, "
           ".param .align 16 .b8 image_param[16])\n{\n"
           ".reg .pred %%g, %%ps<6>, %%pd<4>;\n.reg .b16 %%hs<6>, %%hd<4>;\n"
           ".reg .b32 %%t<4>, %%rt, %%rs<6>, %%rd<4>;\n"
           ".reg .f32 %%fs<6>, %%fd<4>;\n.reg .f64 %%es<6>, %%ed<4>;\n"
           ".reg .b64 %%in, %%out, %%act, %%x, %%ds<6>, %%dd<4>;\n"
           "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
           "ld.param.u64 %%act, [active];\n"
           "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%ntid.x;\n"
           "mov.u32 %%t2, %%tid.x;\nmad.lo.s32 %%t3, %%t0, %%t1, %%t2;\n");
    put(t, "mul.wide.u32 %%x, %%t3, %d;\nadd.s64 %%in, %%in, %%x;\n"
           "mul.wide.u32 %%x, %%t3, %d;\nadd.s64 %%out, %%out, %%x;\n"
           "mul.wide.u32 %%x, %%t3, 4;\nadd.s64 %%act, %%act, %%x;\n"
           "ld.global.u32 %%rt, [%%act];\nsetp.ne.u32 %%g, %%rt, 0;\n",
        8 * FORM_MAX_SRC, 8 * FORM_MAX_DST);
    for (unsigned k = 0; k < o.n_src; k++)
        put_load(t, o.src[k], "s", k, "%in", 8 * k);
    for (unsigned k = 0; k < o.n_dst; k++)
        put_load(t, o.dst[k], "d", k, "%out", 8 * k);
    if (style == ALIAS) put_load(t, o.dst[0], "d", 0, "%in", 0);
    bool several = f->text && strchr(f->text, ';');
    if (style != ALIAS)
        put(t, style == BRANCHED || several ? "@!%%g bra AFTER;\n" : "@%%g ");
    put_instruction(t, f, &o, style);
    put(t, "AFTER:\n");
    for (unsigned k = 0; k < o.n_dst; k++)
        put_store(t, o.dst[k], k, "%out", 8 * k);
    put(t, "ret;\n}\n");
}

/* ---- running and comparing -------------------------------------------------- */

struct arrays {
    uint64_t in[THREADS][FORM_MAX_SRC];
    uint64_t out[THREADS][FORM_MAX_DST], before[THREADS][FORM_MAX_DST];
    uint32_t active[THREADS];
    _Alignas(16) uint8_t image[16];
};
const uint8_t form_image[16] = {0x81, 0x72, 0xf3, 0x44, 0x95, 0x06, 0xa7, 0x58,
                                0x19, 0xea, 0x7b, 0xcc, 0x8d, 0x3e, 0xff, 0xc0};
static struct {
    struct memory *memory;
    uint64_t address;
    struct arrays *host;
} rig;

static void set_up(void) {
    if (rig.memory) return;
    rig.memory = memory_create(&(struct memory_config){
        .total_bytes = 1ull << 30, .check = MEMORY_CHECK_EXACT});
    rig.address = memory_alloc(rig.memory, sizeof(struct arrays),
                               MEMORY_DEVICE, 0);
    rig.host = memory_host(rig.memory, rig.address);
    memcpy(rig.host->image, form_image, sizeof form_image);
}
static bool symbol(void *ctx, const char *name, uint64_t *address) {
    (void)ctx;
    *address = rig.address + offsetof(struct arrays, image);
    return !strcmp(name, "image");
}

/* Masks by warp: all, odd lanes, one lane, any, none, the low half, all but
 * one, all. */
static uint32_t mask_of(struct rng *r, unsigned warp) {
    uint32_t any = (uint32_t)rng_next(r), one = 1u << any % 32;
    const uint32_t masks[8] = {FULL_MASK, 0xaaaaaaaa, one, any,
                               0, 0xffff, ~one, FULL_MASK};
    return masks[warp % 8];
}

static void prepare(const struct form *f, enum style style) {
    struct operands o = operands_of(f);
    struct rng r;
    rng_seed(&r, 0x5eed);
    for (unsigned i = 0; i < THREADS; i++) {
        static uint32_t mask;
        if (i % LANES == 0) mask = mask_of(&r, i / LANES);
        rig.host->active[i] = style == ALIAS || (mask >> i % LANES & 1);
        fill(&r, o.src, o.n_src, i, rig.host->in[i]);
        if (style >= IMMEDIATE)
            rig.host->in[i][o.n_src - 1] = immediate(&o, style);
        for (unsigned k = 0; k < o.n_dst; k++) {
            unsigned bits = pool_of(o.dst[k]).bits;
            rig.host->before[i][k] = low_bits(rng_next(&r), bits);
            rig.host->out[i][k] = rig.host->before[i][k];
        }
    }
}

static uint64_t now(void *ctx) { (void)ctx; return 0; }

static bool execute(const struct program *p) {
    uint64_t params[6] = {rig.address + offsetof(struct arrays, in),
                          rig.address + offsetof(struct arrays, out),
                          rig.address + offsetof(struct arrays, active)};
    memcpy(&params[4], form_image, 16);
    struct exec_services services = {.memory = rig.memory, .globaltimer = now,
                                     .clock = now};
    struct exec_launch l = {.program = p, .grid = {BLOCKS, 1, 1},
                            .block = {BLOCK, 1, 1}, .number = 1,
                            .params = (const uint8_t *)params,
                            .services = &services};
    struct block *b = block_create(&l);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block_start(b, (uint32_t[3]){i, 0, 0});
        enum block_state state = BLOCK_RUNNING; /* a sleeping block is, too */
        for (int turn = 0; state == BLOCK_RUNNING && turn < 1000; turn++)
            state = block_run(b, 1u << 20, NULL);
        if (state != BLOCK_DONE) {
            printf("  block ends in state %d: %s %s at %#" PRIx64 "\n", state,
                   fault_kind_text(b->fault.kind), b->fault.instruction,
                   b->fault.address);
            block_destroy(b);
            return false;
        }
    }
    block_destroy(b);
    return true;
}

static void print_difference(const struct form *f, unsigned i, unsigned k,
                             uint64_t got, uint64_t want) {
    struct operands o = operands_of(f);
    printf("  %s%s:", f->name, rig.host->active[i] ? "" : " (idle lane)");
    for (unsigned n = 0; n < o.n_src; n++)
        printf(" %" PRIx64, rig.host->in[i][n]);
    printf(" -> [%u] %" PRIx64 ", expected %" PRIx64 "\n", k, got, want);
}

/* What one warp must have: expected values, and the lanes whose are defined. */
static uint32_t expect(const struct form *f, enum style style, unsigned first,
                       uint64_t (*want)[FORM_MAX_DST]) {
    struct operands o = operands_of(f);
    uint32_t mask = 0;
    for (unsigned i = 0; i < LANES; i++) {
        memcpy(want[i], rig.host->before[first + i], sizeof want[i]);
        if (style == ALIAS)
            want[i][0] = low_bits(rig.host->in[first + i][0],
                                  pool_of(o.dst[0]).bits);
        mask |= (uint32_t)rig.host->active[first + i] << i;
        if (rig.host->active[first + i] && !f->warp)
            f->ref(f, rig.host->in[first + i], want[i]);
    }
    if (!f->warp || !mask) return FULL_MASK;
    return ~mask | f->warp(f, mask, rig.host->in + first, want);
}

static bool compare(const struct form *f, enum style style) {
    struct operands o = operands_of(f);
    unsigned wrong = 0;
    uint64_t want[LANES][FORM_MAX_DST];
    uint32_t defined = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        if (i % LANES == 0) defined = expect(f, style, i, want);
        if (!(defined >> i % LANES & 1)) continue;
        for (unsigned k = 0; k < o.n_dst; k++, values++) {
            unsigned bits = pool_of(o.dst[k]).bits;
            uint64_t got = low_bits(rig.host->out[i][k], bits);
            uint64_t need = low_bits(want[i % LANES][k], bits);
            bool same = got == need ||
                        (f->near && rig.host->active[i] &&
                         f->near(rig.host->in[i], got, need));
            if (!same && wrong++ < 4) print_difference(f, i, k, got, need);
        }
    }
    if (wrong) printf("FAIL %s: %u values differ\n", f->name, wrong);
    return !wrong;
}

static bool run_style(const struct form *f, enum style style) {
    struct operands o = operands_of(f);
    if (style == ALIAS &&
        (f->text || !o.n_dst || !o.n_src || o.dst[0] != o.src[0]))
        return true;
    if (style >= IMMEDIATE &&
        (f->text || o.n_src < 2 || !strchr("hrdnFD", o.src[o.n_src - 1])))
        return true;
    struct text t = {.n = 0};
    put_kernel(&t, f, style);
    struct ptx_error err = {.text = ""};
    struct ptx_module *m = ptx_parse(t.at, t.n, f->name, &err);
    struct program *p = m ? program_decode(m, "k", symbol, NULL, &err) : NULL;
    bool ok = p != NULL;
    if (!ok) printf("FAIL %s: %s\n", f->name, err.text);
    prepare(f, style);
    ok = ok && execute(p) && compare(f, style);
    if (p) program_free(p);
    if (m) ptx_module_free(m);
    return ok;
}

bool form_run(const struct form *f, bool baseline) {
    set_up();
    exec_use_baseline(baseline);
    for (enum style s = 0; s < STYLES; s++)
        if (!run_style(f, s)) return false;
    return true;
}
