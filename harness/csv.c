/* CSV writer and reader; see csv.h. */
#include "harness/csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fl_csv_put(struct fl_text *line, const char *field)
{
    bool starts = line->n == 0 || line->s[line->n - 1] == '\n';
    if (!starts)
        fl_text_puts(line, ",");
    size_t n = strlen(field);
    bool quote = field[strcspn(field, ",\"\r\n")] != '\0'
        || (starts && (n == 0 || field[0] == '#'));
    if (!quote) {
        fl_text_add(line, field, n);
        return;
    }
    fl_text_puts(line, "\"");
    for (const char *s = field; *s; s++)
        fl_text_add(line, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    fl_text_puts(line, "\"");
}

struct cursor { const char *s, *end; };

/* The end of a line at the cursor: 0 if there is none, else its length. */
static size_t line_end(const struct cursor *c)
{
    if (c->s < c->end && *c->s == '\n')
        return 1;
    if (c->end - c->s >= 2 && c->s[0] == '\r' && c->s[1] == '\n')
        return 2;
    return 0;
}

/* One field; false if the input ends inside quotes or they are misplaced. */
static bool read_field(struct cursor *c, struct fl_text *out,
                       const char **wrong)
{
    fl_text_add(out, "", 0);
    if (c->s < c->end && *c->s == '"') {
        for (c->s++; c->s < c->end; c->s++) {
            if (*c->s == '"' && !(c->end - c->s >= 2 && c->s[1] == '"'))
                break;
            if (*c->s == '"')
                c->s++;
            if (!*c->s) {
                *wrong = "NUL byte";
                return false;
            }
            fl_text_add(out, c->s, 1);
        }
        if (c->s == c->end)
            return false;               /* torn */
        c->s++;
        if (c->s < c->end && *c->s != ',' && !line_end(c)) {
            *wrong = "text after a closing quote";
            return false;
        }
        return true;
    }
    while (c->s < c->end && *c->s != ',' && !line_end(c)) {
        if (*c->s == '"' || !*c->s) {
            *wrong = *c->s ? "quote inside a plain field" : "NUL byte";
            return false;
        }
        fl_text_add(out, c->s++, 1);
    }
    return true;
}

static void free_fields(char **fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(fields[i]);
    free(fields);
}

/* One record with its line end. NULL: torn, or *wrong is set. */
static char **read_record(struct cursor *c, size_t *n, const char **wrong)
{
    char **fields = NULL;
    *n = 0;
    for (;;) {
        struct fl_text field = { 0 };
        bool ok = read_field(c, &field, wrong);
        fields = fl_grow(fields, *n + 1, sizeof *fields);
        fields[(*n)++] = field.s;
        if (!ok)
            break;
        if (c->s < c->end && *c->s == ',') {
            c->s++;
            continue;
        }
        size_t end = line_end(c);
        if (!end)
            break;
        c->s += end;
        return fields;
    }
    free_fields(fields, *n);
    return NULL;
}

/* A whole comment line; false if it is torn. */
static bool read_comment(struct cursor *c, struct fl_csv *csv)
{
    const char *end = memchr(c->s, '\n', (size_t)(c->end - c->s));
    if (!end)
        return false;
    const char *s = c->s + 1;
    if (s < end && *s == ' ')
        s++;
    csv->comments = fl_grow(csv->comments, csv->n_comments + 1,
                            sizeof *csv->comments);
    csv->comments[csv->n_comments++] = fl_format("%.*s", (int)(end - s), s);
    c->s = end + 1;
    return true;
}

bool fl_csv_parse(const char *s, size_t n, struct fl_csv *csv,
                  char error[128])
{
    struct cursor c = { s, s + n };
    const char *wrong = NULL;
    *csv = (struct fl_csv){ 0 };
    while (c.s < c.end) {
        const char *start = c.s;
        size_t count;
        if (*c.s == '#') {
            if (!read_comment(&c, csv))
                break;
        } else if (line_end(&c)) {
            c.s += line_end(&c);
        } else {
            char **fields = read_record(&c, &count, &wrong);
            if (!fields && !wrong)
                break;
            if (fields && csv->header && count != csv->columns) {
                wrong = "another number of fields than the header";
                free_fields(fields, count);
            }
            if (wrong) {
                snprintf(error, 128, "record at byte %zu: %s",
                         (size_t)(start - s), wrong);
                fl_csv_free(csv);
                return false;
            }
            if (!csv->header) {
                csv->header = fields;
                csv->columns = count;
            } else {
                csv->rows = fl_grow(csv->rows, csv->n_rows + 1,
                                    sizeof *csv->rows);
                csv->rows[csv->n_rows++] = fields;
            }
        }
        csv->whole_bytes = (size_t)(c.s - s);
    }
    return true;
}

bool fl_csv_read(const char *path, struct fl_csv *csv, char error[128])
{
    size_t n;
    char *s = fl_read_file(path, &n);
    if (!s) {
        snprintf(error, 128, "%.80s: %s", path, strerror(errno));
        return false;
    }
    bool ok = fl_csv_parse(s, n, csv, error);
    free(s);
    return ok;
}

void fl_csv_free(struct fl_csv *csv)
{
    for (size_t i = 0; i < csv->n_rows; i++)
        free_fields(csv->rows[i], csv->columns);
    free(csv->rows);
    free_fields(csv->header, csv->columns);
    free_fields(csv->comments, csv->n_comments);
    *csv = (struct fl_csv){ 0 };
}

int fl_csv_column(const struct fl_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (!strcmp(csv->header[i], name))
            return (int)i;
    return -1;
}

char *fl_read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    struct fl_text t = { 0 };
    char buffer[65536];
    size_t got;
    fl_text_add(&t, "", 0);
    while ((got = fread(buffer, 1, sizeof buffer, f)) > 0)
        fl_text_add(&t, buffer, got);
    int error = ferror(f) ? EIO : 0;
    fclose(f);
    if (error) {
        fl_text_free(&t);
        errno = error;
        return NULL;
    }
    *n = t.n;
    return t.s;
}
