/* Medians and bootstrap intervals of small samples.
 *
 * The resampling is defined so exactly that plots/stats.py, which does the
 * same for the report, gives the same digits: each draw is the element
 * ((r >> 32) * n) >> 32, r the next number of splitmix64 from the seed;
 * quantiles interpolate linearly between order statistics (numpy's default).
 * tests/plots compares the two. */
#ifndef FAULTLAG_HARNESS_STATS_H
#define FAULTLAG_HARNESS_STATS_H

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

/* Median of b over median of a, samples drawn independently of each other;
 * all values must be above 0. NAN as above. */
struct interval stats_ratio(const double *a, size_t na, const double *b,
                            size_t nb, uint64_t seed);

/* How far b lies above a: Cliff's delta, P(b > a) - P(b < a) over all pairs,
 * with its percentile bootstrap interval, and the two-sided p of the
 * Mann-Whitney test with ties: exact up to STATS_EXACT values together, by
 * the normal approximation above. na and nb > 0. */
#define STATS_EXACT 40u
struct effect { double delta, low, high, p; };
struct effect stats_effect(const double *a, size_t na, const double *b,
                           size_t nb, uint64_t seed);

/* k of n, as a share: Wilson's score interval, 95 %, which knows that five of
 * five may well have been luck. The share is in `median`; NAN when n is 0. */
struct interval stats_share(size_t k, size_t n);

/* 1 - median of a[i] / b[i]: what a costs against b when a and b were
 * measured next to each other in turn i. Pairs with b[i] <= 0 are left out. */
struct interval stats_cost(const double *a, const double *b, size_t n,
                           uint64_t seed);

#endif
