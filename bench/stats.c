/* The plain definitions of stats.h; samples are tens, not millions. */
#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/random.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_sorted(const double *x, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return x[n - 1];
    return x[i] + (at - (double)i) * (x[i + 1] - x[i]);
}

double stats_quantile(double *x, size_t n, double q)
{
    qsort(x, n, sizeof *x, ascending);
    return quantile_sorted(x, n, q);
}

struct interval stats_median(const double *x, size_t n, uint64_t seed)
{
    struct interval r = { NAN, NAN, NAN };
    double *sample = malloc((n + 1) * sizeof *sample);
    double *medians = malloc(STATS_RESAMPLES * sizeof *medians);
    if (n == 0 || !sample || !medians)
        goto out;
    memcpy(sample, x, n * sizeof *x);
    r.median = stats_quantile(sample, n, 0.5);
    uint64_t state = seed;
    for (size_t b = 0; b < STATS_RESAMPLES; b++) {
        for (size_t i = 0; i < n; i++)
            sample[i] = x[((fl_splitmix(&state) >> 32) * n) >> 32];
        medians[b] = stats_quantile(sample, n, 0.5);
    }
    r.low = stats_quantile(medians, STATS_RESAMPLES, 0.025);
    r.high = quantile_sorted(medians, STATS_RESAMPLES, 0.975);
out:
    free(sample);
    free(medians);
    return r;
}

struct interval stats_cost(const double *a, const double *b, size_t n,
                           uint64_t seed)
{
    struct interval r = { NAN, NAN, NAN };
    double *ratio = malloc((n + 1) * sizeof *ratio);
    size_t pairs = 0;
    if (!ratio)
        return r;
    for (size_t i = 0; i < n; i++)
        if (b[i] > 0)
            ratio[pairs++] = a[i] / b[i];
    struct interval m = stats_median(ratio, pairs, seed);
    r = (struct interval){ 1 - m.median, 1 - m.high, 1 - m.low };
    free(ratio);
    return r;
}
