/* The picture, in characters:
 *   -  the host is in the call     ?  in the strategy's check after it
 *   =  the device works on it      X  the fault    !  the report
 * and a column of dots under the moment of the fault and of the report. */
#include "harness/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "harness/csv.h"

#define NARROWEST_CHART 16
#define WIDEST_NAME 24

struct line {
    const struct fl_json *host, *check, *kernel;        /* slices, or NULL */
};

struct timeline {
    const struct fl_json *events;
    const struct fl_json *fault, *report;       /* instants, or NULL */
    struct line *lines;
    size_t n, first;                    /* lines before it are left out */
    double start_us, end_us;
    int name, place, chart;             /* widths; place 0: left out */
};

static double number(const struct fl_json *e, const char *key)
{
    const struct fl_json *j = fl_json_get(e, key);
    return j && j->type == FL_JSON_NUMBER ? strtod(j->text, NULL) : 0;
}

static double begin_of(const struct fl_json *e) { return number(e, "ts"); }

static double end_of(const struct fl_json *e)
{
    return number(e, "ts") + number(e, "dur");
}

static bool is(const struct fl_json *e, const char *key, const char *value)
{
    return !strcmp(fl_json_string(e, key, ""), value);
}

static long long launch_of(const struct fl_json *e)
{
    return fl_json_integer(fl_json_get(e, "args"), "launch", 0);
}

static char *place_of(const struct fl_json *e)
{
    const struct fl_json *a = fl_json_get(e, "args");
    return fl_format("%s:%lld", fl_json_string(a, "file", "?"),
                     fl_json_integer(a, "line", 0));
}

/* ---- gathering ---- */

static void gather(struct timeline *t)
{
    for (const struct fl_json *e = t->events->first; e; e = e->next) {
        bool slice = is(e, "ph", "X");
        if (end_of(e) > t->end_us)
            t->end_us = end_of(e);
        if (is(e, "ph", "i") && is(e, "name", "fault"))
            t->fault = e;
        else if (is(e, "ph", "i") && is(e, "name", "report"))
            t->report = e;
        else if (slice && (is(e, "cat", "launch") || is(e, "cat", "call"))) {
            t->lines = fl_grow(t->lines, t->n + 1, sizeof *t->lines);
            t->lines[t->n++] = (struct line){ .host = e };
        } else if (slice && is(e, "cat", "check") && t->n) {
            t->lines[t->n - 1].check = e;
        } else if (slice && !strncmp(fl_json_string(e, "cat", ""), "kernel",
                                     6)) {
            for (size_t i = 0; i < t->n; i++)
                if (is(t->lines[i].host, "cat", "launch")
                    && launch_of(t->lines[i].host) == launch_of(e))
                    t->lines[i].kernel = e;
        }
    }
}

/* The line of an instant: its launch's; else the last call that had begun. */
static size_t line_of(const struct timeline *t, const struct fl_json *instant)
{
    long long launch = launch_of(instant);
    size_t last = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct fl_json *host = t->lines[i].host;
        if (launch && launch_of(host) == launch && is(host, "cat", "launch"))
            return i;
        if (begin_of(host) <= begin_of(instant))
            last = i;
    }
    return last;
}

/* What is over before the fault launch is of no interest: the picture begins
 * after the last call (in a training program: of the step before, or of the
 * batch's upload) at whose end the device had nothing left to do. */
static void crop(struct timeline *t)
{
    size_t fault = t->fault ? line_of(t, t->fault) : 0;
    double busy_until = 0;
    for (size_t i = 0; i < fault; i++) {
        const struct line *l = &t->lines[i];
        if (l->kernel && end_of(l->kernel) > busy_until)
            busy_until = end_of(l->kernel);
        if (is(l->host, "cat", "call") && busy_until <= end_of(l->host)) {
            t->first = i + 1;
            t->start_us = begin_of(t->lines[i + 1].host);
        }
    }
}

static void lay_out(struct timeline *t, int width)
{
    for (size_t i = t->first; i < t->n; i++) {
        char *place = place_of(t->lines[i].host);
        int name = (int)strlen(fl_json_string(t->lines[i].host, "name", "?"));
        if (name > t->name)
            t->name = name < WIDEST_NAME ? name : WIDEST_NAME;
        if ((int)strlen(place) > t->place)
            t->place = (int)strlen(place);
        free(place);
    }
    int left = 4 + t->name + 1 + 4;     /* number, name, stream */
    if (width - left - t->place - 1 < 2 * NARROWEST_CHART)
        t->place = 0;
    t->chart = width - left - (t->place ? t->place + 1 : 0);
    if (t->chart < NARROWEST_CHART)
        t->chart = NARROWEST_CHART;
}

/* ---- drawing ---- */

static int column(const struct timeline *t, double us)
{
    double span = t->end_us - t->start_us;
    double c = span > 0 ? (us - t->start_us) / span * t->chart : 0;
    return c > 0 ? c < t->chart ? (int)c : t->chart - 1 : 0;
}

static void bar(const struct timeline *t, char *chart,
                const struct fl_json *slice, char with)
{
    if (slice)
        for (int c = column(t, begin_of(slice));
             c <= column(t, end_of(slice)); c++)
            chart[c] = with;
}

static void mark(const struct timeline *t, char *chart, size_t line,
                 const struct fl_json *instant, char with, char elsewhere)
{
    if (!instant)
        return;
    char *at = &chart[column(t, begin_of(instant))];
    if (line == line_of(t, instant))
        *at = with;
    else if (*at == ' ')
        *at = elsewhere;
}

/* "0", of the lane called "stream 0". */
static const char *stream_of(const struct timeline *t, const struct fl_json *e)
{
    for (const struct fl_json *m = t->events->first; e && m; m = m->next)
        if (is(m, "ph", "M") && fl_json_integer(m, "tid", 0)
                                == fl_json_integer(e, "tid", -1)) {
            const char *name = fl_json_string(fl_json_get(m, "args"), "name",
                                              "");
            return strncmp(name, "stream ", 7) ? "" : name + 7;
        }
    return "";
}

static void put_chart(struct fl_text *out, const char *chart, bool color)
{
    size_t n = strlen(chart);
    while (n && chart[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < n; i++)
        if (color && strchr("X!", chart[i]))
            fl_text_printf(out, "\033[1;31m%c\033[0m", chart[i]);
        else
            fl_text_add(out, &chart[i], 1);
    fl_text_puts(out, "\n");
}

static void draw_line(const struct timeline *t, size_t i, bool color,
                      struct fl_text *out)
{
    const struct line *l = &t->lines[i];
    const char *stream = stream_of(t, l->kernel);
    char *chart = fl_alloc((size_t)t->chart + 1), *place = place_of(l->host);
    memset(chart, ' ', (size_t)t->chart);
    bar(t, chart, l->host, '-');
    bar(t, chart, l->check, '?');
    bar(t, chart, l->kernel, '=');
    mark(t, chart, i, t->fault, 'X', '.');
    mark(t, chart, i, t->report, '!', '.');
    char *launch = is(l->host, "cat", "launch")
        ? fl_format("%lld", launch_of(l->host)) : fl_strdup("");
    fl_text_printf(out, "%3s %-*.*s %1s%-3s", launch, t->name, t->name,
                   fl_json_string(l->host, "name", "?"), *stream ? "s" : "",
                   stream);
    if (t->place)
        fl_text_printf(out, "%-*s ", t->place, place);
    put_chart(out, chart, color);
    free(launch);
    free(place);
    free(chart);
}

static void draw_head(const struct timeline *t, const struct fl_json *about,
                      struct fl_text *out)
{
    char *each = fl_time_text((t->end_us - t->start_us) * 1000 / t->chart);
    char *start = fl_time_text(t->start_us * 1000);
    fl_text_printf(out, "%s, %s, under %s on %s\n",
                   fl_json_string(about, "scenario", "?"),
                   fl_json_string(about, "variant", "?"),
                   fl_json_string(about, "strategy", "?"),
                   fl_json_string(about, "device_name", "?"));
    fl_text_printf(out, "- host in a call, ? in the strategy's check, = device"
                   ", X fault, ! report;\none column is %s; it begins at %s, "
                   "after %zu calls\n\n", each, start, t->first);
    free(start);
    free(each);
}

static void draw_foot(const struct timeline *t, struct fl_text *out)
{
    const struct fl_json *const instants[] = { t->fault, t->report };
    static const char *const names[] = { "fault", "report" };
    fl_text_puts(out, "\n");
    for (int i = 0; i < 2; i++) {
        if (!instants[i]) {
            fl_text_printf(out, "no %s\n", names[i]);
            continue;
        }
        const struct fl_json *host = t->lines[line_of(t, instants[i])].host;
        char *at = fl_time_text(begin_of(instants[i]) * 1000);
        char *place = place_of(host);
        fl_text_printf(out, "%s at %s: %s, %s\n", names[i], at,
                       fl_json_string(host, "name", "?"), place);
        free(place);
        free(at);
    }
}

bool fl_timeline_draw(const struct fl_json *trace, int width, bool color,
                      struct fl_text *out)
{
    struct timeline t = { .events = fl_json_get(trace, "traceEvents") };
    if (!t.events)
        return false;
    gather(&t);
    if (t.n) {
        crop(&t);
        lay_out(&t, width);
        draw_head(&t, fl_json_get(trace, "otherData"), out);
        for (size_t i = t.first; i < t.n; i++)
            draw_line(&t, i, color, out);
        draw_foot(&t, out);
    }
    free(t.lines);
    return t.n > 0;
}

/* Of the terminal, else as $COLUMNS says, else 80. */
static int width_of(FILE *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
        return size.ws_col;
    int n = columns ? atoi(columns) : 0;
    return n > 0 && n < 10000 ? n : 80;
}

bool fl_timeline_print(const char *path, bool color, FILE *out)
{
    struct fl_text text = { 0 };
    char error[128];
    size_t n;
    char *s = fl_read_file(path, &n);
    struct fl_json *trace = s ? fl_json_parse(s, n, error) : NULL;
    bool ok = trace && fl_timeline_draw(trace, width_of(out), color, &text);
    if (ok)
        fprintf(out, "\n%s", text.s);
    else
        fprintf(stderr, "faultlag: no timeline: %s\n", !s ? strerror(errno)
                : !trace ? error : "the host made no call in it");
    fl_text_free(&text);
    fl_json_free(trace);
    free(s);
    return ok;
}
