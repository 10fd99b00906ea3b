/* One trial as a Chrome trace, which Perfetto opens: the host's calls with
 * the strategy's checks, a lane for each stream with the kernels' times, the
 * fault and the report. Kernel times come from stamps around each launch
 * (stamp.h); a kernel without its second stamp ended with the fault. */
#include <stdio.h>
#include <string.h>

#include "harness/catalogue.h"
#include "harness/run.h"
#include "harness/stamp.h"

#define MAX_STREAMS 16
#define HOST_LANE 1
#define FIRST_STREAM_LANE 10

struct trace {
    struct fl_run *run;
    struct fl_text out;
    struct fl_clock clock;
    int64_t start_ns;
    int64_t uncertainty_ns;     /* the largest of the kernels' times */
    cudaStream_t streams[MAX_STREAMS];
    int n_streams;
};

static void put_us(struct trace *tr, const char *key, int64_t ns)
{
    char number[32];
    snprintf(number, sizeof number, "%.3f", (double)ns / 1000);
    fl_json_put_raw(&tr->out, key, number);
}

static void open_event(struct trace *tr, const char *phase, const char *name,
                       const char *category, int lane, int64_t at_ns)
{
    fl_json_open(&tr->out, NULL, '{');
    fl_json_put_string(&tr->out, "ph", phase);
    fl_json_put_string(&tr->out, "name", name);
    fl_json_put_string(&tr->out, "cat", category);
    fl_json_put_integer(&tr->out, "pid", 1);
    fl_json_put_integer(&tr->out, "tid", lane);
    put_us(tr, "ts", at_ns - tr->start_ns);
}

static void put_args(struct trace *tr, const struct fl_event *e)
{
    fl_json_open(&tr->out, "args", '{');
    fl_json_put_string(&tr->out, "file", fl_source_path(e->site->file));
    fl_json_put_integer(&tr->out, "line", e->site->line);
    fl_json_put_string(&tr->out, "function", e->site->function);
    if (e->is_launch)
        fl_json_put_integer(&tr->out, "launch", e->launch);
    fl_json_close(&tr->out, '}');
}

static void put_slice(struct trace *tr, const char *name, const char *category,
                      int lane, int64_t from, int64_t to,
                      const struct fl_event *e)
{
    open_event(tr, "X", name, category, lane, from);
    put_us(tr, "dur", to > from ? to - from : 0);
    put_args(tr, e);
    fl_json_close(&tr->out, '}');
}

/* e: the launch or call that it belongs to, or NULL. */
static void put_instant(struct trace *tr, const char *name, int lane,
                        int64_t at, const struct fl_event *e)
{
    open_event(tr, "i", name, name, lane, at);
    fl_json_put_string(&tr->out, "s", "g");
    if (e)
        put_args(tr, e);
    fl_json_close(&tr->out, '}');
}

static void put_lane_name(struct trace *tr, int lane, const char *name)
{
    open_event(tr, "M", "thread_name", "__metadata", lane, tr->start_ns);
    fl_json_open(&tr->out, "args", '{');
    fl_json_put_string(&tr->out, "name", name);
    fl_json_close(&tr->out, '}');
    fl_json_close(&tr->out, '}');
}

static int stream_lane(struct trace *tr, cudaStream_t stream)
{
    for (int i = 0; i < tr->n_streams; i++)
        if (tr->streams[i] == stream)
            return FIRST_STREAM_LANE + i;
    if (tr->n_streams == MAX_STREAMS)
        return FIRST_STREAM_LANE + MAX_STREAMS - 1;
    char name[32];
    snprintf(name, sizeof name, "stream %d", tr->n_streams);
    tr->streams[tr->n_streams] = stream;
    put_lane_name(tr, FIRST_STREAM_LANE + tr->n_streams, name);
    return FIRST_STREAM_LANE + tr->n_streams++;
}

/* "k_relu" of "k_relu(stream, ...)". */
static void short_name(const struct fl_event *e, char out[96])
{
    snprintf(out, 96, "%.*s", (int)strcspn(e->site->text, "( "),
             e->site->text);
}

static void put_kernel(struct trace *tr, const struct fl_event *e,
                       int64_t end_of_all)
{
    const struct fl_trial *t = &tr->run->trial;
    uint64_t began = fl_stamp_time(t, e->launch, FL_STAMP_BEGIN);
    uint64_t ended = fl_stamp_time(t, e->launch, FL_STAMP_END);
    int64_t from, to = end_of_all, uncertainty;
    char name[96];
    if (!began || !fl_clock_map(&tr->clock, began, &from, &uncertainty))
        return;
    if (ended)
        fl_clock_map(&tr->clock, ended, &to, &uncertainty);
    if (uncertainty > tr->uncertainty_ns)
        tr->uncertainty_ns = uncertainty;
    short_name(e, name);
    put_slice(tr, name, ended ? "kernel" : "kernel that did not finish",
              stream_lane(tr, e->stream), from, to, e);
}

static void put_host(struct trace *tr, const struct fl_event *e)
{
    const struct fl_report *r = &tr->run->trial.report;
    char name[96];
    int64_t end = e->end_ns ? e->end_ns : r->time_ns;
    short_name(e, name);
    put_slice(tr, name, e->is_launch ? "launch" : "call", HOST_LANE,
              e->begin_ns, end, e);
    if (e->checked_ns)
        put_slice(tr, "check", "check", HOST_LANE, end, e->checked_ns, e);
}

static void put_about(struct trace *tr)
{
    const struct fl_trial *t = &tr->run->trial;
    fl_json_open(&tr->out, "otherData", '{');
    fl_json_put_string(&tr->out, "scenario", t->scenario->name);
    fl_json_put_string(&tr->out, "variant", fl_variant_name(t->variant));
    fl_json_put_string(&tr->out, "strategy", t->strategy->name);
    fl_json_put_string(&tr->out, "device", tr->run->device);
    fl_json_put_string(&tr->out, "device_name", tr->run->device_name);
    fl_json_put_integer(&tr->out, "clock_uncertainty_ns",
                        tr->uncertainty_ns);
    fl_json_close(&tr->out, '}');
}

bool fl_trace_write(struct fl_run *run, const char *path)
{
    const struct fl_trial *t = &run->trial;
    struct trace tr = { .run = run, .clock = fl_clock_of(&run->clock) };
    int64_t fault, uncertainty, end = 0;
    const char *contradiction;
    if (!run->free_running || !t->n_events)
        return false;
    tr.start_ns = t->events[0].begin_ns;
    for (size_t i = 0; i < t->n_events; i++)
        if (t->events[i].end_ns > end)
            end = t->events[i].end_ns;
    bool faulted = fl_fault_time(run, &fault, &uncertainty, &contradiction);
    fl_json_open(&tr.out, NULL, '{');
    fl_json_open(&tr.out, "traceEvents", '[');
    put_lane_name(&tr, HOST_LANE, "host");
    for (size_t i = 0; i < t->n_events; i++) {
        put_host(&tr, &t->events[i]);
        if (t->events[i].is_launch)
            put_kernel(&tr, &t->events[i], faulted ? fault : end);
    }
    if (faulted) {
        const struct fl_event *e = t->events;
        while (!(e->is_launch && e->launch == t->beacon->launch))
            if (++e == t->events + t->n_events)
                break;
        bool found = e < t->events + t->n_events;
        put_instant(&tr, "fault", found ? stream_lane(&tr, e->stream)
                                        : HOST_LANE, fault, found ? e : NULL);
    }
    if (t->report.code)
        put_instant(&tr, "report", HOST_LANE, t->report.time_ns,
                    &t->events[t->report.event]);
    fl_json_close(&tr.out, ']');
    put_about(&tr);
    fl_json_close(&tr.out, '}');
    fl_text_puts(&tr.out, "\n");
    FILE *f = fopen(path, "wx");        /* never over an older file */
    bool ok = f && fwrite(tr.out.s, 1, tr.out.n, f) == tr.out.n;
    if (f && fclose(f))
        ok = false;
    fl_text_free(&tr.out);
    return ok;
}
