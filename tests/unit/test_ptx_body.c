/* The PTX parser inside a kernel: suffixes, operands, registers, labels,
 * scopes and calls as nvcc 13.0 writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/ptx_text.h"

/* Parses one kernel with the usual registers and gives its function. */
static struct ptx_module *body(const char *text, const struct ptx_func **f)
{
    static const char head[] = BODY(
        ".reg .pred %%p<5>; .reg .b16 %%rs<5>; .reg .b32 %%r<20>;\n"
        ".reg .f32 %%f<5>; .reg .b64 %%rd<9>; .reg .f64 %%fd<5>;\n%s");
    char all[4096];
    int n = snprintf(all, sizeof all, head, text);
    assert_in_range(n, 1, sizeof all - 1);
    struct ptx_module *m = must_parse(all);
    *f = &m->funcs[ptx_find_func(m, "k")];
    return m;
}

static const char *reg_name(const struct ptx_func *f, int32_t index)
{
    assert_in_range(index, 0, f->n_regs - 1);
    return f->regs[index].name;
}

static void suffixes(void **state)
{
    (void)state;
    const struct ptx_func *f;
    struct ptx_module *m = body(
        "@!%p1 ld.volatile.global.v2.f32 {%f1, _}, [%rd1+-8];\n"
        "cvt.rn.sat.f32.f64 %f1, %fd1;\n"
        "cp.async.ca.shared.global [%r1], [%rd1], 16;\n"
        "ld.global.L1::evict_last.L2::cache_hint.b32 %r1, [%rd1], %rd2;\n"
        "add .s32 %r1, %r2, -3;\n", &f);
    const struct ptx_instr *in = &f->instrs[0];
    assert_int_equal(in->opcode, PTX_OP_ld);
    assert_true(in->pred >= 0 && in->pred_negated);
    assert_string_equal(reg_name(f, in->pred), "%p1");
    assert_int_equal(in->space, PTX_SPACE_GLOBAL);
    assert_int_equal(in->vec, 2);
    assert_int_equal(in->n_mods, 1);
    assert_int_equal(in->mods[0], PTX_MOD_volatile);
    assert_int_equal(in->types[0], PTX_F32);
    assert_int_equal(in->operands[0].kind, PTX_OPND_VEC);
    assert_int_equal(in->operands[0].count, 2);
    assert_int_equal(f->vec[in->operands[0].index].kind, PTX_OPND_REG);
    assert_int_equal(f->vec[in->operands[0].index + 1].kind, PTX_OPND_SINK);
    assert_int_equal(in->operands[1].kind, PTX_OPND_MEM);
    assert_int_equal(in->operands[1].base_kind, PTX_OPND_REG);
    assert_int_equal(in->operands[1].imm, -8);
    in = &f->instrs[1];
    assert_int_equal(in->n_types, 2);
    assert_int_equal(in->types[1], PTX_F64);
    assert_int_equal(in->mods[1], PTX_MOD_sat);
    assert_int_equal(in->pred, -1);
    in = &f->instrs[2];
    assert_int_equal(in->space, PTX_SPACE_SHARED);
    assert_int_equal(in->space2, PTX_SPACE_GLOBAL);
    in = &f->instrs[3];
    assert_int_equal(in->mods[0], PTX_MOD_cache_hint);
    assert_int_equal(in->mods[1], PTX_MOD_cache_policy);
    assert_int_equal(in->n_operands, 2);
    in = &f->instrs[4];
    char text[64];
    assert_string_equal(ptx_instr_text(m, in, text, sizeof text), "add.s32");
    assert_string_equal(ptx_instr_text(m, in, text, 4), "add");
    assert_int_equal(in->operands[2].imm, -3);
    ptx_module_free(m);
}

static void operands(void **state)
{
    (void)state;
    const struct ptx_func *f;
    struct ptx_module *m = body(
        ".shared .align 4 .b8 s[16];\n"
        "mov.u32 %r1, s+4;\n"
        "mov.u32 %r2, %tid.x;\n"
        "mov.f32 %f1, 0f3F800000;\n"
        "mov.f64 %fd1, 1.5;\n"
        "mov.u32 %r3, WARP_SZ;\n"
        "mov.b64 %rd3, 0x8000000000000000U;\n"
        "shfl.sync.down.b32 %r5|%p1, %r1, 1, 31, -1;\n"
        "setp.eq.and.s32 %p1|%p2, %r1, 0b101, !%p3;\n"
        "ld.shared.u32 %r6, [s+8];\n"
        "ld.shared.u32 %r6, [64];\n"
        "mov.b64 {%r7, %r8}, %rd1;\n"
        "ld.param.u64 %rd4, [k_p0];\n"
        "mov.u64 %rd5, k;\n", &f);
    const struct ptx_operand *o = &f->instrs[0].operands[1];
    assert_int_equal(o->kind, PTX_OPND_VAR);
    assert_int_equal(o->scope, PTX_SCOPE_FUNC);
    assert_int_equal(o->imm, 4);
    assert_string_equal(f->vars[o->index].name, "s");
    assert_int_equal(f->instrs[1].operands[1].kind, PTX_OPND_SREG);
    assert_int_equal(f->instrs[1].operands[1].index, PTX_SREG_TID_X);
    assert_int_equal(f->instrs[2].operands[1].kind, PTX_OPND_F32);
    assert_int_equal(f->instrs[2].operands[1].imm, 0x3f800000);
    assert_int_equal(f->instrs[3].operands[1].kind, PTX_OPND_F64);
    assert_int_equal(f->instrs[3].operands[1].imm, 0x3ff8000000000000);
    assert_int_equal(f->instrs[4].operands[1].imm, 32);
    assert_true(f->instrs[5].operands[1].imm == INT64_MIN);
    o = f->instrs[6].operands;
    assert_string_equal(reg_name(f, o[0].index), "%r5");
    assert_string_equal(reg_name(f, o[0].pair), "%p1");
    assert_int_equal(o[4].imm, -1);
    o = f->instrs[7].operands;
    assert_string_equal(reg_name(f, o[0].pair), "%p2");
    assert_int_equal(o[1].pair, -1);
    assert_int_equal(o[2].imm, 5);
    assert_true(o[3].negated);
    assert_int_equal(f->instrs[8].operands[1].base_kind, PTX_OPND_VAR);
    assert_int_equal(f->instrs[9].operands[1].base_kind, PTX_OPND_INT);
    assert_int_equal(f->instrs[9].operands[1].imm, 64);
    assert_int_equal(f->instrs[10].operands[0].kind, PTX_OPND_VEC);
    o = &f->instrs[11].operands[1];
    assert_int_equal(f->vars[o->index].space, PTX_SPACE_PARAM);
    assert_int_equal(f->instrs[12].operands[1].kind, PTX_OPND_FUNC);
    ptx_module_free(m);
}

/* Assembly by hand computes its constants; C's rules, 64 bits. */
static void expressions(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t value; } cases[] = {
        { "1+2*3", 7 }, { "(1+2)*3", 9 }, { "-4+8", 4 }, { "-(4+8)", -12 },
        { "~0", -1 }, { "-~-3", -2 }, { "- -3", 3 }, { "10-3-2", 5 },
        { "100/7 % 5", 4 }, { "-7/2", -3 }, { "1<<5|3", 35 }, { "-16>>2", -4 },
        { "1<<64", 0 }, { "0xff&~0xf^1", 0xf1 }, { "7U*2u", 14 },
        { "0x8000000000000000/-1", INT64_MIN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        const struct ptx_func *f;
        snprintf(text, sizeof text,
                 "mov.b64 %%rd1, %s;\nst.global.u32 [%%rd1 + 4*32-8], %%r1;",
                 cases[i].text);
        struct ptx_module *m = body(text, &f);
        assert_true(f->instrs[0].operands[1].imm == cases[i].value);
        assert_int_equal(f->instrs[1].operands[0].imm, 120);
        ptx_module_free(m);
    }
}

static void registers_exist_by_use(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(BODY(
        ".reg .b32 %r<1000000>, %r1<5>, %x; .reg .f32 %f<3>;\n"
        "add.s32 %r7, %r999999, %x;\nmov.f32 %f2, %f2;\n"
        "mov.u32 %r12, %r7;\n"));
    const struct ptx_func *f = &m->funcs[0];
    assert_int_equal(f->n_regs, 5); /* %x, %r7, %r999999, %f2, %r12 */
    assert_int_equal(f->instrs[0].operands[0].index,
                     f->instrs[2].operands[1].index);
    assert_int_equal(f->regs[f->instrs[1].operands[0].index].type, PTX_F32);
    ptx_module_free(m);
}

static void labels_and_tables(void **state)
{
    (void)state;
    const struct ptx_func *f;
    struct ptx_module *m = body(
        "$L0: mov.u32 %r1, 0;\n@%p1 bra $L2;\nbra.uni $L0;\n"
        "T: .branchtargets $L0, $L2, $L0;\nbrx.idx %r1, T;\n$L2:\n", &f);
    assert_int_equal(f->n_labels, 2);
    const struct ptx_operand *o = &f->instrs[1].operands[0];
    assert_int_equal(o->kind, PTX_OPND_LABEL);
    assert_int_equal(f->labels[o->index], 4); /* behind the last one */
    assert_string_equal(f->label_names[o->index], "$L2");
    assert_int_equal(f->labels[f->instrs[2].operands[0].index], 0);
    o = &f->instrs[3].operands[1];
    assert_int_equal(o->kind, PTX_OPND_PROTO);
    assert_int_equal(f->tables[o->index].n, 3);
    assert_int_equal(f->labels[f->tables[o->index].labels[1]], 4);
    assert_int_equal(f->labels[f->tables[o->index].labels[2]], 0);
    ptx_module_free(m);
}

/* Two inlined copies of one piece of assembly: names do not meet. */
static void nested_scopes(void **state)
{
    (void)state;
    const struct ptx_func *f;
    struct ptx_module *m = body(
        "{ .reg .pred p; .reg .b32 t<3>; .reg .b64 %r<2>; mov.u32 t0, 1;\n"
        "  L1: setp.lt.u32 p, t0, 4; @p bra L1; mov.b64 %r1, 2; bra OUT; }\n"
        "{ .reg .pred p; .reg .b32 t<3>; mov.u32 t0, 3; { L1: bra L1; } }\n"
        "mov.u32 %r1, 4;\nOUT:\n", &f);
    assert_int_equal(f->n_labels, 3);
    const struct ptx_instr *in = f->instrs;
    assert_int_not_equal(in[0].operands[0].index, in[5].operands[0].index);
    assert_int_equal(f->labels[in[2].operands[0].index], 1);
    assert_int_equal(f->labels[in[6].operands[0].index], 6);
    assert_int_equal(f->labels[in[4].operands[0].index], 8);
    assert_int_equal(f->regs[in[3].operands[0].index].type, PTX_B64);
    assert_int_equal(f->regs[in[7].operands[0].index].type, PTX_B32);
    ptx_module_free(m);
}

static void calls(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".func (.param .b32 r) f(.param .b32 a, .param .align 8 .b8 s[16]);\n"
        ".func nothing();\n"
        ".entry k() {\n.reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
        "{ .reg .b32 temp_param_reg; .param .b32 param0;\n"
        ".param .align 8 .b8 param1[16]; .param .b32 retval0;\n"
        "st.param.b32 [param0+0], %r1;\n"
        "call.uni (retval0), f, (param0, param1);\n"
        "ld.param.b32 %r1, [retval0+0]; }\n"
        "{ .param .b32 param0; .param .align 8 .b8 param1[16];\n"
        ".param .b32 retval0;\n"
        "prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _, "
        ".param .align 8 .b8 _[16]);\n"
        "call (retval0), %rd1, (param0, param1), prototype_1; }\n"
        "call nothing;\ncall nothing, ();\n"
        "{ P: .callprototype _ () .noreturn; call %rd1, (), P; }\n"
        "{ T: .calltargets nothing; call %rd1, T; }\n"
        "}\n");
    const struct ptx_func *f = &m->funcs[ptx_find_func(m, "k")];
    const struct ptx_instr *in = &f->instrs[1];
    assert_int_equal(in->operands[0].kind, PTX_OPND_FUNC);
    assert_int_equal(in->operands[0].index, ptx_find_func(m, "f"));
    assert_int_equal(in->call_ret_count, 1);
    assert_int_equal(in->call_arg_count, 2);
    const struct ptx_operand *arg = &f->vec[in->call_arg_first];
    assert_int_equal(arg[0].kind, PTX_OPND_VAR);
    assert_string_equal(f->vars[arg[1].index].name, "param1");
    assert_int_equal(in->proto, -1);
    in = &f->instrs[3];
    assert_int_equal(in->operands[0].kind, PTX_OPND_REG);
    assert_int_equal(f->protos[in->proto].n_args, 2);
    assert_int_equal(f->protos[in->proto].args[1].size, 16);
    assert_int_equal(f->instrs[4].call_arg_count, 0);
    assert_true(f->protos[f->instrs[6].proto].noreturn);
    assert_int_equal(f->protos[f->instrs[7].proto].n_args, 0);
    ptx_module_free(m);
}

/* PTX 9.4: bits go with everything of their size, loads, stores and
 * conversions take wider registers, halves live in integers. What must not
 * pass is in test_ptx_refused.c. */
static void type_rules(void **state)
{
    (void)state;
    static const char *const accepted[] = {
        "mul.wide.s32 %rd1, %r1, -2;", "mul.wide.u16 %r1, %rs1, %rs2;",
        "mad.wide.u32 %rd1, %r1, %r2, %rd2;", "mad.lo.s32 %r1, %r1, 2, %r2;",
        "cvt.u16.u8 %rs1, %r1;", "cvt.s64.s8 %rd1, %rs1;",
        "cvt.rn.f16.f32 %rs1, %f1;", "cvt.rn.f16x2.f32 %r1, %f1, %f2;",
        "ld.global.u8 %r1, [%rd1];", "ld.global.s8 %rd1, [%rd1];",
        "ld.global.u32 %rd1, [%rd1];", "ld.shared.b32 %f1, [%r1];",
        "st.global.u8 [%rd1], %rs1;", "st.global.u16 [%rd1], %r1;",
        "st.global.v2.f32 [%rd1], {%f1, 0f3F800000};",
        "add.f16 %rs1, %rs1, %rs2;", "fma.rn.bf16x2 %r1, %r1, %r1, %r2;",
        "add.f32 %r1, %f1, 2.5;", "and.b32 %r1, %f1, 0xff;",
        "mov.b32 %r1, %f1;", "mov.f32 %f1, %r1;", "mov.b32 %r1, {%rs1, 5};",
        "mov.b64 {%r1, _}, %rd1;", "mov.pred %p1, %p2;", "mov.pred %p1, -1;",
        "shl.b64 %rd1, %rd1, %r1;", "bfe.u64 %rd1, %rd2, 3, %r1;",
        "clz.b64 %r1, %rd1;", "popc.b64 %r1, %rd1;",
        "setp.gt.f32 %p1, %f1, 0f00000000;", "set.gt.u32.f32 %r1, %f1, %f2;",
        "selp.f32 %f1, %f2, 0f00000000, !%p1;",
        "slct.f32.s32 %f1, %f2, %f3, %r1;", "testp.finite.f64 %p1, %fd1;",
        "atom.global.add.f64 %fd1, [%rd1], %fd2;",
        "atom.global.cas.b16 %rs1, [%rd1], %rs2, 3;",
        "atom.global.add.u32 _, [%rd1], 1;",
        "red.global.add.u64 [%rd1], 1;", "isspacep.global %p1, %rd1;",
        "cvta.to.global.u64 %rd1, %rd1;", "match.any.sync.b64 %r1, %rd1, -1;",
        "vote.sync.any.pred %p1, %p2, -1;", "elect.sync _|%p1, -1;",
        "vote.sync.ballot.b32 %r1, 1, -1;", "discard.global.L2 [%rd1], 128;",
        "activemask.b32 %r1;", "fence.acq_rel.gpu;", "nanosleep.u32 %r1;",
        "bar.red.popc.u32 %r1, 0, !%p1;", "mov.u64 %rd1, %clock64;",
    };
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        const struct ptx_func *f;
        struct ptx_module *m = body(accepted[i], &f);
        if (f->instrs[0].opcode == PTX_OP_unsupported)
            fail_msg("not understood: %s", accepted[i]);
        ptx_module_free(m);
    }
}

/* What stands in nvcc's output but means nothing here. */
static void passed_over(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".pragma \"nounroll\";\n.loc 1 1 1\n"
        ".local .align 4 .b8 depot[8];\n"
        ".global .attribute(.unified(19, 95)) .u32 u;\n"
        ".func .attribute(.unified(1, 2)) f() .abi_preserve 4;\n"
        ".entry k() .pragma \"x\"; .maxnctapersm 3 {\n"
        ".pragma \"nounroll\";\n.file 1 \"a\"\n"
        ".section .debug_x { .b8 1 }\n;;\n"
        "P: .callprototype _ () .abi_preserve 8;\n"
        ".reg .f64 %fd<2>; mov.f64 %fd1, 1.5e-3;\n}\n");
    const struct ptx_func *f = &m->funcs[ptx_find_func(m, "k")];
    double d;
    assert_int_equal(f->n_instrs, 1);
    memcpy(&d, &f->instrs[0].operands[1].imm, sizeof d);
    assert_true(d == 1.5e-3);
    ptx_module_free(m);
}

static void unsupported(void **state)
{
    (void)state;
    const struct ptx_func *f;
    struct ptx_module *m = body(
        "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r1], %r2;\n"
        "add.e2m1x2 %r1, {%r2, %r3}, [a, b];\n"
        "mov.u32 %r1, %pm0;\n"
        "ld.shared::cluster.u32 %r1, [%r2];\n"
        "nanosleep.u32 5, 6;\n"
        "mma.sync.aligned.b32 %r1, 1, 2, 3, 4, 5, 6, 7, 8;\n"
        "add.s32 %r1, %r2, 3;\n", &f);
    static const char *const text[] = {
        "tcgen05.alloc.cta_group::1.sync.aligned.b32", "add.e2m1x2",
        "mov.u32 %pm0", "ld.shared::cluster.u32", "nanosleep.u32",
        "mma.sync.aligned.b32",
    };
    for (unsigned i = 0; i < 6; i++) {
        char buf[64];
        assert_int_equal(f->instrs[i].opcode, PTX_OP_unsupported);
        assert_string_equal(ptx_instr_text(m, &f->instrs[i], buf, sizeof buf),
                            text[i]);
    }
    assert_int_equal(f->instrs[6].opcode, PTX_OP_add);
    ptx_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffixes),
        cmocka_unit_test(operands),
        cmocka_unit_test(expressions),
        cmocka_unit_test(registers_exist_by_use),
        cmocka_unit_test(labels_and_tables),
        cmocka_unit_test(nested_scopes),
        cmocka_unit_test(calls),
        cmocka_unit_test(type_rules),
        cmocka_unit_test(passed_over),
        cmocka_unit_test(unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
