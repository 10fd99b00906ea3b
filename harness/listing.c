/* Reading the catalogue and holding rows against it; see listing.h. */
#include "harness/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/outcome.h"

struct fl_json *fl_listing_read(const struct fl_places *places)
{
    char *argv[] = { places->trial, "--catalogue", NULL };
    struct fl_child child;
    struct fl_env env;
    struct fl_json *listing = NULL;
    fl_environment_for(places, FL_DEVICE_SIM, &env);
    if (fl_child_run(&child, argv, &env, INT64_C(20000000000)))
        listing = fl_json_parse(fl_text_str(&child.text[FL_OUT]),
                                child.text[FL_OUT].n, NULL);
    if (!listing)
        fprintf(stderr, "faultlag: no catalogue from %s: %s\n",
                places->trial, fl_child_excuse(&child));
    fl_child_free(&child);
    fl_env_free(&env);
    return listing;
}

const struct fl_json *fl_listing_scenario(const struct fl_json *listing,
                                          const char *name)
{
    const struct fl_json *all = fl_json_get(listing, "scenarios");
    for (const struct fl_json *s = all ? all->first : NULL; s; s = s->next)
        if (!strcmp(fl_json_string(s, "name", ""), name))
            return s;
    return NULL;
}

bool fl_listing_has_variant(const struct fl_json *scenario,
                            const char *variant)
{
    const struct fl_json *all = fl_json_get(scenario, "variants");
    for (const struct fl_json *v = all ? all->first : NULL; v; v = v->next)
        if (!strcmp(v->text, variant))
            return true;
    return false;
}

/* The first row about this cell. way: "free" or a schedule. */
static const struct fl_json *matching_row(const struct fl_json *scenario,
                                          const char *strategy,
                                          const char *device, const char *way)
{
    int mode = !strcmp(way, "free") ? FL_FREE : !strcmp(way, "eager")
        ? FL_EAGER : !strcmp(way, "lazy") ? FL_LAZY : FL_RANDOM;
    int on = !strcmp(device, "cuda") ? FL_CUDA : FL_SIM;
    const struct fl_json *rows = fl_json_get(scenario, "expect");
    for (const struct fl_json *e = rows ? rows->first : NULL; e; e = e->next) {
        const char *about = fl_json_string(e, "strategy", "*");
        if ((!strcmp(about, "*") || !strcmp(about, strategy))
            && fl_json_integer(e, "devices", FL_ANY_DEVICE) & on
            && fl_json_integer(e, "modes", FL_ANY_MODE) & mode)
            return e;
    }
    return NULL;
}

static const struct fl_json *row_of(const struct fl_json *scenario,
                                    const struct fl_row *row)
{
    const char *schedule = fl_row_get(row, FL_COL_schedule);
    return matching_row(scenario, fl_row_get(row, FL_COL_strategy),
                        fl_row_get(row, FL_COL_device),
                        *schedule ? schedule : "free");
}

unsigned fl_listing_outcomes(const struct fl_json *scenario,
                             const char *strategy, const char *device,
                             const char *way)
{
    return fl_outcomes_parse(fl_json_string(
        matching_row(scenario, strategy, device, way), "outcomes", ""));
}

unsigned fl_listing_some(const struct fl_json *scenario, const char *strategy,
                         const char *device, const char *way)
{
    return fl_outcomes_parse(fl_json_string(
        matching_row(scenario, strategy, device, way), "some", ""));
}

static void add(struct fl_text *why, const char *what, const char *got,
                const char *wanted)
{
    fl_text_printf(why, "%s%s %s instead of %s", why->n ? "; " : "", what,
                   *got ? got : "none", wanted);
}

/* What differs from the expectation, if anything. */
static void compare(const struct fl_json *e, unsigned expected,
                    const struct fl_row *row, struct fl_text *why)
{
    const char *outcome = fl_row_get(row, FL_COL_outcome);
    const char *code = fl_row_get(row, FL_COL_error_code);
    char names[128], wanted[24];
    fl_outcomes_text(expected, names, sizeof names);
    if (!(fl_outcomes_parse(outcome) & expected))
        add(why, "outcome", outcome, names);
    if (!e || !*code)
        return;
    snprintf(wanted, sizeof wanted, "%lld", fl_json_integer(e, "code", 0));
    if (strcmp(wanted, "0") && strcmp(wanted, code))
        add(why, "code", code, wanted);
    const char *where = fl_json_string(e, "where", NULL);
    const char *function = fl_row_get(row, FL_COL_report_function);
    if (where && strcmp(where, function))
        add(why, "report in", function, where);
}

bool fl_listing_judge(const struct fl_json *scenario, struct fl_row *row)
{
    bool faulty = !strcmp(fl_row_get(row, FL_COL_variant), "faulty");
    const char *outcome = fl_row_get(row, FL_COL_outcome);
    if (!strcmp(outcome, "skipped"))
        return true;
    const struct fl_json *e = faulty ? row_of(scenario, row) : NULL;
    unsigned expected = !faulty ? (unsigned)FL_CLEAN
        : e ? fl_outcomes_parse(fl_json_string(e, "outcomes", "")) : 0;
    struct fl_text why = { 0 };
    if (expected) {
        char names[128];
        fl_outcomes_text(expected, names, sizeof names);
        fl_row_set(row, FL_COL_expected, names);
        if (e)
            fl_row_set(row, FL_COL_basis, fl_json_string(e, "basis", ""));
        compare(e, expected, row, &why);
    } else if (!strcmp(outcome, "broken")) {
        fl_text_puts(&why, "the trial is broken");
    }
    bool ok = why.n == 0;
    if (expected || !ok)
        fl_row_set(row, FL_COL_as_expected, ok ? "yes" : "no");
    if (!ok)
        fl_row_set(row, FL_COL_deviation, why.s);
    fl_text_free(&why);
    return ok;
}
