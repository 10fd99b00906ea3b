/* Rows against expectations: the first matching row decides, and a trial that
 * differs in outcome, code or place is told. Then cells: what only many
 * trials show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness/cells.h"
#include "harness/listing.h"

static const char text[] =
    "{\"scenarios\":[{\"name\":\"s\",\"expect\":["
    "{\"strategy\":\"sync\",\"outcomes\":\"exact\",\"code\":700,"
    " \"where\":\"f\",\"basis\":\"header\",\"devices\":3,\"modes\":15},"
    "{\"strategy\":\"async\",\"outcomes\":\"hidden\",\"basis\":\"derived\","
    " \"devices\":1,\"modes\":4},"
    "{\"strategy\":\"async\",\"outcomes\":\"late|hidden\",\"some\":\"late\","
    " \"basis\":\"derived\",\"devices\":1,\"modes\":15},"
    "{\"strategy\":\"async\",\"outcomes\":\"silent\",\"basis\":\"open\","
    " \"devices\":2,\"modes\":15}]}]}";

static struct fl_json *listing;
static const struct fl_json *scenario;

struct trial {
    const char *variant, *strategy, *device, *schedule, *outcome, *code,
        *where;
};

static void fill(struct fl_row *row, const struct trial *t)
{
    fl_row_set(row, FL_COL_scenario, "s");
    fl_row_set(row, FL_COL_variant, t->variant);
    fl_row_set(row, FL_COL_strategy, t->strategy);
    fl_row_set(row, FL_COL_device, t->device);
    fl_row_set(row, FL_COL_mode, t->schedule ? "seeded" : "free");
    if (t->schedule)
        fl_row_set(row, FL_COL_schedule, t->schedule);
    fl_row_set(row, FL_COL_outcome, t->outcome);
    if (t->code)
        fl_row_set(row, FL_COL_error_code, t->code);
    if (t->where)
        fl_row_set(row, FL_COL_report_function, t->where);
}

static void rows_are_judged(void **state)
{
    static const struct { struct trial t; const char *as, *expected; } cases[]
        = {
        { { "faulty", "sync", "sim", NULL, "exact", "700", "f" },
          "yes", "exact" },
        { { "faulty", "sync", "cuda", NULL, "exact", "700", "f" },
          "yes", "exact" },
        { { "faulty", "sync", "sim", NULL, "late", "700", "f" },
          "no", "exact" },
        { { "faulty", "sync", "sim", NULL, "exact", "719", "f" },
          "no", "exact" },
        { { "faulty", "sync", "sim", NULL, "exact", "700", "g" },
          "no", "exact" },
        { { "faulty", "async", "sim", "eager", "hidden", NULL, NULL },
          "yes", "hidden" },
        { { "faulty", "async", "sim", "eager", "late", "700", NULL },
          "no", "hidden" },
        { { "faulty", "async", "sim", "random", "late", "700", "x" },
          "yes", "late|hidden" },
        { { "faulty", "async", "cuda", NULL, "silent", NULL, NULL },
          "yes", "silent" },
        { { "faulty", "other", "sim", NULL, "late", "700", NULL }, "", "" },
        { { "faulty", "other", "sim", NULL, "broken", NULL, NULL }, "no", "" },
        { { "faulty", "sync", "sim", NULL, "skipped", NULL, NULL }, "", "" },
        { { "faulty", "sync", "sim", NULL, "hang", NULL, NULL },
          "no", "exact" },
        { { "healthy", "sync", "sim", NULL, "clean", NULL, NULL },
          "yes", "clean" },
        { { "healthy", "sync", "sim", NULL, "exact", "700", "f" },
          "no", "clean" },
        { { "guarded", "other", "sim", NULL, "silent", NULL, NULL },
          "no", "clean" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fl_row row = { 0 };
        fill(&row, &cases[i].t);
        bool ok = fl_listing_judge(scenario, &row);
        assert_int_equal(ok, strcmp(cases[i].as, "no") != 0);
        assert_string_equal(fl_row_get(&row, FL_COL_as_expected),
                            cases[i].as);
        assert_string_equal(fl_row_get(&row, FL_COL_expected),
                            cases[i].expected);
        assert_int_equal(*fl_row_get(&row, FL_COL_deviation) == '\0', ok);
        fl_row_free(&row);
    }
}

static size_t deviating_cells(size_t hidden, size_t late)
{
    struct fl_cells cells = { 0 };
    for (size_t i = 0; i < hidden + late; i++) {
        struct fl_row row = { 0 };
        struct trial t = { "faulty", "async", "sim", "random",
                           i < hidden ? "hidden" : "late", NULL, NULL };
        fill(&row, &t);
        fl_listing_judge(scenario, &row);
        fl_cells_add(&cells, &row);
        fl_row_free(&row);
    }
    fl_cells_check_some(&cells, listing);
    size_t n = fl_cells_deviating(&cells);
    fl_cells_free(&cells);
    return n;
}

static void a_race_must_happen_some_time(void **state)
{
    (void)state;
    assert_int_equal(deviating_cells(FL_SOME_TRIALS, 0), 1);
    assert_int_equal(deviating_cells(FL_SOME_TRIALS - 1, 0), 0);
    assert_int_equal(deviating_cells(FL_SOME_TRIALS - 1, 1), 0);
}

static int load(void **state)
{
    (void)state;
    listing = fl_json_parse(text, sizeof text - 1, NULL);
    scenario = fl_listing_scenario(listing, "s");
    return !scenario;
}

static int unload(void **state)
{
    (void)state;
    fl_json_free(listing);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_judged),
        cmocka_unit_test(a_race_must_happen_some_time),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
