/* From a finished trial to its record: the witnesses are compared, the
 * outcome judged, the stacks named, the metrics computed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/catalogue.h"
#include "harness/columns.h"
#include "harness/outcome.h"
#include "harness/run.h"
#include "harness/stacks.h"

struct named_stack { struct fl_frame frames[FL_MAX_NAMED]; int n; };

#define PUT_STRING(column, s) fl_json_put_string(out, #column, (s))
#define PUT_INTEGER(column, v) fl_json_put_integer(out, #column, (v))

static const struct fl_event *launch_event(const struct fl_trial *t,
                                           unsigned number)
{
    for (size_t i = 0; i < t->n_events; i++)
        if (t->events[i].is_launch && t->events[i].launch == number)
            return &t->events[i];
    return NULL;
}

bool fl_fault_time(const struct fl_run *run, int64_t *ns, int64_t *uncertainty,
                   const char **contradiction)
{
    const struct fl_trial *t = &run->trial;
    const struct fl_beacon_record *b = t->beacon;
    struct fl_clock clock = fl_clock_of(&run->clock);
    *uncertainty = 0;
    *contradiction = NULL;
    if (!run->free_running || !b->set || (!b->by_host && !clock.n))
        return false;
    if (b->by_host) {
        *ns = t->host_fault_ns;
        return true;
    }
    if (!fl_clock_map(&clock, b->device_ns, ns, uncertainty)) {
        *contradiction = "no line fits the device's clock to the host's";
        return false;
    }
    const struct fl_event *e = launch_event(t, b->launch);
    int64_t first = *ns - *uncertainty, last = *ns + *uncertainty;
    if (e && e->begin_ns > first)
        first = e->begin_ns;
    if (t->report.code && t->report.time_ns < last)
        last = t->report.time_ns;
    if (run->seen_ns && run->seen_ns < last)
        last = run->seen_ns;
    if (first > last) {
        *contradiction = "by the mapped clock the fault came before its "
                         "launch, or after it was seen or reported";
        return false;
    }
    *ns = first + (last - first) / 2;
    *uncertainty = (last - first + 1) / 2;
    return true;
}

static void name_stack(const struct fl_event *e, struct named_stack *stack)
{
    stack->n = fl_name_frames(e->frames, e->n_frames, stack->frames);
    if (stack->n)               /* the site knows its line best */
        stack->frames[0].line = e->site->line;
}

/* "cudaMemcpy" of "cudaMemcpy(dst, ...)". */
static const char *api_name(const struct fl_report *r, char out[64])
{
    snprintf(out, 64, "%.*s", (int)strcspn(r->site->text, "( "),
             r->site->text);
    return r->api ? r->api : out;
}

/* The strategy's names are about work done earlier. */
static bool names_suspects(const struct fl_trial *t)
{
    return t->names_suspects && fl_code_is_asynchronous(t->report.code);
}

static unsigned count_suspects(const struct fl_trial *t)
{
    unsigned n = 0;
    for (size_t i = 0; i < t->n_events; i++) {
        const struct fl_event *e = &t->events[i];
        n += e->is_launch && (names_suspects(t) ? e->suspect
                                                : !e->known_good);
    }
    return n;
}

/* ---- witnesses ---- */

static bool same_kernel(const char *mangled, const char *name)
{
    char part[128];
    snprintf(part, sizeof part, "%zu%s", strlen(name), name);
    return !strcmp(mangled, name) || strstr(mangled, part);
}

static bool ends_with(const char *path, const char *tail)
{
    size_t n = strlen(path), m = strlen(tail);
    return n >= m && !strcmp(path + n - m, tail);
}

/* The beacon, the CPU oracle and, where it keeps one, the device's own record
 * must tell the same story. Returns what does not agree, or NULL. */
static const char *disagreement(const struct fl_run *run)
{
    static char why[600];
    const struct fl_trial *t = &run->trial;
    const struct fl_scenario *s = t->scenario;
    const struct fl_beacon_record *b = t->beacon;
    struct fl_device_fault f;
    bool recorded = fl_device_fault(&f);
    bool by_device = b->set && !b->by_host;

    if (by_device && s->commits && !s->commits(t, run->state, b))
        return "the CPU oracle says that the beacon's thread does nothing bad";
    if (b->set) {
        const struct fl_event *e = launch_event(t, b->launch);
        if (!e || !e->site->planted)
            return "the beacon names a launch that is not the planted one";
    }
    if (recorded && !by_device) {
        snprintf(why, sizeof why, "the device recorded a fault (%s, %s:%u) "
                 "without a beacon", f.kernel, f.file, f.line);
        return why;
    }
    if (!recorded)
        return NULL;
    /* A kernel stopped at its time limit: no thread did that, no line. */
    if (!f.line && same_kernel(f.kernel, s->fault_kernel))
        return NULL;
    if (!same_kernel(f.kernel, s->fault_kernel)
        || !ends_with(f.file, s->fault_file) || f.line != b->line) {
        snprintf(why, sizeof why, "the device recorded its fault in %s, "
                 "%s:%u, the beacon one in %s, %s:%u", f.kernel, f.file,
                 f.line, s->fault_kernel, s->fault_file, b->line);
        return why;
    }
    struct fl_beacon_record seen = *b;
    seen.set = FL_BEACON_FROM_DEVICE;
    memcpy(seen.block, f.block, sizeof seen.block);
    memcpy(seen.thread, f.thread, sizeof seen.thread);
    if (s->commits && !s->commits(t, run->state, &seen))
        return "the CPU oracle says that the thread which the device recorded "
               "does nothing bad";
    return NULL;
}

/* ---- the record ---- */

static void put_fault(struct fl_text *out, const struct fl_run *run,
                      struct named_stack *stack)
{
    const struct fl_trial *t = &run->trial;
    const struct fl_beacon_record *b = t->beacon;
    if (!b->by_host) {
        char at[64];
        PUT_STRING(fault_kernel, t->scenario->fault_kernel);
        PUT_STRING(fault_file, t->scenario->fault_file);
        PUT_INTEGER(fault_line, b->line);
        snprintf(at, sizeof at, "%u:%u:%u", b->block[0], b->block[1],
                 b->block[2]);
        PUT_STRING(fault_block, at);
        snprintf(at, sizeof at, "%u:%u:%u", b->thread[0], b->thread[1],
                 b->thread[2]);
        PUT_STRING(fault_thread, at);
    }
    PUT_INTEGER(fault_value, b->value);
    const struct fl_event *e = launch_event(t, b->launch);
    if (!e)
        return;
    name_stack(e, stack);
    PUT_STRING(launch_file, fl_source_path(e->site->file));
    PUT_INTEGER(launch_line, e->site->line);
    PUT_STRING(launch_function, e->site->function);
    PUT_INTEGER(launch_index, b->launch);
}

static void put_distance(struct fl_text *out, const struct fl_trial *t,
                         const struct named_stack *launch,
                         const struct named_stack *report)
{
    const struct fl_report *r = &t->report;
    const struct fl_event *e = launch_event(t, t->beacon->launch);
    if (!e)
        return;
    unsigned calls = 0;
    for (const struct fl_event *c = e + 1; c < &t->events[r->event]; c++)
        calls += !c->is_launch;
    PUT_INTEGER(launches_between, r->launch - t->beacon->launch);
    PUT_INTEGER(api_calls_between, calls);
    if (launch->n && report->n)
        PUT_INTEGER(frame_distance,
                    fl_frame_distance(launch->frames, launch->n,
                                      report->frames, report->n));
    if (!strcmp(e->site->file, r->site->file))
        PUT_INTEGER(line_distance, e->site->line > r->site->line
                    ? e->site->line - r->site->line
                    : r->site->line - e->site->line);
}

static void put_report(struct fl_text *out, const struct fl_run *run,
                       const struct fl_verdict *v, struct named_stack *stack)
{
    const struct fl_trial *t = &run->trial;
    const struct fl_report *r = &t->report;
    char api[64];
    name_stack(&t->events[r->event], stack);
    PUT_INTEGER(error_code, r->code);
    PUT_STRING(error_name, cudaGetErrorName(r->code));
    PUT_STRING(report_api, api_name(r, api));
    PUT_STRING(report_file, fl_source_path(r->site->file));
    PUT_INTEGER(report_line, r->site->line);
    PUT_STRING(report_function, r->site->function);
    PUT_INTEGER(report_launch_index, r->launch);
    if (v->suspects)
        PUT_INTEGER(suspects, v->suspects);
    /* An assertion's text names kernel and thread, whoever reads the code. */
    PUT_STRING(localized,
               r->code == cudaErrorAssert
                   ? v->suspects == 1 ? "kernel+launch+stream+thread"
                                      : "kernel+thread"
                   : v->suspects == 1 ? "kernel+launch+stream" : "nothing");
    if (run->cascade_errors >= 0)
        PUT_INTEGER(cascade_errors, run->cascade_errors);
}

static void put_times(struct fl_text *out, const struct fl_run *run,
                      int64_t fault, int64_t uncertainty)
{
    const struct fl_trial *t = &run->trial;
    const struct fl_event *e = launch_event(t, t->beacon->launch);
    if (t->report.code) {
        PUT_INTEGER(latency_fault_to_report_ns, t->report.time_ns - fault);
        if (e && e->end_ns)
            PUT_INTEGER(latency_launch_to_report_ns,
                        t->report.time_ns - e->end_ns);
    }
    PUT_INTEGER(clock_uncertainty_ns, uncertainty);
    if (!t->beacon->by_host && run->clock.granularity)
        PUT_INTEGER(timer_granularity_ns, (long long)run->clock.granularity);
    if (run->seen_ns)
        PUT_INTEGER(watcher_lag_ns, run->seen_ns - fault);
}

static struct fl_verdict judge(const struct fl_run *run)
{
    const struct fl_trial *t = &run->trial;
    const struct fl_event *fault = launch_event(t, t->beacon->launch);
    struct fl_facts facts = {
        .planted = t->variant == FL_FAULTY,
        .predicted = run->predicted,
        .committed = t->beacon->set,
        .fault_launch = t->beacon->launch,
        .code = t->report.code,
        .report_launch = t->report.launch,
        .by_launch_check = t->report.by_launch_check,
        .interval = t->strategy->interval,
        .claims_own = t->strategy->claims_own,
        .suspects = count_suspects(t),
        .data = run->data,
        .named = names_suspects(t),
        .named_fault = fault && fault->suspect,
    };
    return fl_judge(&facts);
}

static void put_trial(struct fl_text *out, struct fl_run *run, bool hang)
{
    static struct fl_beacon_record never_set;
    static struct named_stack launch, report;
    struct fl_trial *t = &run->trial;
    if (!t->beacon)             /* the trial broke before there was one */
        t->beacon = &never_set;
    struct fl_verdict v = judge(run);
    char text[600];
    const char *why = t->broken[0] ? t->broken : NULL;
    if (hang) {
        v.outcome = FL_OUTCOME_HANG;
        snprintf(text, sizeof text, "the host was in %s at %s:%d",
                 t->site ? t->site->text : "the trial's set-up",
                 t->site ? fl_source_path(t->site->file) : "?",
                 t->site ? t->site->line : 0);
        why = text;
    } else if (!why) {
        why = disagreement(run);
        if (!why)
            why = v.why;
    }
    int64_t fault = 0, uncertainty = 0;
    const char *contradiction;
    bool timed = fl_fault_time(run, &fault, &uncertainty, &contradiction);
    if (!why)
        why = contradiction;
    if (why) {
        if (!hang)
            v.outcome = t->skipped ? FL_OUTCOME_SKIPPED : FL_OUTCOME_BROKEN;
        PUT_STRING(reason, why);
    }
    PUT_STRING(outcome, fl_outcome_name(v.outcome));
    if (t->beacon->set)
        put_fault(out, run, &launch);
    if (t->report.code)
        put_report(out, run, &v, &report);
    if (t->beacon->set && t->report.code)
        put_distance(out, t, &launch, &report);
    if (timed)
        put_times(out, run, fault, uncertainty);
    if (t->bad_samples_ppm >= 0)
        PUT_INTEGER(bad_samples_ppm, t->bad_samples_ppm);
    PUT_INTEGER(launches, t->launches);
    PUT_INTEGER(api_calls, t->calls);
    PUT_INTEGER(strategy_calls, t->strategy_calls);
    PUT_INTEGER(host_waits, t->host_waits);
}

void fl_record_write(struct fl_run *run, bool hang)
{
    struct fl_text text = { 0 }, *out = &text;
    fl_json_open(out, NULL, '{');
    PUT_STRING(device, run->device);
    PUT_STRING(device_name, run->device_name);
    put_trial(out, run, hang);
    int repeatable = fl_device_repeatable();
    if (!run->free_running && repeatable >= 0)
        PUT_STRING(repeatable, repeatable ? "yes" : "no");
    fl_json_close(out, '}');
    fl_text_puts(out, "\n");
    for (size_t at = 0; at < text.n; ) {
        ssize_t n = write(run->result_fd, text.s + at, text.n - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    fl_text_free(out);
}
