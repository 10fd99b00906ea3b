/* Tracebacks of Python (chained, with carets, with another inside a message;
 * for IPython and rich see boxes.c) and those of its fault handler. The lines
 * of many processes may be mixed, so a stack is open per source, and ends with
 * the line that names its exception. */
#include "harness/diagnose/read.h"

#include <stdio.h>

#include "harness/diagnose/scan.h"

#define HAS(l, group) ((l)->groups & 1u << (group))

/* A stack that nothing is added to for so many lines is over. */
enum { MOST_SILENCE = 400, MOST_STRAY = 40 };

bool dg_is_library(const char *file)
{
    return dg_any_in("site-packages|dist-packages|/lib/python|\\lib\\python|"
                     "\\Lib\\|<frozen|<string>|/.julia/|/rustc/|/.cargo/|"
                     "torchinductor|/torch/install/|share/lua|conda-bld|"
                     "/build/pytorch|cudarc|lib-dynload|.pyx|Native Method",
                     file) || !*file;
}

void dg_add_code(struct dg_trace *t, const char *code)
{
    size_t n = strlen(t->code), m = strlen(code);
    if (m + 2 > sizeof t->code)
        return;
    if (n + m + 2 > sizeof t->code) {   /* the innermost lines matter */
        size_t cut = n + m + 2 - sizeof t->code;
        memmove(t->code, t->code + cut, n - cut + 1);
        n -= cut;
    }
    snprintf(t->code + n, sizeof t->code - n, "%s\n", code);
}

static void add_call(struct dg_trace *t, const char *word)
{
    size_t n = strlen(t->calls), m = strlen(word);
    if (m + 2 > sizeof t->calls)
        return;
    if (n + m + 2 > sizeof t->calls) {
        size_t cut = n + m + 2 - sizeof t->calls;
        memmove(t->calls, t->calls + cut, n - cut + 1);
        n -= cut;
    }
    snprintf(t->calls + n, sizeof t->calls - n, "%s ", word);
}

void dg_add_frame(struct dg_trace *t, const struct dg_frame *f)
{
    t->last = *f;
    if (!dg_is_library(f->file))
        t->user = *f;
    add_call(t, f->file);
    add_call(t, f->function);
}

/* A log may hold any number of stacks that are not about CUDA: these give way
 * when there is no more room. */
int dg_keep_trace(struct dg *d, const struct dg_trace *t)
{
    struct dg_facts *f = d->facts;
    size_t i = f->n_traces;
    if (i == sizeof f->traces / sizeof *f->traces)
        for (i = 0; i < f->n_traces; i++)
            if (f->traces[i].error < 0 && (long)i != d->ended_trace
                && (int)i != d->site_trace)
                break;
    if (i == sizeof f->traces / sizeof *f->traces)
        return -1;
    f->traces[i] = *t;
    f->n_traces += i == f->n_traces;
    return (int)i;
}

static struct dg_open *find_open(struct dg *d, uint32_t source)
{
    for (size_t i = 0; i < sizeof d->open / sizeof *d->open; i++)
        if (d->open[i].used && d->open[i].source == source)
            return &d->open[i];
    return NULL;
}

static void recount(struct dg *d)
{
    d->any_open = false;
    for (size_t i = 0; i < sizeof d->open / sizeof *d->open; i++)
        d->any_open |= d->open[i].used;
}

static struct dg_open *start(struct dg *d, const struct dg_line *l,
                             enum dg_language language)
{
    struct dg_open *o = find_open(d, l->at.source), *oldest = &d->open[0];
    for (size_t i = 0; !o && i < sizeof d->open / sizeof *d->open; i++) {
        if (!d->open[i].used)
            o = &d->open[i];
        else if (d->open[i].touched < oldest->touched)
            oldest = &d->open[i];
    }
    if (!o)
        o = oldest;
    *o = (struct dg_open){ .used = true, .source = l->at.source,
                           .touched = l->at.line, .language = language };
    o->trace = (struct dg_trace){ .at = l->at, .language = language,
                                  .error = -1 };
    o->trace.last.line = o->trace.user.line = DG_UNKNOWN;
    d->any_open = true;
    return o;
}

bool dg_has_frames(const struct dg_open *o)
{
    return o->trace.last.file[0] || o->trace.last.function[0];
}

static void finish(struct dg *d, struct dg_open *o, struct dg_line *l)
{
    o->used = false;
    recount(d);
    if (!dg_has_frames(o))
        return;
    o->trace.error = l ? l->error : -1;
    int kept = dg_keep_trace(d, &o->trace);
    d->ended_trace = -1;
    if (l && l->error < 0)
        dg_expect_error(d, l, kept, 0);
}

/* Its error is what was said before the abort. */
static void finish_reversed(struct dg *d, struct dg_open *o)
{
    struct dg_line l = { .at = o->trace.at, .error = -1 };
    if (d->facts->n_errors)
        l.error = (int)d->facts->n_errors - 1;
    finish(d, o, &l);
}

void dg_end_traces(struct dg *d)
{
    for (size_t i = 0; i < sizeof d->open / sizeof *d->open; i++)
        if (d->open[i].used && d->open[i].reversed)
            finish_reversed(d, &d->open[i]);
        else if (d->open[i].used)
            finish(d, &d->open[i], NULL);
    d->ended_trace = -1;
}

/* `some.module.NameError: text`, `KeyboardInterrupt`, with what Ray adds in
 * parentheses. */
static bool is_exception(const char *s, const char **name_end)
{
    const char *p = s, *last = s;
    while (dg_is_word(*p) || *p == '.') {
        if (*p++ == '.')
            last = p;
    }
    if (p == s || dg_is_digit(*s) || p == last)
        return false;
    *name_end = p;
    bool dotted = last > s;
    if (*p == '(') {
        while (*p && *p != ')')
            p++;
        p += *p == ')';
    }
    if (*p && *p != ':' && *p != '\n')
        return false;
    if (*p == ':' && p[1] && p[1] != ' ')
        return false;
    char name[96];
    DG_COPY(name, last, *name_end);
    return dg_any_in("Error|Exception|Interrupt|Exit|Failure|Resources|Abort|"
                     "Warning|Timeout|Fault|Stop|Unknown", name)
        || (dotted && name[0] >= 'A' && name[0] <= 'Z');
}

bool dg_take_exception(struct dg *d, struct dg_open *o, struct dg_line *l,
                       const char *s)
{
    const char *end;
    if (!is_exception(s, &end))
        return false;
    DG_COPY(o->trace.exception, s, end);
    const char *text = strchr(end, ':');
    if (text)
        DG_COPY(o->trace.message, dg_blank(text + 1), NULL);
    o->trace.at = l->at;
    finish(d, o, l);
    return true;
}

/* ---- the interpreter's own ---- */

/* File "F", line N, in FUNCTION */
static bool take_file(struct dg_open *o, const char *s)
{
    struct dg_frame f = { .line = DG_UNKNOWN };
    if (!dg_starts(s, "File \""))
        return false;
    const char *from = s + 6, *end = strstr(from, "\", line ");
    if (!end)
        return false;
    DG_COPY(f.file, from, end);
    end += strlen("\", line ");
    if (!dg_number(&end, &f.line))
        return false;
    if (dg_starts(end, ", in "))
        DG_COPY(f.function, end + 5, NULL);
    else if (dg_starts(end, " in "))
        DG_COPY(f.function, end + 4, NULL);
    struct dg_frame last = o->trace.last, user = o->trace.user;
    dg_add_frame(&o->trace, &f);
    if (o->reversed && last.file[0])
        o->trace.last = last;
    if (o->reversed && user.file[0])
        o->trace.user = user;
    o->wants_code = !o->reversed;
    return true;
}

void dg_set_code(struct dg_open *o, const char *s)
{
    const char *from = dg_blank(s), *end = dg_trim_end(from, from + strlen(from));
    DG_COPY(o->trace.last.code, from, end);
    if (o->trace.user.line == o->trace.last.line
        && !strcmp(o->trace.user.file, o->trace.last.file))
        memcpy(o->trace.user.code, o->trace.last.code,
               sizeof o->trace.user.code);
    dg_add_code(&o->trace, o->trace.last.code);
    o->wants_code = false;
}

static bool is_carets(const char *s)
{
    s = dg_blank(s);
    return *s && s[strspn(s, "^~ ")] == '\0';
}

static void take_python(struct dg *d, struct dg_open *o, struct dg_line *l)
{
    const char *s = dg_blank(l->body);
    bool indented = (size_t)(s - l->body) >= 2 + o->indent;
    if (take_file(o, s)) {
        o->touched = l->at.line;
        return;
    }
    if (o->reversed && !indented) {
        finish_reversed(d, o);
        return;
    }
    if (!*s)
        return;
    if (indented) {
        if (o->wants_code && !is_carets(s))
            dg_set_code(o, s);
        return;
    }
    if (dg_has_frames(o) && dg_take_exception(d, o, l, s))
        return;
    if (++o->stray > MOST_STRAY)
        finish(d, o, NULL);
}

/* ---- all of them ---- */

static enum dg_language language_of(const char *s)
{
    if (strstr(s, "\xe2\x94\x80 Traceback") || strstr(s, "-- Traceback")
        || strstr(s, "+- Traceback"))
        return DG_RICH;
    const char *head = strstr(s, "Traceback (most recent call last)");
    const char *end;
    /* IPython: the exception's name, many blanks, and the words */
    if (head && head > s + 8 && head[-1] == ' ' && head[-2] == ' '
        && is_exception(s, &end) == false && dg_is_word(*s))
        return DG_NOTEBOOK;
    return DG_PYTHON;
}

void dg_expect_error(struct dg *d, const struct dg_line *l, int kept, int more)
{
    d->ended_trace = kept;
    d->ended_line = l->at.line + (unsigned long)more;
}

/* The text of an exception may begin on a later line than its name. */
static void adopt_error(struct dg *d, const struct dg_line *l)
{
    if (d->ended_trace < 0)
        return;
    if (l->at.line > d->ended_line + 3) {
        d->ended_trace = -1;
    } else if (l->error >= 0) {
        d->facts->traces[d->ended_trace].error = l->error;
        d->ended_trace = -1;
    }
}

static void take_header(struct dg *d, struct dg_line *l)
{
    struct dg_open *was = find_open(d, l->at.source);
    if (was)
        finish(d, was, NULL);
    d->ended_trace = -1;
    const char *word = strstr(l->body, "Traceback");
    bool fits = word && word - l->body < (ptrdiff_t)sizeof d->head;
    DG_COPY(d->head, l->body, fits ? word : l->body);
    d->head_line = l->at.line;
    struct dg_open *o = start(d, l, language_of(l->body));
    o->indent = strspn(l->body, " ");
    o->trace.ignored = d->ignored_line && l->at.line - d->ignored_line < 3;
}

static bool begins_cell(const char *s)
{
    return dg_starts(s, "Cell In[") || dg_starts(s, "Input In [")
        || dg_starts(s, "<ipython-input-");
}

void dg_take_trace(struct dg *d, struct dg_line *l)
{
    adopt_error(d, l);
    if (HAS(l, DG_G_TRACE)) {
        uint32_t was;
        struct dg_open *open;
        if (d->head[0] && dg_learn_prefix(d, l, &was)
            && (open = find_open(d, was)))
            open->source = l->at.source;
        const char *s = dg_blank(l->body);
        if (strstr(l->s, "Traceback (most recent call last)")) {
            take_header(d, l);
            return;
        }
        if (strstr(l->s, "Exception ignored in"))
            d->ignored_line = l->at.line;
        /* the fault handler's: what each thread was doing at an abort */
        if (dg_starts(s, "Current thread 0x")
            && strstr(s, "most recent call first")) {
            struct dg_open *was = find_open(d, l->at.source);
            if (was)
                finish(d, was, NULL);
            start(d, l, DG_PYTHON)->reversed = true;
            return;
        }
        if (!find_open(d, l->at.source)) {
            if (dg_starts(s, "File \"") && strstr(s, "\", line "))
                start(d, l, DG_PYTHON);         /* the head is lost */
            else if (begins_cell(s))
                start(d, l, DG_NOTEBOOK);
        }
    }
    struct dg_open *o = find_open(d, l->at.source);
    if (!o)
        return;
    if (l->at.line - o->touched > MOST_SILENCE) {
        finish(d, o, NULL);
        return;
    }
    if (o->language == DG_PYTHON && begins_cell(dg_blank(l->body)))
        o->language = o->trace.language = DG_NOTEBOOK;
    switch (o->language) {
    case DG_NOTEBOOK: dg_take_notebook(d, o, l); break;
    case DG_RICH: dg_take_rich(d, o, l); break;
    default: take_python(d, o, l); break;
    }
}
