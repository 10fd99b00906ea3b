/* faultlag run and bench: plan, run, keep, sum up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/asides.h"
#include "harness/command.h"
#include "harness/context.h"
#include "harness/listing.h"
#include "harness/results.h"
#include "harness/runner.h"

/* Where a run's rows go. */
struct sinks {
    FILE *csv, *json;           /* of `run`; NULL: none */
    size_t n_json;
    struct fl_results *results; /* of `bench`; NULL: none */
    struct fl_cells cells;
};

static bool keep(void *context, const struct fl_row *row, const char *log)
{
    struct sinks *s = context;
    struct fl_text text = { 0 };
    bool ok = true;
    fl_cells_add(&s->cells, row);
    if (s->csv) {
        fl_row_to_csv(row, &text);
        ok = fputs(text.s, s->csv) >= 0 && !fflush(s->csv);
        fl_text_free(&text);
    }
    if (s->json) {
        fl_row_to_json(row, &text);
        ok = fprintf(s->json, "%s%s", s->n_json++ ? ",\n" : "", text.s) >= 0
            && ok;
        fl_text_free(&text);
    }
    if (s->results)
        ok = fl_results_keep(s->results, row, log) && ok;
    return ok;
}

/* "-" is stdout; anything else must not exist yet. */
static bool open_sink(const char *path, FILE **file)
{
    *file = NULL;
    if (!path)
        return true;
    *file = strcmp(path, "-") ? fopen(path, "wx") : stdout;
    if (!*file)
        fprintf(stderr, "faultlag: %s: %s\n", path, strerror(errno));
    return *file != NULL;
}

static bool runner_options(const struct fl_options *o, struct fl_runner *r)
{
    unsigned long long jobs = (unsigned long long)sysconf(
        _SC_NPROCESSORS_ONLN), timeout;
    if ((o->jobs && !fl_number(o->jobs, "--jobs", 256, &jobs))
        || !fl_number(o->timeout, "--timeout", 86400, &timeout))
        return false;
    r->jobs = (unsigned)jobs;
    r->limit_s = (double)timeout;
    r->quiet = o->quiet != NULL;
    return true;
}

/* What stands between options and a plan that can be run. */
struct stage {
    struct fl_places places;
    struct fl_json *listing, *probe;
    struct fl_plan plan;
    struct fl_runner runner;
    bool color;
};

static void strike(struct stage *g)
{
    fl_plan_free(&g->plan);
    fl_json_free(g->listing);
    fl_json_free(g->probe);
    fl_places_free(&g->places);
}

/* Exit code, or -1: go on. */
static int set_up(const struct fl_options *o, FILE *summary, struct stage *g)
{
    *g = (struct stage){ 0 };
    fl_places_find(&g->places);
    if (!fl_use_color(o->color, summary, &g->color)
        || !runner_options(o, &g->runner))
        return FL_EXIT_USAGE;
    if (!fl_choose_device(&g->places, o->device, &g->runner.device,
                          &g->probe))
        return !strcmp(o->device, "auto") || !strcmp(o->device, "sim")
            || !strcmp(o->device, "cuda") ? FL_EXIT_UNUSABLE : FL_EXIT_USAGE;
    if (!(g->listing = fl_listing_read(&g->places)))
        return FL_EXIT_UNUSABLE;
    if (!fl_plan_make(g->listing, o, g->runner.device, &g->plan))
        return FL_EXIT_USAGE;
    g->runner.places = &g->places;
    g->runner.device_name = fl_probe_device(g->probe);
    g->runner.kernels_end = fl_probe_limits_kernels(g->probe);
    g->runner.plan = &g->plan;
    g->runner.keep = keep;
    return -1;
}

/* Says what deviates; the exit code of the whole. */
static int sum_up(const struct stage *g, struct sinks *s, int code,
                  FILE *table)
{
    size_t deviating = fl_cells_sum_up(&s->cells, g->listing, table, g->color);
    return code == FL_EXIT_OK && deviating ? FL_EXIT_DEVIATED : code;
}

int fl_cmd_run(const struct fl_options *o, int argc, char **argv)
{
    struct sinks sinks = { 0 };
    struct stage g;
    bool data_out = (o->csv && !strcmp(o->csv, "-"))
        || (o->json && !strcmp(o->json, "-"));
    FILE *table = data_out ? stderr : stdout;
    struct fl_asides asides = { 0 };
    int code = set_up(o, table, &g);
    if (code < 0 && !fl_asides_plan(&asides, o, &g.plan))
        code = FL_EXIT_USAGE;
    if (code < 0 && (!open_sink(o->csv, &sinks.csv)
                     || !open_sink(o->json, &sinks.json)))
        code = FL_EXIT_USAGE;
    if (code < 0) {
        struct fl_text head = { 0 };
        if (sinks.csv) {
            fl_columns_to_csv(&head);
            fputs(head.s, sinks.csv);
            fl_text_free(&head);
        }
        if (sinks.json)
            fputs("[\n", sinks.json);
        g.runner.context = &sinks;
        code = sum_up(&g, &sinks, fl_runner_run(&g.runner), table);
        if (sinks.json)
            fputs("\n]\n", sinks.json);
        if (code != FL_EXIT_INTERRUPTED)
            fl_asides_print(&asides, o, g.color, table);
    }
    fl_asides_free(&asides);
    if (sinks.csv && sinks.csv != stdout)
        fclose(sinks.csv);
    if (sinks.json && sinks.json != stdout)
        fclose(sinks.json);
    fl_cells_free(&sinks.cells);
    strike(&g);
    (void)argc, (void)argv;
    return code;
}

static int bench_into(struct stage *g, struct sinks *s, bool fresh, int argc,
                      char **argv)
{
    struct fl_results *r = s->results;
    struct fl_text context = { 0 };
    fl_context_json(&context, argc, argv, fl_plan_left(&g->plan), g->probe);
    fl_text_puts(&context, "\n");
    bool ok = !fresh || fl_results_write_context(r, &context);
    fl_text_free(&context);
    if (!ok || !fl_results_skip_done(r, &g->plan, &s->cells))
        return FL_EXIT_UNUSABLE;
    if (g->plan.shard == 1)
        fl_plan_add_traces(&g->plan, r->path);
    g->runner.context = s;
    fprintf(stderr, "faultlag: results in %s\n", r->path);
    int code = fl_runner_run(&g->runner);
    if (code == FL_EXIT_INTERRUPTED)
        fprintf(stderr, "\nfaultlag: interrupted; what is done is saved. Go "
                "on with: faultlag bench --resume %s\n", r->path);
    code = sum_up(g, s, code, stdout);
    if (code == FL_EXIT_DEVIATED)
        fprintf(stderr, "\nWhat these trials wrote to stderr is in "
                "%s/logs.\n", r->path);
    return code;
}

int fl_cmd_bench(const struct fl_options *given, int argc, char **argv)
{
    struct fl_results results = { .csv = -1 };
    struct sinks sinks = { .results = &results };
    struct fl_options options = *given;
    struct stage g;
    bool fresh = !given->resume;
    if (given->resume) {
        argv = fl_results_arguments(given->resume, &argc);
        if (!argv || !fl_options_parse(FL_CMD_BENCH, argc, argv, &options))
            return FL_EXIT_USAGE;
    }
    int code = set_up(&options, stdout, &g);
    if (code < 0)
        code = (fresh ? fl_results_create(&results, options.out)
                      : fl_results_resume(&results, given->resume))
            ? -1 : FL_EXIT_USAGE;
    if (code < 0)
        code = bench_into(&g, &sinks, fresh, argc, argv);
    fl_cells_free(&sinks.cells);
    fl_results_close(&results);
    strike(&g);
    if (!fresh) {
        for (int i = 0; i < argc; i++)
            free(argv[i]);
        free(argv);
    }
    return code;
}
