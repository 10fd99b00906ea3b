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

static struct interval cell_cost(const struct bench *b, const struct worker *w,
                                 const struct cell *cell)
{
    unsigned n = cell->repetitions;
    double *rates = malloc((2 * n + 1) * sizeof *rates), *base = rates + n;
    struct interval cost = { NAN, NAN, NAN };
    size_t pairs = 0;
    if (!rates)
        return cost;
    for (unsigned r = 0; r < 2 * n; r++)
        rates[r] = NAN;
    for (const struct turn *t = b->turns; t < b->turns + b->n_turns; t++)
        if (t->cell == cell && (t->by == w || t->by == b->baseline))
            (t->by == w ? rates : base)[t->repetition] =
                t->steps / t->elapsed_ns * 1e9;
    for (unsigned r = 0; r < n; r++)
        if (isfinite(rates[r]) && isfinite(base[r])) {
            rates[pairs] = rates[r];
            base[pairs++] = base[r];
        }
    if (pairs)
        cost = stats_cost(rates, base, pairs, STATS_SEED);
    free(rates);
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

void summary_print(FILE *f, const struct bench *b)
{
    const struct worker *end = b->workers + b->n_workers;
    fprintf(f, "throughput lost against %s on device %s, median %% "
            "[95 %% interval]\n%-24s", BASELINE, b->o->device, "kernel");
    for (const struct worker *w = b->workers; w < end; w++)
        if (w != b->baseline)
            fprintf(f, " %-20s", w->name);
    fputc('\n', f);
    for (const struct cell *c = b->cells; c < b->cells + b->n_cells; c++) {
        cell_name(f, c);
        for (const struct worker *w = b->workers; w < end; w++) {
            if (w == b->baseline)
                continue;
            struct interval cost = cell_cost(b, w, c);
            char text[48] = "-";
            if (isfinite(cost.median))
                snprintf(text, sizeof text, "%.1f [%.1f, %.1f]",
                         cost.median * 100, cost.low * 100, cost.high * 100);
            fprintf(f, " %-20s", text);
        }
        fputc('\n', f);
    }
}
