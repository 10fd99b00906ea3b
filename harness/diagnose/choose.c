/* Which of all that was read the log is about: the first run that failed, its
 * error, the stack that ends in it, the assertion, a tool's record. */
#include <limits.h>
#include <string.h>

#include "harness/diagnose/decide.h"
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

int dg_first_run(const struct dg_facts *f)
{
    int run = INT_MAX;
    for (size_t i = 0; i < f->n_assertions; i++)
        if (f->assertions[i].at.run < run)
            run = f->assertions[i].at.run;
    for (size_t i = 0; i < f->n_errors; i++)
        if (!f->errors[i].caught && f->errors[i].at.run < run)
            run = f->errors[i].at.run;
    for (size_t i = 0; i < f->n_records; i++)
        if (f->records[i].at.run < run)
            run = f->records[i].at.run;
    return run == INT_MAX ? -1 : run;
}

/* Lower is better: a language's stack that ends in the error, then a place
 * the message names, and last what only watched or tidied up. */
static int priority(const struct dg_facts *f, const struct dg_trace *t)
{
    static const int of_language[] = {
        [DG_PYTHON] = 0, [DG_NOTEBOOK] = 0, [DG_RICH] = 0, [DG_JULIA] = 0,
        [DG_LUA] = 0, [DG_RUST] = 1, [DG_GLOG] = 1, [DG_SITE] = 2,
        [DG_JAVA] = 4, [DG_RAISED] = 5, [DG_R] = 6,
    };
    /* a place above the error's line may be the printing helper's */
    int p = of_language[t->language]
        + (t->language == DG_SITE && t->error >= 0
           && t->at.line < f->errors[t->error].at.line);
    if (t->error >= 0) {
        const struct dg_error *e = &f->errors[t->error];
        p += 8 * (e->nccl && !e->watchdog) + 10 * e->watchdog + 6 * e->teardown;
    }
    p += 6 * dg_any_in("moduleUnload|__dealloc__|__del__", t->calls);
    return p + 10 * t->watchdog + 20 * t->ignored;
}

static const struct dg_trace *choose_trace(const struct dg_facts *f, int run)
{
    const struct dg_trace *best = NULL;
    for (size_t i = 0; i < f->n_traces; i++) {
        const struct dg_trace *t = &f->traces[i];
        if (t->error < 0 || t->at.run != run || f->errors[t->error].caught)
            continue;
        int p = best ? priority(f, t) - priority(f, best) : -1;
        if (p < 0 || (!p && t->at.line < best->at.line))
            best = t;
    }
    return best;
}

/* The stack's own error, or the first that says most. */
static const struct dg_error *choose_error(const struct dg_facts *f,
                                           const struct dg_trace *t, int run)
{
    const struct dg_error *best = NULL;
    if (t && t->error >= 0 && f->errors[t->error].rule)
        return &f->errors[t->error];
    for (size_t i = 0; i < f->n_errors; i++) {
        const struct dg_error *e = &f->errors[i];
        if (e->at.run != run || e->caught)
            continue;
        if (!best || (best->code < 0 && e->code >= 0)
            || (best->nccl && !e->nccl && e->code >= 0))
            best = e;
    }
    return best;
}

static const struct dg_rule *find(const struct dg_rules *r, enum dg_kind kind,
                                  long code)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->rules[i].kind == kind
            && dg_rule_number(&r->rules[i], DG_CODE, 0) == code)
            return &r->rules[i];
    return NULL;
}

static const struct dg_rule *choose_framework(const struct dg_facts *f,
                                              const struct dg_rules *rules,
                                              const struct dg_verdict *v)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct dg_rule *r = &rules->rules[i];
        const char *words = r->value[DG_TEXT];
        if (r->kind != DG_FRAMEWORK)
            continue;
        if (v->assertion && dg_any_in(words, v->assertion->file))
            return r;
        if (v->trace && (dg_any_in(words, v->trace->calls)
                         || dg_any_in(words, v->trace->exception)
                         || dg_any_in(words, v->trace->message)))
            return r;
        if (v->error && dg_any_in(words, v->error->text))
            return r;
        if (v->record && dg_any_in(words, v->record->kernel))
            return r;
        for (size_t k = 0; k < f->n_runs; k++)
            if (f->runs[k].command[0] && dg_any_in(words, f->runs[k].command))
                return r;
    }
    return NULL;
}

static void choose(const struct dg_facts *f, const struct dg_rules *rules,
                   struct dg_verdict *v, int run)
{
    for (size_t i = f->n_assertions; i--;)
        if (f->assertions[i].at.run == run || !v->assertion
            || v->assertion->at.run != run)
            v->assertion = &f->assertions[i];
    v->rule = v->assertion ? dg_match(rules, v->assertion) : NULL;
    if (f->n_records)
        v->record = &f->records[0];
    v->trace = choose_trace(f, run);
    v->error = choose_error(f, v->trace, run);
    v->framework = choose_framework(f, rules, v);
}

static void name_error(const struct dg_rules *rules, struct dg_verdict *v)
{
    v->error_code = v->underlying = DG_UNKNOWN;
    if (v->error) {
        v->error_code = v->error->code;
        v->error_name = v->error->name;
        v->error_say = dg_rule_text(v->error->rule, DG_SAY);
    } else if (v->assertion) {
        const struct dg_rule *r = find(rules, DG_ERROR, 710);
        v->error_code = 710;
        v->error_name = dg_rule_text(r, DG_NAME);
        v->error_say = dg_rule_text(r, DG_SAY);
    } else if (v->record) {
        v->error_name = v->record->title;
        v->error_say = v->record->detail;
    }
    if (v->assertion && v->error_code < 0)
        v->underlying = 710;
}

static void name_kernel(const struct dg_facts *f, struct dg_verdict *v)
{
    if (v->assertion) {
        const struct dg_assertion *a = v->assertion;
        v->kernel = a->kernel[0] ? a->kernel : NULL;
        v->block = a->has_block ? a->block : NULL;
        v->thread = a->has_thread ? a->thread : NULL;
    } else if (v->record) {
        const struct dg_record *r = v->record;
        v->kernel = r->short_kernel[0] ? r->short_kernel : NULL;
        v->block = r->has_block ? r->block : NULL;
        v->thread = r->has_thread ? r->thread : NULL;
    } else if (f->launch_kernel[0]) {
        v->kernel = f->launch_kernel;
    }
}

/* CUDA.jl prints the device's stack below its record. */
static const struct dg_frame *device_frame(const struct dg_facts *f,
                                           const struct dg_record *r)
{
    for (size_t i = 0; i < f->n_traces; i++) {
        const struct dg_trace *t = &f->traces[i];
        if (t->language == DG_JULIA && t->at.line > r->at.line
            && t->at.line - r->at.line < 4)
            return t->user.file[0] ? &t->user : &t->last;
    }
    return NULL;
}

/* A tool's record of the run itself says more than where the host was. */
static void name_frame(const struct dg_facts *f, struct dg_verdict *v, int run)
{
    const struct dg_record *r = v->record;
    const struct dg_frame *device;
    v->frame.line = DG_UNKNOWN;
    if (v->trace)
        v->frame = v->trace->last;
    if (!r || r->at.run != run)
        return;
    if (!strcmp(r->tool, "CUDA.jl") && (device = device_frame(f, r))) {
        v->frame = *device;
        v->from_tool = true;
    } else if (r->file[0] || r->kernel[0]) {
        v->frame = (struct dg_frame){ 0 };
        v->from_tool = true;
        DG_COPY(v->frame.file, r->file, NULL);
        DG_COPY(v->frame.function, r->short_kernel, NULL);
        v->frame.line = r->line;
    }
}

void dg_choose(const struct dg_facts *f, const struct dg_rules *rules,
               struct dg_verdict *v, int run)
{
    choose(f, rules, v, run);
    name_error(rules, v);
    name_kernel(f, v);
    name_frame(f, v, run);
}
