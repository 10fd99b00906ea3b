/* Medians, quantiles and bootstrap intervals of the throughput benchmark. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/stats.c"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void quantiles_interpolate(void **state)
{
    double x[] = { 40, 10, 30, 20 };
    (void)state;
    assert_float_equal(stats_quantile(x, 4, 0), 10, 0);
    assert_float_equal(stats_quantile(x, 4, 0.5), 25, 0);
    assert_float_equal(stats_quantile(x, 4, 0.25), 17.5, 0);
    assert_float_equal(stats_quantile(x, 4, 1), 40, 0);
    assert_float_equal(x[0], 10, 0);    /* left in order */
}

static void one_sample_has_no_width(void **state)
{
    double x[] = { 7 };
    struct interval m = stats_median(x, 1, STATS_SEED);
    (void)state;
    assert_float_equal(m.median, 7, 0);
    assert_float_equal(m.low, 7, 0);
    assert_float_equal(m.high, 7, 0);
}

static void no_sample_is_no_number(void **state)
{
    double x[] = { 0 };
    struct interval m = stats_median(x, 0, STATS_SEED);
    (void)state;
    assert_true(isnan(m.median) && isnan(m.low) && isnan(m.high));
    m = stats_cost(x, x, 0, STATS_SEED);
    assert_true(isnan(m.median));
}

static void interval_holds_the_median(void **state)
{
    double x[] = { 3, 1, 4, 1.5, 9, 2.6, 5, 3.5, 8, 9.7, 9.3 }, copy[11];
    memcpy(copy, x, sizeof x);
    struct interval m = stats_median(x, COUNT(x), STATS_SEED);
    (void)state;
    assert_float_equal(m.median, 4, 0);
    assert_true(m.low < m.median && m.median < m.high);
    assert_true(m.low >= 1 && m.high <= 9.7);
    assert_memory_equal(x, copy, sizeof x);
    struct interval again = stats_median(x, COUNT(x), STATS_SEED);
    assert_memory_equal(&m, &again, sizeof m);
}

/* Of many samples of a known distribution, about 95 % of the intervals must
 * hold its true median: the interval means what it says. */
static void interval_covers_as_often_as_it_says(void **state)
{
    uint64_t random = 5;
    int covered = 0, trials = 200;
    (void)state;
    for (int t = 0; t < trials; t++) {
        double x[31];
        for (size_t i = 0; i < COUNT(x); i++)
            x[i] = (double)(fl_splitmix(&random) >> 11) * 0x1p-53;
        struct interval m = stats_median(x, COUNT(x), 100 + (uint64_t)t);
        covered += m.low <= 0.5 && 0.5 <= m.high;
    }
    assert_in_range(covered, 180, 200);
}

/* A machine that slows down from turn to turn changes no ratio of pairs. */
/* Wilson's interval, worked out by hand, and its ends. */
static void shares_know_small_samples(void **state)
{
    static const struct { size_t k, n; double low, high; } cases[] = {
        { 5, 5, 0.5655, 1 }, { 0, 5, 0, 0.4345 }, { 3, 5, 0.2307, 0.8824 },
        { 1, 1, 0.2065, 1 }, { 50, 100, 0.4038, 0.5962 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct interval s = stats_share(cases[i].k, cases[i].n);
        assert_float_equal(s.median, (double)cases[i].k / cases[i].n, 1e-12);
        assert_float_equal(s.low, cases[i].low, 5e-5);
        assert_float_equal(s.high, cases[i].high, 5e-5);
    }
    assert_true(isnan(stats_share(0, 0).median));
}

static void drift_cancels(void **state)
{
    double a[9], b[9], plain_a[9], plain_b[9];
    (void)state;
    for (int i = 0; i < 9; i++) {
        double drift = pow(0.7, i);
        plain_a[i] = 60 + i % 3;
        plain_b[i] = 100;
        a[i] = plain_a[i] * drift;
        b[i] = plain_b[i] * drift;
    }
    struct interval with = stats_cost(a, b, 9, STATS_SEED);
    struct interval without = stats_cost(plain_a, plain_b, 9, STATS_SEED);
    assert_float_equal(with.median, 0.39, 1e-12);
    assert_float_equal(with.median, without.median, 1e-12);
    assert_float_equal(with.low, without.low, 1e-12);
    assert_float_equal(with.high, without.high, 1e-12);
}

static void useless_pairs_are_left_out(void **state)
{
    double a[] = { 50, 80, 50 }, b[] = { 100, 0, 100 };
    struct interval m = stats_cost(a, b, 3, STATS_SEED);
    (void)state;
    assert_float_equal(m.median, 0.5, 0);
    assert_float_equal(m.low, 0.5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(one_sample_has_no_width),
        cmocka_unit_test(no_sample_is_no_number),
        cmocka_unit_test(interval_holds_the_median),
        cmocka_unit_test(interval_covers_as_often_as_it_says),
        cmocka_unit_test(shares_know_small_samples),
        cmocka_unit_test(drift_cancels),
        cmocka_unit_test(useless_pairs_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
