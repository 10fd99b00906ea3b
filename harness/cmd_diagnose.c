/* faultlag diagnose LOG: reads a log of any size, says what failed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/command.h"
#include "harness/diagnose/decide.h"
#include "harness/diagnose/read.h"

/* False, told on stderr: not readable. */
static bool read_log(struct dg *d, const char *path)
{
    enum { PART = 256 * 1024 };
    FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *part = fl_alloc(PART);
    size_t n;
    bool ok = f != NULL;
    while (ok && (n = fread(part, 1, PART, f)) > 0)
        dg_feed(d, part, n);
    ok = ok && !ferror(f);
    if (!ok)
        fprintf(stderr, "faultlag: %s: %s\n", path, strerror(errno));
    if (f && f != stdin)
        fclose(f);
    free(part);
    dg_end(d);
    return ok;
}

int fl_cmd_diagnose(const struct fl_options *o, int argc, char **argv)
{
    struct dg_rules rules;
    struct dg_verdict v;
    struct fl_text out = { 0 };
    struct dg d;
    if (!dg_rules_load(&rules, o->rules)) {
        dg_rules_free(&rules);
        return FL_EXIT_USAGE;
    }
    struct dg_words *words = dg_vocabulary(&rules);
    dg_begin(&d, &rules, words);
    int code = FL_EXIT_UNUSABLE;
    if (read_log(&d, o->name)) {
        dg_decide(d.facts, &rules, &v);
        if (o->as_json)
            dg_put_json(&v, d.facts, &out), fl_text_puts(&out, "\n");
        else
            dg_print(&v, d.facts, &out);
        fputs(out.s, stdout);
        fl_text_free(&out);
        code = v.found ? FL_EXIT_DEVIATED : FL_EXIT_OK;
        dg_verdict_free(&v);
    }
    dg_free(&d);
    dg_words_free(words);
    dg_rules_free(&rules);
    (void)argc, (void)argv;
    return code;
}
