/* The verdict; see decide.h. The first run that failed is what the log is
 * about; what later runs say (the same under CUDA_LAUNCH_BLOCKING=1, under a
 * tool) is evidence. */
#include "harness/diagnose/decide.h"

#include <stdlib.h>
#include <string.h>

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

/* Calls that wait for the device, or for which it must have got so far. */
static const char waits[] = "emcpy|emCpy|ynchronize|MemFree|empty_cache|"
    "copy_to_host|block_until_ready|asnumpy|wait_to_read|.cpu()|.item()|"
    "cudaFree|memset|EventQuery|MemGetInfo";

static bool line_waits(const struct dg_trace *t)
{
    return dg_any_in(waits, t->last.code) || dg_any_in(waits, t->last.function);
}

static bool is_copy_or_free(const struct dg_verdict *v)
{
    return line_waits(v->trace)
        || (!v->trace->last.code[0] && dg_any_in(waits, v->trace->calls))
        || (v->error && dg_any_in(waits, v->error->text));
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
    } else if (is_copy_or_free(v)) {
        v->reliable = DG_NO;
        v->reliable_why = "a wait, a copy or a free reports what was launched "
            "earlier";
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
    } else if (jax && !line_waits(v->trace)) {
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
    if (v->from_tool) {
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
    int run = dg_first_run(f);
    *v = (struct dg_verdict){ .found = run >= 0 };
    v->error_code = v->underlying = v->frame.line = DG_UNKNOWN;
    v->blocking = v->reliable = v->recoverable = DG_UNKNOWN;
    if (!v->found)
        return;
    dg_choose(f, rules, v, run);
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
