/* Linear programming in two variables by nested intervals: for a fixed slope
 * b the feasible a form an interval whose ends are a maximum and a minimum
 * over the samples; its width and both bounds are concave or convex in b, so
 * bisection and ternary search find every extreme. See clock_fit.h. */
#include "harness/clock_fit.h"

#include <math.h>

uint64_t fl_clock_granularity(const struct fl_clock_sample *samples, size_t n)
{
    uint64_t g = 0;
    for (size_t i = 1; i < n; i++) {
        uint64_t a = samples[i].device, b = samples[i - 1].device;
        for (a = a > b ? a - b : b - a; a; ) {  /* gcd(g, a) */
            uint64_t rest = g % a;
            g = a;
            a = rest;
        }
    }
    return n < 3 || g == 0 ? 1 : g;
}

/* All relative to the first sample, so that doubles keep nanoseconds. */
static double device_of(const struct fl_clock *c, size_t i)
{
    return (double)(int64_t)(c->samples[i].device - c->samples[0].device);
}

static double lowest_a(const struct fl_clock *c, double b)
{
    double most = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        double before = (double)(c->samples[i].before_ns
                                 - c->samples[0].before_ns);
        most = fmax(most, before
                    - b * (device_of(c, i) + (double)c->granularity));
    }
    return most;
}

static double highest_a(const struct fl_clock *c, double b)
{
    double least = INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        double after = (double)(c->samples[i].after_ns
                                - c->samples[0].before_ns);
        least = fmin(least, after - b * device_of(c, i));
    }
    return least;
}

enum what { WIDTH, UPPER, LOWER_NEGATED };

/* The concave functions of b that are maximised; d is a device time. */
static double objective(const struct fl_clock *c, enum what what, double b,
                        double d)
{
    switch (what) {
    case WIDTH: return highest_a(c, b) - lowest_a(c, b);
    case UPPER: return highest_a(c, b) + b * (d + (double)c->granularity);
    default: return -(lowest_a(c, b) + b * d);
    }
}

static double best_b(const struct fl_clock *c, enum what what, double d,
                     double low, double high)
{
    for (int i = 0; i < 80; i++) {
        double left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (objective(c, what, left, d) < objective(c, what, right, d))
            low = left;
        else
            high = right;
    }
    return (low + high) / 2;
}

/* Between b = in (feasible) and b = out: the feasible one nearest to out. */
static double edge(const struct fl_clock *c, double in, double out)
{
    if (objective(c, WIDTH, out, 0) >= 0)
        return out;
    for (int i = 0; i < 60; i++) {
        double middle = (in + out) / 2;
        if (objective(c, WIDTH, middle, 0) >= 0)
            in = middle;
        else
            out = middle;
    }
    return in;
}

bool fl_clock_map(const struct fl_clock *c, uint64_t device,
                  int64_t *host_ns, int64_t *uncertainty_ns)
{
    if (c->n == 0)
        return false;
    double low = 1 - FL_CLOCK_MAX_PPM * 1e-6;
    double high = 1 + FL_CLOCK_MAX_PPM * 1e-6;
    double d = (double)(int64_t)(device - c->samples[0].device);
    double inside = best_b(c, WIDTH, d, low, high);
    if (objective(c, WIDTH, inside, d) < 0)
        return false;
    low = edge(c, inside, low);
    high = edge(c, inside, high);
    double upper = objective(c, UPPER, best_b(c, UPPER, d, low, high), d);
    double lower = -objective(c, LOWER_NEGATED,
                              best_b(c, LOWER_NEGATED, d, low, high), d);
    *host_ns = c->samples[0].before_ns + (int64_t)llround((upper + lower) / 2);
    *uncertainty_ns = (int64_t)ceil((upper - lower) / 2);
    return true;
}
