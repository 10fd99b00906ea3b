/* The defences of an index, on the three lists that everybody tries: good ones,
 * one that counts from the end, one past it. Rows 0 to 2 of a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/trial.h"
#include "scenarios/lookup.h"

enum { SIZE = 3, MOST = 3, ZEROS = -1 };

static const struct {
    int64_t index[MOST];
    int n;
    bool safe;
    int64_t guarded[MOST], clamped[MOST], replaced[MOST];   /* rows taken */
} cases[] = {
    { { 0, 1, 2 }, 3, true, { 0, 1, 2 }, { 0, 1, 2 }, { 0, 1, 2 } },
    { { -1 }, 1, false, { ZEROS }, { 0 }, { 0 } },
    { { 100 }, 1, false, { ZEROS }, { 2 }, { 0 } },
};

#define GOOD(call) assert_int_equal((call), cudaSuccess)

static struct fl_trial trial;
static struct lookup l;
static struct floats table;     /* a row is one value, its number plus 1 */
static float *rows, host_rows[MOST];
static struct indices list;

static int set_up(void **state)
{
    (void)state;
    trial.scenario = fl_scenario_named("bad-gather");
    trial.strategy = fl_strategy_named("async");
    trial.variant = FL_CHECKED;
    trial.record = true;
    if (!fl_trial_start(&trial))
        return 1;
    GOOD(cudaStreamCreateWithFlags(&l.net.stream, cudaStreamNonBlocking));
    GOOD(cudaMalloc((void **)&l.range, 2 * sizeof *l.range));
    GOOD(cudaHostAlloc((void **)&l.host_range, 2 * sizeof *l.range,
                       cudaHostAllocDefault));
    table = new_floats(&trial, SIZE, 0);
    for (int i = 0; i < SIZE; i++)
        table.host[i] = (float)(i + 1);
    upload_floats(&trial, &table);
    rows = device_floats(&trial, MOST);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fl_trial_free(&trial);
    return 0;
}

static void load(size_t c)
{
    list = new_indices(&trial, cases[c].n);
    memcpy(list.host, cases[c].index, sizeof *list.host * (size_t)list.n);
    upload_indices(&trial, &list);
}

/* That the look-up took these rows of the table. */
static void took(const int64_t *right)
{
    GOOD(cudaMemcpyAsync(host_rows, rows, sizeof host_rows,
                         cudaMemcpyDeviceToHost, l.net.stream));
    GOOD(cudaStreamSynchronize(l.net.stream));
    for (int i = 0; i < list.n; i++)
        assert_int_equal(host_rows[i], right[i] + 1);
}

static void look_up(void)
{
    k_index_select_guarded(l.net.stream, rows, table.dev, list.dev, list.n, 1,
                           SIZE);
}

static void checked(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        unsigned launches = trial.launches, calls = trial.calls;
        load(c);
        assert_int_equal(safe_index(&trial, &l, &list, SIZE), cases[c].safe);
        /* What it costs: a launch, and a copy and a wait. */
        assert_int_equal(trial.launches - launches, 1);
        assert_int_equal(trial.calls - calls, 2);
    }
}

static void guarded(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        load(c);
        look_up();
        took(cases[c].guarded);
    }
}

/* After these a bad index is none, or the guard would give zeros. */
static void clamped(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        load(c);
        k_clamp_i64(l.net.stream, list.dev, 0, SIZE - 1, list.n);
        look_up();
        took(cases[c].clamped);
    }
}

static void replaced(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        load(c);
        k_replace_i64(l.net.stream, list.dev, SIZE, list.n);
        look_up();
        took(cases[c].replaced);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked), cmocka_unit_test(guarded),
        cmocka_unit_test(clamped), cmocka_unit_test(replaced),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
