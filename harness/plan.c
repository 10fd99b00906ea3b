/* The product of scenarios, variants, strategies, modes and trial numbers;
 * see plan.h. */
#include "harness/plan.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cells.h"
#include "harness/expect.h"
#include "harness/listing.h"
#include "harness/random.h"

#define MOST_NAMES 128

static const char *const all_variants[] = {
#define X(ident, name, meaning) name,
    FL_VARIANTS(X)
#undef X
};
static const char *const all_schedules[] = { "random", "eager", "lazy" };

/* The words of "a,b" (or all for "all"), each one of names[n]. */
static bool choose(const char *what, const char *list,
                   const char *const *names, size_t n,
                   const char **out, size_t *n_out)
{
    *n_out = 0;
    for (const char *s = list; ; s++) {
        size_t length = strcspn(s, ",");
        bool all = length == 3 && !memcmp(s, "all", 3), found = false;
        for (size_t i = 0; i < n; i++) {
            if (!all && (strlen(names[i]) != length
                         || memcmp(names[i], s, length)))
                continue;
            found = true;
            bool again = false;
            for (size_t k = 0; k < *n_out; k++)
                again |= !strcmp(out[k], names[i]);
            if (!again)
                out[(*n_out)++] = names[i];
        }
        if (!found) {
            char *word = fl_format("%.*s", (int)length, s);
            const char *near = fl_nearest(word, names, n);
            fprintf(stderr, "faultlag: no %s is called `%s`", what, word);
            if (near)
                fprintf(stderr, "; did you mean `%s`?", near);
            fputs("\n", stderr);
            free(word);
            return false;
        }
        s += length;
        if (!*s)
            break;
    }
    return true;
}

static size_t names_of(const struct fl_json *array, const char **names)
{
    size_t n = 0;
    for (const struct fl_json *j = array ? array->first : NULL;
         j && n < MOST_NAMES; j = j->next)
        names[n++] = fl_json_string(j, "name", "?");
    return n;
}

struct choice {
    const char *scenarios[MOST_NAMES], *strategies[MOST_NAMES];
    const char *variants[FL_VARIANT_COUNT];
    const char *schedules[4];                   /* NULL: free */
    size_t n_scenarios, n_strategies, n_variants, n_schedules;
    bool otherwise;                             /* than by bounds alone */
    unsigned long long trials, seed;
};

static bool choose_scenarios(const struct fl_json *listing,
                             const struct fl_options *o, struct choice *c)
{
    const struct fl_json *all = fl_json_get(listing, "scenarios");
    if (o->name) {
        const char *names[MOST_NAMES];
        return choose("scenario", o->name, names, names_of(all, names),
                      c->scenarios, &c->n_scenarios);
    }
    regex_t re;
    if (o->filter && regcomp(&re, o->filter, REG_EXTENDED | REG_NOSUB)) {
        fprintf(stderr, "faultlag: `%s` is no regular expression\n",
                o->filter);
        return false;
    }
    for (const struct fl_json *s = all->first; s; s = s->next) {
        const char *name = fl_json_string(s, "name", "?");
        if (!fl_json_bool(s, "selftest")
            && (!o->filter || !regexec(&re, name, 0, NULL, 0)))
            c->scenarios[c->n_scenarios++] = name;
    }
    if (o->filter)
        regfree(&re);
    if (!c->n_scenarios)
        fprintf(stderr, "faultlag: no scenario matches `%s`\n",
                o->filter ? o->filter : "");
    return c->n_scenarios > 0;
}

static bool choose_modes(const struct fl_options *o,
                         enum fl_device_kind device, struct choice *c)
{
    bool both = !strcmp(o->mode, "both");
    bool seeded = both || !strcmp(o->mode, "seeded");
    bool freely = both || !strcmp(o->mode, "free");
    if (!seeded && !freely) {
        fprintf(stderr, "faultlag: no mode is called `%s`; there are free, "
                "seeded and both\n", o->mode);
        return false;
    }
    if (o->schedules_given && !both)
        seeded = true, freely = false;
    if (device == FL_DEVICE_CUDA) {
        if (seeded && !freely) {
            fputs("faultlag: only simgpu has seeded trials; use --device sim "
                  "or --mode free\n", stderr);
            return false;
        }
        seeded = false;
    }
    if (seeded && !choose("schedule", o->schedules, all_schedules, 3,
                          c->schedules, &c->n_schedules))
        return false;
    if (freely)
        c->schedules[c->n_schedules++] = NULL;
    for (size_t m = 0; m < c->n_schedules; m++)
        c->otherwise |= !c->schedules[m] || !fl_is_bound(c->schedules[m]);
    return true;
}

static void add(struct fl_plan *plan, const struct fl_json *listing,
                const char *scenario, const char *variant,
                const char *strategy, const char *schedule,
                unsigned long long seed)
{
    const struct fl_json *s = fl_json_get(listing, "strategies")->first;
    while (strcmp(fl_json_string(s, "name", ""), strategy))
        s = s->next;
    plan->trials = fl_grow(plan->trials, plan->n + 1, sizeof *plan->trials);
    plan->trials[plan->n++] = (struct fl_planned){
        .id = fl_format("%s/%s/%s/%s/%llu", scenario, variant, strategy,
                        schedule ? schedule : "free", seed),
        .scenario = fl_listing_scenario(listing, scenario),
        .variant = variant, .strategy = strategy, .schedule = schedule,
        .blocking = fl_json_bool(s, "launch_blocking"), .seed = seed,
    };
}

/* Seeded trials first; within both, any order that the seed gives. */
static void shuffle(struct fl_plan *plan, uint64_t seed)
{
    for (size_t i = plan->n; i > 1; i--) {
        size_t k = fl_splitmix(&seed) % i;
        struct fl_planned swap = plan->trials[i - 1];
        plan->trials[i - 1] = plan->trials[k];
        plan->trials[k] = swap;
    }
    struct fl_planned *sorted = fl_grow(NULL, plan->n, sizeof *sorted);
    size_t n = 0;
    for (int freely = false; freely <= true; freely++)
        for (size_t i = 0; i < plan->n; i++)
            if ((plan->trials[i].schedule == NULL) == freely)
                sorted[n++] = plan->trials[i];
    free(plan->trials);
    plan->trials = sorted;
}

/* Every shard draws the order of all trials, and so they share out all of
 * them, each a like part of the cells. */
static bool take_shard(struct fl_plan *plan, const struct fl_options *o)
{
    if (!fl_shard(o->shard ? o->shard : "1/1", &plan->shard, &plan->shards))
        return false;
    for (size_t i = 0; i < plan->n; i++)
        plan->trials[i].done = i % plan->shards != plan->shard - 1;
    if (plan->n >= plan->shard)
        return true;
    fprintf(stderr, "faultlag: --shard %s: there are only %zu trials\n",
            o->shard, plan->n);
    return false;
}

/* In a bench a program without a fault is not asked for the bounds where it
 * runs otherwise too. */
static bool is_superfluous(const struct fl_options *o, const struct choice *c,
                           const char *variant, const char *way)
{
    return !o->name && c->otherwise && fl_is_bound(way)
        && strcmp(variant, "faulty");
}

bool fl_plan_make(const struct fl_json *listing, const struct fl_options *o,
                  enum fl_device_kind device, struct fl_plan *plan)
{
    const struct fl_json *strategies = fl_json_get(listing, "strategies");
    const char *names[MOST_NAMES];
    struct choice c = { 0 };
    *plan = (struct fl_plan){ 0 };
    if (!choose_scenarios(listing, o, &c)
        || !choose("strategy", o->strategies, names,
                   names_of(strategies, names), c.strategies,
                   &c.n_strategies)
        || !choose("variant", o->variants, all_variants, FL_VARIANT_COUNT,
                   c.variants, &c.n_variants)
        || !choose_modes(o, device, &c)
        || !fl_number(o->trials, "--trials", 100000, &c.trials)
        || !fl_number(o->seed, "--seed", UINT64_MAX / 2, &c.seed))
        return false;
    for (size_t i = 0; i < c.n_scenarios; i++) {
        const struct fl_json *s = fl_listing_scenario(listing, c.scenarios[i]);
        for (size_t v = 0; v < c.n_variants; v++) {
            if (!fl_listing_has_variant(s, c.variants[v]))
                continue;
            for (size_t k = 0; k < c.n_strategies; k++)
                for (size_t m = 0; m < c.n_schedules; m++) {
                    const char *mode = c.schedules[m];
                    const char *way = mode ? mode : "free";
                    if (is_superfluous(o, &c, c.variants[v], way))
                        continue;
                    bool once = !o->name && !fl_is_sampled(c.variants[v], way);
                    for (unsigned long long n = 0;
                         n < (once && c.trials ? 1 : c.trials); n++)
                        add(plan, listing, c.scenarios[i], c.variants[v],
                            c.strategies[k], mode, c.seed + n);
                }
        }
    }
    if (!plan->n) {
        fputs("faultlag: nothing to run: these scenarios have no such "
              "variant, or --trials is 0\n", stderr);
        return false;
    }
    shuffle(plan, c.seed);
    return take_shard(plan, o);
}

static const char *scenario_name(const struct fl_planned *t)
{
    return fl_json_string(t->scenario, "name", "");
}

/* A faulty one, for a trial aside. */
static const struct fl_planned *first_trial(const struct fl_plan *plan,
                                            const char *strategy, bool freely)
{
    const struct fl_planned *best = NULL;
    for (size_t i = 0; i < plan->n; i++) {
        const struct fl_planned *t = &plan->trials[i];
        if ((freely && t->schedule) || t->aside || strcmp(t->variant, "faulty")
            || (strategy && strcmp(t->strategy, strategy)))
            continue;
        int order = best ? strcmp(scenario_name(t), scenario_name(best)) : -1;
        if (order < 0 || (order == 0 && t->seed < best->seed))
            best = t;
    }
    return best;
}

static bool add_aside(struct fl_plan *plan, const struct fl_planned *like,
                      const char *what, struct fl_planned **added)
{
    if (!like)
        return false;
    struct fl_planned t = *like;
    t.id = fl_format("%s of %s", what, t.id);
    t.aside = true;
    t.done = false;
    plan->trials = fl_grow(plan->trials, plan->n + 1, sizeof *plan->trials);
    *added = &plan->trials[plan->n++];
    **added = t;
    return true;
}

bool fl_plan_add_trace(struct fl_plan *plan, const char *strategy,
                       const char *path)
{
    struct fl_planned *t;
    if (!add_aside(plan, first_trial(plan, strategy, true), "trace", &t))
        return false;
    t->trace = fl_strdup(path);
    t->done = !access(path, F_OK);
    return true;
}

bool fl_plan_add_inspection(struct fl_plan *plan, const char *path,
                            bool inputs)
{
    struct fl_planned *t;
    if (!add_aside(plan, first_trial(plan, NULL, false), "inspection", &t))
        return false;
    t->inspect = fl_strdup(path);
    t->inputs = inputs;
    return true;
}

void fl_plan_add_traces(struct fl_plan *plan, const char *folder)
{
    static const char *const strategies[] = { "async", "async-check", "sync" };
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        const struct fl_planned *t = first_trial(plan, strategies[i], true);
        if (!t)
            continue;
        char *path = fl_format("%s/trace-%s-%s.json", folder,
                               scenario_name(t), t->strategy);
        fl_plan_add_trace(plan, strategies[i], path);
        free(path);
    }
}

size_t fl_plan_left(const struct fl_plan *plan)
{
    size_t left = 0;
    for (size_t i = 0; i < plan->n; i++)
        left += !plan->trials[i].done;
    return left;
}

void fl_plan_free(struct fl_plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        free(plan->trials[i].id);
        free(plan->trials[i].trace);
        free(plan->trials[i].inspect);
    }
    free(plan->trials);
    *plan = (struct fl_plan){ 0 };
}
