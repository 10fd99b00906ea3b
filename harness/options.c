/* Parser and help from one table; see options.def. */
#include "harness/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LIST = FL_CMD_LIST, DESCRIBE = FL_CMD_DESCRIBE, RUN = FL_CMD_RUN,
    BENCH = FL_CMD_BENCH, DOCTOR = FL_CMD_DOCTOR, COMPARE = FL_CMD_COMPARE,
    MERGE = FL_CMD_MERGE, DIAGNOSE = FL_CMD_DIAGNOSE, ANY = ~0
};

static const struct option {
    size_t field;
    const char *name, *argument, *otherwise, *help;
    int commands;
} table[] = {
#define OPTION(field, name, argument, commands, otherwise, help) \
    { offsetof(struct fl_options, field), name, argument, otherwise, help, \
      commands },
#include "harness/options.def"
#undef OPTION
};
#define N_OPTIONS (sizeof table / sizeof *table)

static void set(struct fl_options *options, const struct option *o,
                const char *value)
{
    memcpy((char *)options + o->field, &value, sizeof value);
}

/* Edits (insert, delete, replace) between two short words. */
static size_t edits(const char *a, const char *b)
{
    size_t n = strlen(b), row[64];
    if (n >= 64)
        return n;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *fl_nearest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t fewest = strlen(word) / 2 + 1;
    for (size_t i = 0; i < n; i++) {
        size_t d = edits(word, names[i]);
        if (d < fewest) {
            fewest = d;
            best = names[i];
        }
    }
    return best;
}

static const struct option *find(enum fl_command command, const char *name,
                                 size_t length)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (table[i].commands & command && strlen(table[i].name) == length
            && !memcmp(table[i].name, name, length))
            return &table[i];
    return NULL;
}

static bool unknown(enum fl_command command, const char *word)
{
    const char *names[N_OPTIONS];
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (table[i].commands & command)
            names[n++] = table[i].name;
    const char *near = fl_nearest(word + 2, names, n);
    fprintf(stderr, "faultlag: no option `%s` here", word);
    if (near)
        fprintf(stderr, "; did you mean `--%s`?", near);
    fputs("\n", stderr);
    return false;
}

bool fl_options_parse(enum fl_command command, int argc, char **argv,
                      struct fl_options *options)
{
    *options = (struct fl_options){ 0 };
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (table[i].commands & command && table[i].otherwise)
            set(options, &table[i], table[i].otherwise);
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (strncmp(word, "--", 2)) {
            size_t most = command == FL_CMD_COMPARE ? 2
                : command == FL_CMD_MERGE ? FL_MOST_ARGUMENTS : 1;
            if (options->n_names == most || (word[0] == '-' && word[1])) {
                fprintf(stderr, "faultlag: `%s` is one argument too many\n",
                        word);
                return false;
            }
            options->names[options->n_names++] = word;
            options->name = options->names[0];
            continue;
        }
        size_t length = strcspn(word + 2, "=");
        const struct option *o = find(command, word + 2, length);
        const char *value = word[2 + length] ? word + 3 + length : NULL;
        if (!o)
            return unknown(command, word);
        if (o->argument && !value && i + 1 < argc)
            value = argv[++i];
        if (!o->argument != !value) {
            fprintf(stderr, "faultlag: --%s takes %s\n", o->name,
                    o->argument ? o->argument : "no value");
            return false;
        }
        set(options, o, value ? value : "yes");
        options->schedules_given |= !strcmp(o->name, "schedule");
        options->device_given |= !strcmp(o->name, "device");
    }
    return true;
}

void fl_options_help(enum fl_command command, FILE *out)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *o = &table[i];
        if (!(o->commands & command))
            continue;
        int n = fprintf(out, "  --%s%s%s", o->name, o->argument ? " " : "",
                        o->argument ? o->argument : "");
        fprintf(out, "%*s%s", n < 24 ? 24 - n : 1, "", o->help);
        if (o->otherwise)
            fprintf(out, " [%s]", o->otherwise);
        fputs("\n", out);
    }
}

bool fl_number(const char *text, const char *what, unsigned long long max,
               unsigned long long *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || *value > max) {
        fprintf(stderr, "faultlag: %s must be a whole number up to %llu, not "
                "`%s`\n", what, max, text);
        return false;
    }
    return true;
}

bool fl_shard(const char *text, unsigned long long *number,
              unsigned long long *of)
{
    int end = 0;
    bool ok = strlen(text) < 16
        && strspn(text, "0123456789/") == strlen(text)
        && sscanf(text, "%llu/%llu%n", number, of, &end) == 2
        && !text[end] && *number >= 1 && *number <= *of;
    if (!ok)
        fprintf(stderr, "faultlag: --shard takes I/N, with I from 1 to N, "
                "not `%s`\n", text);
    return ok;
}

bool fl_use_color(const char *when, FILE *out, bool *color)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    *color = !strcmp(when, "always")
        || (!strcmp(when, "auto") && isatty(fileno(out)) && !(no && *no)
            && term && strcmp(term, "dumb"));
    if (*color || !strcmp(when, "auto") || !strcmp(when, "never"))
        return true;
    fprintf(stderr, "faultlag: --color takes auto, always or never\n");
    return false;
}
