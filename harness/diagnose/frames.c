/* Call stacks of everything but Python, and the places that an error message
 * names by itself: c10 and its watchdog, ggml, glog's checks, Julia, Java,
 * Lua, Rust, R. */
#include "harness/diagnose/read.h"

#include <stdio.h>

#include "harness/diagnose/scan.h"

int dg_add_site(struct dg *d, const struct dg_line *l, const char *file,
                long line, const char *function, enum dg_language language)
{
    struct dg_trace t = { .at = l->at, .language = language,
                          .error = l->error, .last = { .line = line },
                          .user = { .line = DG_UNKNOWN } };
    if (file)
        DG_COPY(t.last.file, file, NULL);
    if (function)
        DG_COPY(t.last.function, function, NULL);
    DG_COPY(t.message, l->body, NULL);
    DG_COPY(t.calls, file ? file : "", NULL);
    return dg_keep_trace(d, &t);
}

/* The error on the lines just above, of the same source. */
static int recent_error(const struct dg *d, const struct dg_line *l,
                        unsigned long within)
{
    for (size_t i = d->facts->n_errors; i--;) {
        const struct dg_error *e = &d->facts->errors[i];
        if (l->at.line - e->at.line > within)
            return -1;
        /* a watchdog gives its rank on the first line of many only */
        if (e->at.source == l->at.source || !e->at.source || !l->at.source
            || e->watchdog)
            return (int)i;
    }
    return -1;
}

static struct dg_trace *site(struct dg *d)
{
    return d->site_trace >= 0 ? &d->facts->traces[d->site_trace] : NULL;
}

/* Begins a stack whose frames follow; the error is on this line or above. */
static struct dg_trace *begin(struct dg *d, struct dg_line *l,
                              enum dg_language language)
{
    if (l->error < 0)
        l->error = recent_error(d, l, 12);
    d->site_trace = dg_add_site(d, l, NULL, DG_UNKNOWN, NULL, language);
    d->last_site_line = l->at.line;
    return site(d);
}

/* Exception raised from F at FILE:LINE (most recent call first): */
static void take_raised(struct dg *d, struct dg_line *l, const char *s)
{
    const char *at = strstr(s, " at ");
    char function[160] = "", file[400];
    long line;
    if (!at)
        return;
    DG_COPY(function, s, at);
    if (!dg_find_site(at + 4, file, sizeof file, &line))
        return;
    if (l->error < 0)
        l->error = recent_error(d, l, 12);
    d->site_trace = dg_add_site(d, l, file, line, function, DG_RAISED);
    d->last_site_line = l->at.line;
    struct dg_trace *t = site(d);
    if (t && l->error >= 0)
        t->watchdog = d->facts->errors[l->error].watchdog;
}

/* current device: 0, in function F at FILE:LINE; the next line is the call. */
static void take_ggml(struct dg *d, struct dg_line *l)
{
    const char *function = dg_after(l->body, "in function ");
    const char *at = function ? strstr(function, " at ") : NULL;
    char name[160], file[400];
    long line;
    if (!at || !dg_find_site(at + 4, file, sizeof file, &line))
        return;
    DG_COPY(name, function, at);
    if (l->error < 0)
        l->error = recent_error(d, l, 4);
    d->site_trace = dg_add_site(d, l, file, line, name, DG_SITE);
    d->last_site_line = l->at.line;
}

/* ---- lines that belong to the stack begun last ---- */

static void frame(struct dg_trace *t, const char *file, long line,
                  const char *function)
{
    struct dg_frame f = { .line = line };
    DG_COPY(f.file, file, NULL);
    DG_COPY(f.function, function, NULL);
    bool first = !t->last.file[0] && !t->last.function[0];
    struct dg_frame last = t->last, user = t->user;
    dg_add_frame(t, &f);
    /* these stacks have the innermost frame first */
    if (!first)
        t->last = last;
    if (user.file[0])
        t->user = user;
}

/*  [1] throw_api_error(res::T)      (then)      @ Module FILE:LINE
 *  [1] name(args) at FILE:LINE */
static bool take_julia(struct dg_trace *t, const char *s)
{
    char file[400], name[160] = "";
    long line, number;
    const char *p = dg_blank(s), *place;
    if (*p == '[') {
        p++;
        if (!dg_number(&p, &number) || *p != ']')
            return false;
        p = dg_blank(p + 1);
        place = strstr(p, " at ");
        DG_COPY(name, p, strpbrk(p, "(") ? strpbrk(p, "(") : place);
        const char *end = dg_trim_end(name, name + strlen(name));
        DG_COPY(t->exception, name, end);       /* until its place comes */
        if (!place || !dg_find_site(place + 4, file, sizeof file, &line))
            return true;
        frame(t, file, line, t->exception);
        return true;
    }
    if (!dg_starts(p, "@ "))
        return false;
    if (dg_find_site(p + 2, file, sizeof file, &line))
        frame(t, file, line, t->exception);
    return true;
}

/* \tat pkg.Class.method(File.java:12) */
static bool take_java(struct dg_trace *t, const char *s)
{
    const char *p = dg_blank(s), *open, *colon;
    char file[400], name[160];
    long line = DG_UNKNOWN;
    if (dg_starts(p, "... ") || dg_starts(p, "Suppressed:"))
        return true;
    if (!dg_starts(p, "at ") || !(open = strchr(p, '(')))
        return false;
    DG_COPY(name, p + 3, open);
    colon = strchr(open, ':');
    DG_COPY(file, open + 1, colon ? colon : strchr(open, ')'));
    if (colon && (colon++, !dg_number(&colon, &line)))
        return true;
    frame(t, strcmp(file, "Native Method") ? file : "", line, name);
    return true;
}

/* \t[C]: in function 'v'      \tFILE.lua:12: in function 'f' */
static bool take_lua(struct dg_trace *t, const char *s)
{
    const char *p = dg_blank(s), *in = dg_after(p, "in function ");
    char file[400], name[160] = "";
    long line;
    if (p == s)
        return false;
    if (in && (*in == '\'' || *in == '<' || *in == '`'))
        DG_COPY(name, in + 1, in + 1 + strcspn(in + 1, "'>"));
    else if (strstr(p, "main chunk"))
        DG_COPY(name, "main chunk", NULL);
    if (!dg_starts(p, "[C]") && dg_find_site(p, file, sizeof file, &line))
        frame(t, file, line, name);
    return true;
}

/*     @     0x7efd2b3690cd  caffe::Blob<>::gpu_data() */
static bool take_glog(struct dg_trace *t, const char *s)
{
    char name[160];
    const char *p = dg_blank(s);
    if (*p++ != '@' || *p != ' ')
        return false;
    p = dg_blank(p);
    while (*p && *p != ' ')
        p++;
    p = dg_blank(p);
    if (strstr(p, "google::") || !*p)
        return true;
    DG_COPY(name, p, strchr(p, '('));
    if (!*name)
        return true;
    if (t->last.file[0]) {              /* the stack says more than the check */
        t->last.file[0] = '\0';
        t->last.line = DG_UNKNOWN;
    }
    frame(t, "", DG_UNKNOWN, name);
    return true;
}

/* frame #3: c10d::...ncclCommWatchdog() + 0x10c (0x7f... in lib.so) */
static bool take_c10(struct dg_trace *t, const char *s)
{
    if (!dg_starts(s, "frame #"))
        return false;
    t->watchdog |= dg_any_in("Watchdog|watchdog", s);
    return true;
}

/*    4: name      (then)       at FILE:LINE:COLUMN */
static bool take_rust(struct dg *d, struct dg_trace *t, struct dg_line *l,
                      const char *s)
{
    char file[400];
    long line;
    const char *p = dg_blank(s);
    if (l->error >= 0 && t->error < 0) {
        t->error = l->error;
        return true;
    }
    if (dg_starts(p, "at ") && dg_find_site(p, file, sizeof file, &line)
        && !dg_is_library(file) && !t->user.file[0]) {
        DG_COPY(t->user.file, file, NULL);
        t->user.line = line;
    }
    (void)d;
    return p > s || dg_starts(p, "stack backtrace") || dg_starts(p, "note:")
        || dg_starts(p, "called `");
}

static bool take_next(struct dg *d, struct dg_trace *t, struct dg_line *l)
{
    const char *s = l->body;
    switch (t->language) {
    case DG_JULIA: return take_julia(t, s);
    case DG_JAVA: return take_java(t, s);
    case DG_LUA: return take_lua(t, s);
    case DG_GLOG: return take_glog(t, s) || strstr(s, "Check failure stack");
    case DG_RAISED: return take_c10(t, s);
    case DG_RUST: return take_rust(d, t, l, s);
    case DG_SITE:               /* ggml: the call, on the line that follows */
        if (l->at.line == d->last_site_line + 1 && *s == ' ') {
            const char *from = dg_blank(s);
            DG_COPY(t->last.code, from, dg_trim_end(from, from + strlen(from)));
            dg_add_code(t, t->last.code);
        }
        return false;
    default: return false;
    }
}

/* thread 'main' panicked at FILE:LINE:COLUMN:   or   ... at 'text', FILE:.. */
static void take_panic(struct dg *d, struct dg_line *l, const char *s)
{
    char file[400];
    long line;
    const char *last = strrchr(s, '\'');
    if (!dg_find_site(*s == '\'' && last ? last : s, file, sizeof file, &line))
        return;
    d->site_trace = dg_add_site(d, l, file, line, NULL, DG_RUST);
    d->last_site_line = l->at.line;
}

/* Error in `f(x)` : text     Error in (function (x) : text */
static void take_r(struct dg *d, struct dg_line *l, const char *s)
{
    char name[160];
    const char *end = strstr(s, " :");
    if (!end)
        return;
    s += *s == '`';
    DG_COPY(name, s, s + strcspn(s, "(` "));
    int kept = dg_add_site(d, l, NULL, DG_UNKNOWN, *name ? name : "function",
                           DG_R);
    if (l->error < 0)                   /* the text is on the next line */
        dg_expect_error(d, l, kept, 0);
}

/* pytest: "E   RuntimeError: text", and below it FILE:LINE: RuntimeError */
static void take_pytest(struct dg *d, struct dg_line *l, const char *s)
{
    char file[400];
    long line;
    if (!dg_find_site(s, file, sizeof file, &line))
        return;
    l->error = d->pytest;
    d->pytest = -1;
    dg_add_site(d, l, file, line, NULL, DG_PYTHON);
}

/* What tells the place of the error on the line before:
 *   prog: FILE:LINE: f: Assertion `0' failed.     (the program's own check)
 *   occurred in file 'FILE' in line N */
static void take_late_place(struct dg *d, struct dg_line *l)
{
    char file[400];
    long line;
    int error = recent_error(d, l, 2);
    const struct dg_facts *f = d->facts;
    if (error < 0 || (f->n_traces && f->traces[f->n_traces - 1].error == error)
        || !dg_find_site(l->body, file, sizeof file, &line))
        return;
    l->error = error;
    dg_add_site(d, l, file, line, NULL, DG_SITE);
}

/* Source file: a/b.cu (line 12), some lines above "Fatal error:" */
static void take_gromacs(struct dg *d, struct dg_line *l, const char *s)
{
    char file[400];
    long line;
    if (dg_find_site(s, file, sizeof file, &line))
        dg_expect_error(d, l, dg_add_site(d, l, file, line, NULL, DG_SITE), 4);
}

/* "File: PATH" and "Line: N", on lines of their own: of the error above
 * them, or of the one that follows. */
static bool take_labelled(struct dg *d, struct dg_line *l)
{
    const char *s = dg_blank(l->body), *value = s + strlen("File:");
    long line;
    value = dg_blank(value);
    if (dg_starts(s, "File:")) {
        DG_COPY(d->label, value, dg_trim_end(value, value + strlen(value)));
        d->label_line = l->at.line;
        return true;
    }
    if (!dg_starts(s, "Line:") || l->at.line - d->label_line > 3
        || !dg_number(&value, &line))
        return false;
    l->error = recent_error(d, l, 6);
    int site = dg_add_site(d, l, d->label, line, NULL, DG_SITE);
    if (l->error < 0)
        dg_expect_error(d, l, site, 2);
    return true;
}

static void take_start(struct dg *d, struct dg_line *l)
{
    const char *s = l->body, *p;
    if (take_labelled(d, l)) {
        return;
    } else if ((p = dg_after(s, "Exception raised from "))) {
        take_raised(d, l, p);
    } else if (strstr(s, "current device:")) {
        take_ggml(d, l);
    } else if (dg_starts(s, "stack traceback:")) {
        begin(d, l, DG_LUA);
    } else if (dg_starts(dg_blank(s), "Stacktrace:")) {
        begin(d, l, DG_JULIA);
    } else if (!site(d) && (dg_starts(s, "\tat ") || dg_starts(s, "    at "))
               && dg_any_in(".java:|.scala:|.kt:|(Native Method)", s)) {
        struct dg_trace *t = begin(d, l, DG_JAVA);
        if (t)
            take_java(t, s);
    } else if ((p = dg_after(s, "panicked at "))) {
        take_panic(d, l, p);
    } else if (dg_starts(s, "Source file: ")) {
        take_gromacs(d, l, s);
    } else if (d->pytest >= 0 && strstr(s, ".py:")) {
        take_pytest(d, l, s);
    } else if (dg_starts(s, "Error in ")) {
        take_r(d, l, s + 9);
    } else if (l->error < 0 && strstr(s, "in file '")) {
        take_late_place(d, l);
    } else if (strstr(s, "Unexpected Event status") && l->file[0]) {
        l->error = recent_error(d, l, 50);
        dg_add_site(d, l, l->file, l->file_line, NULL, DG_GLOG);
    }
}

/* A fatal check of glog with an error in it has been added as a site by the
 * error's reader; the frames that follow are its. */
static void follow_check(struct dg *d, const struct dg_line *l)
{
    struct dg_facts *f = d->facts;
    if (l->level != 'F' || l->error < 0)
        return;
    for (size_t i = 0; i < f->n_traces; i++)
        if (f->traces[i].at.line == l->at.line
            && f->traces[i].error == l->error) {
            d->site_trace = (int)i;
            f->traces[i].language = DG_GLOG;
        }
}

void dg_take_frames(struct dg *d, struct dg_line *l)
{
    if (l->error >= 0 && dg_starts(l->body, "E  "))
        d->pytest = l->error;
    struct dg_trace *t = site(d);
    if (t && l->at.line > d->last_site_line && !take_next(d, t, l))
        d->site_trace = -1;
    if (l->groups & 1u << DG_G_FRAME)
        take_start(d, l);
    else if (l->groups & 1u << DG_G_ASSERTION && !strstr(l->body, "block: ["))
        take_late_place(d, l);
    follow_check(d, l);
}
