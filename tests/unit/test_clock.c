/* The clock mapping against synthetic clocks whose truth is known: the true
 * time must always lie within the bounds, and the bounds must be as good as
 * the round trips are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness/clock_fit.h"
#include "harness/random.h"

struct fake { double ppm; int64_t offset; uint64_t granularity, random; };

/* What the device's timer shows at a host time. */
static uint64_t device_at(const struct fake *f, int64_t host)
{
    double t = (double)host * (1 + f->ppm * 1e-6);
    uint64_t v = (uint64_t)((int64_t)llround(t) + f->offset);
    return v - v % f->granularity;
}

static int64_t below(struct fake *f, uint64_t n)
{
    return (int64_t)(fl_splitmix(&f->random) % n);
}

/* n round trips from `start`, each up to `width` long. */
static void talk(struct fake *f, struct fl_clock_sample *s, size_t n,
                 int64_t start, uint64_t width)
{
    for (size_t i = 0; i < n; i++) {
        int64_t there = below(f, width), back = below(f, width);
        s[i].before_ns = start;
        s[i].device = device_at(f, start + there);
        s[i].after_ns = start + there + back + 20;
        start = s[i].after_ns + below(f, 5000);
    }
}

static void truth_lies_within_the_bounds(void **state)
{
    static const double ppms[] = { 0, 20, -80, 500, -900 };
    static const int64_t offsets[] = { 0, INT64_C(1700000000000000000),
                                       -50000 };
    static const uint64_t steps[] = { 1, 32, 1024, 1000000 };
    struct fl_clock_sample s[64];
    (void)state;
    for (size_t p = 0; p < 5; p++)
        for (size_t o = 0; o < 3; o++)
            for (size_t g = 0; g < 4; g++)
                for (int round = 0; round < 20; round++) {
        struct fake f = { ppms[p], offsets[o], steps[g],
                          1 + (uint64_t)round };
        int64_t start = INT64_C(10000000000) + below(&f, 1000000);
        talk(&f, s, 32, start, 3000);
        talk(&f, s + 32, 32, start + 8000000, 3000);
        int64_t fault = start + 8000000 + below(&f, 4000000), host, within;
        struct fl_clock clock = { s, 64, steps[g] };
        assert_true(fl_clock_map(&clock, device_at(&f, fault), &host,
                                 &within));
        assert_true(llabs(host - fault) <= within + 1);
        /* Not only true but of use. */
        assert_true((uint64_t)within < 6000 + 2 * steps[g]);
    }
}

static void tight_round_trips_give_tight_bounds(void **state)
{
    struct fake f = { 30, 12345, 1, 9 };
    struct fl_clock_sample s[128];
    int64_t host, within;
    (void)state;
    talk(&f, s, 64, 1000000000, 400);
    talk(&f, s + 64, 64, 1010000000, 400);
    struct fl_clock clock = { s, 128, 1 };
    int64_t fault = 1010100000;
    assert_true(fl_clock_map(&clock, device_at(&f, fault), &host, &within));
    assert_true(llabs(host - fault) <= within + 1 && within < 300);
}

/* Far from the round trips the bounds widen: drift is not known there. */
static void bounds_widen_with_distance(void **state)
{
    struct fake f = { 10, 0, 1, 4 };
    struct fl_clock_sample s[64];
    int64_t host, near, far;
    (void)state;
    talk(&f, s, 64, 1000000000, 1000);
    struct fl_clock clock = { s, 64, 1 };
    assert_true(fl_clock_map(&clock, device_at(&f, 1000100000), &host,
                             &near));
    int64_t fault = 1100000000;
    assert_true(fl_clock_map(&clock, device_at(&f, fault), &host, &far));
    assert_true(far > 10 * near);
    assert_true(llabs(host - fault) <= far + 1);
}

static void an_impossible_clock_is_refused(void **state)
{
    struct fake f = { 20000, 0, 1, 4 };         /* 2 % is no quartz */
    struct fl_clock_sample s[64];
    int64_t host, within;
    (void)state;
    talk(&f, s, 32, 1000000000, 1000);
    talk(&f, s + 32, 32, 1100000000, 1000);
    struct fl_clock clock = { s, 64, 1 };
    assert_false(fl_clock_map(&clock, s[63].device, &host, &within));
    /* A timer that jumps back. */
    f = (struct fake){ 0, 0, 1, 4 };
    talk(&f, s, 64, 1000000000, 1000);
    s[40].device -= 50000;
    assert_false(fl_clock_map(&clock, s[63].device, &host, &within));
    clock.n = 0;
    assert_false(fl_clock_map(&clock, 5, &host, &within));
}

static void granularity_is_found(void **state)
{
    static const uint64_t steps[] = { 1, 32, 1000, 1024, 31250 };
    struct fl_clock_sample s[256];
    (void)state;
    for (size_t g = 0; g < 5; g++) {
        struct fake f = { 17, 7777777, steps[g], 5 };
        talk(&f, s, 256, 5000000000, 40000);
        assert_int_equal(fl_clock_granularity(s, 256), steps[g]);
    }
    assert_int_equal(fl_clock_granularity(s, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_lies_within_the_bounds),
        cmocka_unit_test(tight_round_trips_give_tight_bounds),
        cmocka_unit_test(bounds_widen_with_distance),
        cmocka_unit_test(an_impossible_clock_is_refused),
        cmocka_unit_test(granularity_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
