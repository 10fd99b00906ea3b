/* The plain definitions of stats.h; samples are tens, not millions. */
#include "harness/stats.h"

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

struct interval stats_share(size_t k, size_t n)
{
    const double z = 1.959963984540054, p = (double)k / (double)n;
    const double zz = z * z / (double)n, m = (double)n;
    double middle = (p + zz / 2) / (1 + zz);
    double half = z * sqrt(p * (1 - p) / m + zz / (4 * m)) / (1 + zz);
    /* The ends are exact where rounding would miss them. */
    return (struct interval){ p, n && !k ? 0 : middle - half,
                              n && k == n ? 1 : middle + half };
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

struct interval stats_ratio(const double *a, size_t na, const double *b,
                            size_t nb, uint64_t seed)
{
    struct interval r = { NAN, NAN, NAN };
    double *x = malloc((na + 1) * sizeof *x);
    double *y = malloc((nb + 1) * sizeof *y);
    double *ratios = malloc(STATS_RESAMPLES * sizeof *ratios);
    if (!na || !nb || !x || !y || !ratios)
        goto out;
    memcpy(x, a, na * sizeof *x);
    memcpy(y, b, nb * sizeof *y);
    r.median = stats_quantile(y, nb, 0.5) / stats_quantile(x, na, 0.5);
    uint64_t state = seed;
    for (size_t k = 0; k < STATS_RESAMPLES; k++) {
        for (size_t i = 0; i < na; i++)
            x[i] = a[((fl_splitmix(&state) >> 32) * na) >> 32];
        for (size_t i = 0; i < nb; i++)
            y[i] = b[((fl_splitmix(&state) >> 32) * nb) >> 32];
        ratios[k] = stats_quantile(y, nb, 0.5) / stats_quantile(x, na, 0.5);
    }
    r.low = stats_quantile(ratios, STATS_RESAMPLES, 0.025);
    r.high = quantile_sorted(ratios, STATS_RESAMPLES, 0.975);
out:
    free(x);
    free(y);
    free(ratios);
    return r;
}

/* ---- two samples by rank ---- */

/* Both samples as counts over their common distinct values, ascending. */
struct joint {
    size_t n, *a, *b;           /* n distinct values; counts of each */
    size_t *at_a, *at_b;        /* which value each element of a, b is */
};

static size_t index_of(const double *values, size_t n, double x)
{
    return (size_t)((double *)bsearch(&x, values, n, sizeof x, ascending)
                    - values);
}

static void joint_free(struct joint *j)
{
    free(j->a);
    free(j->b);
    free(j->at_a);
    free(j->at_b);
}

static int joint_make(struct joint *j, const double *a, size_t na,
                      const double *b, size_t nb)
{
    double *values = malloc((na + nb) * sizeof *values);
    *j = (struct joint){
        0, calloc(na + nb, sizeof *j->a), calloc(na + nb, sizeof *j->b),
        malloc(na * sizeof *j->at_a), malloc(nb * sizeof *j->at_b) };
    if (!values || !j->a || !j->b || !j->at_a || !j->at_b) {
        free(values);
        return 0;
    }
    memcpy(values, a, na * sizeof *a);
    memcpy(values + na, b, nb * sizeof *b);
    qsort(values, na + nb, sizeof *values, ascending);
    for (size_t i = 0; i < na + nb; i++)
        if (!j->n || values[j->n - 1] != values[i])
            values[j->n++] = values[i];
    for (size_t i = 0; i < na; i++)
        j->a[j->at_a[i] = index_of(values, j->n, a[i])]++;
    for (size_t i = 0; i < nb; i++)
        j->b[j->at_b[i] = index_of(values, j->n, b[i])]++;
    free(values);
    return 1;
}

static double delta_of(const size_t *a, size_t na, const size_t *b, size_t nb,
                       size_t n)
{
    double sum = 0, below = 0;  /* below: how many of a are smaller */
    for (size_t i = 0; i < n; i++) {
        double above = (double)na - below - (double)a[i];
        sum += (double)b[i] * (below - above);
        below += (double)a[i];
    }
    return sum / ((double)na * (double)nb);
}

/* Share of all ways to draw nb of the values whose rank sum is at least as far
 * from its mean as that of b. Ranks are doubled, so that ties stay whole. */
static double exact_p(const struct joint *j, size_t na, size_t nb)
{
    size_t total = na + nb, most = total * (total + 1), seen = 0, sum_b = 0;
    double *ways = calloc((nb + 1) * (most + 1), sizeof *ways);
    if (!ways)
        return NAN;
    ways[0] = 1;
    for (size_t i = 0; i < j->n; i++) {
        size_t ties = j->a[i] + j->b[i], rank = 2 * seen + ties + 1;
        sum_b += j->b[i] * rank;
        seen += ties;
        for (size_t t = 0; t < ties; t++)
            for (size_t k = nb; k > 0; k--)
                for (size_t s = rank; s <= most; s++)
                    ways[k * (most + 1) + s] +=
                        ways[(k - 1) * (most + 1) + s - rank];
    }
    double mean = (double)nb * (double)(total + 1), all = 0, far = 0;
    for (size_t s = 0; s <= most; s++) {
        double w = ways[nb * (most + 1) + s];
        all += w;
        if (fabs((double)s - mean) >= fabs((double)sum_b - mean))
            far += w;
    }
    free(ways);
    return far / all;
}

static double normal_p(const struct joint *j, size_t na, size_t nb,
                       double delta)
{
    double n = (double)(na + nb), ties = 0, pairs = (double)na * (double)nb;
    for (size_t i = 0; i < j->n; i++) {
        double t = (double)(j->a[i] + j->b[i]);
        ties += t * t * t - t;
    }
    double variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
    return variance > 0
        ? erfc(fabs(delta) * pairs / 2 / sqrt(2 * variance)) : 1;
}

struct effect stats_effect(const double *a, size_t na, const double *b,
                           size_t nb, uint64_t seed)
{
    struct effect r = { NAN, NAN, NAN, NAN };
    struct joint j;
    double *deltas = malloc(STATS_RESAMPLES * sizeof *deltas);
    if (!joint_make(&j, a, na, b, nb) || !deltas)
        goto out;
    r.delta = delta_of(j.a, na, j.b, nb, j.n);
    r.p = j.n == 1 ? 1 : na + nb <= STATS_EXACT ? exact_p(&j, na, nb)
        : normal_p(&j, na, nb, r.delta);
    uint64_t state = seed;
    for (size_t k = 0; k < STATS_RESAMPLES; k++) {
        memset(j.a, 0, j.n * sizeof *j.a);
        memset(j.b, 0, j.n * sizeof *j.b);
        for (size_t i = 0; i < na; i++)
            j.a[j.at_a[((fl_splitmix(&state) >> 32) * na) >> 32]]++;
        for (size_t i = 0; i < nb; i++)
            j.b[j.at_b[((fl_splitmix(&state) >> 32) * nb) >> 32]]++;
        deltas[k] = delta_of(j.a, na, j.b, nb, j.n);
    }
    r.low = stats_quantile(deltas, STATS_RESAMPLES, 0.025);
    r.high = quantile_sorted(deltas, STATS_RESAMPLES, 0.975);
out:
    joint_free(&j);
    free(deltas);
    return r;
}
