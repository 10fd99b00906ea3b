/* The columns of trials.csv: rows survive CSV and JSON, and the schema's page
 * says what the table says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/columns.h"
#include "harness/csv.h"

static void rows_survive_csv_and_json(void **state)
{
    struct fl_row row = { 0 }, back = { 0 };
    struct fl_text text = { 0 };
    struct fl_csv csv;
    char error[128];
    (void)state;
    fl_row_set(&row, FL_COL_reason, "a, \"b\"\nc");
    fl_row_set_integer(&row, FL_COL_fault_value, INT64_MIN);
    fl_row_set(&row, FL_COL_outcome, "late");
    fl_columns_to_csv(&text);
    fl_row_to_csv(&row, &text);
    assert_true(fl_csv_parse(text.s, text.n, &csv, error));
    assert_int_equal(csv.columns, FL_COLUMNS);
    fl_row_from_fields(&back, csv.rows[0]);
    for (int i = 0; i < FL_COLUMNS; i++) {
        assert_string_equal(csv.header[i], fl_columns[i].name);
        assert_string_equal(fl_row_get(&back, (enum fl_column)i),
                            fl_row_get(&row, (enum fl_column)i));
    }
    fl_csv_free(&csv);
    fl_row_free(&back);
    fl_text_free(&text);

    fl_row_to_json(&row, &text);
    struct fl_json *j = fl_json_parse(text.s, text.n, NULL);
    assert_non_null(j);
    fl_row_from_json(&back, j);
    for (int i = 0; i < FL_COLUMNS; i++)
        assert_string_equal(fl_row_get(&back, (enum fl_column)i),
                            fl_row_get(&row, (enum fl_column)i));
    fl_json_free(j);
    fl_row_free(&back);
    fl_row_free(&row);
    fl_text_free(&text);
}

static void the_schema_page_agrees(void **state)
{
    struct fl_text table = { 0 };
    size_t n;
    char *page = fl_read_file(FAULTLAG_SOURCE_DIR "/docs/schema.md", &n);
    (void)state;
    assert_non_null(page);
    fl_columns_to_markdown(&table);
    /* On failure: paste the output of `faultlag list --columns`. */
    assert_non_null(strstr(page, table.s));
    fl_text_free(&table);
    free(page);
}

static void every_column_is_explained(void **state)
{
    (void)state;
    for (int i = 0; i < FL_COLUMNS; i++) {
        assert_true(strlen(fl_columns[i].meaning) > 5);
        assert_true(!strcmp(fl_columns[i].type, "text")
                    || !strcmp(fl_columns[i].type, "integer"));
        assert_null(strchr(fl_columns[i].meaning, '|'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_survive_csv_and_json),
        cmocka_unit_test(the_schema_page_agrees),
        cmocka_unit_test(every_column_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
