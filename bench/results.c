/* throughput.csv and the table at the end of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "harness/stats.h"

static void put_TEXT(FILE *f, const char *text)
{
    fputs(text, f);                 /* names of ours: nothing to quote */
}

static void put_WHOLE(FILE *f, double value)
{
    if (isfinite(value))
        fprintf(f, "%.0f", value);
}

static void put_REAL(FILE *f, double value)
{
    if (isfinite(value))
        fprintf(f, "%.7g", value);
}

void csv_header(FILE *f, const struct options *o, const char *device_name,
                unsigned long long runtime)
{
    fprintf(f, "# faultlag throughput: a row is one turn of one strategy on "
            "healthy work\n# device %s: %s, runtime %llu\n# seed %llu, "
            "turns of %g ms, %g s\n", o->device, device_name, runtime,
            (unsigned long long)o->seed, o->turn_ns * 1e-6, o->seconds);
    const char *separator = "";
#define COLUMN(name, kind, value, meaning) \
    fprintf(f, "%s%s", separator, #name); \
    separator = ",";
#include "bench/columns.def"
#undef COLUMN
    fputc('\n', f);
    fflush(f);
}

void csv_row(FILE *f, const struct turn *t)
{
    const char *separator = "";
#define COLUMN(name, kind, value, meaning) \
    fputs(separator, f); \
    put_##kind(f, value); \
    separator = ",";
#include "bench/columns.def"
#undef COLUMN
    fputc('\n', f);
    fflush(f);
}

/* ---- the table ----------------------------------------------------------- */

static double rate_of(const struct turn *turns, size_t n, const char *strategy,
                      const struct cell *cell, unsigned repetition)
{
    for (size_t i = 0; i < n; i++)
        if (turns[i].cell == cell && turns[i].repetition == repetition &&
            !strcmp(turns[i].strategy, strategy))
            return turns[i].steps / turns[i].elapsed_ns * 1e9;
    return NAN;
}

static struct interval cell_cost(const struct turn *turns, size_t n,
                                 const char *strategy, const struct cell *cell)
{
    double *a = malloc((cell->repetitions + 1) * sizeof *a);
    double *b = malloc((cell->repetitions + 1) * sizeof *b);
    struct interval cost = { NAN, NAN, NAN };
    size_t pairs = 0;
    for (unsigned r = 0; a && b && r < cell->repetitions; r++) {
        a[pairs] = rate_of(turns, n, strategy, cell, r);
        b[pairs] = rate_of(turns, n, BASELINE, cell, r);
        pairs += isfinite(a[pairs]) && isfinite(b[pairs]);
    }
    if (pairs)
        cost = stats_cost(a, b, pairs, STATS_SEED);
    free(a);
    free(b);
    return cost;
}

static void cell_name(FILE *f, const struct cell *c)
{
    char name[64];
    if (isnan(c->kernel_ns))
        snprintf(name, sizeof name, "%.40s", c->workload);
    else
        snprintf(name, sizeof name, "%g us, host %g us", c->kernel_ns * 1e-3,
                 c->host_work_ns * 1e-3);
    fprintf(f, "%-24s", name);
}

void summary_print(FILE *f, const struct options *o, const struct cell *cells,
                   size_t n_cells, const struct turn *turns, size_t n_turns)
{
    fprintf(f, "throughput lost against %s on device %s, median %% "
            "[95 %% interval]\n%-24s", BASELINE, o->device, "kernel");
    for (size_t s = 0; s < o->n_strategies; s++)
        if (strcmp(o->strategies[s], BASELINE))
            fprintf(f, " %-20s", o->strategies[s]);
    fputc('\n', f);
    for (size_t i = 0; i < n_cells; i++) {
        cell_name(f, &cells[i]);
        for (size_t s = 0; s < o->n_strategies; s++) {
            if (!strcmp(o->strategies[s], BASELINE))
                continue;
            struct interval c = cell_cost(turns, n_turns, o->strategies[s],
                                          &cells[i]);
            char text[48] = "-";
            if (isfinite(c.median))
                snprintf(text, sizeof text, "%.1f [%.1f, %.1f]",
                         c.median * 100, c.low * 100, c.high * 100);
            fprintf(f, " %-20s", text);
        }
        fputc('\n', f);
    }
}
