/* Rows by column; see columns.h. */
#include "harness/columns.h"

#include <stdlib.h>
#include <string.h>

#include "harness/csv.h"

const struct fl_column_info fl_columns[FL_COLUMNS] = {
#define COLUMN(name, type, meaning) { #name, #type, meaning },
#include "harness/columns.def"
#undef COLUMN
};

const char *fl_row_get(const struct fl_row *row, enum fl_column column)
{
    return row->cell[column] ? row->cell[column] : "";
}

void fl_row_set(struct fl_row *row, enum fl_column column, const char *s)
{
    free(row->cell[column]);
    row->cell[column] = fl_strdup(s);
}

void fl_row_set_integer(struct fl_row *row, enum fl_column column,
                        long long value)
{
    free(row->cell[column]);
    row->cell[column] = fl_format("%lld", value);
}

void fl_row_from_json(struct fl_row *row, const struct fl_json *object)
{
    for (int i = 0; i < FL_COLUMNS; i++) {
        const struct fl_json *j = fl_json_get(object, fl_columns[i].name);
        if (j && j->text)
            fl_row_set(row, (enum fl_column)i, j->text);
    }
}

void fl_row_from_fields(struct fl_row *row, char *const *fields)
{
    for (int i = 0; i < FL_COLUMNS; i++)
        if (*fields[i])
            fl_row_set(row, (enum fl_column)i, fields[i]);
}

static bool is_integer(enum fl_column i)
{
    return !strcmp(fl_columns[i].type, "integer");
}

void fl_row_to_json(const struct fl_row *row, struct fl_text *out)
{
    fl_json_open(out, NULL, '{');
    for (int i = 0; i < FL_COLUMNS; i++) {
        const char *s = fl_row_get(row, (enum fl_column)i);
        if (!*s)
            continue;
        if (is_integer((enum fl_column)i))
            fl_json_put_raw(out, fl_columns[i].name, s);
        else
            fl_json_put_string(out, fl_columns[i].name, s);
    }
    fl_json_close(out, '}');
}

void fl_row_to_csv(const struct fl_row *row, struct fl_text *out)
{
    for (int i = 0; i < FL_COLUMNS; i++)
        fl_csv_put(out, fl_row_get(row, (enum fl_column)i));
    fl_text_puts(out, "\n");
}

void fl_row_free(struct fl_row *row)
{
    for (int i = 0; i < FL_COLUMNS; i++)
        free(row->cell[i]);
    *row = (struct fl_row){ 0 };
}

void fl_columns_to_csv(struct fl_text *out)
{
    for (int i = 0; i < FL_COLUMNS; i++)
        fl_csv_put(out, fl_columns[i].name);
    fl_text_puts(out, "\n");
}

void fl_columns_to_markdown(struct fl_text *out)
{
    fl_text_puts(out, "| column | type | meaning |\n| --- | --- | --- |\n");
    for (int i = 0; i < FL_COLUMNS; i++)
        fl_text_printf(out, "| `%s` | %s | %s |\n", fl_columns[i].name,
                       fl_columns[i].type, fl_columns[i].meaning);
}
