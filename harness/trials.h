/* Reading a finished trials.csv from a results folder that may come from
 * another machine, another time or a broken disk: whatever is in it, it is
 * either taken whole or refused with one line. */
#ifndef FAULTLAG_HARNESS_TRIALS_H
#define FAULTLAG_HARNESS_TRIALS_H

#include "harness/columns.h"

struct fl_trials {
    struct fl_row *rows;
    size_t n;
    bool other_columns;         /* it has columns that are not known here,
                                   which are left out of the rows */
};

/* Columns are found by name; one that is missing is empty in every row. False
 * with a line in error, and nothing to free: the file cannot be read, ends in
 * the middle of a record, is of another schema version, lacks what names a
 * trial, names one twice, holds a value not of its column's type or an outcome
 * that is none, or has no row. */
bool fl_trials_read(const char *folder, struct fl_trials *trials,
                    char error[256]);
bool fl_trials_parse(const char *s, size_t n, struct fl_trials *trials,
                     char error[256]);
/* No trial is named twice; false with a line in error. */
bool fl_trials_differ(const struct fl_trials *trials, char error[256]);
void fl_trials_free(struct fl_trials *trials);

#endif
