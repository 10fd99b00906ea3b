/* Tracebacks that are drawn: IPython's, in a terminal, a notebook or with VS
 * Code's links, and rich's boxes, in which paths are broken over lines. */
#include <stdio.h>

#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

/* ---- IPython ---- */

/* What follows an arrow: "12 code" or "[12](file:///...) code". */
static bool take_arrow(struct dg_open *o, const char *s)
{
    const char *p = s;
    long line;
    while (*p == '-')
        p++;
    if (p == s || p[0] != '>')
        return false;
    p = dg_blank(p + 1);
    if (*p == '[') {
        p++;
        if (!dg_number(&p, &line) || *p != ']')
            return false;
        if (*++p == '(') {
            p = strchr(p, ')');
            if (!p)
                return false;
            p++;
        }
    } else if (!dg_number(&p, &line)) {
        return false;
    }
    o->trace.last.line = line;
    if (o->trace.user.file[0] && !strcmp(o->trace.user.file, o->trace.last.file)
        && o->trace.user.line < 0)
        o->trace.user.line = line;
    dg_set_code(o, p);
    return true;
}

/* Cell In[4], line 1 | Input In [4], in <cell line: 1>() |
 * <ipython-input-5-1b2> in <module> | File F:12, in NAME(args) |
 * F in NAME(args) */
static bool take_cell(struct dg_open *o, const char *s)
{
    struct dg_frame f = { .line = DG_UNKNOWN };
    bool file = dg_starts(s, "File ");
    const char *p = file ? s + 5 : s, *end = NULL, *in = NULL;
    if (dg_starts(p, "Cell In") || dg_starts(p, "Input In")) {
        end = strchr(p, ']');
        end = end ? end + 1 : NULL;
        in = end ? strstr(end, ", in ") : NULL;
        const char *line = end ? dg_after(end, ", line ") : NULL;
        if (line)
            dg_number(&line, &f.line);
    } else if (dg_starts(p, "<ipython-input-") || file || *p == '/' || *p == '~'
               || (p[0] && p[1] == ':' && p[2] == '\\')) {
        in = strstr(p, " in ");
        if (!in)
            return false;
        end = in;
        while (end > p && (end[-1] == ' ' || end[-1] == ','))
            end--;
        const char *colon = end;
        while (colon > p && dg_is_digit(colon[-1]))
            colon--;
        if (colon > p + 2 && colon < end && colon[-1] == ':') {
            const char *number = colon;
            if (dg_number(&number, &f.line))
                end = colon - 1;
        }
    }
    if (!end || end == p)
        return false;
    DG_COPY(f.file, p, end);
    if (in) {
        in = dg_after(in, "in ");
        const char *stop = strchr(in, '(');
        DG_COPY(f.function, in, stop);
    }
    dg_add_frame(&o->trace, &f);
    return true;
}

void dg_take_notebook(struct dg *d, struct dg_open *o, struct dg_line *l)
{
    const char *s = dg_blank(l->body);
    bool indented = s > l->body;
    if (!indented && take_cell(o, s)) {
        o->touched = l->at.line;
        return;
    }
    if (*s == '-' && take_arrow(o, s)) {
        o->touched = l->at.line;
        return;
    }
    if (!indented && *s && dg_has_frames(o))
        dg_take_exception(d, o, l, s);
}

/* ---- rich ---- */

#define BAR "\xe2\x94\x82"              /* the box's side */
#define ARROW "\xe2\x9d\xb1"            /* the line that failed */

/* Inside of a boxed line, without sides and the padding at its end. */
static bool unbox(const char *s, char *out, size_t size)
{
    s = dg_blank(s);
    size_t side = dg_starts(s, BAR) ? strlen(BAR) : *s == '|' ? 1 : 0;
    if (!side)
        return false;
    const char *from = s + side, *end = s + strlen(s);
    end = dg_trim_end(from, end);
    if (end - from >= (ptrdiff_t)side && !memcmp(end - side, s, side))
        end -= side;
    end = dg_trim_end(from, end);
    if (*from == ' ')
        from++;
    dg_copy(out, size, from, end > from ? end : from);
    return true;
}

/* The code of a boxed line: after its number, without guides. */
static const char *boxed_code(const char *s)
{
    for (;;) {
        s = dg_blank(s);
        if (dg_starts(s, BAR))
            s += strlen(BAR);
        else if (*s == '|' && (s[1] == ' ' || !s[1]))
            s++;
        else
            return s;
    }
}

/* A path, its line and function, gathered from as many lines as it took. */
static void take_wrapped(struct dg_open *o, const char *s)
{
    size_t n = strlen(o->wrapped);
    bool in = n > 3 && !strcmp(o->wrapped + n - 3, " in");
    snprintf(o->wrapped + n, sizeof o->wrapped - n, "%s%s", in ? " " : "", s);
    const char *at = strstr(o->wrapped, " in ");
    struct dg_frame f = { .line = DG_UNKNOWN };
    const char *end = at ? at : o->wrapped + strlen(o->wrapped), *colon = end;
    while (colon > o->wrapped && dg_is_digit(colon[-1]))
        colon--;
    if (colon == end || colon == o->wrapped || colon[-1] != ':')
        return;
    const char *number = colon;
    if (!at || !at[4] || !dg_number(&number, &f.line))
        return;
    DG_COPY(f.file, o->wrapped, colon - 1);
    DG_COPY(f.function, at + 4, NULL);
    o->wrapped[0] = '\0';
    o->wants_next = false;
    dg_add_frame(&o->trace, &f);
}

void dg_take_rich(struct dg *d, struct dg_open *o, struct dg_line *l)
{
    char s[1024];
    if (!unbox(l->body, s, sizeof s)) {
        const char *text = dg_blank(l->body);
        if (dg_has_frames(o) && *text)
            dg_take_exception(d, o, l, text);
        return;
    }
    o->touched = l->at.line;
    const char *p = dg_blank(s), *arrow = dg_starts(p, ARROW) ? p + 3
        : dg_starts(p, "> ") || dg_starts(p, "\xe2\x9d\xaf") ? p + (*p == '>' ? 1 : 3)
        : NULL;
    long number;
    if (!*p) {
        o->wrapped[0] = '\0';
        o->wants_next = false;
    } else if (arrow) {
        arrow = dg_blank(arrow);
        if (!dg_number(&arrow, &number))
            return;
        dg_set_code(o, boxed_code(arrow));
        o->wants_next = true;           /* the statement may go on */
    } else if (dg_is_digit(*p)) {
        o->wants_next = false;
    } else if (dg_starts(p, BAR) || (*p == '|' && p > s + 3)) {
        const char *more = boxed_code(p);
        size_t n = strlen(o->trace.last.code);
        if (o->wants_next && *more) {
            snprintf(o->trace.last.code + n, sizeof o->trace.last.code - n,
                     " %s", more);
            dg_add_code(&o->trace, more);
        }
    } else if (strstr(p, "\xe2\x94\x80\xe2\x94\x80")) {
        o->wants_next = false;          /* a box of locals */
    } else {
        take_wrapped(o, p);
    }
}
