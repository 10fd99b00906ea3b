/* Prints the intervals of harness/stats.c for numbers read from standard input,
 * for the comparison with plots/stats.py: first n, then n of a, n of b. */
#include <stdio.h>

#include "harness/stats.c"

int main(void)
{
    double a[1000], b[1000];
    size_t n;
    if (scanf("%zu", &n) != 1 || n > 1000)
        return 2;
    for (size_t i = 0; i < 2 * n; i++)
        if (scanf("%lf", i < n ? &a[i] : &b[i - n]) != 1)
            return 2;
    struct interval m = stats_median(a, n, STATS_SEED);
    struct interval c = stats_cost(a, b, n, STATS_SEED);
    printf("%.17g %.17g %.17g\n%.17g %.17g %.17g\n", m.median, m.low, m.high,
           c.median, c.low, c.high);
    return 0;
}
