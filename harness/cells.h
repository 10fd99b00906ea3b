/* Rows by cell: scenario, variant, strategy and way to run. What is printed
 * at the end of a run, and what only many trials together can show. */
#ifndef FAULTLAG_HARNESS_CELLS_H
#define FAULTLAG_HARNESS_CELLS_H

#include <stdio.h>

#include "harness/columns.h"
#include "harness/expect.h"

struct fl_cell {
    char *key[4];               /* scenario, variant, strategy, way to run */
    char *device, *device_name;
    bool many_devices;          /* its trials ran on different ones */
    unsigned trials, deviated, outcomes[FL_OUTCOME_COUNT];
    long long between_min, between_max; /* launches; min > max: no report */
    char *site;                 /* of the first report: "function file:line" */
    bool many_sites;
    double *latencies_ns;       /* fault to report */
    double *betweens;           /* launches, of each report */
    size_t n_latencies, n_betweens;
    char *deviation;            /* of the first trial that deviates */
    char *skip;                 /* why the first skipped one was; or NULL */
};

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
