/* One row of trials.csv: a string a column, NULL where it is empty. */
#ifndef FAULTLAG_HARNESS_COLUMNS_H
#define FAULTLAG_HARNESS_COLUMNS_H

#include "harness/json.h"

#define FL_SCHEMA_VERSION 1

enum fl_column {
#define COLUMN(name, type, meaning) FL_COL_##name,
#include "harness/columns.def"
#undef COLUMN
    FL_COLUMNS
};

struct fl_row { char *cell[FL_COLUMNS]; };

struct fl_column_info { const char *name, *type, *meaning; };
extern const struct fl_column_info fl_columns[FL_COLUMNS];

const char *fl_row_get(const struct fl_row *row, enum fl_column column);
void fl_row_set(struct fl_row *row, enum fl_column column, const char *s);
void fl_row_set_integer(struct fl_row *row, enum fl_column column,
                        long long value);
/* Members of `object` that are named like columns. */
void fl_row_from_json(struct fl_row *row, const struct fl_json *object);
/* From a record of trials.csv, whose FL_COLUMNS fields are in order. */
void fl_row_from_fields(struct fl_row *row, char *const *fields);
void fl_row_to_json(const struct fl_row *row, struct fl_text *out);
void fl_row_to_csv(const struct fl_row *row, struct fl_text *out);
void fl_row_free(struct fl_row *row);

void fl_columns_to_csv(struct fl_text *out);    /* the header line */
/* The table of docs/schema.md. */
void fl_columns_to_markdown(struct fl_text *out);

#endif
