/* Call stacks: named down to inlined functions, with the lines of the calls,
 * and the distance between two of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/stacks.h"

static void *addresses[2];
static int n_addresses;
static int inlined_line, outer_line;

static void __attribute__((noinline)) record(void **frame)
{
    addresses[0] = __builtin_return_address(0);
    addresses[1] = frame[1];            /* of record's caller */
    n_addresses = 2;
}

static inline void __attribute__((always_inline)) inlined(void)
{
    inlined_line = __LINE__ + 1;
    record(__builtin_frame_address(0));
    __asm__ volatile("");               /* no tail call */
}

static void __attribute__((noinline)) middle(void)
{
    inlined();
    __asm__ volatile("");
}

static void __attribute__((noinline)) outer(void)
{
    outer_line = __LINE__ + 1;
    middle();
    __asm__ volatile("");
}

static void frames_have_names(void **state)
{
    struct fl_frame f[FL_MAX_NAMED];
    (void)state;
    outer();
    int n = fl_name_frames(addresses, n_addresses, f);
    assert_int_equal(n, 3);
    assert_string_equal(f[0].function, "inlined");
    assert_int_equal(f[0].line, inlined_line);
    assert_string_equal(f[1].function, "middle");
    assert_string_equal(f[2].function, "outer");
    assert_int_equal(f[2].line, outer_line);
    for (int i = 0; i < n; i++)
        assert_non_null(strstr(f[i].file, "test_stacks.c"));
}

static void nonsense_is_unknown(void **state)
{
    struct fl_frame f[FL_MAX_NAMED];
    void *nowhere[] = { (void *)(uintptr_t)0x10 };
    (void)state;
    assert_int_equal(fl_name_frames(nowhere, 1, f), 1);
    assert_string_equal(f[0].function, "?");
}

/* A stack from its innermost frame on: "f3 g7" is f at line 3, called by g at
 * line 7. */
static int stack(const char *text, struct fl_frame *f)
{
    int n = 0;
    for (const char *s = text; *s; s += *s == ' ') {
        memset(&f[n], 0, sizeof f[n]);
        f[n].function[0] = s[0];
        f[n++].line = s[1] - '0';
        s += 2;
    }
    return n;
}

static void distance_counts_what_is_not_shared(void **state)
{
    static const struct { const char *a, *b; int distance; } cases[] = {
        { "f1 g2 m3", "f1 g2 m3", 0 },
        { "f1 g2 m3", "f4 g2 m3", 0 },  /* another line of one function */
        { "f1 g2 m3", "h1 g2 m3", 2 },
        { "f1 g2 m3", "h1 g4 m3", 2 },  /* callees of different lines */
        { "f1 g2 m3", "f1 g4 m3", 2 },  /* another activation of f */
        { "f1 g2 m3", "g4 m3", 1 },
        { "f1 g2 m3", "m4", 2 },
        { "f1 g2 m3", "f1 g2 n3", 6 },
        { "m3", "m3", 0 },
        { "", "m3", 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fl_frame a[8], b[8];
        int n = stack(cases[i].a, a), m = stack(cases[i].b, b);
        assert_int_equal(fl_frame_distance(a, n, b, m), cases[i].distance);
        assert_int_equal(fl_frame_distance(b, m, a, n), cases[i].distance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_names),
        cmocka_unit_test(nonsense_is_unknown),
        cmocka_unit_test(distance_counts_what_is_not_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
