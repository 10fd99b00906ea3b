/* faultlag merge: the shards of one bench become the results of the whole.
 * What comes out has the rows that `faultlag bench` without --shard would have
 * made; so shards that are of another bench, incomplete or missing are
 * refused, and nothing is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/command.h"
#include "harness/environment.h"
#include "harness/listing.h"
#include "harness/results.h"
#include "harness/trials.h"

struct shard {
    const char *folder;
    struct fl_json *context;
    struct fl_text arguments;   /* a JSON array, without those that differ
                                   from shard to shard */
    struct fl_trials trials;
    unsigned long long number, of;
};

/* Members of context.json that must be the same in all shards. */
static const char *const same[] = {
    "schema_version", "version", "commit", "dirty", "device", "device_name",
    "toolkit", "runtime", "driver",
};

static bool refuse(const struct shard *s, const char *why)
{
    fprintf(stderr, "faultlag: %s: %s\n", s->folder, why);
    return false;
}

/* ---- reading ---- */

/* Words that `--NAME value` or `--NAME=value` takes at s; 0: it is not that. */
static int words_of(const char *s, const char *name)
{
    size_t n = strlen(name);
    return strncmp(s, name, n) ? 0 : s[n] == '=' ? 1 : s[n] ? 0 : 2;
}

static bool read_arguments(struct shard *s)
{
    struct fl_options o = { 0 };
    int argc;
    char **argv = fl_results_arguments(s->folder, &argc);
    bool ok = argv && fl_options_parse(FL_CMD_BENCH, argc, argv, &o)
        && fl_shard(o.shard, &s->number, &s->of);
    fl_json_open(&s->arguments, NULL, '[');
    for (int i = 0; ok && i < argc; ) {
        int skip = words_of(argv[i], "--shard") + words_of(argv[i], "--out");
        if (!skip)
            fl_json_put_string(&s->arguments, NULL, argv[i]);
        i += skip ? skip : 1;
    }
    fl_json_close(&s->arguments, ']');
    for (int i = 0; argv && i < argc; i++)
        free(argv[i]);
    free(argv);
    return ok;
}

static bool read_shard(struct shard *s)
{
    char error[256], why[320];
    if (!(s->context = fl_results_read_context(s->folder))
        || !read_arguments(s))
        return false;
    if (!fl_trials_read(s->folder, &s->trials, error)) {
        snprintf(why, sizeof why, "trials.csv: %s", error);
        return refuse(s, why);
    }
    if (s->trials.other_columns)
        return refuse(s, "trials.csv: it has columns that this version does "
                      "not know");
    long long planned = fl_json_integer(s->context, "trials", -1);
    if (planned != (long long)s->trials.n) {
        snprintf(why, sizeof why, "%zu of %lld trials are there; go on with: "
                 "faultlag bench --resume %s", s->trials.n, planned,
                 s->folder);
        return refuse(s, why);
    }
    return true;
}

/* ---- do they belong together? ---- */

/* Both absent, or both there and the same. */
static bool same_member(const struct shard *a, const struct shard *b,
                        const char *key)
{
    const struct fl_json *x = fl_json_get(a->context, key);
    const struct fl_json *y = fl_json_get(b->context, key);
    struct fl_text s = { 0 }, t = { 0 };
    if (x)
        fl_json_put(&s, NULL, x);
    if (y)
        fl_json_put(&t, NULL, y);
    bool equal = !strcmp(fl_text_str(&s), fl_text_str(&t));
    fl_text_free(&s);
    fl_text_free(&t);
    return equal;
}

static bool fits(const struct shard *first, const struct shard *s)
{
    char why[320];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!same_member(first, s, same[i])) {
            snprintf(why, sizeof why, "another %s than %s", same[i],
                     first->folder);
            return refuse(s, why);
        }
    if (first->of != s->of
        || strcmp(first->arguments.s, s->arguments.s)) {
        snprintf(why, sizeof why, "other arguments than %s", first->folder);
        return refuse(s, why);
    }
    for (const struct shard *o = first; o < s; o++)
        if (o->number == s->number) {
            snprintf(why, sizeof why, "shard %llu/%llu, as %s", s->number,
                     s->of, o->folder);
            return refuse(s, why);
        }
    return true;
}

static bool complete(const struct shard *shards, size_t n)
{
    for (unsigned long long k = 1; k <= shards->of; k++) {
        size_t i = 0;
        while (i < n && shards[i].number != k)
            i++;
        if (i == n) {
            fprintf(stderr, "faultlag: shard %llu/%llu is missing\n", k,
                    shards->of);
            return false;
        }
    }
    return true;
}

static bool read_all(struct shard *shards, const struct fl_options *o)
{
    struct fl_trials all = { 0 };
    char error[256];
    for (size_t i = 0; i < o->n_names; i++) {
        struct shard *s = &shards[i];
        s->folder = o->names[i];
        if (!read_shard(s) || !fits(shards, s))
            return false;
        all.n += s->trials.n;
    }
    if (!complete(shards, o->n_names))
        return false;
    /* A view of all rows, which stay their shards'. */
    all.rows = fl_grow(NULL, all.n, sizeof *all.rows);
    size_t n = 0;
    for (size_t i = 0; i < o->n_names; i++)
        for (size_t k = 0; k < shards[i].trials.n; k++)
            all.rows[n++] = shards[i].trials.rows[k];
    bool ok = fl_trials_differ(&all, error);
    if (!ok)
        fprintf(stderr, "faultlag: in all shards together: %s\n", error);
    free(all.rows);
    return ok;
}

/* ---- writing ---- */

/* What all shards share, when the first was made, and each one's own. */
static void put_context(struct fl_text *out, const struct shard *shards,
                        size_t n)
{
    size_t trials = 0;
    fl_json_open(out, NULL, '{');
    for (const struct fl_json *m = shards->context->first; m; m = m->next) {
        bool shared = strcmp(m->key, "arguments") && strcmp(m->key, "trials");
        for (size_t i = 1; i < n && shared; i++)
            shared = same_member(shards, &shards[i], m->key);
        if (shared || !strcmp(m->key, "time"))
            fl_json_put(out, m->key, m);
    }
    fl_json_put_raw(out, "arguments", shards->arguments.s);
    for (size_t i = 0; i < n; i++)
        trials += shards[i].trials.n;
    fl_json_put_integer(out, "trials", (long long)trials);
    fl_json_open(out, "shards", '[');
    for (size_t i = 0; i < n; i++)
        fl_json_put(out, NULL, shards[i].context);
    fl_json_close(out, ']');
    fl_json_close(out, '}');
    fl_text_puts(out, "\n");
}

static bool write_all(struct fl_results *r, const struct shard *shards,
                      size_t n, struct fl_cells *cells)
{
    struct fl_text context = { 0 };
    put_context(&context, shards, n);
    bool ok = fl_results_write_context(r, &context);
    fl_text_free(&context);
    for (size_t i = 0; i < n && ok; i++) {
        for (size_t k = 0; k < shards[i].trials.n && ok; k++) {
            ok = fl_results_keep(r, &shards[i].trials.rows[k], NULL);
            fl_cells_add(cells, &shards[i].trials.rows[k]);
        }
        ok = ok && fl_results_adopt(r, shards[i].folder);
    }
    return ok;
}

/* The exit code is that of the whole bench. */
static int merge(const struct fl_options *o, const struct shard *shards,
                 const struct fl_json *listing, bool color)
{
    struct fl_results results;
    struct fl_cells cells = { 0 };
    int code = fl_results_create(&results, o->out) ? FL_EXIT_OK
                                                   : FL_EXIT_USAGE;
    if (!code && !write_all(&results, shards, o->n_names, &cells))
        code = FL_EXIT_UNUSABLE;
    if (!code) {
        fprintf(stderr, "faultlag: results in %s\n", results.path);
        if (fl_cells_sum_up(&cells, listing, stdout, color))
            code = FL_EXIT_DEVIATED;
    }
    fl_cells_free(&cells);
    fl_results_close(&results);
    return code;
}

int fl_cmd_merge(const struct fl_options *o, int argc, char **argv)
{
    struct shard *shards = fl_alloc(o->n_names * sizeof *shards);
    struct fl_json *listing = NULL;
    struct fl_places places;
    bool color;
    int code = FL_EXIT_UNUSABLE;
    fl_places_find(&places);
    if (!fl_use_color(o->color, stdout, &color))
        code = FL_EXIT_USAGE;
    else if (read_all(shards, o) && (listing = fl_listing_read(&places)))
        code = merge(o, shards, listing, color);
    for (size_t i = 0; i < o->n_names; i++) {
        fl_json_free(shards[i].context);
        fl_text_free(&shards[i].arguments);
        fl_trials_free(&shards[i].trials);
    }
    free(shards);
    fl_json_free(listing);
    fl_places_free(&places);
    (void)argc, (void)argv;
    return code;
}
