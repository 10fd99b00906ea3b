/* The rules of compare.h. */
#include "harness/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *fl_compared_name(enum fl_compared verdict)
{
    static const char *const names[] = {
#define X(ident, name) name,
        FL_COMPARED(X)
#undef X
    };
    return names[verdict];
}

int fl_outcome_rank(enum fl_outcome_index outcome)
{
    static const int ranks[FL_OUTCOME_COUNT] = {
        [FL_OUTCOME_CLEAN] = 0, [FL_OUTCOME_EXACT] = 1, [FL_OUTCOME_LATE] = 2,
        [FL_OUTCOME_MISATTRIBUTED] = 3, [FL_OUTCOME_HANG] = 4,
        [FL_OUTCOME_CRASH] = 4, [FL_OUTCOME_HIDDEN] = 5,
        [FL_OUTCOME_BENIGN] = 5, [FL_OUTCOME_SILENT] = 6,
        [FL_OUTCOME_BROKEN] = -1, [FL_OUTCOME_SKIPPED] = -1,
    };
    return ranks[outcome];
}

static double median_of(const double *x, size_t n)
{
    double *copy = fl_grow(NULL, n, sizeof *copy);
    memcpy(copy, x, n * sizeof *x);
    double m = stats_quantile(copy, n, 0.5);
    free(copy);
    return m;
}

static void measure(struct fl_measured *m, const double *a, size_t na,
                    const double *b, size_t nb, bool fixed)
{
    *m = (struct fl_measured){ .verdict = FL_COMPARED_INCOMPARABLE,
                               .n = { na, nb } };
    if (!na || !nb)
        return;
    m->median[0] = median_of(a, na);
    m->median[1] = median_of(b, nb);
    m->effect = stats_effect(a, na, b, nb, STATS_SEED);
    const struct effect *e = &m->effect;
    bool differs = e->p <= FL_COMPARE_P || (fixed && fabs(e->delta) == 1);
    m->verdict = differs
        ? e->delta > 0 ? FL_COMPARED_WORSE : FL_COMPARED_BETTER
        : e->low >= -FL_COMPARE_DELTA && e->high <= FL_COMPARE_DELTA
        ? FL_COMPARED_SAME : FL_COMPARED_AMBIGUOUS;
}

/* Ranks of the trials that tell something. */
static double *ranks(const struct fl_cell *c, size_t *n)
{
    double *x = fl_grow(NULL, c->trials, sizeof *x);
    *n = 0;
    for (int i = 0; i < FL_OUTCOME_COUNT; i++)
        for (unsigned k = 0; k < c->outcomes[i]; k++)
            if (fl_outcome_rank((enum fl_outcome_index)i) >= 0)
                x[(*n)++] = fl_outcome_rank((enum fl_outcome_index)i);
    return x;
}

/* Outcomes of one rank are not better or worse than each other, but they are
 * not the same either. */
static bool other_outcomes(const struct fl_cell *a, const struct fl_cell *b)
{
    for (int i = 0; i < FL_OUTCOME_COUNT; i++)
        if (fl_outcome_rank((enum fl_outcome_index)i) >= 0
            && !a->outcomes[i] != !b->outcomes[i])
            return true;
    return false;
}

static void compare_outcomes(struct fl_comparison *c, bool fixed)
{
    size_t na, nb;
    double *a = ranks(c->cell[0], &na), *b = ranks(c->cell[1], &nb);
    measure(&c->outcome, a, na, b, nb, fixed);
    if (c->outcome.verdict == FL_COMPARED_SAME
        && other_outcomes(c->cell[0], c->cell[1]))
        c->outcome.verdict = FL_COMPARED_AMBIGUOUS;
    free(a);
    free(b);
}

static bool all_positive(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] > 0))
            return false;
    return true;
}

/* A time of one device says nothing about another's. */
static void compare_latency(struct fl_comparison *c)
{
    const struct fl_cell *a = c->cell[0], *b = c->cell[1];
    struct fl_measured *m = &c->latency;
    bool one_device = !a->many_devices && !b->many_devices
        && !strcmp(a->device, b->device) && *a->device_name
        && !strcmp(a->device_name, b->device_name);
    if (!one_device || !all_positive(a->latencies_ns, a->n_latencies)
        || !all_positive(b->latencies_ns, b->n_latencies)) {
        m->verdict = FL_COMPARED_INCOMPARABLE;
        return;
    }
    measure(m, a->latencies_ns, a->n_latencies, b->latencies_ns,
            b->n_latencies, false);
    if (m->verdict == FL_COMPARED_INCOMPARABLE)
        return;
    m->ratio = stats_ratio(a->latencies_ns, a->n_latencies, b->latencies_ns,
                           b->n_latencies, STATS_SEED);
    /* Times are told apart by rank, but called the same by size. */
    if (m->ratio.low >= 1 / FL_COMPARE_RATIO
        && m->ratio.high <= FL_COMPARE_RATIO)
        m->verdict = FL_COMPARED_SAME;
    else if (m->verdict == FL_COMPARED_SAME)
        m->verdict = FL_COMPARED_AMBIGUOUS;
}

/* The first measure that tells better from worse decides: a report that names
 * the right launch later is better than a wrong one sooner. */
static void decide(struct fl_comparison *c)
{
    const struct { const char *name; const struct fl_measured *m; } by[] = {
        { "outcome", &c->outcome }, { "launches_between", &c->between },
        { "latency", &c->latency },
    };
    c->verdict = FL_COMPARED_SAME;
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        enum fl_compared v = by[i].m->verdict;
        if (v == FL_COMPARED_BETTER || v == FL_COMPARED_WORSE) {
            c->verdict = v;
            c->why = by[i].name;
            return;
        }
        if (v == FL_COMPARED_AMBIGUOUS && c->verdict == FL_COMPARED_SAME) {
            c->verdict = v;
            c->why = by[i].name;
        }
    }
}

static void compare_cell(struct fl_comparison *c)
{
    const struct fl_cell *a = c->cell[0], *b = c->cell[1];
    c->verdict = c->outcome.verdict = c->between.verdict = c->latency.verdict
        = FL_COMPARED_INCOMPARABLE;
    if (!a || !b) {
        c->why = a ? "only in A" : "only in B";
        return;
    }
    bool fixed = !fl_is_sampled(a->key[1], a->key[3]);
    compare_outcomes(c, fixed);
    if (c->outcome.verdict == FL_COMPARED_INCOMPARABLE) {
        c->why = c->outcome.n[0] || c->outcome.n[1]
            ? c->outcome.n[0] ? "no result in B" : "no result in A"
            : "no result in either";
        return;
    }
    measure(&c->between, a->betweens, a->n_betweens, b->betweens,
            b->n_betweens, fixed);
    compare_latency(c);
    decide(c);
}

static int by_key(const void *x, const void *y)
{
    const struct fl_comparison *a = x, *b = y;
    const struct fl_cell *p = a->cell[0] ? a->cell[0] : a->cell[1];
    const struct fl_cell *q = b->cell[0] ? b->cell[0] : b->cell[1];
    int d = 0;
    for (int k = 0; k < 4 && !d; k++)
        d = strcmp(p->key[k], q->key[k]);
    return d;
}

struct fl_comparison *fl_compare(const struct fl_cells *a,
                                 const struct fl_cells *b, size_t *n)
{
    struct fl_comparison *all = fl_alloc((a->n + b->n + 1) * sizeof *all);
    for (size_t i = 0; i < a->n; i++)
        all[i].cell[0] = &a->cells[i];
    for (size_t i = 0; i < b->n; i++)
        all[a->n + i].cell[1] = &b->cells[i];
    qsort(all, a->n + b->n, sizeof *all, by_key);
    *n = 0;
    for (size_t i = 0; i < a->n + b->n; i++) {
        struct fl_comparison *last = *n ? &all[*n - 1] : NULL;
        int side = all[i].cell[1] != NULL;
        if (last && !by_key(last, &all[i]))
            last->cell[side] = all[i].cell[side];
        else
            all[(*n)++] = all[i];
    }
    for (size_t i = 0; i < *n; i++)
        compare_cell(&all[i]);
    return all;
}
