/* The reader of rules; see rules.h, and rules.txt for the language. */
#include "harness/diagnose/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/text.h"

__asm__(".pushsection .rodata\n"
        ".global dg_builtin_rules\n"
        "dg_builtin_rules:\n"
        ".incbin \"" FAULTLAG_SOURCE_DIR "/harness/diagnose/rules.txt\"\n"
        ".byte 0\n"
        ".popsection\n");

static const char *const kinds[DG_KIND_COUNT] = {
    "error", "status", "assert", "evidence", "cause", "step", "framework",
    "ask",
};
static const char *const keys[DG_KEY_COUNT] = {
    "name", "driver", "code", "old", "text", "sticky", "victim", "file",
    "expr", "kernel", "op", "calls", "cause", "or", "in", "weight", "say",
    "do", "for", "when",
};

static int look_up(const char *const *names, int n, const char *word,
                   size_t length)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], word, length))
            return i;
    return -1;
}

/* Blanks and, if lines are indented, newlines: a rule goes on in indented
 * lines. Comments run from # to the end of the line. */
static char *skip(char *s)
{
    for (;;) {
        while (*s == ' ' || *s == '\t' || *s == '\r')
            s++;
        if (*s == '#')
            while (*s && *s != '\n')
                s++;
        if (*s == '\n' && (s[1] == ' ' || s[1] == '\t'))
            s++;
        else
            return s;
    }
}

/* key=word or key="words"; in quotes, \" is a quote. NUL-ends the value in
 * place. NULL: malformed. */
static char *take_value(char *s, struct dg_rule *rule)
{
    size_t length = strcspn(s, "= \t\n");
    int key = look_up(keys, DG_KEY_COUNT, s, length);
    if (key < 0 || s[length] != '=' || rule->value[key])
        return NULL;
    s += length + 1;
    if (*s != '"') {
        rule->value[key] = s;
        s += strcspn(s, " \t\r\n");
        /* a newline ends the rule, unless an indented line follows */
        if (*s && (*s != '\n' || s[1] == ' ' || s[1] == '\t'))
            *s++ = '\0';
        return s;
    }
    char *to = ++s;
    rule->value[key] = to;
    while (*s && *s != '"') {
        if (*s == '\\' && (s[1] == '"' || s[1] == '\\'))
            s++;
        *to++ = *s++;
    }
    if (!*s)
        return NULL;
    *to = '\0';
    return s + 1;
}

static char *take_rule(char *s, struct dg_rule *rule)
{
    size_t length = strcspn(s, " \t\r\n");
    int kind = look_up(kinds, DG_KIND_COUNT, s, length);
    if (kind < 0)
        return NULL;
    rule->kind = (enum dg_kind)kind;
    s = skip(s + length);
    while (s && *s && *s != '\n')
        if ((s = take_value(s, rule)))
            s = skip(s);
    if (s && *s)
        *s++ = '\0';                    /* may end an unquoted value */
    return s;
}

static unsigned long line_of(const char *text, size_t at)
{
    unsigned long line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

static bool parse(struct dg_rules *r, const char *original, char error[160])
{
    char *text = fl_strdup(original), *s = text;
    r->text[r->text[0] != NULL] = text;
    while (*s) {
        s = skip(s);
        if (*s == '\n') {
            s++;
            continue;
        }
        if (!*s)
            break;
        struct dg_rule rule = { .index = (int)r->n };
        char *start = s;
        if (!(s = take_rule(s, &rule))) {
            snprintf(error, 160, "line %lu is not a rule",
                     line_of(original, (size_t)(start - text)));
            return false;
        }
        r->rules = fl_grow(r->rules, r->n + 1, sizeof *r->rules);
        r->rules[r->n++] = rule;
    }
    return true;
}

bool dg_rules_parse(struct dg_rules *r, const char *text, char error[160])
{
    *r = (struct dg_rules){ 0 };
    return parse(r, text, error);
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    struct fl_text t = { 0 };
    char part[4096];
    size_t n;
    if (!f)
        return NULL;
    fl_text_add(&t, "", 0);
    while ((n = fread(part, 1, sizeof part, f)) > 0 && t.n < 1 << 20)
        fl_text_add(&t, part, n);
    fclose(f);
    return t.s;
}

bool dg_rules_load(struct dg_rules *r, const char *path)
{
    char error[160];
    *r = (struct dg_rules){ 0 };
    if (path) {
        char *text = read_all(path);
        if (!text) {
            fprintf(stderr, "faultlag: %s: %s\n", path, strerror(errno));
            return false;
        }
        bool ok = parse(r, text, error);
        free(text);
        if (!ok) {
            fprintf(stderr, "faultlag: %s: %s\n", path, error);
            return false;
        }
    }
    if (parse(r, dg_builtin_rules, error))
        return true;
    fprintf(stderr, "faultlag: built-in rules: %s\n", error);
    return false;
}

void dg_rules_free(struct dg_rules *r)
{
    free(r->rules);
    free(r->text[0]);
    free(r->text[1]);
    *r = (struct dg_rules){ 0 };
}

long dg_rule_number(const struct dg_rule *r, enum dg_key key, long otherwise)
{
    return r && r->value[key] ? strtol(r->value[key], NULL, 10) : otherwise;
}

const char *dg_rule_text(const struct dg_rule *r, enum dg_key key)
{
    return r && r->value[key] ? r->value[key] : "";
}

/* The next alternative; NULL after the last. */
static const char *next(const char **rest, size_t *n)
{
    const char *s = *rest;
    if (!s)
        return NULL;
    *n = strcspn(s, "|");
    *rest = s[*n] ? s + *n + 1 : NULL;
    return s;
}

bool dg_any_in(const char *alternatives, const char *text)
{
    const char *s;
    size_t n;
    while ((s = next(&alternatives, &n)))
        if (n && memmem(text, strlen(text), s, n))
            return true;
    return false;
}

bool dg_any_is(const char *alternatives, const char *word)
{
    const char *s;
    size_t n;
    while ((s = next(&alternatives, &n)))
        if (n == strlen(word) && !memcmp(s, word, n))
            return true;
    return false;
}

void dg_each(const char *alternatives, void (*f)(void *, const char *),
             void *context)
{
    const char *s;
    size_t n;
    while ((s = next(&alternatives, &n)))
        if (n) {
            char *word = fl_format("%.*s", (int)n, s);
            f(context, word);
            free(word);
        }
}
