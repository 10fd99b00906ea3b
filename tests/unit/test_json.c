/* JSON: what is written comes back, what is malformed is refused, nothing
 * hostile is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/json.h"

static struct fl_json *parse(const char *s)
{
    return fl_json_parse(s, strlen(s), NULL);
}

static void values_are_read(void **state)
{
    struct fl_json *j = parse(" {\"a\":[1,-2.5e+3,true,false,null,\"x\"],"
                              "\"b\":{},\"c\":[],\"d\":9223372036854775807}");
    (void)state;
    assert_non_null(j);
    const struct fl_json *a = fl_json_get(j, "a")->first;
    assert_string_equal(a->text, "1");
    assert_string_equal(a->next->text, "-2.5e+3");
    assert_true(a->next->next->truth);
    assert_int_equal(a->next->next->next->next->type, FL_JSON_NULL);
    assert_null(fl_json_get(j, "b")->first);
    assert_true(fl_json_integer(j, "d", 0) == INT64_MAX);
    assert_int_equal(fl_json_integer(j, "none", -7), -7);
    assert_string_equal(fl_json_string(j, "d", "not a string"),
                        "not a string");
    assert_null(fl_json_get(NULL, "a"));
    fl_json_free(j);
}

static void escapes_are_read(void **state)
{
    struct fl_json *j = parse("\"\\u0041\\n\\\"\\\\\\/\\u00e9\\u20ac"
                              "\\ud83d\\ude00\\ud800x\"");
    (void)state;
    assert_non_null(j);
    assert_string_equal(j->text, "A\n\"\\/\xc3\xa9\xe2\x82\xac"
                        "\xf0\x9f\x98\x80\xef\xbf\xbdx");
    fl_json_free(j);
}

static void malformed_input_is_refused(void **state)
{
    static const char *const bad[] = {
        "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}",
        "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}", "\"", "\"\\", "\"\\x\"",
        "\"\\u12\"", "\"\\u0000\"", "\"a\nb\"", "01", "-", "1.", ".5", "1e",
        "+1", "tru", "nul", "1 2", "{} {}", "NaN", "Infinity", "'a'",
        "[1 2]", "{\"a\" 1}", "-01", "0x10",
    };
    char error[128];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error[0] = '\0';
        assert_null(fl_json_parse(bad[i], strlen(bad[i]), error));
        assert_true(error[0]);
    }
    assert_null(fl_json_parse("\"a\0b\"", 5, error));
}

static void depth_is_limited(void **state)
{
    static char deep[200001];
    (void)state;
    memset(deep, '[', 100000);
    memset(deep + 100000, ']', 100000);
    assert_null(parse(deep));
    memset(deep, '[', sizeof deep - 1);
    assert_null(parse(deep));
    struct fl_json *j = parse("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]");
    assert_non_null(j);
    fl_json_free(j);
}

static void check_string(const char *s, const char *comes_back)
{
    struct fl_text t = { 0 };
    fl_json_open(&t, NULL, '{');
    fl_json_put_string(&t, s[0] ? s : "k", s);
    fl_json_put_string(&t, "after", "[{");
    fl_json_put_integer(&t, "n", -5);
    fl_json_open(&t, "list", '[');
    fl_json_put_bool(&t, NULL, true);
    fl_json_put_raw(&t, NULL, "1.5");
    fl_json_close(&t, ']');
    fl_json_close(&t, '}');
    struct fl_json *j = fl_json_parse(t.s, t.n, NULL);
    assert_non_null(j);
    assert_string_equal(j->first->text, comes_back);
    assert_string_equal(fl_json_string(j, "after", ""), "[{");
    assert_int_equal(fl_json_integer(j, "n", 0), -5);
    assert_string_equal(fl_json_get(j, "list")->first->next->text, "1.5");
    fl_json_free(j);
    fl_text_free(&t);
}

static void strings_come_back(void **state)
{
    static const char *const good[] = {
        "", "a", "\"", "\\", "\n\t\r\b\f\x01\x1f", "[", "{", ",", ":",
        "caf\xc3\xa9", "\xf0\x9f\x98\x80", "\\u0041", "x\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_string(good[i], good[i]);
    check_string("\xff", "\xef\xbf\xbd");
    check_string("\xc3", "\xef\xbf\xbd");
    check_string("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* Any damage to a document is refused or read, but never crashes. */
static void damage_is_survived(void **state)
{
    const char *s = "{\"a\":[1,2.5,{\"b\":\"x\\u00e9\\n\"}],\"c\":null}";
    size_t n = strlen(s);
    char copy[128];
    (void)state;
    srand(3);
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, s, n);
        for (int k = rand() % 3; k >= 0; k--)
            copy[rand() % n] = (char)(rand() % 256);
        fl_json_free(fl_json_parse(copy, (size_t)rand() % (n + 1), NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(escapes_are_read),
        cmocka_unit_test(malformed_input_is_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(strings_come_back),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
