/* faultlag compare: two results folders, a verdict a cell. Needs no device and
 * no other program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/command.h"
#include "harness/compare.h"
#include "harness/outcome.h"
#include "harness/trials.h"

static bool read_cells(const char *folder, struct fl_cells *cells)
{
    struct fl_trials trials;
    char error[256];
    *cells = (struct fl_cells){ 0 };
    if (!fl_trials_read(folder, &trials, error)) {
        fprintf(stderr, "faultlag: %s/trials.csv: %s\n", folder, error);
        return false;
    }
    for (size_t i = 0; i < trials.n; i++)
        fl_cells_add(cells, &trials.rows[i]);
    fl_trials_free(&trials);
    return true;
}

/* ---- for people ---- */

static void put_outcomes(struct fl_text *t, const struct fl_cell *c)
{
    bool any = false;
    for (int k = 0; k < FL_OUTCOME_COUNT; k++)
        if (c->outcomes[k]) {
            fl_text_printf(t, "%s%u %s", any ? ", " : "", c->outcomes[k],
                           fl_outcome_name((enum fl_outcome_index)k));
            any = true;
        }
}

static void put_effect(struct fl_text *t, const struct fl_measured *m)
{
    if (m->verdict == FL_COMPARED_INCOMPARABLE)
        return;
    /* + 0.0 takes the sign from a zero. */
    fl_text_printf(t, " (delta %.2f [%.2f, %.2f], p %.2g)",
                   m->effect.delta + 0.0, m->effect.low + 0.0,
                   m->effect.high + 0.0, m->effect.p);
}

/* Shares of trials that reported, where the two differ. */
static void put_shares(struct fl_text *t, const char *what, struct interval a,
                       struct interval b)
{
    if (!isnan(a.median) && !isnan(b.median) && a.median != b.median)
        fl_text_printf(t, "; %s %.0f%% [%.0f, %.0f] -> %.0f%% [%.0f, %.0f]",
                       what, 100 * a.median, 100 * a.low, 100 * a.high,
                       100 * b.median, 100 * b.low, 100 * b.high);
}

static char *account(const struct fl_comparison *c)
{
    struct fl_text t = { 0 };
    if (!c->cell[0] || !c->cell[1])
        return fl_strdup(c->why);
    put_outcomes(&t, c->cell[0]);
    fl_text_puts(&t, " -> ");
    put_outcomes(&t, c->cell[1]);
    put_effect(&t, &c->outcome);
    if (c->between.verdict != FL_COMPARED_INCOMPARABLE) {
        fl_text_printf(&t, "; launches %g -> %g", c->between.median[0],
                       c->between.median[1]);
        put_effect(&t, &c->between);
    }
    if (c->latency.verdict != FL_COMPARED_INCOMPARABLE)
        fl_text_printf(&t, "; latency x%.2f [%.2f, %.2f] (p %.2g)",
                       c->latency.ratio.median, c->latency.ratio.low,
                       c->latency.ratio.high, c->latency.effect.p);
    const char *site;
    put_shares(&t, "detected", fl_cell_detection(c->cell[0]),
               fl_cell_detection(c->cell[1]));
    put_shares(&t, "stable", fl_cell_stability(c->cell[0], &site),
               fl_cell_stability(c->cell[1], &site));
    return t.s;
}

static const struct fl_cell *either(const struct fl_comparison *c)
{
    return c->cell[0] ? c->cell[0] : c->cell[1];
}

static char *cell_name(const struct fl_comparison *c)
{
    char *const *key = either(c)->key;
    return fl_format("%s/%s/%s/%s", key[0], key[1], key[2], key[3]);
}

static void print(const struct fl_comparison *all, size_t n, bool same_too)
{
    size_t counts[FL_COMPARED_COUNT] = { 0 };
    int width = 0;
    for (size_t i = 0; i < n; i++) {
        char *name = cell_name(&all[i]);
        counts[all[i].verdict]++;
        if ((same_too || all[i].verdict != FL_COMPARED_SAME)
            && (int)strlen(name) > width)
            width = (int)strlen(name);
        free(name);
    }
    for (size_t i = 0; i < n; i++) {
        if (!same_too && all[i].verdict == FL_COMPARED_SAME)
            continue;
        char *name = cell_name(&all[i]), *text = account(&all[i]);
        printf("%-12s  %-*s  %s\n", fl_compared_name(all[i].verdict), width,
               name, text);
        free(name);
        free(text);
    }
    printf("%zu cells:", n);
    for (int v = 0; v < FL_COMPARED_COUNT; v++)
        printf("%s %zu %s", v ? "," : "", counts[v],
               fl_compared_name((enum fl_compared)v));
    puts("");
}

/* ---- for programs ---- */

static void put_number(struct fl_text *t, const char *key, double x)
{
    if (!isfinite(x))
        return;
    char *s = fl_format("%.9g", x + 0.0);
    fl_json_put_raw(t, key, s);
    free(s);
}

static void put_measure(struct fl_text *t, const char *key,
                        const struct fl_measured *m, bool medians)
{
    static const char *const names[] = { "median_a", "median_b" };
    if (m->verdict == FL_COMPARED_INCOMPARABLE)
        return;
    fl_json_open(t, key, '{');
    fl_json_put_string(t, "verdict", fl_compared_name(m->verdict));
    fl_json_put_integer(t, "n_a", (long long)m->n[0]);
    fl_json_put_integer(t, "n_b", (long long)m->n[1]);
    for (int i = 0; medians && i < 2; i++)
        put_number(t, names[i], m->median[i]);
    put_number(t, "delta", m->effect.delta);
    put_number(t, "delta_low", m->effect.low);
    put_number(t, "delta_high", m->effect.high);
    put_number(t, "p", m->effect.p);
    if (m->ratio.median > 0) {
        put_number(t, "ratio", m->ratio.median);
        put_number(t, "ratio_low", m->ratio.low);
        put_number(t, "ratio_high", m->ratio.high);
    }
    fl_json_close(t, '}');
}

static void put_share(struct fl_text *t, const char *key,
                      struct interval share)
{
    if (isnan(share.median))
        return;
    fl_json_open(t, key, '{');
    put_number(t, "share", share.median);
    put_number(t, "low", share.low);
    put_number(t, "high", share.high);
    fl_json_close(t, '}');
}

static void put_side(struct fl_text *t, const char *key,
                     const struct fl_cell *c)
{
    const char *site;
    if (!c)
        return;
    fl_json_open(t, key, '{');
    fl_json_put_string(t, "device", c->device);
    fl_json_put_string(t, "device_name", c->device_name);
    fl_json_put_integer(t, "trials", c->trials);
    fl_json_open(t, "outcomes", '{');
    for (int k = 0; k < FL_OUTCOME_COUNT; k++)
        if (c->outcomes[k])
            fl_json_put_integer(t, fl_outcome_name((enum fl_outcome_index)k),
                                c->outcomes[k]);
    fl_json_close(t, '}');
    put_share(t, "detection_rate", fl_cell_detection(c));
    put_share(t, "stability", fl_cell_stability(c, &site));
    if (site)
        fl_json_put_string(t, "site", site);
    fl_json_close(t, '}');
}

static void put_cell(struct fl_text *t, const struct fl_comparison *c)
{
    static const char *const keys[] = { "scenario", "variant", "strategy",
                                        "mode" };
    fl_json_open(t, NULL, '{');
    for (int k = 0; k < 4; k++)
        fl_json_put_string(t, keys[k], either(c)->key[k]);
    fl_json_put_string(t, "verdict", fl_compared_name(c->verdict));
    if (c->why)
        fl_json_put_string(t, "why", c->why);
    put_side(t, "a", c->cell[0]);
    put_side(t, "b", c->cell[1]);
    put_measure(t, "outcome", &c->outcome, false);
    put_measure(t, "launches_between", &c->between, true);
    put_measure(t, "latency_fault_to_report_ns", &c->latency, true);
    fl_json_close(t, '}');
}

static void print_json(const struct fl_options *o,
                       const struct fl_comparison *all, size_t n)
{
    size_t counts[FL_COMPARED_COUNT] = { 0 };
    struct fl_text t = { 0 };
    for (size_t i = 0; i < n; i++)
        counts[all[i].verdict]++;
    fl_json_open(&t, NULL, '{');
    fl_json_put_string(&t, "a", o->names[0]);
    fl_json_put_string(&t, "b", o->names[1]);
    fl_json_open(&t, "counts", '{');
    for (int v = 0; v < FL_COMPARED_COUNT; v++)
        fl_json_put_integer(&t, fl_compared_name((enum fl_compared)v),
                            (long long)counts[v]);
    fl_json_close(&t, '}');
    fl_json_open(&t, "cells", '[');
    for (size_t i = 0; i < n; i++)
        put_cell(&t, &all[i]);
    fl_json_close(&t, ']');
    fl_json_close(&t, '}');
    puts(t.s);
    fl_text_free(&t);
}

int fl_cmd_compare(const struct fl_options *o, int argc, char **argv)
{
    struct fl_cells a = { 0 }, b = { 0 };
    int code = FL_EXIT_UNUSABLE;
    if (read_cells(o->names[0], &a) && read_cells(o->names[1], &b)) {
        size_t n;
        struct fl_comparison *all = fl_compare(&a, &b, &n);
        code = FL_EXIT_OK;
        for (size_t i = 0; i < n; i++)
            if (all[i].verdict == FL_COMPARED_WORSE)
                code = FL_EXIT_DEVIATED;
        if (o->as_json)
            print_json(o, all, n);
        else
            print(all, n, o->all != NULL);
        free(all);
    }
    fl_cells_free(&a);
    fl_cells_free(&b);
    (void)argc, (void)argv;
    return code;
}
