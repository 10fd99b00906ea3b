/* CSV: what is written comes back byte for byte, whatever it holds; comments,
 * torn ends and malformed input are told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/csv.h"

static char error[128];

static void check_round_trip(const char *const *fields, size_t n)
{
    struct fl_text line = { 0 };
    struct fl_csv csv;
    for (size_t i = 0; i < n; i++)
        fl_csv_put(&line, i % 2 ? "h" : "H");
    fl_text_puts(&line, "\n");
    for (size_t i = 0; i < n; i++)
        fl_csv_put(&line, fields[i]);
    fl_text_puts(&line, "\n");
    assert_true(fl_csv_parse(line.s, line.n, &csv, error));
    assert_int_equal(csv.n_rows, 1);
    assert_int_equal(csv.columns, n);
    assert_int_equal(csv.n_comments, 0);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(csv.rows[0][i], fields[i]);
    fl_csv_free(&csv);
    fl_text_free(&line);
}

static void hostile_fields_come_back(void **state)
{
    static const char *const nasty[] = {
        "", "#", "# not a comment", ",", "\"", "\"\"", "a\"b", "a,b", "\n",
        "\r\n", "\r", "a\nb", " lead", "trail ", "\"quoted\"", "\",\"", ",,,",
        "\xff\xfe", "=1+1", "\t", "\"\n\"",
    };
    size_t n = sizeof nasty / sizeof *nasty;
    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const char *two[] = { nasty[i], nasty[k] };
            check_round_trip(two, 2);
        }
    for (size_t i = 0; i < n; i++)
        check_round_trip(&nasty[i], 1);
    check_round_trip(nasty, n);
}

static void random_fields_come_back(void **state)
{
    static const char alphabet[] = ",\"\n\r#a ";
    (void)state;
    srand(7);
    for (int round = 0; round < 2000; round++) {
        char text[4][12];
        const char *fields[4];
        for (int i = 0; i < 4; i++) {
            int n = rand() % 11;
            for (int k = 0; k < n; k++)
                text[i][k] = alphabet[rand() % 7];
            text[i][n] = '\0';
            fields[i] = text[i];
        }
        check_round_trip(fields, 4);
    }
}

static void comments_stand_where_records_start(void **state)
{
    const char *s = "# one\na,b\n#two\n1,\"x\n# inside\"\n";
    struct fl_csv csv;
    (void)state;
    assert_true(fl_csv_parse(s, strlen(s), &csv, error));
    assert_int_equal(csv.n_comments, 2);
    assert_string_equal(csv.comments[0], "one");
    assert_string_equal(csv.comments[1], "two");
    assert_int_equal(csv.n_rows, 1);
    assert_string_equal(csv.rows[0][1], "x\n# inside");
    assert_int_equal(fl_csv_column(&csv, "b"), 1);
    assert_int_equal(fl_csv_column(&csv, "c"), -1);
    fl_csv_free(&csv);
}

/* Cut anywhere, a table reads as its whole records. */
static void every_cut_leaves_whole_records(void **state)
{
    const char *s = "# note\na,b\n1,\"x,\ny\"\n22,\"\"\"\"\n";
    static const size_t ends[] = { 0, 7, 11, 20, 28 };
    (void)state;
    assert_int_equal(strlen(s), 28);
    for (size_t n = 0; n <= strlen(s); n++) {
        struct fl_csv csv;
        int whole = 0;
        while (whole < 4 && ends[whole + 1] <= n)
            whole++;
        assert_true(fl_csv_parse(s, n, &csv, error));
        assert_int_equal(csv.whole_bytes, ends[whole]);
        assert_int_equal(csv.n_rows, whole > 2 ? whole - 2 : 0);
        fl_csv_free(&csv);
    }
}

static void malformed_input_is_refused(void **state)
{
    static const char *const bad[] = {
        "a,b\n1\n", "a\n1,2\n", "a\n\"x\"y\n", "a\nx\"y\n",
    };
    struct fl_csv csv;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error[0] = '\0';
        assert_false(fl_csv_parse(bad[i], strlen(bad[i]), &csv, error));
        assert_true(error[0]);
    }
    assert_false(fl_csv_parse("a\n\0\n", 4, &csv, error));
    assert_false(fl_csv_read("/nonexistent/file.csv", &csv, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_fields_come_back),
        cmocka_unit_test(random_fields_come_back),
        cmocka_unit_test(comments_stand_where_records_start),
        cmocka_unit_test(every_cut_leaves_whole_records),
        cmocka_unit_test(malformed_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
