/* Causes with their evidence, victims, and next steps, all from the rules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/diagnose/decide.h"
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

struct ranking {
    const struct dg_facts *f;
    const struct dg_rules *rules;
    struct dg_verdict *v;
    int run;
};

static const struct dg_rule *cause_rule(const struct dg_rules *rules,
                                        const char *name)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rules->rules[i].kind == DG_CAUSE
            && !strcmp(dg_rule_text(&rules->rules[i], DG_NAME), name))
            return &rules->rules[i];
    return NULL;
}

/* Takes over `evidence`, which may be NULL. */
static void weigh(struct ranking *k, const char *name, long weight,
                  char *evidence)
{
    struct dg_verdict *v = k->v;
    const struct dg_rule *rule = cause_rule(k->rules, name);
    size_t i = 0;
    while (i < v->n_causes && v->causes[i].rule != rule)
        i++;
    if (!rule || i == sizeof v->causes / sizeof *v->causes) {
        free(evidence);
        return;
    }
    struct dg_cause *c = &v->causes[i];
    if (i == v->n_causes)
        *c = (struct dg_cause){ .rule = v->causes[v->n_causes++].rule = rule };
    c->weight += weight;
    if (evidence && c->n_evidence < sizeof c->evidence / sizeof *c->evidence)
        c->evidence[c->n_evidence++] = evidence;
    else
        free(evidence);
}

struct others { struct ranking *k; long weight; };

static void weigh_other(void *context, const char *name)
{
    struct others *o = context;
    weigh(o->k, name, o->weight, fl_strdup("the same assertion can mean this"));
    o->weight -= 10;
}

static void weigh_assertion(struct ranking *k)
{
    const struct dg_assertion *a = k->v->assertion;
    const struct dg_rule *r = k->v->rule;
    if (!r) {
        weigh(k, "other", 100, fl_format("no rule knows the assertion `%s`",
                                         a->expr));
        return;
    }
    struct others o = { k, 40 };
    weigh(k, dg_rule_text(r, DG_BECAUSE_OF), 100,
          fl_format("`%.80s`: %s", a->expr, dg_rule_text(r, DG_SAY)));
    dg_each(r->value[DG_OR], weigh_other, &o);
}

/* Facts that need more than a word. */
static bool holds(const struct ranking *k, const char *fact)
{
    const struct dg_verdict *v = k->v;
    const struct dg_record *r = v->record;
    if (!strcmp(fact, "clean_when_blocking"))
        return dg_blocking_rerun(k->f, k->run, false) >= 0;
    if (!strcmp(fact, "garbage_printed"))
        return k->f->garbage_line != 0;
    if (!strcmp(fact, "garbage_said"))
        return v->assertion && v->assertion->garbage;
    if (!strcmp(fact, "race_reported"))
        return r && r->race;
    if (!strcmp(fact, "uninitialised_reported"))
        return r && r->uninitialised;
    if (!strcmp(fact, "misaligned_reported"))
        return r && r->misaligned;
    if (!strcmp(fact, "barrier_reported"))
        return r && r->barrier;
    if (!strcmp(fact, "tool_record"))
        return r && !r->race && !r->uninitialised && !r->misaligned
            && !r->barrier;
    if (!strcmp(fact, "named_kernel"))
        return k->f->launch_kernel[0];
    return false;
}

static bool seen_in(const struct ranking *k, const struct dg_rule *r,
                    const char *place)
{
    const struct dg_verdict *v = k->v;
    const char *words = r->value[DG_TEXT];
    if (!strcmp(place, "fact"))
        return holds(k, dg_rule_text(r, DG_NAME));
    if (!strcmp(place, "framework"))
        return v->framework && dg_any_is(r->value[DG_FOR],
                                         dg_rule_text(v->framework, DG_NAME));
    if (!strcmp(place, "kernel"))
        return (v->record && dg_any_in(words, v->record->kernel))
            || dg_any_in(words, k->f->launch_kernel);
    if (!strcmp(place, "code"))
        return v->trace && dg_any_in(words, v->trace->code);
    if (!strcmp(place, "calls"))
        return v->trace && dg_any_in(words, v->trace->calls);
    return k->f->seen[r->index] != 0;
}

static bool applies(const struct ranking *k, const struct dg_rule *r)
{
    const struct dg_verdict *v = k->v;
    char code[24];
    snprintf(code, sizeof code, "%ld", v->error_code < 0 ? 0 : v->error_code);
    if (r->value[DG_OP]
        && !(v->rule && dg_any_is(r->value[DG_OP], dg_rule_text(v->rule, DG_OP))))
        return false;
    /* an assertion says more than the code it ends in */
    if (r->value[DG_CODE]
        && (v->assertion || !dg_any_is(r->value[DG_CODE], code)))
        return false;
    return true;
}

static void weigh_evidence(struct ranking *k)
{
    for (size_t i = 0; i < k->rules->n; i++) {
        const struct dg_rule *r = &k->rules->rules[i];
        const char *place = dg_rule_text(r, DG_IN);
        if (r->kind != DG_EVIDENCE || !applies(k, r) || !seen_in(k, r, place))
            continue;
        unsigned long line = !strcmp(place, "text") ? k->f->seen[r->index] : 0;
        if (!strcmp(dg_rule_text(r, DG_NAME), "garbage_printed"))
            line = k->f->garbage_line;
        char *say = line ? fl_format("%s (line %lu)", dg_rule_text(r, DG_SAY), line)
                         : fl_strdup(dg_rule_text(r, DG_SAY));
        weigh(k, dg_rule_text(r, DG_BECAUSE_OF), dg_rule_number(r, DG_WEIGHT, 10),
              say);
    }
}

static int heavier(const void *a, const void *b)
{
    const struct dg_cause *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->rule->index < y->rule->index ? -1 : 1;
}

void dg_rank_causes(const struct dg_facts *f, const struct dg_rules *rules,
                    struct dg_verdict *v, int run)
{
    struct ranking k = { f, rules, v, run };
    const struct dg_rule *r = v->error ? v->error->rule : NULL;
    if (v->assertion)
        weigh_assertion(&k);
    else if (r)
        weigh(&k, dg_rule_text(r, DG_BECAUSE_OF), 40,
              fl_format("%s: %s", v->error_name, dg_rule_text(r, DG_SAY)));
    weigh_evidence(&k);
    if (!v->n_causes)
        weigh(&k, "other", 1, NULL);
    qsort(v->causes, v->n_causes, sizeof *v->causes, heavier);
}

/* ---- victims ---- */

static void add_victim(struct dg_verdict *v, const char *what,
                       unsigned long line, const char *why)
{
    for (size_t i = 0; i < v->n_victims; i++)
        if (!strcmp(v->victims[i].what, what) && v->victims[i].why == why) {
            v->more_victims++;
            return;
        }
    if (v->n_victims == sizeof v->victims / sizeof *v->victims) {
        v->more_victims++;
        return;
    }
    struct dg_victim *c = &v->victims[v->n_victims++];
    DG_COPY(c->what, what, NULL);
    c->line = line;
    c->why = why;
}

static bool lost(const struct dg_verdict *v)
{
    return v->recoverable == DG_NO;
}

static void judge_victim(struct dg_verdict *v, const struct dg_error *e)
{
    bool status = e->rule && e->rule->kind == DG_STATUS
        && !strcmp(dg_rule_text(e->rule, DG_VICTIM), "yes");
    if (e == v->error && !(v->assertion && status))
        return;
    if (!lost(v))
        return;
    if (e->code == 2)
        add_victim(v, e->name, e->at.line, "not memory: after the fault every "
                   "call fails, and a catch-all prints this");
    else if (status)
        add_victim(v, e->name, e->at.line, "the library only met the lost "
                   "context");
    else if (e->watchdog)
        add_victim(v, "NCCL watchdog", e->at.line, "it watches, and reports "
                   "what happened elsewhere");
    else if (e->nccl)
        add_victim(v, "NCCL", e->at.line, "it only met the lost context");
    else if (e->teardown)
        add_victim(v, e->name, e->at.line, "a destructor met the lost context");
    else if (v->error && e->at.line > v->error->at.line)
        add_victim(v, e->name, e->at.line, "the same error again, as from every "
                   "call after the fault");
}

void dg_list_victims(const struct dg_facts *f, struct dg_verdict *v, int run)
{
    for (size_t i = 0; i < f->n_errors; i++)
        if (f->errors[i].at.run == run)
            judge_victim(v, &f->errors[i]);
    for (size_t i = 0; i < f->n_traces; i++) {
        const struct dg_trace *t = &f->traces[i];
        if (t->error < 0 && t->at.run == run && v->trace && lost(v)
            && t->exception[0] && t->at.line > v->trace->at.line)
            add_victim(v, t->exception, t->at.line, "followed from the fault");
    }
}

/* ---- steps ---- */

static bool holds_when(const struct dg_verdict *v, const char *when)
{
    return !*when
        || (dg_any_is(when, "lost") && lost(v))
        || (dg_any_is(when, "noassert") && v->error_code == 710 && !v->assertion)
        || (dg_any_is(when, "distrust") && v->reliable != DG_YES
            && v->blocking != DG_YES)
        || (dg_any_is(when, "nokernel") && lost(v) && !v->assertion
            && !v->record && v->error_code != 710)
        || (dg_any_is(when, "unsure") && v->reliable == DG_UNKNOWN
            && v->blocking != DG_YES)
        || (dg_any_is(when, "tool") && v->record)
        || (dg_any_is(when, "notool") && !v->record);
}

/* The user's command, without what this advice would add again. */
static const char *command(const struct dg_facts *f, const struct dg_verdict *v,
                           int run)
{
    static const char *const drop[] = {
        "CUDA_LAUNCH_BLOCKING=1 ", "PYTORCH_USE_CUDA_DSA=1 ",
        "compute-sanitizer ", "cuda-memcheck ", "cuda-gdb --args ",
    };
    const char *s = f->runs[run].command;
    for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
        if (dg_starts(s, drop[i]))
            s += strlen(drop[i]);
    if (*s)
        return s;
    return v->trace && v->trace->language <= DG_RICH ? "python your_script.py"
                                                     : "./your_program";
}

static char *expand(const char *text, const char *cmd)
{
    const char *at = strstr(text, "$CMD");
    return at ? fl_format("%.*s%s%s", (int)(at - text), text, cmd, at + 4)
              : fl_strdup(text);
}

void dg_list_steps(const struct dg_facts *f, const struct dg_rules *rules,
                   struct dg_verdict *v, int run)
{
    const char *cause = dg_rule_text(v->causes[0].rule, DG_NAME);
    const char *framework = v->framework ? dg_rule_text(v->framework, DG_NAME)
                                         : "CUDA";
    const char *cmd = command(f, v, run);
    for (size_t i = 0; i < rules->n && !v->ask; i++)
        if (rules->rules[i].kind == DG_ASKING
            && holds_when(v, dg_rule_text(&rules->rules[i], DG_WHEN)))
            v->ask = dg_rule_text(&rules->rules[i], DG_SAY);
    for (size_t i = 0; i < rules->n; i++) {
        const struct dg_rule *r = &rules->rules[i];
        if (r->kind != DG_STEP || !holds_when(v, dg_rule_text(r, DG_WHEN))
            || (r->value[DG_FOR] && !dg_any_is(r->value[DG_FOR], cause))
            || (r->value[DG_IN] && !dg_any_is(r->value[DG_IN], framework)))
            continue;
        if (v->n_steps < sizeof v->steps / sizeof *v->steps)
            v->steps[v->n_steps++] = expand(dg_rule_text(r, DG_DO), cmd);
    }
}
