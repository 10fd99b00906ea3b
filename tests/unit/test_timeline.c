/* The timeline of a fixed trace, line by line, at several widths; and traces
 * that lack parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/timeline.h"

#define ARGS(line, more) "\"args\":{\"file\":\"scenarios/some.c\"," \
    "\"line\":" #line more "}}"
#define SLICE(cat, name, tid, ts, dur, line, more) \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"cat\":\"" cat "\",\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur "," ARGS(line, more) ","
#define LANE(tid, name) "{\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":" \
    #tid ",\"ts\":0,\"args\":{\"name\":\"" name "\"}},"
#define INSTANT(name, tid, ts) "{\"ph\":\"i\",\"name\":\"" name \
    "\",\"tid\":" #tid ",\"ts\":" #ts "}"
#define FAULT(tid, ts, launch) "{\"ph\":\"i\",\"name\":\"fault\",\"tid\":" \
    #tid ",\"ts\":" #ts "," ARGS(8, ",\"launch\":" #launch)

/* A step that went well, then one whose second launch faults; the last kernel,
 * on another stream, is not cut short by it. 0 to 100 us from 1000 us on. */
static const char whole[] = "{\"traceEvents\":["
    LANE(1, "host") LANE(10, "stream 0") LANE(11, "stream 1")
    SLICE("launch", "k_a", 1, 0, 10, 7, ",\"launch\":1")
    SLICE("kernel", "k_a", 10, 5, 900, 7, ",\"launch\":1")
    SLICE("call", "cudaDeviceSynchronize", 1, 10, 980, 9, "")
    SLICE("launch", "k_a", 1, 1000, 10, 7, ",\"launch\":2")
    SLICE("check", "check", 1, 1010, 10, 7, ",\"launch\":2")
    SLICE("kernel", "k_a", 10, 1000, 12, 7, ",\"launch\":2")
    SLICE("launch", "k_b", 1, 1020, 10, 8, ",\"launch\":3")
    SLICE("kernel that did not finish", "k_b", 10, 1050, 10, 8,
          ",\"launch\":3")
    SLICE("launch", "k_a_very_long_name_indeed_it_is", 1, 1030, 10, 123,
          ",\"launch\":4")
    SLICE("kernel", "k_a_very_long_name_indeed_it_is", 11, 1040, 10, 123,
          ",\"launch\":4")
    SLICE("call", "cudaDeviceSynchronize", 1, 1040, 60, 9, "")
    FAULT(10, 1060, 3) "," INSTANT("report", 1, 1099.9) "],"
    "\"otherData\":{\"scenario\":\"some\",\"variant\":\"faulty\","
    "\"strategy\":\"async\",\"device_name\":\"a device\"}}";

static char *draw(const char *trace, int width, bool color)
{
    struct fl_text out = { 0 };
    char error[128];
    struct fl_json *j = fl_json_parse(trace, strlen(trace), error);
    assert_non_null(j);
    bool drawn = fl_timeline_draw(j, width, color, &out);
    assert_int_equal(drawn, out.n > 0);
    fl_json_free(j);
    return out.s;
}

static void expect(const char *trace, int width, const char *text)
{
    char *s = draw(trace, width, false);
    assert_string_equal(s, text);
    free(s);
}

static void narrow(void **state)
{
    (void)state;
    expect(whole, 52,
"some, faulty, under async on a device\n"
"- host in a call, ? in the strategy's check, = device, X fault, ! report;\n"
"one column is 5.3 us; it begins at 1.00 ms, after 2 calls\n"
"\n"
"  2 k_a                      s0  ===?       .      .\n"
"  3 k_b                      s0     ---   ==X      .\n"
"  4 k_a_very_long_name_indee s1       --=== .      .\n"
"    cudaDeviceSynchronize               -----------!\n"
"\n"
"fault at 1.06 ms: k_b, scenarios/some.c:8\n"
"report at 1.10 ms: cudaDeviceSynchronize, scenarios/some.c:9\n");
}

static void wide(void **state)
{
    (void)state;
    expect(whole, 93,
"some, faulty, under async on a device\n"
"- host in a call, ? in the strategy's check, = device, X fault, ! report;\n"
"one column is 2.6 us; it begins at 1.00 ms, after 2 calls\n"
"\n"
"  2 k_a                      s0  scenarios/some.c:7   "
    "=====???               .              .\n"
"  3 k_b                      s0  scenarios/some.c:8   "
    "       -----       ====X              .\n"
"  4 k_a_very_long_name_indee s1  scenarios/some.c:123 "
    "           ----=====   .              .\n"
"    cudaDeviceSynchronize        scenarios/some.c:9   "
    "               -----------------------!\n"
"\n"
"fault at 1.06 ms: k_b, scenarios/some.c:8\n"
"report at 1.10 ms: cudaDeviceSynchronize, scenarios/some.c:9\n");
}

/* Colour adds to the marks and to nothing else. */
static void coloured(void **state)
{
    char *plain = draw(whole, 93, false), *color = draw(whole, 93, true);
    (void)state;
    assert_non_null(strstr(color, "====\033[1;31mX\033[0m"));
    char *to = color;
    for (const char *s = color; *s; ) {
        bool escape = *s == '\033';
        while (escape && *s++ != 'm')
            ;
        if (!escape)
            *to++ = *s++;
    }
    *to = '\0';
    assert_string_equal(plain, color);
    free(plain);
    free(color);
}

/* A kernel that met the fault and returned. */
static void survived(void **state)
{
    (void)state;
    expect("{\"traceEvents\":["
           LANE(10, "stream 0")
           SLICE("launch", "k_a", 1, 0, 5, 7, ",\"launch\":1")
           SLICE("launch", "k_b", 1, 5, 5, 8, ",\"launch\":2")
           SLICE("call", "wait", 1, 10, 90, 9, "")
           SLICE("kernel", "k_a", 10, 10, 40, 7, ",\"launch\":1")
           SLICE("kernel", "k_b", 10, 50, 50, 8, ",\"launch\":2")
           FAULT(10, 40, 1) "," INSTANT("report", 1, 100) "]}", 28,
"?, ?, under ? on ?\n"
"- host in a call, ? in the strategy's check, = device, X fault, ! report;\n"
"one column is 6.2 us; it begins at 0 ns, after 0 calls\n"
"\n"
"  1 k_a  s0  -=====X==      .\n"
"  2 k_b  s0  --    . ========\n"
"    wait      --------------!\n"
"\nfault at 40.0 us: k_a, scenarios/some.c:7\n"
"report at 100.0 us: wait, scenarios/some.c:9\n");
}

/* Nothing went wrong: all of it is shown. */
static void without_fault(void **state)
{
    (void)state;
    expect("{\"traceEvents\":["
           LANE(10, "stream 0")
           SLICE("call", "cudaMemcpy", 1, 0, 1, 7, "")
           SLICE("launch", "k_a", 1, 50, 0, 7, ",\"launch\":1")
           SLICE("kernel", "k_a", 10, 60, 40, 7, ",\"launch\":1")
           "{}]}", 31,
"?, ?, under ? on ?\n"
"- host in a call, ? in the strategy's check, = device, X fault, ! report;\n"
"one column is 6.2 us; it begins at 0 ns, after 0 calls\n"
"\n"
"    cudaMemcpy     -\n"
"  1 k_a        s0          -=======\n"
"\nno fault\nno report\n");
}

/* From a file that is something else: refused or drawn, never worse. */
static void malformed(void **state)
{
    static const char *const none[] = {
        "{}", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":7}",
        "{\"traceEvents\":[1,[],{\"ph\":7}]}",
        "{\"traceEvents\":[" INSTANT("fault", 1, 5) "]}",
        "{\"traceEvents\":[" SLICE("check", "check", 1, 0, 1, 7, "") "{}]}",
    };
    static const char *const some[] = {
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"call\"}]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"launch\",\"ts\":-1e300,"
            "\"dur\":1e301,\"args\":[]}," INSTANT("fault", 1, -5) ","
            INSTANT("report", 1, 1e308) "]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(draw(none[i], 80, false));
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int width = -1; width < 200; width += 67)
            free(draw(some[i], width, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow), cmocka_unit_test(wide),
        cmocka_unit_test(coloured), cmocka_unit_test(survived),
        cmocka_unit_test(without_fault),
        cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
