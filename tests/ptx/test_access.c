/* Memory as a warp sees it: patterns of addresses, the check of every access,
 * what a fault says, and atomics under contention. Widths and spaces of single
 * accesses are rows of the table in forms_mem.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fenv.h>
#include <pthread.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "core/memory.h"
#include "core/rng.h"
#include "ptx/exec.h"

enum { THREADS = 64 };

/* ---- a kernel from a few lines ------------------------------------------------ */

struct kernel { struct ptx_module *module; struct program *program; };

/* The body has %t (thread), %a %b %c (parameters), and registers of every
 * kind. Statics are declared by it. */
static struct kernel kernel_of(const char *body) {
    static char text[8192];
    struct ptx_error err = {.text = ""};
    int n = snprintf(text, sizeof text,
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
        ".reg .pred %%p<4>;\n.reg .b16 %%h<8>;\n.reg .b32 %%t, %%r<16>;\n"
        ".reg .f32 %%f<8>;\n.reg .b64 %%a, %%b, %%c, %%x<16>;\n"
        "ld.param.u64 %%a, [a];\nld.param.u64 %%b, [b];\n"
        "ld.param.u64 %%c, [c];\nmov.u32 %%t, %%tid.x;\n%s\nret;\n}\n", body);
    assert_in_range(n, 1, sizeof text - 1);
    struct kernel k = {.module = ptx_parse(text, (size_t)n, "test", &err)};
    if (!k.module) fail_msg("%s", err.text);
    k.program = program_decode(k.module, "k", NULL, NULL, &err);
    if (!k.program) fail_msg("%s", err.text);
    return k;
}
static void kernel_free(struct kernel k) {
    program_free(k.program);
    ptx_module_free(k.module);
}

static uint64_t zero(void *ctx) { (void)ctx; return 0; }

/* Runs blocks of the kernel one after the other; the fault of the first that
 * has one. */
static struct fault run_blocks(struct kernel k, struct memory *m,
                               const uint64_t params[3], unsigned blocks,
                               unsigned threads, unsigned dynamic) {
    struct exec_services services = {.memory = m, .globaltimer = zero,
                                     .clock = zero};
    struct exec_launch l = {.program = k.program, .grid = {blocks, 1, 1},
                            .block = {threads, 1, 1}, .number = 1,
                            .dynamic_shared = dynamic,
                            .params = (const uint8_t *)params,
                            .services = &services};
    struct block *b = block_create(&l);
    struct fault f = {.kind = FAULT_NONE};
    assert_non_null(b);
    for (uint32_t i = 0; i < blocks && !f.kind; i++) {
        block_start(b, (uint32_t[3]){i, 0, 0});
        enum block_state s = BLOCK_RUNNING;
        while (s == BLOCK_RUNNING) s = block_run(b, 1u << 16, NULL);
        if (s == BLOCK_FAULTED) f = b->fault;
        else assert_int_equal(s, BLOCK_DONE);
    }
    block_destroy(b);
    return f;
}
static struct fault run(struct memory *m, const char *body, uint64_t a,
                        uint64_t b, uint64_t c) {
    struct kernel k = kernel_of(body);
    struct fault f = run_blocks(k, m, (uint64_t[3]){a, b, c}, 1, THREADS, 0);
    kernel_free(k);
    return f;
}

static struct memory *memory_of(enum memory_check check) {
    struct memory *m = memory_create(&(struct memory_config){
        .total_bytes = 1ull << 30, .check = check});
    assert_non_null(m);
    return m;
}
static uint64_t alloc(struct memory *m, uint64_t bytes) {
    uint64_t a = memory_alloc(m, bytes, MEMORY_DEVICE, 0);
    assert_int_not_equal(a, 0);
    memset(memory_host(m, a), 0, bytes);
    return a;
}

/* ---- patterns ------------------------------------------------------------------ */

enum { ROOM = 8192 };
/* Byte offsets of the lanes' accesses of n bytes, and which lanes make one. */
struct pattern { uint64_t offset[THREADS]; uint32_t active[THREADS]; };
enum { CONTIGUOUS, REVERSED, STRIDED, UNIFORM, SHUFFLED, LAST_BYTES, N_SHAPES };
enum { ALL, ODD, ONE, TAIL, ANY, NO_LANES, N_MASKS };

static struct pattern make(struct rng *r, int shape, int mask, unsigned n) {
    struct pattern p;
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned at = shape == CONTIGUOUS ? i : shape == REVERSED ? 63 - i
                    : shape == STRIDED ? 3 * i : shape == UNIFORM ? 7
                    : shape == LAST_BYTES ? ROOM / n - THREADS + i
                    : rng_below(r, ROOM / n);
        p.offset[i] = (uint64_t)at * n;
        p.active[i] = mask == ALL || (mask == ODD && i & 1) ||
                      (mask == ONE && i % 32 == 5) || (mask == TAIL && i < 41) ||
                      (mask == ANY && rng_next(r) & 1);
    }
    return p;
}

/* a: the room; b: the pattern; c: THREADS rows of 16 bytes. */
#define PATTERN_HEAD                                                         \
    "mul.wide.u32 %x0, %t, 8; add.s64 %x1, %b, %x0; ld.global.u64 %x2, [%x1];"\
    "mul.wide.u32 %x3, %t, 4; add.s64 %x4, %b, %x3;"                         \
    "ld.global.u32 %r0, [%x4+512]; setp.ne.u32 %p0, %r0, 0;"                 \
    "mul.wide.u32 %x5, %t, 16; add.s64 %x6, %c, %x5; add.s64 %x7, %a, %x2;"
static const struct { unsigned bytes; const char *load, *store; } widths[] = {
    {1, "@%p0 ld.global.u8 %h0, [%x7]; @%p0 st.global.u8 [%x6], %h0;",
     "ld.global.u8 %h0, [%x6]; @%p0 st.global.u8 [%x7], %h0;"},
    {2, "@%p0 ld.global.u16 %h0, [%x7]; @%p0 st.global.u16 [%x6], %h0;",
     "ld.global.u16 %h0, [%x6]; @%p0 st.global.u16 [%x7], %h0;"},
    {4, "@%p0 ld.global.u32 %r1, [%x7]; @%p0 st.global.u32 [%x6], %r1;",
     "ld.global.u32 %r1, [%x6]; @%p0 st.global.u32 [%x7], %r1;"},
    {8, "@%p0 ld.global.v2.u32 {%r1, %r2}, [%x7];"
        "@%p0 st.global.v2.u32 [%x6], {%r1, %r2};",
     "ld.global.u64 %x8, [%x6]; @%p0 st.global.u64 [%x7], %x8;"},
    {16, "@%p0 ld.v4.u32 {%r1, %r2, %r3, %r4}, [%x7];"
         "@%p0 st.v4.u32 [%x6], {%r1, %r2, %r3, %r4};",
     "ld.v2.u64 {%x8, %x9}, [%x6]; @%p0 st.v2.u64 [%x7], {%x8, %x9};"}};

static void check_pattern(struct memory *m, uint64_t room, uint64_t list,
                          uint64_t rows, const struct pattern *p, unsigned w,
                          bool store) {
    char body[2048];
    uint8_t *room_h = memory_host(m, room), *rows_h = memory_host(m, rows);
    unsigned n = widths[w].bytes;
    static uint8_t want_room[ROOM], want_rows[THREADS * 16];
    for (unsigned i = 0; i < ROOM; i++) room_h[i] = (uint8_t)(i * 7 + i / 256);
    for (unsigned i = 0; i < THREADS * 16; i++) rows_h[i] = (uint8_t)(i * 13 + 1);
    memcpy(memory_host(m, list), p, sizeof *p);
    memcpy(want_room, room_h, ROOM);
    memcpy(want_rows, rows_h, sizeof want_rows);
    for (unsigned i = 0; i < THREADS; i++) {
        if (!p->active[i]) continue;
        if (store) memcpy(want_room + p->offset[i], want_rows + 16 * i, n);
        else memcpy(want_rows + 16 * i, want_room + p->offset[i], n);
    }
    snprintf(body, sizeof body, "%s%s", PATTERN_HEAD,
             store ? widths[w].store : widths[w].load);
    assert_int_equal(run(m, body, room, list, rows).kind, FAULT_NONE);
    assert_memory_equal(room_h, want_room, ROOM);
    assert_memory_equal(rows_h, want_rows, sizeof want_rows);
}

static void every_pattern(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t room = alloc(m, ROOM), list = alloc(m, sizeof(struct pattern));
    uint64_t rows = alloc(m, THREADS * 16);
    struct rng r;
    rng_seed(&r, 1);
    for (int baseline = 0; baseline < 2; baseline++)
        for (int shape = 0; shape < N_SHAPES; shape++)
            for (int mask = 0; mask < N_MASKS; mask++)
                for (unsigned w = 0; w < 5; w++) {
                    struct pattern p = make(&r, shape, mask, widths[w].bytes);
                    exec_use_baseline(baseline);
                    check_pattern(m, room, list, rows, &p, w, false);
                    check_pattern(m, room, list, rows, &p, w, true);
                }
    memory_destroy(m);
}

/* Lanes by turns in two allocations, in shared and in local memory, through
 * one generic instruction. */
static void lanes_in_different_spaces(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, THREADS * 4), b = alloc(m, THREADS * 4);
    uint64_t c = alloc(m, THREADS * 4);
    for (uint32_t i = 0; i < THREADS; i++) {
        ((uint32_t *)memory_host(m, a))[i] = 1000 + i;
        ((uint32_t *)memory_host(m, b))[i] = 2000 + i;
    }
    struct fault f = run(m,
        ".shared .align 4 .b8 s[256]; .local .align 4 .b8 l[4];"
        "mul.wide.u32 %x0, %t, 4; cvt.u32.u64 %r0, %x0; mov.u32 %r1, s;"
        "add.s32 %r1, %r1, %r0; add.s32 %r2, %t, 3000;"
        "st.shared.u32 [%r1], %r2; add.s32 %r2, %t, 4000; st.local.u32 [l], %r2;"
        "add.s64 %x1, %a, %x0; add.s64 %x2, %b, %x0; cvt.u64.u32 %x3, %r1;"
        "cvta.shared.u64 %x3, %x3; mov.u64 %x4, l; cvta.local.u64 %x4, %x4;"
        "and.b32 %r3, %t, 3; setp.eq.u32 %p0, %r3, 1; selp.b64 %x5, %x2, %x1, %p0;"
        "setp.eq.u32 %p0, %r3, 2; selp.b64 %x5, %x3, %x5, %p0;"
        "setp.eq.u32 %p0, %r3, 3; selp.b64 %x5, %x4, %x5, %p0;"
        "ld.u32 %r4, [%x5]; add.s64 %x6, %c, %x0; st.u32 [%x6], %r4;", a, b, c);
    assert_int_equal(f.kind, FAULT_NONE);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(((uint32_t *)memory_host(m, c))[i],
                         (i % 4 + 1) * 1000 + i);
    memory_destroy(m);
}

/* Stores of many lanes to one address: the highest lane is the last. */
static void last_lane_wins(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 4);
    assert_int_equal(run(m, "setp.lt.u32 %p0, %t, 20; @%p0 st.global.u32 [%a],"
                            " %t;", a, 0, 0).kind, FAULT_NONE);
    assert_int_equal(*(uint32_t *)memory_host(m, a), 19);
    memory_destroy(m);
}

/* ---- faults --------------------------------------------------------------------- */

/* 100 bytes; thread 40 alone touches `offset` bytes from their start, all
 * others the first word. */
#define FROM(access)                                                         \
    "setp.eq.u32 %p0, %t, 40; selp.b64 %x0, %b, 0, %p0;"                     \
    "add.s64 %x1, %a, %x0; mov.b32 %r1, 77; cvt.u16.u32 %h1, %r1;" access

static void expect_fault(enum memory_check check, const char *body,
                         int64_t offset, enum fault_kind kind, unsigned bytes,
                         bool is_write) {
    struct memory *m = memory_of(check);
    uint64_t a = alloc(m, 100);
    struct fault f = run(m, body, a, (uint64_t)offset, 0);
    assert_int_equal(f.kind, kind);
    if (kind != FAULT_NONE) {
        assert_int_equal(f.address, a + (uint64_t)offset);
        assert_int_equal(f.bytes, bytes);
        assert_int_equal(f.is_write, is_write);
        assert_int_equal(f.thread[0], 40);
        assert_int_equal(f.lanes, 1);
    }
    memory_destroy(m);
}

static void exact_bounds(void **state) {
    (void)state;
    enum memory_check x = MEMORY_CHECK_EXACT;
    const char *load = FROM("ld.global.u32 %r0, [%x1];");
    const char *store = FROM("st.global.u32 [%x1], %r1;");
    const char *byte = FROM("ld.global.u8 %h0, [%x1];");
    expect_fault(x, load, 96, FAULT_NONE, 0, false);
    expect_fault(x, load, 100, FAULT_ILLEGAL_ADDRESS, 4, false);
    expect_fault(x, load, -4, FAULT_ILLEGAL_ADDRESS, 4, false);
    expect_fault(x, load, 98, FAULT_MISALIGNED, 4, false);
    expect_fault(x, load, 1, FAULT_MISALIGNED, 4, false);
    expect_fault(x, store, 100, FAULT_ILLEGAL_ADDRESS, 4, true);
    expect_fault(x, store, 2, FAULT_MISALIGNED, 4, true);
    expect_fault(x, byte, 99, FAULT_NONE, 0, false);
    expect_fault(x, byte, 100, FAULT_ILLEGAL_ADDRESS, 1, false);
    expect_fault(x, FROM("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%x1];"), 80,
                 FAULT_NONE, 0, false);
    expect_fault(x, FROM("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%x1];"), 96,
                 FAULT_ILLEGAL_ADDRESS, 16, false);
    expect_fault(x, FROM("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%x1];"), 8,
                 FAULT_MISALIGNED, 16, false);
    expect_fault(x, FROM("st.v2.u32 [%x1], {%r1, %r1};"), 96,
                 FAULT_ILLEGAL_ADDRESS, 8, true);
    expect_fault(x, FROM("atom.global.add.u32 %r0, [%x1], %r1;"), 100,
                 FAULT_ILLEGAL_ADDRESS, 4, true);
    expect_fault(x, FROM("atom.add.u32 %r0, [%x1], %r1;"), 50,
                 FAULT_MISALIGNED, 4, true);
}

/* As a GPU's MMU: past the allocation but in its mapped block passes. */
static void hardware_bounds(void **state) {
    (void)state;
    enum memory_check h = MEMORY_CHECK_HARDWARE;
    const char *load = FROM("ld.global.u32 %r0, [%x1];");
    const char *store = FROM("st.global.u32 [%x1], %r1;");
    expect_fault(h, load, 100, FAULT_NONE, 0, false);
    expect_fault(h, load, 4096, FAULT_NONE, 0, false);
    expect_fault(h, store, 4096, FAULT_NONE, 0, false);
    expect_fault(h, load, 102, FAULT_MISALIGNED, 4, false);
    expect_fault(h, load, 1ll << 29, FAULT_ILLEGAL_ADDRESS, 4, false);
    expect_fault(h, load, -(1ll << 29), FAULT_ILLEGAL_ADDRESS, 4, false);
    expect_fault(h, store, 1ll << 40, FAULT_ILLEGAL_ADDRESS, 4, true);
    expect_fault(h, load, INT64_MIN, FAULT_ILLEGAL_ADDRESS, 4, false);
}

/* When one lane faults, no lane of that instruction has stored. */
static void a_fault_stores_nothing(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 31 * 4);
    struct kernel k = kernel_of("mul.wide.u32 %x0, %t, 4; add.s64 %x1, %a, %x0;"
                                "st.global.u32 [%x1], 5;");
    struct fault f = run_blocks(k, m, (uint64_t[3]){a}, 1, 32, 0);
    assert_int_equal(f.kind, FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(f.thread[0], 31);
    assert_int_equal(f.address, a + 31 * 4);
    for (int i = 0; i < 31; i++)
        assert_int_equal(((uint32_t *)memory_host(m, a))[i], 0);
    kernel_free(k);
    memory_destroy(m);
}

/* The lowest bad lane gives the kind; `lanes` counts those that did the same. */
static void lowest_lane_is_named(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 64);
    struct fault f = run(m, "setp.gt.u32 %p0, %t, 10; selp.b64 %x0, 2, 0, %p0;"
                            "setp.gt.u32 %p0, %t, 20; selp.b64 %x0, 64, %x0, %p0;"
                            "add.s64 %x1, %a, %x0; ld.global.u32 %r0, [%x1];",
                         a, 0, 0);
    assert_int_equal(f.kind, FAULT_MISALIGNED);
    assert_int_equal(f.thread[0], 11);
    assert_int_equal(f.lanes, 10);
    memory_destroy(m);
}

static enum fault_kind kind_of(const char *body, uint64_t a) {
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    enum fault_kind k = run(m, body, a, 0, 0).kind;
    memory_destroy(m);
    return k;
}

static void wild_pointers(void **state) {
    (void)state;
    const char *load = "ld.global.u32 %r0, [%a];", *gen = "ld.u32 %r0, [%a];";
    static const uint64_t wild[] = {0, 4, 16, 4096, 1ull << 32, 1ull << 47,
                                    1ull << 63, ~3ull, 0xdeadbeefdeadbee0};
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        assert_int_equal(kind_of(load, wild[i]), FAULT_ILLEGAL_ADDRESS);
        assert_int_equal(kind_of(gen, wild[i]), FAULT_ILLEGAL_ADDRESS);
    }
    assert_int_equal(kind_of(load, ~0ull), FAULT_MISALIGNED);
    assert_int_equal(kind_of("ld.global.u8 %h0, [%a];", ~0ull),
                     FAULT_ILLEGAL_ADDRESS);
    /* host memory that nobody registered */
    uint32_t here = 1;
    assert_int_equal(kind_of("st.u32 [%a], 9;", (uintptr_t)&here),
                     FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(here, 1);
}

static void shared_bounds(void **state) {
    (void)state;
#define SH ".shared .align 4 .b8 s[64]; mov.u32 %r1, s; "
    assert_int_equal(kind_of(SH "st.shared.u32 [%r1+60], 1;", 0), FAULT_NONE);
    assert_int_equal(kind_of(SH "st.shared.u32 [%r1+64], 1;", 0),
                     FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(SH "ld.shared.u32 %r2, [%r1+-4];", 0),
                     FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(SH "ld.shared.u32 %r2, [%r1+2];", 0),
                     FAULT_MISALIGNED);
    assert_int_equal(kind_of(SH "add.s32 %r3, %r1, -8; ld.shared.u32 %r2,"
                             " [%r3+12];", 0), FAULT_NONE);
    assert_int_equal(kind_of(SH "atom.shared.add.u32 %r2, [%r1+64], 1;", 0),
                     FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(SH "cvt.u64.u32 %x0, %r1; cvta.shared.u64 %x0, %x0;"
                             "st.u32 [%x0+64], 1;", 0), FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(SH "cvt.u64.u32 %x0, %r1; cvta.shared.u64 %x0, %x0;"
                             "st.u32 [%x0+60], 1;", 0), FAULT_NONE);
    assert_int_equal(kind_of("mov.u32 %r1, 0; st.shared.u32 [%r1], 1;", 0),
                     FAULT_ILLEGAL_ADDRESS);
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    struct kernel k = kernel_of("mov.u32 %r1, 124; st.shared.u32 [%r1], 1;");
    assert_int_equal(run_blocks(k, m, (uint64_t[3]){0}, 1, 32, 128).kind,
                     FAULT_NONE);
    assert_int_equal(run_blocks(k, m, (uint64_t[3]){0}, 1, 32, 124).kind,
                     FAULT_ILLEGAL_ADDRESS);
    kernel_free(k);
    memory_destroy(m);
}

static void local_bounds(void **state) {
    (void)state;
#define LO ".local .align 16 .b8 l[16]; mov.u64 %x1, l; "
    assert_int_equal(kind_of(LO "st.local.u32 [%x1+12], 1;", 0), FAULT_NONE);
    assert_int_equal(kind_of(LO "st.local.u32 [%x1+65536], 1;", 0),
                     FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(LO "ld.local.u32 %r0, [%x1+-4];", 0),
                     FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(LO "ld.local.u32 %r0, [%x1+6];", 0),
                     FAULT_MISALIGNED);
    assert_int_equal(kind_of(LO "cvta.local.u64 %x1, %x1; ld.u32 %r0,"
                             " [%x1+65536];", 0), FAULT_ILLEGAL_ADDRESS);
    /* an atomic on local memory is an operation on the wrong space */
    assert_int_equal(kind_of(LO "cvta.local.u64 %x1, %x1; atom.add.u32 %r0,"
                             " [%x1], 1;", 0), FAULT_ADDRESS_SPACE);
    assert_int_equal(kind_of(LO "cvta.local.u64 %x1, %x1; red.add.u32"
                             " [%x1], 1;", 0), FAULT_ADDRESS_SPACE);
}

/* Parameters can be read through a generic address and not be written. */
static void parameters_are_read_only(void **state) {
    (void)state;
#define PA "mov.u64 %x1, a; cvta.param.u64 %x1, %x1; "
    assert_int_equal(kind_of(PA "ld.u64 %x2, [%x1]; setp.eq.u64 %p0, %x2, %a;"
                             "@!%p0 trap;", 0x1234), FAULT_NONE);
    assert_int_equal(kind_of(PA "st.u64 [%x1], %a;", 0), FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(kind_of(PA "ld.u64 %x2, [%x1+24];", 0),
                     FAULT_ILLEGAL_ADDRESS);
}

/* A warp's cached span must not outlive the allocation. */
static void freed_memory(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 4096);
    struct kernel k = kernel_of("ld.global.u32 %r0, [%a];");
    uint64_t params[3] = {a};
    struct exec_services services = {.memory = m, .globaltimer = zero,
                                     .clock = zero};
    struct exec_launch l = {.program = k.program, .grid = {2, 1, 1},
                            .block = {32, 1, 1}, .number = 1,
                            .params = (const uint8_t *)params,
                            .services = &services};
    struct block *b = block_create(&l);
    block_start(b, (uint32_t[3]){0, 0, 0});
    assert_int_equal(block_run(b, 1000, NULL), BLOCK_DONE);
    assert_true(memory_free(m, a, MEMORY_DEVICE));
    block_start(b, (uint32_t[3]){1, 0, 0});
    assert_int_equal(block_run(b, 1000, NULL), BLOCK_FAULTED);
    assert_int_equal(b->fault.kind, FAULT_ILLEGAL_ADDRESS);
    block_destroy(b);
    kernel_free(k);
    memory_destroy(m);
}

/* Every lane its own random address, some near the allocation: whatever comes,
 * the process lives and only the allocation changes. */
static void random_addresses(void **state) {
    (void)state;
    static const char *const access[] = {
        "ld.global.u32 %r0, [%x1];", "ld.u64 %x2, [%x1];",
        "ld.v4.u32 {%r2,%r3,%r4,%r5}, [%x1];", "st.global.u32 [%x1], 1;",
        "st.u8 [%x1], %h0;", "atom.add.u32 %r0, [%x1], 1;",
        "red.global.add.f32 [%x1], %f0;", "ld.local.u32 %r0, [%x1];",
        "ld.shared.u32 %r0, [%x1];", "st.shared.u64 [%x1], %x1;"};
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 4096), list = alloc(m, THREADS * 8);
    struct rng r;
    rng_seed(&r, 7);
    for (unsigned n = 0; n < sizeof access / sizeof *access; n++) {
        char body[512];
        snprintf(body, sizeof body, ".local .align 8 .b8 l[32];"
                 ".shared .align 8 .b8 s[32]; mul.wide.u32 %%x0, %%t, 8;"
                 "add.s64 %%x0, %%b, %%x0; ld.global.u64 %%x1, [%%x0]; %s",
                 access[n]);
        struct kernel k = kernel_of(body);
        for (int round = 0; round < 300; round++) {
            uint64_t *v = memory_host(m, list);
            bool near = round % 2;
            for (unsigned i = 0; i < THREADS; i++)
                v[i] = near ? a + (rng_next(&r) % 1200 - 50) * 4
                            : rng_next(&r) >> rng_below(&r, 64);
            struct fault f = run_blocks(k, m, (uint64_t[3]){a, list}, 1,
                                        THREADS, 0);
            assert_true(f.kind == FAULT_NONE ||
                        f.kind == FAULT_ILLEGAL_ADDRESS ||
                        f.kind == FAULT_MISALIGNED ||
                        f.kind == FAULT_ADDRESS_SPACE);
        }
        kernel_free(k);
    }
    memory_destroy(m);
}

/* ---- contention ------------------------------------------------------------------ */

struct worker { struct kernel k; struct memory *m; uint64_t a; };
enum { WORKERS = 3, WORK_BLOCKS = 40, HOST_ADDS = 100000 };

static void *work(void *arg) {
    struct worker *w = arg;
    uint64_t params[3] = {w->a};
    struct fault f = run_blocks(w->k, w->m, params, WORK_BLOCKS, THREADS, 0);
    return f.kind == FAULT_NONE ? NULL : w;
}

/* Every thread adds 1 to several cells by different means, while other workers
 * do the same and the host adds to one of them. */
static void contention(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    struct worker w = {.m = m, .a = alloc(m, 256)};
    w.k = kernel_of(
        "atom.global.add.u32 %r0, [%a], 1; red.global.add.u64 [%a+8], 1;"
        "atom.global.add.f32 %f0, [%a+16], 0f3F800000;"
        "mov.b64 %x0, 0d3FF0000000000000; red.global.add.f64 [%a+24], %x0;"
        "and.b32 %r1, %t, 7; mul.wide.u32 %x1, %r1, 4; add.s64 %x1, %a, %x1;"
        "atom.sys.add.u32 %r2, [%x1+32], 1;"
        "atom.global.inc.u32 %r2, [%a+64], 0x7fffffff;"
        "ld.global.u32 %r3, [%a+68];\n"
        "AGAIN: add.s32 %r4, %r3, 1;"
        "atom.global.cas.b32 %r5, [%a+68], %r3, %r4;"
        "setp.ne.u32 %p0, %r5, %r3; mov.b32 %r3, %r5; @%p0 bra AGAIN;"
        "mov.b32 %r6, 0x3c003c00; atom.add.noftz.f16x2 %r7, [%a+72], %r6;"
        "atom.global.max.u32 %r7, [%a+76], %t; atom.global.or.b32 %r7, [%a+80],"
        " %t;");
    pthread_t thread[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w), 0);
    uint32_t *cell = memory_host(m, w.a);
    for (int i = 0; i < HOST_ADDS; i++)
        __atomic_fetch_add(&cell[0], 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < WORKERS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    uint32_t total = WORKERS * WORK_BLOCKS * THREADS;
    assert_int_equal(cell[0], total + HOST_ADDS);
    assert_int_equal(*(uint64_t *)&cell[2], total);
    assert_true(*(float *)&cell[4] == total);
    assert_true(*(double *)&cell[6] == total);
    for (int i = 0; i < 8; i++) assert_int_equal(cell[8 + i], total / 8);
    assert_int_equal(cell[16], total);
    assert_int_equal(cell[17], total);
    assert_int_equal(cell[18], 0x68006800); /* 2048 + 1 is 2048 in f16 */
    assert_int_equal(cell[19], THREADS - 1);
    assert_int_equal(cell[20], 63);
    kernel_free(w.k);
    memory_destroy(m);
}

/* Each lane sees the sum of those before it: the values are a permutation of
 * 0 .. n-1, in order inside a warp. */
static void added_values_are_distinct(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 4), b = alloc(m, THREADS * 4);
    assert_int_equal(run(m, "and.b32 %r1, %t, 3; setp.ne.u32 %p0, %r1, 2;"
                            "mov.b32 %r0, -1; @%p0 atom.global.add.u32 %r0, [%a],"
                            " 1; mul.wide.u32 %x0, %t, 4; add.s64 %x1, %b, %x0;"
                            "st.global.u32 [%x1], %r0;", a, b, 0).kind,
                     FAULT_NONE);
    uint32_t *got = memory_host(m, b), next[2] = {0, 0}, seen = 0;
    uint32_t first[2] = {got[0], got[32]};
    for (unsigned i = 0; i < THREADS; i++) {
        if (i % 4 == 2) { assert_int_equal(got[i], UINT32_MAX); continue; }
        assert_int_equal(got[i], first[i / 32] + next[i / 32]++);
        seen++;
    }
    assert_int_equal(*(uint32_t *)memory_host(m, a), seen);
    assert_int_equal(first[0] + first[1], 24);
    memory_destroy(m);
}

/* ---- the thread that runs a block --------------------------------------------------- */

/* A host that rounds up and flushes subnormals has its way back afterwards,
 * and its kernels never notice. */
static void host_rounding_does_not_matter(void **state) {
    (void)state;
    struct memory *m = memory_of(MEMORY_CHECK_EXACT);
    uint64_t a = alloc(m, 12);
    uint32_t *v = memory_host(m, a);
    v[0] = 0x00000003;
    fesetround(FE_UPWARD);
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, denormals are zero */
#endif
    assert_int_equal(run(m, "ld.global.f32 %f0, [%a]; add.f32 %f1, %f0, %f0;"
                            "st.global.f32 [%a+4], %f1;"
                            "add.f32 %f2, %f0, 0f3F800000;"
                            "st.global.f32 [%a+8], %f2;", a, 0, 0).kind,
                     FAULT_NONE);
    assert_int_equal(fegetround(), FE_UPWARD);
#ifdef __SSE2__
    assert_int_equal(_mm_getcsr() & 0x8040, 0x8040);
    _mm_setcsr(0x1f80);
#endif
    fesetround(FE_TONEAREST);
    assert_int_equal(v[1], 0x00000006);
    assert_int_equal(v[2], 0x3f800000);
    memory_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern),
        cmocka_unit_test(lanes_in_different_spaces),
        cmocka_unit_test(last_lane_wins),
        cmocka_unit_test(exact_bounds),
        cmocka_unit_test(hardware_bounds),
        cmocka_unit_test(a_fault_stores_nothing),
        cmocka_unit_test(lowest_lane_is_named),
        cmocka_unit_test(wild_pointers),
        cmocka_unit_test(shared_bounds),
        cmocka_unit_test(local_bounds),
        cmocka_unit_test(parameters_are_read_only),
        cmocka_unit_test(freed_memory),
        cmocka_unit_test(random_addresses),
        cmocka_unit_test(contention),
        cmocka_unit_test(added_values_are_distinct),
        cmocka_unit_test(host_rounding_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
