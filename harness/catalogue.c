/* The table of scenarios, their plants, and the whole catalogue as JSON: the
 * command line tool links no CUDA and learns of scenarios through it. */
#include "harness/catalogue.h"

#include <string.h>

#include "harness/outcome.h"
#include "harness/strategy.h"

#define SCENARIO(ident) extern const struct fl_scenario scenario_##ident;
#include "scenarios/catalogue.def"
#include "harness/selftest/catalogue.def"
#undef SCENARIO

const struct fl_scenario *const fl_scenarios[] = {
#define SCENARIO(ident) &scenario_##ident,
#include "scenarios/catalogue.def"
#include "harness/selftest/catalogue.def"
#undef SCENARIO
    NULL
};

const struct fl_scenario *fl_scenario_named(const char *name)
{
    for (const struct fl_scenario *const *s = fl_scenarios; *s; s++)
        if (!strcmp((*s)->name, name))
            return *s;
    return NULL;
}

/* The linker's bounds of what FL_PLANT collects. */
extern const struct fl_plant *const __start_fl_plants[];
extern const struct fl_plant *const __stop_fl_plants[];

const struct fl_plant *fl_scenario_plant(const struct fl_scenario *s)
{
    size_t n = strlen(s->name);
    for (const struct fl_plant *const *p = __start_fl_plants;
         p < __stop_fl_plants; p++) {
        const char *file = strrchr((*p)->site->file, '/');
        file = file ? file + 1 : (*p)->site->file;
        if (!strncmp(file, s->name, n) && !strcmp(file + n, ".c"))
            return *p;
    }
    return NULL;
}

const char *fl_source_path(const char *path)
{
    size_t n = strlen(FAULTLAG_SOURCE_DIR);
    return !strncmp(path, FAULTLAG_SOURCE_DIR "/", n + 1) ? path + n + 1 : path;
}

static const char *const variants[] = {
#define X(ident, name, meaning) name,
    FL_VARIANTS(X)
#undef X
};

const char *fl_variant_name(enum fl_variant v)
{
    return variants[__builtin_ctz(v)];
}

enum fl_variant fl_variant_named(const char *name)
{
    for (int i = 0; i < FL_VARIANT_COUNT; i++)
        if (!strcmp(variants[i], name))
            return (enum fl_variant)(1 << i);
    return (enum fl_variant)0;
}

static void put_expectations(struct fl_text *out, const struct fl_plant *p)
{
    fl_json_open(out, "expect", '[');
    for (size_t i = 0; p && i < p->n_rows; i++) {
        const struct fl_expect *e = &p->rows[i];
        char outcomes[128];
        fl_outcomes_text(e->outcomes, outcomes, sizeof outcomes);
        fl_json_open(out, NULL, '{');
        fl_json_put_string(out, "strategy", e->strategy);
        fl_json_put_string(out, "outcomes", outcomes);
        if (e->code)
            fl_json_put_integer(out, "code", e->code);
        if (e->where)
            fl_json_put_string(out, "where", e->where);
        fl_json_put_string(out, "basis", fl_basis_name(e->basis));
        fl_json_put_integer(out, "devices",
                            e->device ? e->device : FL_ANY_DEVICE);
        fl_json_put_integer(out, "modes", e->mode ? e->mode : FL_ANY_MODE);
        if (e->some) {
            fl_outcomes_text(e->some, outcomes, sizeof outcomes);
            fl_json_put_string(out, "some", outcomes);
        }
        if (e->note)
            fl_json_put_string(out, "note", e->note);
        fl_json_close(out, '}');
    }
    fl_json_close(out, ']');
}

static void put_scenario(struct fl_text *out, const struct fl_scenario *s)
{
    const struct fl_plant *p = fl_scenario_plant(s);
    fl_json_open(out, NULL, '{');
    fl_json_put_string(out, "name", s->name);
    fl_json_put_string(out, "summary", s->summary);
    fl_json_put_string(out, "stands_for", s->stands_for);
    if (s->selftest)
        fl_json_put_bool(out, "selftest", true);
    if (s->limit_ms)
        fl_json_put_integer(out, "limit_ms", s->limit_ms);
    fl_json_open(out, "variants", '[');
    for (int i = 0; i < FL_VARIANT_COUNT; i++)
        if (s->variants & 1u << i)
            fl_json_put_string(out, NULL, variants[i]);
    fl_json_close(out, ']');
    if (s->guard)
        fl_json_put_string(out, "guard", s->guard);
    if (s->fault_kernel)
        fl_json_put_string(out, "fault_kernel", s->fault_kernel);
    if (s->fault_file)
        fl_json_put_string(out, "fault_file", s->fault_file);
    if (p) {
        fl_json_put_string(out, "launch_file", fl_source_path(p->site->file));
        fl_json_put_integer(out, "launch_line", p->site->line);
        fl_json_put_string(out, "launch_function", p->site->function);
        fl_json_put_string(out, "launch", p->site->text);
        if (s->plant_unchecked)
            fl_json_put_bool(out, "launch_unchecked", true);
    }
    put_expectations(out, p);
    fl_json_close(out, '}');
}

void fl_catalogue_json(struct fl_text *out)
{
    fl_json_open(out, NULL, '{');
    fl_json_open(out, "scenarios", '[');
    for (const struct fl_scenario *const *s = fl_scenarios; *s; s++)
        put_scenario(out, *s);
    fl_json_close(out, ']');
    fl_json_open(out, "strategies", '[');
    for (const struct fl_strategy *s = fl_strategies; s->name; s++) {
        fl_json_open(out, NULL, '{');
        fl_json_put_string(out, "name", s->name);
        fl_json_put_string(out, "summary", s->summary);
        fl_json_put_bool(out, "launch_blocking", s->blocking);
        fl_json_close(out, '}');
    }
    fl_json_close(out, ']');
    fl_json_close(out, '}');
}
