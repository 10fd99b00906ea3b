/* Two sets of trials, cell by cell: is B better or worse than A? A cell is
 * scenario, variant, strategy and way to run. docs/compare.md tells the rules
 * to people; the constants here are the rules. */
#ifndef FAULTLAG_HARNESS_COMPARE_H
#define FAULTLAG_HARNESS_COMPARE_H

#include "harness/cells.h"

/* X(ident, name): of a cell, and of a measure of one. */
#define FL_COMPARED(X) \
    X(SAME, "same") X(BETTER, "better") X(WORSE, "worse") \
    X(AMBIGUOUS, "ambiguous") X(INCOMPARABLE, "incomparable")

enum fl_compared {
#define X(ident, name) FL_COMPARED_##ident,
    FL_COMPARED(X)
#undef X
    FL_COMPARED_COUNT
};

/* A difference counts when chance gives one as large in fewer than one of a
 * hundred cells: with no overlap at all, five trials a side are enough. */
#define FL_COMPARE_P 0.01
/* Small enough to be called the same: Cliff's delta, and a ratio of times. */
#define FL_COMPARE_DELTA 0.33
#define FL_COMPARE_RATIO 1.25

/* Of one measure; positive delta: B is higher, which is always worse. */
struct fl_measured {
    enum fl_compared verdict;   /* INCOMPARABLE: one side has no value */
    size_t n[2];
    double median[2];           /* of outcomes: unused */
    struct effect effect;
    struct interval ratio;      /* latency only: B / A */
};

struct fl_comparison {
    const struct fl_cell *cell[2];      /* of A and B; one may be NULL */
    enum fl_compared verdict;
    const char *why;            /* incomparable: why; else the measure that
                                   decides, or NULL */
    struct fl_measured outcome, between, latency;
};

/* One entry a cell of either set, sorted by scenario, variant, strategy and
 * way; *n of them. The caller frees the array; cells must outlive it. */
struct fl_comparison *fl_compare(const struct fl_cells *a,
                                 const struct fl_cells *b, size_t *n);
const char *fl_compared_name(enum fl_compared verdict);
/* How bad it is for whoever looks for the fault; 0 is best. -1: the trial
 * tells nothing (broken, skipped). */
int fl_outcome_rank(enum fl_outcome_index outcome);

#endif
