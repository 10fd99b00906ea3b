/* The verdict; see decide.h. The first run that failed is what the log is
 * about; what later runs say (the same under CUDA_LAUNCH_BLOCKING=1, under a
 * tool) is evidence. */
#include "harness/diagnose/decide.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

static int first_run(const struct dg_facts *f)
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
        if (!best || priority(f, t) < priority(f, best))
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

static void name_frame(struct dg_verdict *v, int run)
{
    v->frame.line = DG_UNKNOWN;
    if (v->trace) {
        v->frame = v->trace->last;
    } else if (v->record && v->record->at.run == run) {
        const struct dg_record *r = v->record;
        DG_COPY(v->frame.file, r->file, NULL);
        DG_COPY(v->frame.function, r->short_kernel, NULL);
        v->frame.line = r->line;
    }
}

/* ---- blocking ---- */

int dg_blocking_rerun(const struct dg_facts *f, int run, bool failed)
{
    for (size_t i = (size_t)run + 1; i < f->n_runs; i++) {
        const struct dg_run *r = &f->runs[i];
        /* that it went through must be seen, not only that it was meant to */
        if (r->set && r->failed == failed && (failed || (r->shell && r->lines > 2)))
            return (int)i;
    }
    return -1;
}

static bool is_wait(const struct dg_trace *t)
{
    return t && (dg_any_in("ynchronize", t->last.code)
                 || dg_any_in("ynchronize", t->last.function)
                 || (t->language == DG_SITE
                     && dg_any_in("DeviceSynchronize|StreamSynchronize",
                                  t->message)));
}

int dg_could_launch(const struct dg_verdict *v, bool user)
{
    const char *calls = v->rule ? v->rule->value[DG_CALLS] : NULL;
    const struct dg_trace *t = v->trace;
    if (!calls || !t || (!t->last.code[0] && !t->last.function[0]))
        return DG_UNKNOWN;
    if (dg_any_in(calls, t->last.code) || dg_any_in(calls, t->last.function))
        return DG_YES;
    if (user && dg_any_in(calls, t->user.code))
        return DG_YES;
    if (t->language != DG_RAISED && !t->last.code[0])
        return DG_UNKNOWN;
    return DG_NO;
}

static bool tool_names_another(const struct dg_verdict *v, int run)
{
    return v->record && v->record->at.run > run && v->trace
        && v->trace->language <= DG_SITE && !v->assertion;
}

static void judge_blocking(const struct dg_facts *f, struct dg_verdict *v,
                           int run)
{
    const struct dg_run *r = &f->runs[run];
    v->blocking = DG_NO;
    if (r->hints && r->set) {
        v->blocking_why = "it was set too late: PyTorch prints its hint only "
            "when launches do not wait";
    } else if (r->hints) {
        v->blocking_why = "PyTorch prints its hint only when launches do not "
            "wait";
    } else if (r->unset) {
        v->blocking_why = "it is set to 0";
    } else if (r->set) {
        v->blocking = DG_YES;
        v->blocking_why = "it is set";
    } else if (r->dsa_notes) {
        v->blocking = DG_YES;
        v->blocking_why = "PyTorch left out the hint that it prints when "
            "launches do not wait";
    } else if (dg_blocking_rerun(f, run, true) >= 0
               || dg_blocking_rerun(f, run, false) >= 0) {
        v->blocking_why = "it was set for a later run";
    } else if (tool_names_another(v, run)) {
        v->blocking_why = "a tool names a kernel that the reported call did "
            "not launch";
    } else if (is_wait(v->trace)) {
        v->blocking_why = "a wait reported it, not the launch";
    } else if (v->assertion && v->assertion->kernel[0]
               && dg_could_launch(v, true) == DG_NO
               && !strchr(v->trace->last.code, '[')
               && v->trace->language <= DG_RICH) {
        v->blocking_why = "the reported line cannot have launched the kernel "
            "whose assertion failed";
    } else {
        v->blocking = DG_UNKNOWN;
        v->blocking_why = "the log does not tell";
    }
}

/* ---- can the stack be trusted? ---- */

static bool is_copy_or_free(const struct dg_verdict *v)
{
    static const char words[] = "emcpy|emCpy|ynchronize|MemFree|empty_cache|"
        "copy_to_host|.cpu()|.item()|cudaFree|memset|EventQuery|MemGetInfo";
    return dg_any_in(words, v->trace->last.code)
        || dg_any_in(words, v->trace->last.function)
        || (!v->trace->last.code[0] && dg_any_in(words, v->trace->calls))
        || (v->error && dg_any_in(words, v->error->text));
}

static bool is_opaque(const struct dg_trace *t)
{
    return (!t->last.code[0] && t->language <= DG_RICH)
        || strstr(t->last.code, "(*args, **kw") != NULL;
}

static void judge_with_assertion(struct dg_verdict *v)
{
    int could = dg_could_launch(v, false);
    if (could == DG_YES && v->blocking == DG_NO) {
        v->reliable = DG_UNKNOWN;
        v->reliable_why = "the reported line fits the assertion, but launches "
            "did not wait: it may be the same operator of an earlier call";
    } else if (could == DG_YES) {
        v->reliable = DG_YES;
        v->reliable_why = "the reported line is the operator whose assertion "
            "failed";
    } else if (could == DG_NO) {
        v->reliable = DG_NO;
        v->reliable_why = "the assertion is of another operator than the "
            "reported line";
    } else {
        v->reliable_why = "the log does not tell which line launched the kernel";
    }
}

static void judge_without(const struct dg_facts *f, struct dg_verdict *v,
                          int run)
{
    bool jax = !strcmp(dg_rule_text(v->framework, DG_NAME), "JAX");
    if (dg_blocking_rerun(f, run, false) >= 0) {
        v->reliable = DG_NO;
        v->reliable_why = "the fault needs overlap, so the line is where it "
            "showed, not where it is";
    } else if (dg_blocking_rerun(f, run, true) >= 0) {
        v->reliable = DG_NO;
        v->reliable_why = "the blocking run names another place";
    } else if (v->record && v->record->at.run > run) {
        v->reliable = DG_NO;
        v->reliable_why = "a tool names the kernel; the reported call came "
            "later";
    } else if (jax) {
        v->reliable_why = "the line stands for a whole compiled function";
    } else if (is_copy_or_free(v)) {
        v->reliable = DG_NO;
        v->reliable_why = "a wait, a copy or a free reports what was launched "
            "earlier";
    } else if (f->launch_kernel[0] || is_opaque(v->trace)) {
        v->reliable_why = f->launch_kernel[0]
            ? "the launcher names a kernel, which may only be the next victim"
            : "the line calls something as a whole";
    } else {
        v->reliable = DG_NO;
        v->reliable_why = "nothing says that launches waited: any earlier one "
            "may have failed";
    }
}

static void judge_trace(const struct dg_facts *f, struct dg_verdict *v, int run)
{
    bool sticky = dg_any_is("yes", v->error ? dg_rule_text(v->error->rule, DG_STICKY)
                                            : "");
    v->reliable = DG_UNKNOWN;
    if (v->record && v->record->at.run == run) {
        v->reliable = DG_YES;
        v->reliable_why = "the tool stops at the access itself";
    } else if (!v->trace) {
        v->reliable_why = "the log has no stack of it";
    } else if (v->error_code >= 0 && !sticky && !v->assertion) {
        v->reliable = DG_YES;
        v->reliable_why = "this error is returned by the call that fails";
    } else if (v->blocking == DG_YES && v->trace->language <= DG_RUST) {
        v->reliable = DG_YES;
        v->reliable_why = "launches waited, so the line that failed is the "
            "line reported (if each launch is checked)";
    } else if (v->blocking == DG_YES) {
        v->reliable_why = "launches waited, but only a library's own message "
            "names a place";
    } else if (v->assertion) {
        judge_with_assertion(v);
    } else {
        judge_without(f, v, run);
    }
}

static void judge_recovery(struct dg_verdict *v)
{
    const struct dg_rule *r = v->error ? v->error->rule : NULL;
    v->recoverable = DG_UNKNOWN;
    v->recoverable_why = "the log does not tell";
    if (v->assertion || dg_any_is("yes", dg_rule_text(r, DG_STICKY))
        || (v->record && !strcmp(v->record->tool, "cuda-gdb"))) {
        v->recoverable = DG_NO;
        v->recoverable_why = "the context is lost; only a new process helps";
    } else if (r && r->kind == DG_ERROR) {
        v->recoverable = DG_YES;
        v->recoverable_why = "the context is intact";
    }
}

void dg_decide(const struct dg_facts *f, const struct dg_rules *rules,
               struct dg_verdict *v)
{
    int run = first_run(f);
    *v = (struct dg_verdict){ .found = run >= 0 };
    v->error_code = v->underlying = v->frame.line = DG_UNKNOWN;
    v->blocking = v->reliable = v->recoverable = DG_UNKNOWN;
    if (!v->found)
        return;
    choose(f, rules, v, run);
    name_error(rules, v);
    name_kernel(f, v);
    name_frame(v, run);
    judge_blocking(f, v, run);
    judge_trace(f, v, run);
    judge_recovery(v);
    dg_rank_causes(f, rules, v, run);
    dg_list_victims(f, v, run);
    dg_list_steps(f, rules, v, run);
}

void dg_verdict_free(struct dg_verdict *v)
{
    for (size_t i = 0; i < v->n_causes; i++)
        for (size_t k = 0; k < v->causes[i].n_evidence; k++)
            free(v->causes[i].evidence[k]);
    for (size_t i = 0; i < v->n_steps; i++)
        free(v->steps[i]);
}
