/* The verdict for people, within a screen, and for programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/diagnose/decide.h"
#include "harness/json.h"

/* ---- JSON ---- */

static void put_text(struct fl_text *t, const char *key, const char *s)
{
    if (s && *s)
        fl_json_put_string(t, key, s);
    else
        fl_json_put_raw(t, key, "null");
}

static void put_number(struct fl_text *t, const char *key, long n)
{
    if (n >= 0)
        fl_json_put_integer(t, key, n);
    else
        fl_json_put_raw(t, key, "null");
}

static void put_bool(struct fl_text *t, const char *key, int b)
{
    fl_json_put_raw(t, key, b < 0 ? "null" : b ? "true" : "false");
}

static void put_triple(struct fl_text *t, const char *key, const long *xyz)
{
    if (!xyz) {
        fl_json_put_raw(t, key, "null");
        return;
    }
    fl_json_open(t, key, '[');
    for (int i = 0; i < 3; i++)
        fl_json_put_integer(t, NULL, xyz[i]);
    fl_json_close(t, ']');
}

static void put_frame(struct fl_text *t, const char *key,
                      const struct dg_frame *f)
{
    fl_json_open(t, key, '{');
    put_text(t, "file", f->file);
    put_number(t, "line", f->line);
    put_text(t, "function", f->function);
    put_text(t, "code", f->code);
    fl_json_close(t, '}');
}

/* The cause in the few words that readers of the JSON compare, then in ours. */
static void put_cause(struct fl_text *t, const struct dg_rule *r)
{
    const char *kind = r ? dg_rule_text(r, DG_BECAUSE_OF) : "";
    const char *name = r ? dg_rule_text(r, DG_NAME) : NULL;
    put_text(t, "cause", *kind ? kind : name);
    put_text(t, "cause_detail", name);
}

static void put_causes(struct fl_text *t, const struct dg_verdict *v)
{
    put_cause(t, v->n_causes ? v->causes[0].rule : NULL);
    fl_json_open(t, "causes", '[');
    for (size_t i = 0; i < v->n_causes; i++) {
        const struct dg_cause *c = &v->causes[i];
        fl_json_open(t, NULL, '{');
        put_cause(t, c->rule);
        fl_json_put_string(t, "meaning", dg_rule_text(c->rule, DG_SAY));
        fl_json_put_integer(t, "weight", c->weight);
        fl_json_open(t, "evidence", '[');
        for (size_t k = 0; k < c->n_evidence; k++)
            fl_json_put_string(t, NULL, c->evidence[k]);
        fl_json_close(t, ']');
        fl_json_close(t, '}');
    }
    fl_json_close(t, ']');
}

static void put_lists(struct fl_text *t, const struct dg_verdict *v)
{
    fl_json_open(t, "victims", '[');
    for (size_t i = 0; i < v->n_victims; i++) {
        fl_json_open(t, NULL, '{');
        fl_json_put_string(t, "what", v->victims[i].what);
        fl_json_put_integer(t, "log_line", (long long)v->victims[i].line);
        fl_json_put_string(t, "why", v->victims[i].why);
        fl_json_close(t, '}');
    }
    fl_json_close(t, ']');
    fl_json_put_integer(t, "more_victims", (long long)v->more_victims);
    fl_json_open(t, "next_steps", '[');
    for (size_t i = 0; i < v->n_steps; i++)
        fl_json_put_string(t, NULL, v->steps[i]);
    fl_json_close(t, ']');
}

void dg_put_json(const struct dg_verdict *v, const struct dg_facts *f,
                 struct fl_text *t)
{
    const struct dg_assertion *a = v->assertion;
    fl_json_open(t, NULL, '{');
    fl_json_put_bool(t, "fault", v->found);
    put_text(t, "framework", dg_rule_text(v->framework, DG_NAME));
    put_number(t, "error_code", v->error_code);
    put_text(t, "error_name", v->error_name);
    put_number(t, "underlying_code", v->underlying);
    put_text(t, "assert_file", a ? a->file : NULL);
    put_number(t, "assert_line", a ? a->line : DG_UNKNOWN);
    put_text(t, "assert_expr", a ? a->expr : NULL);
    put_text(t, "operator", dg_rule_text(v->rule, DG_OP));
    put_text(t, "kernel", v->kernel);
    put_triple(t, "block", v->block);
    put_triple(t, "thread", v->thread);
    put_bool(t, "blocking", v->blocking);
    put_text(t, "blocking_why", v->blocking_why);
    put_frame(t, "reported_frame", &v->frame);
    if (v->trace && v->trace->user.file[0])
        put_frame(t, "user_frame", &v->trace->user);
    else
        fl_json_put_raw(t, "user_frame", "null");
    put_bool(t, "reliable_trace", v->reliable);
    put_text(t, "reliable_why", v->reliable_why);
    put_causes(t, v);
    put_bool(t, "recoverable", v->recoverable);
    put_text(t, "recoverable_why", v->recoverable_why);
    put_lists(t, v);
    put_text(t, "ask", v->ask);
    fl_json_put_integer(t, "log_lines", (long long)f->lines);
    fl_json_put_integer(t, "assertion_lines", (long long)f->assertion_lines);
    fl_json_put_integer(t, "error_lines", (long long)f->error_lines);
    fl_json_close(t, '}');
}

/* ---- for people ---- */

enum { WIDTH = 79, INDENT = 10, SCREEN = 24 };

/* A terminal must not be told what to do by a log. */
static void puts_safe(struct fl_text *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = (unsigned char)s[i] < 0x20 || s[i] == 0x7f ? ' ' : s[i];
        fl_text_add(t, &c, 1);
    }
}

/* A label and text, broken at blanks and indented below itself. */
static void say(struct fl_text *t, const char *label, char *text)
{
    const char *s = text;
    size_t indent = INDENT;
    fl_text_printf(t, "%-*s", INDENT, label);
    if (*s == '-' || (*s >= '1' && *s <= '9' && s[1] == '.'))
        indent += *s == '-' ? 2 : 3;
    for (size_t room = WIDTH - INDENT; strlen(s) > room;) {
        size_t n = room;
        while (n && s[n] != ' ')
            n--;
        if (!n)                         /* a path: leave it in one piece */
            n = strcspn(s, " ");
        puts_safe(t, s, n);
        s += n;
        while (*s == ' ')
            s++;
        if (!*s)
            break;
        fl_text_printf(t, "\n%*s", (int)indent, "");
        room = WIDTH - indent;
    }
    puts_safe(t, s, strlen(s));
    fl_text_puts(t, "\n");
    free(text);
}

static char *place(const struct dg_frame *f)
{
    struct fl_text t = { 0 };
    fl_text_puts(&t, "");
    if (f->file[0])
        fl_text_printf(&t, "%s", f->file);
    if (f->file[0] && f->line >= 0)
        fl_text_printf(&t, ":%ld", f->line);
    if (f->function[0])
        fl_text_printf(&t, "%s%s", f->file[0] ? " in " : "in ", f->function);
    if (f->code[0])
        fl_text_printf(&t, ": %.70s%s", f->code,
                       strlen(f->code) > 70 ? "..." : "");
    return t.s;
}

static const char *const answers[] = { "no", "yes" };

static const char *answer(int b) { return b < 0 ? "unknown" : answers[b]; }

static void print_verdict(const struct dg_verdict *v, struct fl_text *t)
{
    const char *cause = dg_rule_text(v->causes[0].rule, DG_NAME);
    if (!strcmp(cause, "other"))
        fl_text_printf(t, "%s%s%s", v->error_name ? v->error_name : "a fault",
                       v->error_say && *v->error_say ? ": " : "",
                       v->error_say ? v->error_say : "");
    else
        fl_text_printf(t, "%s", dg_rule_text(v->causes[0].rule, DG_SAY));
    const char *trust = v->reliable == DG_YES
        ? "the stack can be trusted"
        : v->reliable == DG_NO ? "the stack names the wrong place"
                               : "the stack may name the wrong place";
    if (v->trace)
        fl_text_printf(t, "\n%s", trust);
    fl_text_puts(t, "\n\n");
}

static void print_fault(const struct dg_verdict *v, struct fl_text *t)
{
    const struct dg_assertion *a = v->assertion;
    if (v->error_name && v->error_code >= 0)
        say(t, "error", fl_format("%ld %s; process %s", v->error_code,
                                  v->error_name, v->recoverable == DG_NO
                                  ? "lost: only a new one helps"
                                  : v->recoverable == DG_YES ? "can go on"
                                  : "may be lost"));
    else if (v->error_name)
        say(t, "error", fl_format("%s%s%s", v->error_name,
                                  v->error_say && *v->error_say ? ": " : "",
                                  v->error_say ? v->error_say : ""));
    if (a) {
        say(t, "assertion", a->line >= 0 && a->file[0]
            ? fl_format("`%s` at %s:%ld", a->expr, a->file, a->line)
            : fl_format("`%s`", a->expr));
    }
    if (v->kernel) {
        struct fl_text k = { 0 };
        fl_text_puts(&k, v->kernel);
        if (v->block)
            fl_text_printf(&k, ", block (%ld,%ld,%ld)", v->block[0], v->block[1],
                           v->block[2]);
        if (v->thread)
            fl_text_printf(&k, ", thread (%ld,%ld,%ld)", v->thread[0],
                           v->thread[1], v->thread[2]);
        say(t, "kernel", k.s);
    }
}

static void print_place(const struct dg_verdict *v, struct fl_text *t)
{
    if (v->frame.file[0] || v->frame.function[0])
        say(t, "reported", place(&v->frame));
    if (v->trace && v->trace->user.file[0]
        && (strcmp(v->trace->user.file, v->frame.file)
            || v->trace->user.line != v->frame.line))
        say(t, "from", place(&v->trace->user));
    say(t, "trust it", fl_format("%s: %s", answer(v->reliable), v->reliable_why));
    say(t, "blocking", fl_format("%s: %s", answer(v->blocking), v->blocking_why));
}

static void print_causes(const struct dg_verdict *v, struct fl_text *t)
{
    for (size_t i = 0; i < v->n_causes && i < 2; i++) {
        const struct dg_cause *c = &v->causes[i];
        struct fl_text s = { 0 };
        fl_text_printf(&s, "%s", dg_rule_text(c->rule, DG_NAME));
        for (size_t k = 0; k < c->n_evidence && k < (i ? 1 : 2); k++)
            fl_text_printf(&s, "%s%s", k ? "; " : ": ", c->evidence[k]);
        say(t, i ? "or" : "cause", s.s);
    }
    for (size_t i = 0; i < v->n_victims && i < 2; i++)
        say(t, i ? "" : "victims", fl_format("%s (line %lu): %s",
            v->victims[i].what, v->victims[i].line, v->victims[i].why));
}

static size_t lines(const struct fl_text *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->s[i] == '\n';
    return n;
}

void dg_print(const struct dg_verdict *v, const struct dg_facts *f,
              struct fl_text *t)
{
    if (!v->found) {
        fl_text_printf(t, "nothing wrong found in %lu lines\n", f->lines);
        return;
    }
    print_verdict(v, t);
    print_fault(v, t);
    print_place(v, t);
    print_causes(v, t);
    if (v->ask)
        say(t, "missing", fl_strdup(v->ask));
    for (size_t i = 0; i < v->n_steps; i++) {
        size_t before = t->n;
        say(t, i ? "" : "next", fl_format("%zu. %s", i + 1, v->steps[i]));
        if (lines(t) > SCREEN) {        /* --json has the rest */
            t->s[t->n = before] = '\0';
            break;
        }
    }
}
