/* Rows by cell: scenario, variant, strategy and way to run. What is printed
 * at the end of a run, and what only many trials together can show. */
#ifndef FAULTLAG_HARNESS_CELLS_H
#define FAULTLAG_HARNESS_CELLS_H

#include <stdio.h>

#include "harness/columns.h"
#include "harness/expect.h"
#include "harness/stats.h"

struct fl_cell {
    char *key[4];               /* scenario, variant, strategy, way to run */
    char *device, *device_name;
    bool many_devices;          /* its trials ran on different ones */
    unsigned trials, told;      /* told: not broken, not skipped */
    unsigned reports, deviated, outcomes[FL_OUTCOME_COUNT];
    long long between_min, between_max; /* launches; min > max: no report */
    struct fl_named_site { char *name; unsigned n; } *sites;
    size_t n_sites;             /* of the reports: "function file:line" */
    double *latencies_ns;       /* fault to report */
    double *betweens;           /* launches, of each report */
    size_t n_latencies, n_betweens;
    char *deviation;            /* of the first trial that deviates */
    char *skip;                 /* why the first skipped one was; or NULL */
};

/* Eager and lazy schedules are bounds of how far a report is from its fault. */
bool fl_is_bound(const char *way);
/* Is a cell's trial one of many that might have been? A bound is no sample, and
 * a program without a fault only has to be clean: there one trial says what a
 * hundred would. */
bool fl_is_sampled(const char *variant, const char *way);
/* Share of the trials with a report, and of the reports the share that name
 * the place which is named most (*site, or NULL). NAN where there are none. */
struct interval fl_cell_detection(const struct fl_cell *c);
struct interval fl_cell_stability(const struct fl_cell *c, const char **site);

struct fl_cells { struct fl_cell *cells; size_t n; };

void fl_cells_add(struct fl_cells *cells, const struct fl_row *row);
/* Looks for cells of FL_SOME_TRIALS trials none of which shows what the
 * expectation says some must (expect.h); such cells deviate. */
void fl_cells_check_some(struct fl_cells *cells,
                         const struct fl_json *listing);
size_t fl_cells_deviating(const struct fl_cells *cells);
/* The end of a run: looks at what only the whole can show, tells the table to
 * `table` (NULL: nobody), and to stderr which cells deviate. How many do. */
size_t fl_cells_sum_up(struct fl_cells *cells, const struct fl_json *listing,
                       FILE *table, bool color);
/* A table for people, in the order of scenario, variant and strategy; with
 * `only_deviating` just the cells that deviate, and how. */
void fl_cells_print(const struct fl_cells *cells, FILE *out,
                    bool only_deviating, bool color);
void fl_cells_free(struct fl_cells *cells);

#endif
