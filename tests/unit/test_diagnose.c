/* The parts of faultlag diagnose that its logs do not reach one by one: the
 * words' automaton, the language of rules, names in signatures, places in
 * messages, and that memory does not grow with the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/diagnose/decide.h"
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"
#include "harness/json.h"

static void test_words_overlap_and_ignore_case(void **state)
{
    struct dg_words *w = dg_words_new();
    struct dg_hit hits[8];
    static const char *const words[] = { "he", "she", "his", "hers", "", "he" };
    for (int i = 0; i < 6; i++)
        dg_words_add(w, words[i], i);
    dg_words_build(w);
    /* uSHErs: she and he (two ids) end at 4, hers at 6 */
    size_t n = dg_words_find(w, "uSHErs", 6, hits, 8), at4 = 0, ids = 0;
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        at4 += hits[i].end == 4;
        ids |= 1u << hits[i].id;
    }
    assert_int_equal(at4, 3);
    assert_int_equal(ids, 1 << 0 | 1 << 1 | 1 << 3 | 1 << 5);
    assert_int_equal(dg_words_find(w, "uSHErs", 6, hits, 2), 2);
    assert_int_equal(dg_words_find(w, "he he he", 8, hits, 8), 2);
    assert_int_equal(hits[0].end, 2);
    assert_int_equal(dg_words_find(w, "h e", 3, hits, 8), 0);
    dg_words_free(w);
    (void)state;
}

static void test_rules_language(void **state)
{
    struct dg_rules r;
    char error[160];
    assert_true(dg_rules_parse(&r, "# comment\n\nassert expr=\"a \\\"b\\\"|c\"\n"
                               "  op=own cause=race # end\nstep do=x\n", error));
    assert_int_equal(r.n, 2);
    assert_string_equal(dg_rule_text(&r.rules[0], DG_EXPR), "a \"b\"|c");
    assert_string_equal(dg_rule_text(&r.rules[0], DG_BECAUSE_OF), "race");
    assert_string_equal(dg_rule_text(&r.rules[1], DG_DO), "x");
    assert_string_equal(dg_rule_text(&r.rules[1], DG_SAY), "");
    dg_rules_free(&r);

    static const char *const bad[] = {
        "rule a=b\n", "assert exp=b\n", "assert expr=\"b\n", "assert expr\n",
        "assert expr=a expr=b\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = fl_format("\n%s", bad[i]);
        assert_false(dg_rules_parse(&r, text, error));
        assert_string_equal(error, "line 2 is not a rule");
        dg_rules_free(&r);
        free(text);
    }
    (void)state;
}

static const struct dg_rule *cause_of(const struct dg_rules *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->rules[i].kind == DG_CAUSE
            && !strcmp(dg_rule_text(&r->rules[i], DG_NAME), name))
            return &r->rules[i];
    return NULL;
}

struct naming { const struct dg_rules *rules; };

static void must_be_a_cause(void *context, const char *name)
{
    const struct naming *n = context;
    if (!cause_of(n->rules, name))
        fail_msg("no cause is called %s", name);
}

/* Whatever a rule names must exist, and each cause must have a next step. */
static void test_built_in_rules_fit_together(void **state)
{
    struct dg_rules r;
    assert_true(dg_rules_load(&r, NULL));
    struct naming n = { &r };
    for (size_t i = 0; i < r.n; i++) {
        const struct dg_rule *rule = &r.rules[i];
        assert_int_equal(rule->index, i);
        dg_each(rule->value[DG_BECAUSE_OF], must_be_a_cause, &n);
        if (rule->kind == DG_ASSERT)
            dg_each(rule->value[DG_OR], must_be_a_cause, &n);
        if (rule->kind == DG_STEP) {
            dg_each(rule->value[DG_FOR], must_be_a_cause, &n);
            assert_non_null(rule->value[DG_DO]);
        }
        if (rule->kind != DG_CAUSE)
            continue;
        bool has_step = false;
        for (size_t k = 0; k < r.n && !has_step; k++)
            has_step = r.rules[k].kind == DG_STEP
                && dg_any_is(r.rules[k].value[DG_FOR],
                             dg_rule_text(rule, DG_NAME));
        if (!has_step)
            fail_msg("no step for %s", dg_rule_text(rule, DG_NAME));
    }
    dg_rules_free(&r);
    (void)state;
}

static void test_short_names(void **state)
{
    static const char *const names[][2] = {
        { "operator()", "operator()" },
        { "void k(float *, int)", "k" },
        { "void a::b::k<float, (int)4>(const T1 *)", "k" },
        { "kernel(int*)+0x90", "kernel" },
        { "Acctype bce_functor<Dtype, Acctype>::operator()(Tuple) [with Tuple = "
          "thrust::tuple<float, float>]", "bce_functor" },
        { "lambda [](int)->auto::operator()(int)->auto", "operator()" },
        { "void (anonymous namespace)::softmax_warp<float, 3>(float *)",
          "softmax_warp" },
        { "cudapy::m::$3clocals$3e::mutate$241(Array<long long, 1>)", "mutate" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char out[128];
        dg_short_name(names[i][0], out, sizeof out);
        assert_string_equal(out, names[i][1]);
    }
    (void)state;
}

static void test_sites(void **state)
{
    static const struct { const char *text, *file; long line; } sites[] = {
        { "failed at /a/b.cu:12", "/a/b.cu", 12 },
        { "GPUassert: bad thing main.cu 42", "main.cu", 42 },
        { "file=/p/x.cpp line=278 error=700", "/p/x.cpp", 278 },
        { "Error x at line 113 in file /src/ops.cu", "/src/ops.cu", 113 },
        { "at C:\\build\\io.cu:57", "C:\\build\\io.cu", 57 },
        { "x ; file=/o/t.cc ; line=73 ; expr=y", "/o/t.cc", 73 },
        { "error in cuda_call.cc:119] CUDA", NULL, 0 },
        { "version 1.2:30 of a.txt:4", NULL, 0 },
    };
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        char file[64];
        long line;
        bool found = dg_find_site(sites[i].text, file, sizeof file, &line);
        assert_int_equal(found, sites[i].file != NULL);
        if (found) {
            assert_string_equal(file, sites[i].file);
            assert_int_equal(line, sites[i].line);
        }
    }
    (void)state;
}

/* Given in pieces of every size, the same facts. */
static void test_cuts_do_not_matter(void **state)
{
    static const char log[] =
        "x 50%\r[r]/a/Loss.cu:3: k: block: [1,0,0], thread: [2,0,0] Assertion "
        "`t >= 0 && t < n_classes` failed.\r\nRuntimeError: CUDA error: "
        "device-side assert triggered\n";
    struct dg_rules r;
    assert_true(dg_rules_load(&r, NULL));
    struct dg_words *w = dg_vocabulary(&r);
    for (size_t part = 1; part < sizeof log; part++) {
        struct dg d;
        dg_begin(&d, &r, w);
        for (size_t i = 0; i < sizeof log - 1; i += part)
            dg_feed(&d, log + i, part < sizeof log - 1 - i
                    ? part : sizeof log - 1 - i);
        dg_end(&d);
        assert_int_equal(d.facts->lines, 2);
        assert_int_equal(d.facts->n_assertions, 1);
        assert_string_equal(d.facts->assertions[0].file, "/a/Loss.cu");
        assert_int_equal(d.facts->n_errors, 1);
        dg_free(&d);
    }
    dg_words_free(w);
    dg_rules_free(&r);
    (void)state;
}

/* Many thousands of everything: the first are kept, the rest counted. */
static void test_floods(void **state)
{
    struct dg_rules r;
    assert_true(dg_rules_load(&r, NULL));
    struct dg_words *w = dg_vocabulary(&r);
    struct dg d;
    dg_begin(&d, &r, w);
    for (int i = 0; i < 2000; i++) {
        char *s = fl_format(
            "/a/k%d.cu:%d: k: block: [0,0,0], thread: [%d,0,0] Assertion `i < n`"
            " failed.\nTraceback (most recent call last):\n  File \"a.py\", "
            "line %d, in f\n    g()\nRuntimeError: CUDA error: misaligned address"
            "\n========= Invalid __global__ read of size 4\n$ python x.py\n",
            i, i + 1, i, i);
        dg_feed(&d, s, strlen(s));
        free(s);
    }
    dg_end(&d);
    const struct dg_facts *f = d.facts;
    assert_int_equal(f->assertion_lines, 2000);
    assert_int_equal(f->error_lines, 2000);
    assert_int_equal(f->n_assertions, sizeof f->assertions / sizeof *f->assertions);
    assert_string_equal(f->assertions[0].file, "/a/k0.cu");
    assert_int_equal(f->n_runs, sizeof f->runs / sizeof *f->runs);
    struct dg_verdict v;
    dg_decide(f, &r, &v);
    assert_true(v.found);
    assert_int_equal(v.error_code, 716);
    assert_int_equal(v.frame.line, 0);
    dg_verdict_free(&v);
    dg_free(&d);
    dg_words_free(w);
    dg_rules_free(&r);
    (void)state;
}

/* The same assertion of many threads is only counted; one that differs in
 * anything else is read. */
static void test_repeats(void **state)
{
    static const char *const lines[] = {
        "/a/k.cu:1: k: block: [0,0,0], thread: [0,0,0] Assertion `i < n` failed.",
        "/a/k.cu:1: k: block: [9,0,0], thread: [31,2,0] Assertion `i < n` failed.",
        "/a/k.cu:1: k: block: [9,0,0], thread: [32,2,0] Assertion `i < m` failed.",
        "/a/k.cu:2: k: block: [9,0,0], thread: [33,2,0] Assertion `i < m` failed.",
        "/a/k.cu:2: k: block: [9,0,0], thread: [3,2,0] Assertion `x` failed./a/k"
        ".cu:2: k: block: [1,0,0], thread: [3,2,0] Assertion `i < m` failed.",
        "/a/k.cu:2: k: block: [9,0,0], thread: [4,2,0] Assertion `i < m` failed.",
    };
    static const struct { long line; const char *expr; unsigned long count; }
    expected[] = { { 1, "i < n", 2 }, { 1, "i < m", 1 }, { 2, "i < m", 3 },
                   { 2, "x", 1 } };
    struct dg_rules r;
    assert_true(dg_rules_load(&r, NULL));
    struct dg_words *w = dg_vocabulary(&r);
    struct dg d;
    dg_begin(&d, &r, w);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        dg_feed(&d, lines[i], strlen(lines[i]));
        dg_feed(&d, "\r\n", 2);
    }
    dg_end(&d);
    assert_int_equal(d.facts->assertion_lines, 7);
    assert_int_equal(d.facts->n_assertions, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct dg_assertion *a = &d.facts->assertions[i];
        assert_int_equal(a->line, expected[i].line);
        assert_string_equal(a->expr, expected[i].expr);
        assert_int_equal(a->count, expected[i].count);
    }
    dg_free(&d);
    dg_words_free(w);
    dg_rules_free(&r);
    (void)state;
}

/* A user's rule comes before the built-in ones. */
static void test_own_rules_win(void **state)
{
    static const char log[] = "/a/Loss.cu:3: k: block: [0,0,0], thread: [0,0,0] "
        "Assertion `t >= 0 && t < n_classes` failed.\n";
    struct dg_rules r;
    char error[160];
    char *text = fl_format("assert expr=\"t >= 0\" op=mine cause=race\n%s",
                           dg_builtin_rules);
    assert_true(dg_rules_parse(&r, text, error));
    struct dg_words *w = dg_vocabulary(&r);
    struct dg d;
    struct dg_verdict v;
    dg_begin(&d, &r, w);
    dg_feed(&d, log, strlen(log));
    dg_end(&d);
    dg_decide(d.facts, &r, &v);
    assert_string_equal(dg_rule_text(v.rule, DG_OP), "mine");
    assert_string_equal(dg_rule_text(v.causes[0].rule, DG_NAME), "race");
    dg_verdict_free(&v);
    dg_free(&d);
    dg_words_free(w);
    dg_rules_free(&r);
    free(text);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_overlap_and_ignore_case),
        cmocka_unit_test(test_rules_language),
        cmocka_unit_test(test_built_in_rules_fit_together),
        cmocka_unit_test(test_short_names),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_cuts_do_not_matter),
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_own_rules_win),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
