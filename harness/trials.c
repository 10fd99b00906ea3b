/* Checks before use; see trials.h. */
#include "harness/trials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/csv.h"
#include "harness/outcome.h"

/* What every row must have. */
static const enum fl_column needed[] = {
    FL_COL_schema_version, FL_COL_trial_id, FL_COL_scenario, FL_COL_variant,
    FL_COL_strategy, FL_COL_device, FL_COL_mode, FL_COL_outcome,
};

/* Text of the file in a message: short, and no control bytes. */
static const char *shown(const char *s, char out[48])
{
    size_t n = 0;
    for (; s[n] && n < 40; n++)
        out[n] = s[n] < ' ' || s[n] == 127 ? '?' : s[n];
    strcpy(out + n, s[n] ? "..." : "");
    return out;
}

static bool map_columns(const struct fl_csv *csv, int at[FL_COLUMNS],
                        bool *others, char error[256])
{
    size_t known = 0;
    char word[48];
    for (int i = 0; i < FL_COLUMNS; i++) {
        at[i] = fl_csv_column(csv, fl_columns[i].name);
        known += at[i] >= 0;
    }
    *others = known < csv->columns;
    for (size_t i = 0; i < csv->columns; i++)
        if (fl_csv_column(csv, csv->header[i]) != (int)i) {
            snprintf(error, 256, "two columns are called `%s`",
                     shown(csv->header[i], word));
            return false;
        }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (at[needed[i]] < 0) {
            snprintf(error, 256, "no column `%s`",
                     fl_columns[needed[i]].name);
            return false;
        }
    return true;
}

static bool is_integer(const char *s)
{
    char *end;
    errno = 0;
    strtoll(s, &end, 10);
    return (*s == '-' || (*s >= '0' && *s <= '9')) && !*end && !errno;
}

static bool is_outcome(const char *s)
{
    return fl_outcomes_parse(s) && !strchr(s, '|');
}

static bool check_row(const struct fl_row *row, size_t number,
                      char error[256])
{
    char word[48];
    const char *version = fl_row_get(row, FL_COL_schema_version);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!*fl_row_get(row, needed[i])) {
            snprintf(error, 256, "row %zu: `%s` is empty", number,
                     fl_columns[needed[i]].name);
            return false;
        }
    for (int i = 0; i < FL_COLUMNS; i++) {
        const char *s = fl_row_get(row, (enum fl_column)i);
        /* A seed is unsigned; nothing here computes with it. */
        if (!*s || strcmp(fl_columns[i].type, "integer") || is_integer(s)
            || (i == FL_COL_seed && strspn(s, "0123456789") == strlen(s)))
            continue;
        snprintf(error, 256, "row %zu: `%s` is `%s`, no whole number", number,
                 fl_columns[i].name, shown(s, word));
        return false;
    }
    if (atoll(version) != FL_SCHEMA_VERSION) {
        snprintf(error, 256, "row %zu: schema version %s, not %d", number,
                 shown(version, word), FL_SCHEMA_VERSION);
        return false;
    }
    if (!is_outcome(fl_row_get(row, FL_COL_outcome))) {
        snprintf(error, 256, "row %zu: no outcome is called `%s`", number,
                 shown(fl_row_get(row, FL_COL_outcome), word));
        return false;
    }
    return true;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool fl_trials_differ(const struct fl_trials *t, char error[256])
{
    const char **ids = fl_grow(NULL, t->n, sizeof *ids);
    char word[48];
    size_t same = 0;
    for (size_t i = 0; i < t->n; i++)
        ids[i] = fl_row_get(&t->rows[i], FL_COL_trial_id);
    qsort(ids, t->n, sizeof *ids, by_id);
    for (size_t i = 1; i < t->n && !same; i++)
        same = strcmp(ids[i - 1], ids[i]) ? 0 : i;
    if (same)
        snprintf(error, 256, "two rows of the trial `%s`",
                 shown(ids[same], word));
    free(ids);
    return !same;
}

static bool take_rows(const struct fl_csv *csv, struct fl_trials *t,
                      char error[256])
{
    int at[FL_COLUMNS];
    if (!map_columns(csv, at, &t->other_columns, error))
        return false;
    t->rows = fl_grow(NULL, csv->n_rows, sizeof *t->rows);
    for (size_t i = 0; i < csv->n_rows; i++) {
        struct fl_row *row = &t->rows[t->n++];
        *row = (struct fl_row){ 0 };
        for (int k = 0; k < FL_COLUMNS; k++)
            if (at[k] >= 0 && *csv->rows[i][at[k]])
                fl_row_set(row, (enum fl_column)k, csv->rows[i][at[k]]);
        if (!check_row(row, i + 1, error))
            return false;
    }
    return fl_trials_differ(t, error);
}

bool fl_trials_parse(const char *s, size_t n, struct fl_trials *trials,
                     char error[256])
{
    struct fl_csv csv;
    bool ok = false;
    *trials = (struct fl_trials){ 0 };
    if (!fl_csv_parse(s, n, &csv, error))
        return false;
    if (csv.whole_bytes != n)
        snprintf(error, 256, "it ends in the middle of a record (at byte "
                 "%zu); an interrupted bench goes on with --resume",
                 csv.whole_bytes);
    else if (!csv.header)
        snprintf(error, 256, "no header line");
    else if (!csv.n_rows)
        snprintf(error, 256, "no trials in it");
    else
        ok = take_rows(&csv, trials, error);
    fl_csv_free(&csv);
    if (!ok)
        fl_trials_free(trials);
    return ok;
}

bool fl_trials_read(const char *folder, struct fl_trials *trials,
                    char error[256])
{
    char *path = fl_format("%s/trials.csv", folder);
    size_t n;
    char *s = fl_read_file(path, &n);
    *trials = (struct fl_trials){ 0 };
    if (!s)
        snprintf(error, 256, "%s", strerror(errno));
    bool ok = s && fl_trials_parse(s, n, trials, error);
    free(s);
    free(path);
    return ok;
}

void fl_trials_free(struct fl_trials *t)
{
    for (size_t i = 0; i < t->n; i++)
        fl_row_free(&t->rows[i]);
    free(t->rows);
    *t = (struct fl_trials){ 0 };
}
