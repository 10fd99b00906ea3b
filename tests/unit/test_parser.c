/* The PTX parser at the module's level: header, variables and their values,
 * signatures, source locations. Bodies are in test_ptx_body.c, refusals in
 * test_ptx_refused.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/ptx_text.h"

static void header(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(
        "\n\n\n.version 8.7\n.target sm_90a, debug\n.address_size 64\n");
    assert_int_equal(m->version_major, 8);
    assert_int_equal(m->version_minor, 7);
    assert_int_equal(m->sm, 90);
    assert_int_equal(m->address_size, 64);
    assert_int_equal(m->n_funcs, 0);
    assert_int_equal(ptx_find_func(m, "k"), -1);
    assert_int_equal(ptx_find_var(m, "v"), -1);
    ptx_module_free(m);
    ptx_module_free(NULL);
}

static void comments_and_padding(void **state)
{
    (void)state;
    static const char text[] = "// banner\n/* two\nlines */" HEADER
                               ".global .u32 /* here */ g; // end\n\0\0\0";
    struct ptx_module *m = ptx_parse(text, sizeof text, "t", NULL);
    assert_non_null(m);
    assert_int_equal(ptx_find_var(m, "g"), 0);
    ptx_module_free(m);
}

static void variables(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".extern .shared .align 16 .b8 dyn[];\n"
        ".visible .const .align 4 .b8 c[32] = {1, 2, 3};\n"
        ".global .attribute(.managed) .align 4 .u32 man = 5;\n"
        ".weak .global .v4 .f32 v[2];\n"
        ".global .b16 a[2][3], b;\n"
        ".shared .align 8 .b8 s[24];\n"
        ".extern .global .u32 later;\n.global .u32 later = 7;\n");
    const struct ptx_var *v = &m->vars[ptx_find_var(m, "dyn")];
    assert_int_equal(v->space, PTX_SPACE_SHARED);
    assert_int_equal(v->size, 0);
    assert_int_equal(v->align, 16);
    assert_true(v->is_extern);
    v = &m->vars[ptx_find_var(m, "c")];
    assert_int_equal(v->space, PTX_SPACE_CONST);
    assert_int_equal(v->size, 32);
    assert_true(v->is_visible);
    assert_memory_equal(v->init, "\1\2\3\0\0\0", 6);
    v = &m->vars[ptx_find_var(m, "man")];
    assert_true(v->is_managed);
    assert_memory_equal(v->init, "\5\0\0\0", 4);
    v = &m->vars[ptx_find_var(m, "v")];
    assert_int_equal(v->size, 32);
    assert_int_equal(v->align, 16);
    assert_int_equal(v->vec, 4);
    assert_true(v->is_weak);
    assert_null(v->init);
    assert_int_equal(m->vars[ptx_find_var(m, "a")].size, 12);
    assert_int_equal(m->vars[ptx_find_var(m, "b")].size, 2);
    assert_int_equal(m->vars[ptx_find_var(m, "s")].align, 8);
    v = &m->vars[ptx_find_var(m, "later")];
    assert_false(v->is_extern);
    assert_int_equal(v->init[0], 7);
    ptx_module_free(m);
}

static void initialisers(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".global .s32 neg[2] = {-1, 4294967294};\n"
        ".global .f32 f[3] = {0f3F800000, 2.5, -1.0};\n"
        ".global .f64 d = 0d400A000000000000;\n"
        ".global .u32 open[] = {1, 2, 3};\n"
        ".global .u8 two[2][3] = {{1}, {4, 5, 6}};\n"
        ".global .v2 .u16 w[2] = {{1, 2}, {3, 4}};\n"
        ".global .u64 big = 0xFFFFFFFFFFFFFFFF;\n"
        ".global .u32 flip = ~0;\n"
        ".global .u64 none[2] = {};\n");
    const struct { const char *name; uint64_t size; const char *bytes; } want[] =
    {
        { "neg", 8, "\xff\xff\xff\xff\xfe\xff\xff\xff" },
        { "f", 12, "\0\0\x80\x3f\0\0\x20\x40\0\0\x80\xbf" },
        { "d", 8, "\0\0\0\0\0\0\x0a\x40" },
        { "open", 12, "\1\0\0\0\2\0\0\0\3\0\0\0" },
        { "two", 6, "\1\0\0\4\5\6" },
        { "w", 8, "\1\0\2\0\3\0\4\0" },
        { "big", 8, "\xff\xff\xff\xff\xff\xff\xff\xff" },
        { "flip", 4, "\xff\xff\xff\xff" },
        { "none", 16, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct ptx_var *v = &m->vars[ptx_find_var(m, want[i].name)];
        assert_int_equal(v->size, want[i].size);
        assert_memory_equal(v->init, want[i].bytes, v->size);
    }
    ptx_module_free(m);
}

static void addresses(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".func f();\n.global .b8 g[48];\n"
        ".global .u64 p[4] = {generic(g)+24, 7, f, g-8};\n"
        ".global .u64 forward = after;\n.global .u32 after;\n"
        ".global .align 1 .u8 pk[11] = {3, 0XFF(generic(g)+8),"
        " 0xFF00(generic(g)+8), 0xFF0000(generic(g)+8),"
        " 0xFF000000(generic(g)+8), 0xFF00000000(generic(g)+8),"
        " 0xFF0000000000(generic(g)+8), 0xFF000000000000(generic(g)+8),"
        " 0xFF00000000000000(generic(g)+8), 4, 0};\n");
    const struct ptx_var *v = &m->vars[ptx_find_var(m, "p")];
    assert_int_equal(v->n_fixups, 3);
    assert_string_equal(v->fixups[0].symbol, "g");
    assert_true(v->fixups[0].generic);
    assert_int_equal(v->fixups[0].addend, 24);
    assert_int_equal(v->fixups[0].offset, 0);
    assert_int_equal(v->fixups[0].bytes, 8);
    assert_int_equal(v->init[8], 7);
    assert_string_equal(v->fixups[1].symbol, "f");
    assert_int_equal(v->fixups[1].offset, 16);
    assert_int_equal(v->fixups[2].addend, -8);
    assert_false(v->fixups[2].generic);
    assert_int_equal(m->vars[ptx_find_var(m, "forward")].n_fixups, 1);
    /* a packed structure: the bytes of one address become one fixup */
    v = &m->vars[ptx_find_var(m, "pk")];
    assert_int_equal(v->size, 11);
    assert_int_equal(v->n_fixups, 1);
    assert_int_equal(v->fixups[0].offset, 1);
    assert_int_equal(v->fixups[0].bytes, 8);
    assert_int_equal(v->fixups[0].addend, 8);
    assert_memory_equal(v->init, "\3\0\0\0\0\0\0\0\0\4\0", 11);
    ptx_module_free(m);
}

static void functions(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".func (.param .align 8 .b8 r[32]) f(.param .b32 a);\n"
        ".visible .func (.param .align 8 .b8 r[32]) f(.param .b32 a)\n"
        "{ ret; }\n"
        ".extern .func die(.param .b32 a) .noreturn;\n"
        ".weak .entry k(.param .u64 .ptr .global .align 4 p,\n"
        " .param .align 8 .b8 s[24], .param .u8 c)\n"
        ".maxntid 128, 2\n.minnctapersm 2\n.maxnreg 40\n"
        ".explicitcluster .reqnctapercluster 2, 1, 1\n{ ret; }\n"
        ".entry bare\n.reqntid 32 { ret; }\n"
        ".visible .func (.param .align 8 .b8 r[32]) g(.param .b32 a);\n"
        ".alias g, f;\n");
    const struct ptx_func *f = &m->funcs[ptx_find_func(m, "vprintf")];
    assert_true(f->is_extern);
    assert_false(f->has_body);
    assert_int_equal(f->ret_count, 1);
    assert_int_equal(f->arg_count, 2);
    f = &m->funcs[ptx_find_func(m, "f")];
    assert_true(f->has_body && f->is_visible && !f->is_entry);
    assert_int_equal(f->vars[f->ret_first].size, 32);
    assert_int_equal(f->vars[f->arg_first].size, 4);
    assert_true(m->funcs[ptx_find_func(m, "die")].noreturn);
    f = &m->funcs[ptx_find_func(m, "k")];
    assert_true(f->is_entry && f->is_weak);
    assert_int_equal(f->arg_count, 3);
    assert_true(f->vars[f->arg_first].is_pointer_param);
    assert_int_equal(f->vars[f->arg_first].align, 8);
    assert_int_equal(f->vars[f->arg_first + 1].size, 24);
    assert_int_equal(f->vars[f->arg_first + 2].type, PTX_U8);
    assert_int_equal(f->maxntid[0], 128);
    assert_int_equal(f->maxntid[1], 2);
    assert_int_equal(f->maxntid[2], 1);
    assert_int_equal(f->minnctapersm, 2);
    assert_int_equal(f->maxnreg, 40);
    assert_int_equal(f->cluster[0], 2);
    f = &m->funcs[ptx_find_func(m, "bare")];
    assert_int_equal(f->arg_count, 0);
    assert_int_equal(f->reqntid[0], 32);
    f = &m->funcs[ptx_find_func(m, "g")];
    assert_true(f->has_body);
    assert_string_equal(f->name, "g");
    ptx_module_free(m);
}

/* ---- where code comes from --------------------------------------------- */

static void locations(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".entry k() {\n.reg .b32 %r<5>;\n"
        "mov.u32 %r1, 0;\n"
        ".loc 1 21 3\nmov.u32 %r1, 1;\n"
        ".loc 2 17 54, function_name $S0, inlined_at 1 21 3\n"
        "mov.u32 %r1, 2;\n"
        ".loc 2 5 1, function_name $S1+1, inlined_at 2 17 54\n"
        "mov.u32 %r1, 3;\n"
        ".loc 2 6 1, function_name $S1, inlined_at 1 99 7\n"
        "mov.u32 %r1, 4;\n}\n"
        ".file 2 \"/a/b.h\", 1234, 99\n.file 1 \"/a/k.cu\"\n"
        ".section .debug_abbrev { .b8 1, 2 \n .b32 .debug_info }\n"
        ".section .debug_str {\n$S0:\n.b8 95,102,0\n"
        "$S1: .b8 120\n.b8 121,0 }\n");
    const struct ptx_func *f = &m->funcs[0];
    assert_int_equal(f->instrs[0].loc, -1);
    const struct ptx_loc *l = &m->locs[f->instrs[1].loc];
    assert_int_equal(l->line, 21);
    assert_int_equal(l->column, 3);
    assert_int_equal(l->inlined_at, -1);
    assert_null(l->function);
    assert_string_equal(ptx_module_file(m, l->file), "/a/k.cu");
    l = &m->locs[f->instrs[2].loc];
    assert_string_equal(l->function, "_f");
    assert_string_equal(ptx_module_file(m, l->file), "/a/b.h");
    assert_int_equal(l->inlined_at, f->instrs[1].loc);
    l = &m->locs[f->instrs[3].loc];
    assert_string_equal(l->function, "y");
    assert_int_equal(l->inlined_at, f->instrs[2].loc);
    l = &m->locs[f->instrs[4].loc];
    assert_string_equal(l->function, "xy");
    assert_int_equal(m->locs[l->inlined_at].line, 99);
    assert_null(ptx_module_file(m, 3));
    ptx_module_free(m);
}

/* A position of another function is not where this one was inlined. */
static void locations_stay_in_their_function(void **state)
{
    (void)state;
    struct ptx_module *m = must_parse(HEADER
        ".entry a() {\n.loc 1 9 9, function_name $S, inlined_at 1 1 1\nret;\n}\n"
        ".entry b() {\n.loc 1 5 5, function_name $S, inlined_at 1 9 9\nret;\n}\n"
        ".section .debug_str { $S: .b8 120,0 }\n");
    const struct ptx_func *b = &m->funcs[ptx_find_func(m, "b")];
    const struct ptx_loc *l = &m->locs[b->instrs[0].loc];
    l = &m->locs[l->inlined_at];
    assert_int_equal(l->line, 9);
    assert_int_equal(l->inlined_at, -1);
    ptx_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header),
        cmocka_unit_test(comments_and_padding),
        cmocka_unit_test(variables),
        cmocka_unit_test(initialisers),
        cmocka_unit_test(addresses),
        cmocka_unit_test(functions),
        cmocka_unit_test(locations),
        cmocka_unit_test(locations_stay_in_their_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
