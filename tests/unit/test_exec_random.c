/* Random control flow, with calls: 96 threads that run as warps must compute
 * what each computes alone in a block of one thread. Nothing here depends on
 * what lanes do together, so whatever the fragments of a warp do to each other
 * is a bug: a lost lane, a wrong merge, frames that overlap. */
#include "bench_block.h"

#define N_REGS 6
#define THREADS 96

struct gen {
    struct rng rng;
    char text[1 << 16];
    size_t len;
    unsigned labels, depth, statements;
    bool in_function;
    int n_callees; /* functions 0 .. n-1 may be called */
};

static void put(struct gen *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct gen *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g->len += (size_t)vsnprintf(g->text + g->len, sizeof g->text - g->len,
                                format, args);
    va_end(args);
    assert_true(g->len < sizeof g->text);
}

static unsigned pick(struct gen *g, unsigned n) {
    return rng_below(&g->rng, n);
}

static void block(struct gen *g);

static void arithmetic(struct gen *g) {
    static const char *const ops[] = {"add.u32", "sub.u32", "xor.b32",
                                      "mul.lo.u32", "and.b32", "max.u32"};
    unsigned d = pick(g, N_REGS), a = pick(g, N_REGS), b = pick(g, N_REGS);
    if (pick(g, 4) == 0)
        put(g, "setp.lt.u32 %%p1, %%r%u, %%r%u;\n@%s%%p1 ", a, b,
            pick(g, 2) ? "!" : "");
    switch (pick(g, 4)) {
    case 0:
        put(g, "add.u32 %%r%u, %%r%u, %u;\n", d, a, pick(g, 1000));
        break;
    case 1: /* through a row of 64 bits */
        put(g, "mul.wide.u32 %%rd%u, %%r%u, %%r%u;\n"
            "shr.u64 %%rd%u, %%rd%u, 13;\ncvt.u32.u64 %%r%u, %%rd%u;\n",
            d, a, b, d, d, d, d);
        break;
    default:
        put(g, "%s %%r%u, %%r%u, %%r%u;\n", ops[pick(g, 6)], d, a, b);
    }
}

/* p2 = some condition on data that lanes will not agree on. */
static void condition(struct gen *g) {
    static const char *const cmp[] = {"lt", "ge", "eq", "ne"};
    unsigned k = pick(g, 4), a = pick(g, N_REGS);
    put(g, "shr.u32 %%r19, %%r%u, %u;\nand.b32 %%r19, %%r19, %u;\n"
        "setp.%s.u32 %%p2, %%r19, %u;\n", a, pick(g, 8), 1 + pick(g, 7),
        cmp[k], pick(g, 4));
}

static void branch(struct gen *g) {
    unsigned l = g->labels++;
    bool otherwise = pick(g, 2);
    condition(g);
    put(g, "@%s%%p2 bra A%u;\n", pick(g, 2) ? "!" : "", l);
    block(g);
    if (otherwise) put(g, "bra.uni B%u;\n", l);
    put(g, "A%u:\n", l);
    if (otherwise) {
        block(g);
        put(g, "B%u:\n", l);
    }
}

/* As often as data says, 0 to 7 times; the count has a register a depth. */
static void loop(struct gen *g) {
    unsigned l = g->labels++, count = 20 + g->depth;
    put(g, "and.b32 %%r%u, %%r%u, 7;\nA%u: setp.eq.u32 %%p3, %%r%u, 0;\n"
        "@%%p3 bra B%u;\nsub.u32 %%r%u, %%r%u, 1;\n", count, pick(g, N_REGS), l,
        count, l, count, count);
    block(g);
    if (pick(g, 3) == 0) { /* break */
        condition(g);
        put(g, "@%%p2 bra B%u;\n", l);
    }
    put(g, "bra.uni A%u;\nB%u:\n", l, l);
}

static void call(struct gen *g) {
    if (!g->n_callees) return;
    unsigned a = pick(g, N_REGS), d = pick(g, N_REGS);
    const char *guard = "";
    switch (pick(g, 3)) {
    case 0: condition(g), put(g, "@!%%p2 bra C%u;\n", g->labels); break;
    case 1: condition(g), guard = "@%p2 "; break;
    }
    put(g, "{ .param .b32 param0; .param .b32 retval0;\n"
        "st.param.b32 [param0+0], %%r%u;\n"
        "%scall (retval0), f%u, (param0);\n"
        "%sld.param.b32 %%r%u, [retval0+0]; }\nC%u:\n", a, guard,
        pick(g, (unsigned)g->n_callees), guard, d, g->labels++);
}

/* Out of the middle of a function, for some lanes. */
static void early_return(struct gen *g) {
    if (!g->in_function) return;
    condition(g);
    put(g, "st.param.b32 [ret0+0], %%r%u;\n@%%p2 ret;\n", pick(g, N_REGS));
}

static void statement(struct gen *g) {
    if (++g->statements > 60) return;
    unsigned k = g->depth < 5 ? pick(g, 13) : pick(g, 6);
    if (k < 6) arithmetic(g);
    else if (k < 9) branch(g);
    else if (k < 11) loop(g);
    else if (k < 12) call(g);
    else early_return(g);
}

static void block(struct gen *g) {
    g->depth++;
    for (unsigned n = 1 + pick(g, 4); n; n--) statement(g);
    g->depth--;
}

/* All set: what a register holds before is not defined. */
static const char registers[] =
    ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<12>;\n"
    "mov.u64 %rd0, 0;\nmov.u64 %rd1, 0;\nmov.u64 %rd2, 0;\n"
    "mov.u64 %rd3, 0;\nmov.u64 %rd4, 0;\nmov.u64 %rd5, 0;\n";

static void generate(struct gen *g, uint64_t seed) {
    *g = (struct gen){.labels = 0};
    rng_seed(&g->rng, seed);
    put(g, PTX_HEAD);
    for (int f = 0; f < 3; f++) {
        g->statements = 30;
        g->in_function = true;
        put(g, ".func (.param .b32 ret0) f%d(.param .b32 a0)\n{\n%s"
            "ld.param.u32 %%r0, [a0];\n", f, registers);
        for (int i = 1; i < N_REGS; i++)
            put(g, "mul.lo.u32 %%r%d, %%r0, %u;\n", i, 3 + pick(g, 99));
        block(g);
        put(g, "st.param.b32 [ret0+0], %%r%u;\nret;\n}\n", pick(g, N_REGS));
        g->n_callees = f + 1;
    }
    g->statements = 0;
    g->in_function = false;
    put(g, ".visible .entry k(.param .u64 p, .param .u32 base)\n{\n%s"
        "ld.param.u32 %%r30, [base];\nmov.u32 %%r31, %%tid.x;\n"
        "add.u32 %%r30, %%r30, %%r31;\n", registers);
    for (int i = 0; i < N_REGS; i++)
        put(g, "mad.lo.u32 %%r%d, %%r30, %u, %u;\n", i,
            pick(g, 1u << 20) * 2 + 1, pick(g, 1u << 30));
    for (int i = 0; i < 6; i++) block(g);
    put(g, "xor.b32 %%r0, %%r0, %%r1;\nxor.b32 %%r0, %%r0, %%r2;\n"
        "add.u32 %%r0, %%r0, %%r3;\nxor.b32 %%r0, %%r0, %%r4;\n"
        "ld.param.u64 %%rd10, [p];\nmul.wide.u32 %%rd11, %%r30, 4;\n"
        "add.s64 %%rd10, %%rd10, %%rd11;\nst.global.u32 [%%rd10], %%r0;\n"
        "ret;\n}\n");
}

static void check(uint64_t seed) {
    static struct gen g;
    uint32_t alone[THREADS];
    generate(&g, seed);
    struct rig *r = rig_open(g.text);
    if (!rig_decode(r, "k")) fail_msg("seed %u: %s", (unsigned)seed, r->err.text);
    for (uint32_t i = 0; i < THREADS; i++) {
        r->params[1] = i;
        assert_int_equal(rig_run(r, 1, 1, NULL), BLOCK_DONE);
        alone[i] = r->host[i];
    }
    r->params[1] = 0;
    for (int mode = 0; mode < 3; mode++) {
        struct rng rng;
        rng_seed(&rng, seed);
        memset(r->host, 0, sizeof alone);
        assert_int_equal(rig_run(r, 1, THREADS, mode ? &rng : NULL),
                         BLOCK_DONE);
        if (memcmp(r->host, alone, sizeof alone))
            fail_msg("seed %u differs:\n%s", (unsigned)seed, g.text);
        r->budget = 100; /* interrupted often */
        r->runs = 1u << 20;
    }
    rig_close(r);
}

static void warps_compute_what_threads_do(void **state) {
    (void)state;
    const char *first = getenv("EXEC_RANDOM_FIRST");
    const char *count = getenv("EXEC_RANDOM_COUNT");
    uint64_t at = first ? strtoull(first, NULL, 0) : 1;
    for (uint64_t n = count ? strtoull(count, NULL, 0) : 40; n; n--)
        check(at++);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_compute_what_threads_do),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exec_use_baseline(true); /* and the handlers of plain x86-64 */
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
