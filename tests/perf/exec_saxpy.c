/* How fast kernels execute on one core: saxpy against the same loop in C, and
 * a few shapes that cost a simulator differently, in CPU time. Prints thread instructions a
 * second and, for saxpy, how many times slower than C it is.
 * The result is checked, the times are only told.
 *
 *   exec_saxpy [elements]     default 2^22 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptx/exec.h"

static const char ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x,"
    " .param .u64 y)\n{\n"
    " .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;\n"
    " ld.param.u32 %r2, [n];\n ld.param.f32 %f1, [a];\n"
    " ld.param.u64 %rd1, [x];\n ld.param.u64 %rd2, [y];\n"
    " mov.u32 %r3, %ctaid.x;\n mov.u32 %r4, %ntid.x;\n"
    " mov.u32 %r5, %tid.x;\n mad.lo.s32 %r1, %r3, %r4, %r5;\n"
    " setp.ge.s32 %p1, %r1, %r2;\n @%p1 bra L2;\n"
    " cvta.to.global.u64 %rd3, %rd1;\n mul.wide.s32 %rd4, %r1, 4;\n"
    " add.s64 %rd5, %rd3, %rd4;\n ld.global.f32 %f2, [%rd5];\n"
    " cvta.to.global.u64 %rd6, %rd2;\n add.s64 %rd7, %rd6, %rd4;\n"
    " ld.global.f32 %f3, [%rd7];\n fma.rn.f32 %f4, %f2, %f1, %f3;\n"
    " st.global.f32 [%rd7], %f4;\nL2:\n ret;\n}\n"
    /* A loop of cheap integer instructions: dispatch and row traffic. */
    ".visible .entry spin(.param .u32 n, .param .f32 a, .param .u64 x,"
    " .param .u64 y)\n{\n"
    " .reg .pred %p<2>; .reg .b32 %r<8>;\n"
    " ld.param.u32 %r1, [n];\n mov.u32 %r2, %tid.x;\n mov.u32 %r3, 0;\n"
    "L1:\n mul.lo.s32 %r2, %r2, 1664525;\n add.s32 %r2, %r2, 1013904223;\n"
    " xor.b32 %r4, %r2, %r3;\n shl.b32 %r5, %r4, 3;\n"
    " and.b32 %r6, %r5, 255;\n add.s32 %r7, %r7, %r6;\n"
    " add.s32 %r3, %r3, 1;\n setp.lt.u32 %p1, %r3, %r1;\n"
    " @%p1 bra L1;\n ret;\n}\n"
    /* Half of the lanes take each side, every time round. */
    ".visible .entry diverge(.param .u32 n, .param .f32 a, .param .u64 x,"
    " .param .u64 y)\n{\n"
    " .reg .pred %p<3>; .reg .b32 %r<8>;\n"
    " ld.param.u32 %r1, [n];\n mov.u32 %r2, %tid.x;\n mov.u32 %r3, 0;\n"
    "L1:\n add.s32 %r4, %r2, %r3;\n and.b32 %r5, %r4, 1;\n"
    " setp.eq.s32 %p2, %r5, 0;\n @%p2 bra L2;\n add.s32 %r6, %r6, 3;\n"
    " bra L3;\nL2:\n add.s32 %r7, %r7, 5;\nL3:\n add.s32 %r3, %r3, 1;\n"
    " setp.lt.u32 %p1, %r3, %r1;\n @%p1 bra L1;\n ret;\n}\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool no_symbol(void *ctx, const char *name, uint64_t *address) {
    (void)ctx;
    (void)name;
    (void)address;
    return false;
}

__attribute__((noinline, optimize("O2")))
static void saxpy_c(size_t n, float a, const float *x, float *y) {
    for (size_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

struct params {
    uint32_t n;
    float a;
    uint64_t x, y;
};

/* Seconds of a launch; *steps gets its warp instructions. */
static double launch(struct program *p, struct exec_services *s,
                     struct params *args, uint32_t blocks, uint64_t *steps) {
    struct exec_launch l = {.program = p, .grid = {blocks, 1, 1},
                            .block = {256, 1, 1},
                            .params = (const uint8_t *)args, .number = 1,
                            .services = s};
    struct block *b = block_create(&l);
    double start = now();
    *steps = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        block_start(b, (uint32_t[3]){i, 0, 0});
        if (block_run(b, UINT64_MAX, NULL) != BLOCK_DONE) {
            fprintf(stderr, "%s: did not end\n", p->name);
            exit(1);
        }
        *steps += b->steps;
    }
    double seconds = now() - start;
    block_destroy(b);
    return seconds;
}

static double best_of(struct program *p, struct exec_services *s,
                      struct params *args, uint32_t blocks, uint64_t *steps) {
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        double t = launch(p, s, args, blocks, steps);
        if (t < best) best = t;
    }
    return best;
}

/* Elements that differ from what C computes. */
static size_t check(struct program *p, struct exec_services *s,
                    struct params *args, uint32_t blocks, const float *x,
                    float *y) {
    size_t wrong = 0;
    uint64_t steps;
    for (size_t i = 0; i < args->n; i++) y[i] = 1;
    launch(p, s, args, blocks, &steps);
    for (size_t i = 0; i < args->n; i++) wrong += y[i] != args->a * x[i] + 1;
    return wrong;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : (size_t)1 << 22;
    struct memory *m =
        memory_create(&(struct memory_config){.total_bytes = 1ull << 32});
    struct exec_services s = {.memory = m};
    struct ptx_error err;
    struct ptx_module *mod = ptx_parse(ptx, sizeof ptx - 1, "saxpy", &err);
    if (!mod) return fprintf(stderr, "%s\n", err.text), 1;
    struct params args = {(uint32_t)n, 2.0f,
                          memory_alloc(m, n * 4, MEMORY_DEVICE, 0),
                          memory_alloc(m, n * 4, MEMORY_DEVICE, 0)};
    float *x = memory_host(m, args.x), *y = memory_host(m, args.y);
    for (size_t i = 0; i < n; i++) x[i] = (float)(i % 1000), y[i] = 1;

    size_t wrong = 0;
    double c = 1e9;
    for (int i = 0; i < 5; i++) {
        double t = now();
        saxpy_c(n, args.a, x, y);
        t = now() - t;
        if (t < c) c = t;
    }
    static const struct { const char *name; uint32_t n, blocks; } runs[] = {
        {"saxpy", 0, 0}, {"spin", 2000, 64}, {"diverge", 2000, 16}};
    for (unsigned i = 0; i < 3; i++) {
        struct program *p =
            program_decode(mod, runs[i].name, no_symbol, NULL, &err);
        if (!p) return fprintf(stderr, "%s\n", err.text), 1;
        args.n = runs[i].n ? runs[i].n : (uint32_t)n;
        uint32_t blocks =
            runs[i].blocks ? runs[i].blocks : (uint32_t)((n + 255) / 256);
        uint64_t steps;
        double t = best_of(p, &s, &args, blocks, &steps);
        printf("%-8s %8.2f ms %6.2f ns/warp-insn %6.2f Gthread-insn/s",
               runs[i].name, 1e3 * t, 1e9 * t / (double)steps,
               32e-9 * (double)steps / t);
        if (!i) printf("  %.1f x C (%.2f ms)", t / c, 1e3 * c);
        printf("\n");
        if (!i) wrong = check(p, &s, &args, blocks, x, y);
        program_free(p);
    }
    ptx_module_free(mod);
    memory_destroy(m);
    if (wrong) fprintf(stderr, "%zu elements are wrong\n", wrong);
    return wrong != 0;
}
