/* Gathering rows by cell and printing them; see cells.h. */
#include "harness/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/listing.h"
#include "harness/outcome.h"

static const char *way(const struct fl_row *row)
{
    const char *schedule = fl_row_get(row, FL_COL_schedule);
    return *schedule ? schedule : fl_row_get(row, FL_COL_mode);
}

static struct fl_cell *find(struct fl_cells *cells, const struct fl_row *row)
{
    const char *key[4] = { fl_row_get(row, FL_COL_scenario),
                           fl_row_get(row, FL_COL_variant),
                           fl_row_get(row, FL_COL_strategy), way(row) };
    for (size_t i = 0; i < cells->n; i++) {
        int k = 0;
        while (k < 4 && !strcmp(cells->cells[i].key[k], key[k]))
            k++;
        if (k == 4)
            return &cells->cells[i];
    }
    cells->cells = fl_grow(cells->cells, cells->n + 1, sizeof *cells->cells);
    struct fl_cell *c = &cells->cells[cells->n++];
    *c = (struct fl_cell){ .between_min = 1 };
    for (int k = 0; k < 4; k++)
        c->key[k] = fl_strdup(key[k]);
    c->device = fl_strdup(fl_row_get(row, FL_COL_device));
    c->device_name = fl_strdup(fl_row_get(row, FL_COL_device_name));
    return c;
}

static void add_sample(double **samples, size_t *n, double value)
{
    *samples = fl_grow(*samples, *n + 1, sizeof **samples);
    (*samples)[(*n)++] = value;
}

static void add_report(struct fl_cell *c, const struct fl_row *row)
{
    const char *function = fl_row_get(row, FL_COL_report_function);
    if (!*function)
        return;
    char *site = fl_format("%s %s:%s", function,
                           fl_row_get(row, FL_COL_report_file),
                           fl_row_get(row, FL_COL_report_line));
    c->reports++;
    size_t i = 0;
    while (i < c->n_sites && strcmp(c->sites[i].name, site))
        i++;
    if (i == c->n_sites) {
        c->sites = fl_grow(c->sites, ++c->n_sites, sizeof *c->sites);
        c->sites[i] = (struct fl_named_site){ site, 1 };
    } else {
        c->sites[i].n++;
        free(site);
    }
    const char *text = fl_row_get(row, FL_COL_launches_between);
    long long between = atoll(text);
    if (*text && c->between_min > c->between_max)
        c->between_min = c->between_max = between;
    if (*text && between < c->between_min)
        c->between_min = between;
    if (*text && between > c->between_max)
        c->between_max = between;
    if (*text)
        add_sample(&c->betweens, &c->n_betweens, (double)between);
    text = fl_row_get(row, FL_COL_latency_fault_to_report_ns);
    if (*text)
        add_sample(&c->latencies_ns, &c->n_latencies, atof(text));
}

void fl_cells_add(struct fl_cells *cells, const struct fl_row *row)
{
    struct fl_cell *c = find(cells, row);
    unsigned set = fl_outcomes_parse(fl_row_get(row, FL_COL_outcome));
    c->trials++;
    c->told += !(set & (FL_BROKEN | FL_SKIPPED));
    c->many_devices |= strcmp(c->device, fl_row_get(row, FL_COL_device))
        || strcmp(c->device_name, fl_row_get(row, FL_COL_device_name));
    for (int i = 0; i < FL_OUTCOME_COUNT; i++)
        c->outcomes[i] += set >> i & 1;
    if (!strcmp(fl_row_get(row, FL_COL_as_expected), "no")) {
        c->deviated++;
        if (!c->deviation)
            c->deviation = fl_strdup(fl_row_get(row, FL_COL_deviation));
    }
    if (set & FL_SKIPPED && !c->skip)
        c->skip = fl_strdup(fl_row_get(row, FL_COL_reason));
    add_report(c, row);
}

bool fl_is_bound(const char *way)
{
    return !strcmp(way, "eager") || !strcmp(way, "lazy");
}

bool fl_is_sampled(const char *variant, const char *way)
{
    return !strcmp(variant, "faulty") && !fl_is_bound(way);
}

struct interval fl_cell_detection(const struct fl_cell *c)
{
    return stats_share(c->reports, c->told);
}

struct interval fl_cell_stability(const struct fl_cell *c, const char **site)
{
    const struct fl_named_site *most = NULL;
    for (size_t i = 0; i < c->n_sites; i++)
        if (!most || c->sites[i].n > most->n)
            most = &c->sites[i];
    *site = most ? most->name : NULL;
    return stats_share(most ? most->n : 0, c->reports);
}

void fl_cells_check_some(struct fl_cells *cells,
                         const struct fl_json *listing)
{
    for (size_t i = 0; i < cells->n; i++) {
        struct fl_cell *c = &cells->cells[i];
        unsigned seen = 0, some = strcmp(c->key[1], "faulty") ? 0
            : fl_listing_some(fl_listing_scenario(listing, c->key[0]),
                              c->key[2], c->device, c->key[3]);
        for (int k = 0; k < FL_OUTCOME_COUNT; k++)
            seen |= c->outcomes[k] ? 1u << k : 0;
        if (!some || c->trials < FL_SOME_TRIALS || seen & some)
            continue;
        char names[128];
        fl_outcomes_text(some, names, sizeof names);
        c->deviated = c->trials;
        free(c->deviation);
        c->deviation = fl_format("none of %u trials is %s", c->trials, names);
    }
}

size_t fl_cells_deviating(const struct fl_cells *cells)
{
    size_t n = 0;
    for (size_t i = 0; i < cells->n; i++)
        n += cells->cells[i].deviated > 0;
    return n;
}

/* ---- printing ---- */

static int by_key(const void *a, const void *b)
{
    const struct fl_cell *x = *(struct fl_cell *const *)a;
    const struct fl_cell *y = *(struct fl_cell *const *)b;
    int d = 0;
    for (int k = 0; k < 4 && !d; k++)
        d = strcmp(x->key[k], y->key[k]);
    return d;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char *outcomes_text(const struct fl_cell *c)
{
    struct fl_text t = { 0 };
    for (int k = 0; k < FL_OUTCOME_COUNT; k++)
        if (c->outcomes[k])
            fl_text_printf(&t, "%s%u %s", t.n ? ", " : "", c->outcomes[k],
                           fl_outcome_name((enum fl_outcome_index)k));
    return t.s ? t.s : fl_strdup("");
}

/* "80% [38, 96]"; without the interval where nothing was sampled. */
static char *share_text(const struct fl_cell *c, struct interval share)
{
    return isnan(share.median) || strcmp(c->key[1], "faulty") ? fl_strdup("")
        : !fl_is_sampled(c->key[1], c->key[3])
        ? fl_format("%.0f%%", 100 * share.median)
        : fl_format("%.0f%% [%.0f, %.0f]", 100 * share.median,
                    100 * share.low, 100 * share.high);
}

enum { COLUMNS = 10 };

static void cell_columns(struct fl_cell *c, bool only_deviating,
                         char *out[COLUMNS])
{
    for (int k = 0; k < 4; k++)
        out[k] = fl_strdup(c->key[k]);
    out[4] = outcomes_text(c);
    if (only_deviating) {
        out[5] = fl_strdup(c->deviation ? c->deviation : "");
        for (int k = 6; k < COLUMNS; k++)
            out[k] = fl_strdup("");
        return;
    }
    const char *site;
    struct interval stability = fl_cell_stability(c, &site);
    out[5] = c->between_min > c->between_max ? fl_strdup("")
        : c->between_min == c->between_max ? fl_format("%lld", c->between_min)
        : fl_format("%lld-%lld", c->between_min, c->between_max);
    if (c->n_latencies)
        qsort(c->latencies_ns, c->n_latencies, sizeof *c->latencies_ns,
              by_value);
    out[6] = c->n_latencies ? fl_time_text(c->latencies_ns[c->n_latencies / 2])
                            : fl_strdup("");
    out[7] = share_text(c, fl_cell_detection(c));
    out[8] = share_text(c, stability);
    out[9] = site ? fl_format("%s%s", site,
                              c->n_sites > 1 ? " and others" : "")
                  : fl_strdup(c->skip ? c->skip : "");
}

static void print_lines(char *(*lines)[COLUMNS], size_t n, FILE *out,
                        bool color)
{
    size_t width[COLUMNS] = { 0 };
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < COLUMNS; k++)
            if (strlen(lines[i][k]) > width[k])
                width[k] = strlen(lines[i][k]);
    for (size_t i = 0; i < n; i++) {
        fputs(color && i == 0 ? "\033[1m" : "", out);
        int last = COLUMNS - 1;
        while (last > 0 && !*lines[i][last])
            last--;
        for (int k = 0; k <= last; k++)
            fprintf(out, "%s%-*s", k ? "  " : "",
                    k == last ? 0 : (int)width[k], lines[i][k]);
        fputs(color && i == 0 ? "\033[0m\n" : "\n", out);
    }
}

void fl_cells_print(const struct fl_cells *cells, FILE *out,
                    bool only_deviating, bool color)
{
    static const char *const heads[2][COLUMNS] = {
        { "scenario", "variant", "strategy", "mode", "outcomes", "launches",
          "latency", "detected", "stable", "reported in" },
        { "scenario", "variant", "strategy", "mode", "outcomes",
          "differs from what was expected", "", "", "", "" } };
    struct fl_cell **sorted = fl_grow(NULL, cells->n, sizeof *sorted);
    char *(*lines)[COLUMNS] = fl_grow(NULL, cells->n + 1, sizeof *lines);
    size_t n = 0, m = 0;
    for (size_t i = 0; i < cells->n; i++)
        if (!only_deviating || cells->cells[i].deviated)
            sorted[n++] = &cells->cells[i];
    qsort(sorted, n, sizeof *sorted, by_key);
    for (int k = 0; k < COLUMNS; k++)
        lines[m][k] = fl_strdup(heads[only_deviating][k]);
    for (m = 1; m <= n; m++)
        cell_columns(sorted[m - 1], only_deviating, lines[m]);
    if (n)
        print_lines(lines, m, out, color);
    for (size_t i = 0; i < m; i++)
        for (int k = 0; k < COLUMNS; k++)
            free(lines[i][k]);
    free(lines);
    free(sorted);
}

size_t fl_cells_sum_up(struct fl_cells *cells, const struct fl_json *listing,
                       FILE *table, bool color)
{
    fl_cells_check_some(cells, listing);
    size_t deviating = fl_cells_deviating(cells);
    if (table)
        fl_cells_print(cells, table, false, color);
    if (deviating) {
        fprintf(stderr, "\n%zu of %zu cells deviate:\n", deviating, cells->n);
        fl_cells_print(cells, stderr, true, false);
    }
    return deviating;
}

void fl_cells_free(struct fl_cells *cells)
{
    for (size_t i = 0; i < cells->n; i++) {
        struct fl_cell *c = &cells->cells[i];
        for (int k = 0; k < 4; k++)
            free(c->key[k]);
        free(c->device);
        free(c->device_name);
        free(c->betweens);
        for (size_t k = 0; k < c->n_sites; k++)
            free(c->sites[k].name);
        free(c->sites);
        free(c->latencies_ns);
        free(c->deviation);
        free(c->skip);
    }
    free(cells->cells);
    *cells = (struct fl_cells){ 0 };
}
