/* Medians and bootstrap intervals of small samples.
 *
 * The resampling is defined so exactly that plots/stats.py, which does the
 * same for the report, gives the same digits: each draw is the element
 * ((r >> 32) * n) >> 32, r the next number of splitmix64 from the seed;
 * quantiles interpolate linearly between order statistics (numpy's default).
 * tests/plots compares the two. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

#define STATS_SEED 20240229u
#define STATS_RESAMPLES 2000u

struct interval {
    double median, low, high;   /* low and high: 95 % percentile bootstrap */
};

/* q in [0, 1] of x, which is left in ascending order; n > 0. */
double stats_quantile(double *x, size_t n, double q);

/* Median of x with its interval; x is not changed. NAN in all three members
 * when n is 0 or memory runs out; low == high == median when n is 1. */
struct interval stats_median(const double *x, size_t n, uint64_t seed);

/* 1 - median of a[i] / b[i]: what a costs against b when a and b were
 * measured next to each other in turn i. Pairs with b[i] <= 0 are left out. */
struct interval stats_cost(const double *a, const double *b, size_t n,
                           uint64_t seed);

#endif
