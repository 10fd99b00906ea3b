/* Decoding: what a program says of itself, and what is not supported. */
#include "bench_block.h"

#define BODY "{\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;\n"

/* ---- what is not supported ---------------------------------------------------------- */

static void an_unsupported_opcode_is_named(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".visible .entry bad()\n" BODY ".loc 1 12 3\nmov.u32 %r1, 0;\n"
        ".loc 1 13 5\nfrobnicate.sync.u32 %r1, %r2;\nret;\n}\n"
        ".visible .entry k(.param .u64 p)\n" BODY
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, 5;\n"
        "st.global.u32 [%rd1], %r1;\nret;\n}\n.file 1 \"dir/a.cu\"\n");
    assert_false(rig_decode(r, "bad"));
    assert_string_equal(r->err.text,
        "dir/a.cu:13: kernel bad: unsupported PTX: frobnicate.sync.u32 "
        "(ptx line 10)");
    assert_int_equal(r->err.line, 10);
    assert_true(rig_decode(r, "k")); /* the others still run */
    assert_int_equal(rig_run(r, 1, 1, NULL), BLOCK_DONE);
    assert_int_equal(r->host[0], 5);
    rig_close(r);
}

static void it_is_found_in_callees(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".func f()\n" BODY "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4},"
        " [%rd1, {%f5, %f6}];\nret;\n}\n"
        ".visible .entry k()\n" BODY "call.uni f, ();\nret;\n}\n");
    assert_false(rig_decode(r, "k"));
    assert_string_equal(r->err.text, "kernel k: unsupported PTX: "
                        "tex.2d.v4.f32.f32 (ptx line 7)");
    rig_close(r);
}

static void an_external_function_is_named(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".extern .func cudaFoo(.param .b64 a);\n"
        ".visible .entry k()\n" BODY
        "{ .param .b64 param0; st.param.b64 [param0+0], %rd1;\n"
        "call.uni cudaFoo, (param0); }\nret;\n}\n");
    assert_false(rig_decode(r, "k"));
    assert_string_equal(r->err.text, "kernel k: unsupported PTX: call of "
                        "external function cudaFoo (ptx line 9)");
    rig_close(r);
}

/* A function whose address is merely taken fails only when it is called. */
static void an_unsupported_function_in_a_table(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".func good();\n.func bad();\n"
        ".global .align 8 .u64 t[2] = {good, bad};\n"
        ".func good()\n" BODY "ret;\n}\n"
        ".func bad()\n" BODY "frobnicate.u32 %r1, %r2;\nret;\n}\n"
        ".visible .entry k(.param .u64 i)\n" BODY
        "ld.param.u64 %rd1, [i];\nmov.u64 %rd2, t;\n"
        "add.s64 %rd2, %rd2, %rd1;\nld.global.u64 %rd3, [%rd2];\n"
        "proto: .callprototype _ ();\ncall %rd3, (), proto;\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    r->params[0] = 0;
    assert_int_equal(rig_run(r, 1, 1, NULL), BLOCK_DONE);
    r->params[0] = 8;
    assert_int_equal(rig_run(r, 1, 1, NULL), BLOCK_FAULTED);
    assert_int_equal(r->fault.kind, FAULT_INVALID_PC);
    rig_close(r);
}

/* Sizes that no memory of a thread or block has, some of which wrap. */
static void variables_that_are_too_large(void **state) {
    (void)state;
    static const char *const sizes[] = {"20000000", "4294967296",
                                        "4294967312", "8589934600"};
    static const char *const kinds[] = {
        ".visible .entry k()\n{\n.local .align 4 .b8 v[%s];\nret;\n}\n",
        ".visible .entry k()\n{\n.shared .align 4 .b8 v[%s];\nret;\n}\n",
        ".visible .entry k(.param .align 4 .b8 v[%s])\n{\nret;\n}\n"};
    int parsed = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            char ptx[400] = PTX_HEAD;
            size_t n = strlen(ptx);
            snprintf(ptx + n, sizeof ptx - n, kinds[k], sizes[i]);
            struct ptx_error err;
            struct ptx_module *m = ptx_parse(ptx, strlen(ptx), "test", &err);
            if (!m) continue; /* the parser may have limits of its own */
            assert_null(program_decode(m, "k", NULL, NULL, &err));
            assert_string_equal(err.text,
                                "kernel k: variables of more than 16 MiB");
            ptx_module_free(m);
            parsed++;
        }
    assert_true(parsed >= 3);
}

static void an_unknown_kernel(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD ".visible .entry k()\n{\nret;\n}\n");
    assert_false(rig_decode(r, "nope"));
    assert_string_equal(r->err.text, "kernel nope: not in the module");
    rig_close(r);
}

/* ---- parameters, shared memory, limits -------------------------------------------------- */

static void parameters_lie_at_their_alignment(void **state) {
    (void)state;
    static const uint32_t want[][2] = {{0, 1}, {2, 2}, {4, 4}, {8, 8},
                                       {16, 3}, {32, 40}, {72, 4}};
    struct rig *r = rig_open(PTX_HEAD
        ".visible .entry k(.param .u8 a, .param .u16 b, .param .f32 c,"
        " .param .u64 d, .param .align 1 .b8 e[3], .param .align 16 .b8 f[40],"
        " .param .u32 g)\n.maxntid 128, 2, 1\n{\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    const struct program *p = r->program;
    assert_int_equal(p->n_params, 7);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(p->params[i].offset, want[i][0]);
        assert_int_equal(p->params[i].size, want[i][1]);
    }
    assert_int_equal(p->param_bytes, 76);
    assert_int_equal(p->maxntid, 256);
    rig_close(r);
}

/* A struct parameter that is indexed at run time, as nvcc writes it. */
static void a_parameters_address(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".visible .entry k(.param .u64 p, .param .align 4 .b8 s[16])\n" BODY
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
        "mov.b64 %rd3, s;\nadd.s64 %rd4, %rd3, %rd2;\n"
        "ld.param.u32 %r2, [%rd4];\n"
        "cvta.param.u64 %rd5, %rd4;\nld.u32 %r3, [%rd5];\n"
        "add.u32 %r2, %r2, %r3;\nst.global.u32 [%rd1], %r2;\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    for (uint32_t i = 0; i < 4; i++)
        memcpy((char *)r->params + 8 + 4 * i, &(uint32_t){i + 7}, 4);
    assert_int_equal(rig_run(r, 1, 4, NULL), BLOCK_DONE);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(r->host[i], 2 * (i + 7));
    rig_close(r);
}

/* Static variables that the kernel names, then the dynamic part. */
static void shared_memory_is_laid_out(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".shared .align 4 .b8 unused[1000];\n.shared .align 8 .b8 a[12];\n"
        ".extern .shared .align 16 .b8 dyn[];\n"
        ".visible .entry k(.param .u64 p)\n" BODY
        ".shared .align 4 .b8 b[4];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, a;\nmov.u32 %r2, b;\n"
        "mov.u32 %r3, dyn;\ncvta.shared.u64 %rd2, dyn;\n"
        "mov.u32 %r4, 77;\nst.u32 [%rd2+4], %r4;\nld.shared.u32 %r5, [dyn+4];\n"
        "st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\n"
        "st.global.u32 [%rd1+8], %r3;\nst.global.u32 [%rd1+12], %r5;\n"
        "mov.u32 %r6, %dynamic_smem_size;\nmov.u32 %r7, %total_smem_size;\n"
        "st.global.u32 [%rd1+16], %r6;\nst.global.u32 [%rd1+20], %r7;\n"
        "ret;\n}\n");
    assert_true(rig_decode(r, "k"));
    r->launch.dynamic_shared = 64;
    assert_int_equal(rig_run(r, 1, 1, NULL), BLOCK_DONE);
    uint32_t a = r->host[0], b = r->host[1], dyn = r->host[2];
    assert_true(a % 8 == 0 && b % 4 == 0 && dyn % 16 == 0);
    assert_true((a + 12 <= b || b + 4 <= a) && a + 12 <= dyn && b + 4 <= dyn);
    assert_int_equal(r->program->shared_static, dyn);
    assert_true(dyn < 64);
    assert_int_equal(r->host[3], 77);
    assert_int_equal(r->host[4], 64);
    assert_int_equal(r->host[5], dyn + 64);
    rig_close(r);
}

/* Literals of every kind reach an instruction as its type needs them. */
static void literals(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD ".visible .entry k(.param .u64 p)\n"
        "{\n.reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<9>;"
        " .reg .f64 %fd<4>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
        "ld.param.u64 %rd1, [p];\n"
        "mov.f32 %f1, 0f3FC00000;\nst.global.f32 [%rd1], %f1;\n"
        "mov.f32 %f1, 1.5;\nst.global.f32 [%rd1+4], %f1;\n"
        "mov.f64 %fd1, 0d3FF8000000000000;\nst.global.f64 [%rd1+8], %fd1;\n"
        "mov.f64 %fd1, 1.5;\nst.global.f64 [%rd1+16], %fd1;\n"
        "mov.b32 %r1, 0x80000000;\nst.global.u32 [%rd1+24], %r1;\n"
        "mov.u16 %h1, -2;\nst.global.u16 [%rd1+28], %h1;\n"
        "st.global.u8 [%rd1+30], 255;\n"
        "mov.pred %p1, 1;\nselp.b32 %r2, 11, 22, %p1;\n"
        "st.global.u32 [%rd1+32], %r2;\n"
        "mov.b64 %rd2, -1;\nst.global.u64 [%rd1+40], %rd2;\n"
        "st.global.v2.u32 [%rd1+48], {5, %r2};\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 1, 1, NULL), BLOCK_DONE);
    static const uint32_t want[14] = {
        0x3fc00000, 0x3fc00000, 0, 0x3ff80000, 0, 0x3ff80000, 0x80000000,
        0x00fffffe, 11, 0, 0xffffffff, 0xffffffff, 5, 11};
    assert_memory_equal(r->host, want, sizeof want);
    rig_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unsupported_opcode_is_named),
        cmocka_unit_test(it_is_found_in_callees),
        cmocka_unit_test(an_external_function_is_named),
        cmocka_unit_test(an_unsupported_function_in_a_table),
        cmocka_unit_test(variables_that_are_too_large),
        cmocka_unit_test(an_unknown_kernel),
        cmocka_unit_test(parameters_lie_at_their_alignment),
        cmocka_unit_test(a_parameters_address),
        cmocka_unit_test(shared_memory_is_laid_out),
        cmocka_unit_test(literals),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exec_use_baseline(true); /* and the handlers of plain x86-64 */
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
