/* CSV as RFC 4180 has it, with '#' lines for comments (only where a record
 * may start). Quoted fields may hold commas, quotes and line ends. */
#ifndef FAULTLAG_HARNESS_CSV_H
#define FAULTLAG_HARNESS_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/text.h"

/* One field, quoted if it needs to be: what the reader gives back is the same
 * bytes. An empty field that starts the line is quoted too. */
void fl_csv_put(struct fl_text *line, const char *field);

struct fl_csv {
    char **header;              /* names of the columns */
    size_t columns;
    char ***rows;               /* rows[i][column], never NULL */
    size_t n_rows;
    char **comments;            /* without "# " and line end */
    size_t n_comments;
    size_t whole_bytes;         /* up to the end of the last whole record */
};

/* Reads text. A last record without its line end was torn off while being
 * written: it is left out, and whole_bytes says where it starts. False on
 * malformed input, with *error filled and nothing to free. */
bool fl_csv_parse(const char *s, size_t n, struct fl_csv *csv,
                  char error[128]);
bool fl_csv_read(const char *path, struct fl_csv *csv, char error[128]);
void fl_csv_free(struct fl_csv *csv);

/* Index of a column, or -1. */
int fl_csv_column(const struct fl_csv *csv, const char *name);

/* The whole file, NUL-ended; NULL with errno set. */
char *fl_read_file(const char *path, size_t *n);

#endif
