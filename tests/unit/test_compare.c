/* Verdicts of compare, the tables they are drawn from, and the statistics
 * below: by hand-counted cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/compare.h"
#include "harness/csv.h"
#include "harness/outcome.h"
#include "harness/trials.h"

/* n trials of one cell, each with that outcome. */
static void add(struct fl_cells *cells, const char *way, const char *outcome,
                int n, const char *device, int between, double latency)
{
    bool freely = !strcmp(way, "free");
    for (int i = 0; i < n; i++) {
        struct fl_row row = { 0 };
        fl_row_set(&row, FL_COL_scenario, "s");
        fl_row_set(&row, FL_COL_variant, "faulty");
        fl_row_set(&row, FL_COL_strategy, "async");
        fl_row_set(&row, FL_COL_mode, freely ? "free" : "seeded");
        fl_row_set(&row, FL_COL_schedule, freely ? "" : way);
        fl_row_set(&row, FL_COL_device, device);
        fl_row_set(&row, FL_COL_device_name, device);
        fl_row_set(&row, FL_COL_outcome, outcome);
        if (between >= 0) {
            fl_row_set(&row, FL_COL_report_function, "f");
            fl_row_set_integer(&row, FL_COL_launches_between, between);
        }
        if (between >= 0 && latency > 0)
            fl_row_set_integer(&row, FL_COL_latency_fault_to_report_ns,
                               (long long)latency + i);
        fl_cells_add(cells, &row);
        fl_row_free(&row);
    }
}

struct side { const char *outcome; int n; const char *device; int between;
              double latency; };

static enum fl_compared verdict(const char *way, struct side x, struct side y)
{
    struct fl_cells a = { 0 }, b = { 0 };
    size_t n;
    add(&a, way, x.outcome, x.n, x.device, x.between, x.latency);
    add(&b, way, y.outcome, y.n, y.device, y.between, y.latency);
    struct fl_comparison *all = fl_compare(&a, &b, &n);
    assert_int_equal(n, 1);
    enum fl_compared v = all[0].verdict;
    free(all);
    fl_cells_free(&a);
    fl_cells_free(&b);
    return v;
}

static void verdicts(void **state)
{
    static const struct {
        const char *way;
        struct side a, b;
        enum fl_compared forth, back;
    } cases[] = {
        { "free", { "exact", 5, "sim", 0, 0 }, { "exact", 5, "sim", 0, 0 },
          FL_COMPARED_SAME, FL_COMPARED_SAME },
        { "free", { "exact", 5, "sim", 0, 0 }, { "late", 5, "sim", 0, 0 },
          FL_COMPARED_WORSE, FL_COMPARED_BETTER },
        /* four a side cannot tell; one of a fixed schedule can */
        { "free", { "exact", 4, "sim", 0, 0 }, { "late", 4, "sim", 0, 0 },
          FL_COMPARED_AMBIGUOUS, FL_COMPARED_AMBIGUOUS },
        { "random", { "exact", 1, "sim", 0, 0 }, { "late", 1, "sim", 0, 0 },
          FL_COMPARED_AMBIGUOUS, FL_COMPARED_AMBIGUOUS },
        { "lazy", { "exact", 1, "sim", 0, 0 }, { "late", 1, "sim", 0, 0 },
          FL_COMPARED_WORSE, FL_COMPARED_BETTER },
        { "free", { "late", 5, "sim", 2, 0 }, { "late", 5, "sim", 9, 0 },
          FL_COMPARED_WORSE, FL_COMPARED_BETTER },
        /* a better outcome beats a longer way to it */
        { "free", { "late", 5, "sim", 2, 0 }, { "exact", 5, "sim", 9, 0 },
          FL_COMPARED_BETTER, FL_COMPARED_WORSE },
        { "free", { "late", 5, "sim", 2, 1e4 }, { "late", 5, "sim", 2, 9e4 },
          FL_COMPARED_WORSE, FL_COMPARED_BETTER },
        /* told apart, but by little */
        { "free", { "late", 5, "sim", 2, 1e4 }, { "late", 5, "sim", 2, 11e3 },
          FL_COMPARED_SAME, FL_COMPARED_SAME },
        /* times of two devices are not compared, places are */
        { "free", { "late", 5, "sim", 2, 1e4 }, { "late", 5, "cuda", 2, 9e4 },
          FL_COMPARED_SAME, FL_COMPARED_SAME },
        { "free", { "late", 5, "sim", 2, 1e4 }, { "late", 5, "cuda", 9, 1e4 },
          FL_COMPARED_WORSE, FL_COMPARED_BETTER },
        /* other outcomes of one rank */
        { "free", { "hidden", 9, "sim", -1, 0 }, { "benign", 9, "sim", -1, 0 },
          FL_COMPARED_AMBIGUOUS, FL_COMPARED_AMBIGUOUS },
        { "free", { "late", 5, "sim", 2, 0 }, { "skipped", 5, "sim", -1, 0 },
          FL_COMPARED_INCOMPARABLE, FL_COMPARED_INCOMPARABLE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(verdict(cases[i].way, cases[i].a, cases[i].b),
                         cases[i].forth);
        assert_int_equal(verdict(cases[i].way, cases[i].b, cases[i].a),
                         cases[i].back);
    }
}

static void a_cell_of_one_set_is_incomparable(void **state)
{
    struct fl_cells a = { 0 }, b = { 0 };
    size_t n;
    (void)state;
    add(&a, "free", "exact", 5, "sim", 0, 0);
    add(&b, "eager", "exact", 5, "sim", 0, 0);
    struct fl_comparison *all = fl_compare(&a, &b, &n);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(all[i].verdict, FL_COMPARED_INCOMPARABLE);
    assert_string_equal(all[0].why, "only in B");
    assert_string_equal(all[1].why, "only in A");
    free(all);
    fl_cells_free(&a);
    fl_cells_free(&b);
}

static void the_test_is_exact_with_ties(void **state)
{
    static const double low[] = { 1, 2, 3, 4, 5 }, high[] = { 6, 7, 8, 9, 10 };
    static const double a[] = { 1, 1, 1, 2 }, b[] = { 1, 2, 2, 2 };
    (void)state;
    /* 2 of the 252 ways to choose 5 of 10 are this far out. */
    struct effect e = stats_effect(low, 5, high, 5, STATS_SEED);
    assert_float_equal(e.p, 2.0 / 252, 1e-12);
    assert_float_equal(e.delta, 1, 0);
    assert_float_equal(e.low, 1, 0);
    /* Twos in b: 3 or more, or 1 or fewer, of 4 drawn from 4 and 4. */
    e = stats_effect(a, 4, b, 4, STATS_SEED);
    assert_float_equal(e.p, 34.0 / 70, 1e-12);
    assert_float_equal(e.delta, 0.5, 1e-12);
    assert_true(e.low < 0.5 && e.high > 0.5);
    e = stats_effect(a, 3, a, 3, STATS_SEED);
    assert_float_equal(e.p, 1, 0);
}

/* Just above the limit the approximation must agree with what is exact. */
static void the_approximation_joins_on(void **state)
{
    double x[2][25];
    (void)state;
    for (int i = 0; i < 25; i++) {
        x[0][i] = 2 * i;
        x[1][i] = 2 * i + 7;
    }
    double exact = stats_effect(x[0], 20, x[1], 20, STATS_SEED).p;
    double normal = stats_effect(x[0], 20, x[1], 21, STATS_SEED).p;
    assert_true(exact > 0.01 && exact < 0.2);
    assert_true(fabs(normal - exact) < exact / 2);
}

static void ratios(void **state)
{
    static const double a[] = { 10, 11, 12 }, b[] = { 20, 22, 24 };
    (void)state;
    struct interval r = stats_ratio(a, 3, b, 3, STATS_SEED);
    assert_float_equal(r.median, 2, 1e-12);
    assert_true(r.low >= 20.0 / 12 && r.high <= 24.0 / 10 && r.low < r.high);
    assert_true(isnan(stats_ratio(a, 0, b, 3, STATS_SEED).median));
}

/* ---- tables ---- */

#define HEAD "schema_version,trial_id,scenario,variant,strategy,device," \
             "mode,outcome,launches_between\n"

static void every_prefix_is_whole_or_refused(void **state)
{
    static const char text[] = "# comment\n" HEAD
        "1,a/1,a,faulty,sync,sim,free,exact,0\n"
        "1,a/2,a,faulty,sync,sim,free,\"late\",3\n";
    char error[256];
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        struct fl_trials t;
        bool boundary = n && text[n - 1] == '\n' && n > 11 + strlen(HEAD);
        memset(error, 0, sizeof error);
        bool ok = fl_trials_parse(text, n, &t, error);
        assert_int_equal(ok, boundary);
        assert_true(ok || (*error && !strchr(error, '\n')));
        if (ok)
            fl_trials_free(&t);
    }
}

/* One changed byte never does more than change a value or be refused. */
static void changed_bytes_do_no_harm(void **state)
{
    static const char bytes[] = { 0, '\n', '\r', '"', ',', '#', '9', -1 };
    char text[] = HEAD "1,a/1,a,faulty,sync,sim,free,exact,0\n";
    char error[256];
    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i++)
        for (size_t k = 0; k < sizeof bytes; k++) {
            char was = text[i];
            struct fl_trials t;
            text[i] = bytes[k];
            memset(error, 0, sizeof error);
            if (fl_trials_parse(text, sizeof text - 1, &t, error)) {
                assert_true(t.n > 0);
                fl_trials_free(&t);
            } else {
                assert_true(*error && !strchr(error, '\n'));
            }
            text[i] = was;
        }
}

/* A program without a fault is clean, or something is wrong: one trial is
 * enough to say so. */
static void one_clean_trial_is_enough(void **state)
{
    struct fl_cells a = { 0 }, b = { 0 };
    size_t n;
    (void)state;
    add(&a, "free", "clean", 1, "sim", -1, 0);
    add(&b, "free", "silent", 1, "sim", -1, 0);
    strcpy(a.cells[0].key[1], "health");
    strcpy(b.cells[0].key[1], "health");
    struct fl_comparison *all = fl_compare(&a, &b, &n);
    assert_int_equal(n, 1);
    assert_int_equal(all[0].verdict, FL_COMPARED_WORSE);
    free(all);
    fl_cells_free(&a);
    fl_cells_free(&b);
}

/* Of eight trials one tells nothing, five report, three of them at g. */
static void shares(void **state)
{
    static const struct { const char *outcome; int n; const char *function; }
        parts[] = { { "late", 2, "f" }, { "late", 3, "g" }, { "silent", 2, "" },
                    { "skipped", 1, "" } };
    struct fl_cells cells = { 0 };
    const char *site;
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int k = 0; k < parts[i].n; k++) {
            struct fl_row row = { 0 };
            fl_row_set(&row, FL_COL_variant, "faulty");
            fl_row_set(&row, FL_COL_outcome, parts[i].outcome);
            fl_row_set(&row, FL_COL_report_function, parts[i].function);
            fl_cells_add(&cells, &row);
            fl_row_free(&row);
        }
    assert_int_equal(cells.n, 1);
    assert_float_equal(fl_cell_detection(&cells.cells[0]).median, 5.0 / 7, 1e-9);
    assert_float_equal(fl_cell_stability(&cells.cells[0], &site).median, 0.6,
                       1e-9);
    assert_string_equal(site, "g :");
    fl_cells_free(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(a_cell_of_one_set_is_incomparable),
        cmocka_unit_test(the_test_is_exact_with_ties),
        cmocka_unit_test(the_approximation_joins_on),
        cmocka_unit_test(ratios),
        cmocka_unit_test(every_prefix_is_whole_or_refused),
        cmocka_unit_test(one_clean_trial_is_enough),
        cmocka_unit_test(shares),
        cmocka_unit_test(changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
