/* The scheduler of trials. Seeded ones share the cores; a free one, whose
 * times are measured, has the machine to itself. See runner.h. */
#include "harness/runner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/expect.h"
#include "harness/listing.h"

/* The trial keeps the limit itself, and so knows where it hung; this much
 * later the parent kills it. */
#define GRACE_MS 2000.0
#define MOST_JOBS 256

volatile sig_atomic_t fl_interrupted;

static void on_signal(int number)
{
    (void)number;
    fl_interrupted = 1;
}

struct slot { struct fl_child child; struct fl_planned *trial; };

/* ---- a trial's process ---- */

/* A scenario's own limit is for trials that are to hang: any other, a twin in a
 * faulty trial's place too, has all the time that the machine makes it need. */
static double limit_ms(const struct fl_runner *r, const struct fl_planned *t)
{
    bool to_hang = !r->kernels_end && !strcmp(t->variant, "faulty")
        && !getenv("FAULTLAG_TWIN")
        && fl_listing_outcomes(t->scenario, t->strategy,
                               fl_device_kind_name(r->device),
                               t->schedule ? t->schedule : "free") & FL_HANG;
    double own = to_hang
        ? (double)fl_json_integer(t->scenario, "limit_ms", 0) : 0;
    return own > 0 && own < r->limit_s * 1000 ? own : r->limit_s * 1000;
}

static bool start(struct fl_runner *r, struct slot *slot,
                  struct fl_planned *trial)
{
    struct fl_env env;
    char seed[32], limit[32], fd[16];
    const char *argv[28] = { r->places->trial };
    size_t n = 1;
    fl_environment_for(r->places, r->device, &env);
    snprintf(seed, sizeof seed, "%llu", trial->seed);
    snprintf(limit, sizeof limit, "%.0f", limit_ms(r, trial));
    snprintf(fd, sizeof fd, "%d", FL_RECORD_FD);
    if (trial->blocking)
        fl_env_set(&env, "CUDA_LAUNCH_BLOCKING", "1");
    if (trial->schedule) {
        fl_env_set(&env, "SIMGPU_SEED", seed);
        fl_env_set(&env, "SIMGPU_SCHEDULE", trial->schedule);
    }
    const char *pairs[][2] = {
        { "--scenario", fl_json_string(trial->scenario, "name", "?") },
        { "--variant", trial->variant }, { "--strategy", trial->strategy },
        { "--seed", seed }, { "--device", fl_device_kind_name(r->device) },
        { "--mode", trial->schedule ? "seeded" : "free" },
        { "--limit-ms", limit }, { "--result-fd", fd },
        { "--trace", trial->trace }, { "--inspect", trial->inspect },
        { "--record-inputs", trial->inputs ? "yes" : NULL },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][1]) {
            argv[n++] = pairs[i][0];
            argv[n++] = pairs[i][1];
        }
    slot->trial = trial;
    bool ok = fl_child_start(&slot->child, (char *const *)argv, &env,
                             (int64_t)((limit_ms(r, trial) + GRACE_MS) * 1e6));
    if (!ok)
        fprintf(stderr, "faultlag: %s: %s\n", r->places->trial,
                strerror(errno));
    fl_env_free(&env);
    return ok;
}

/* ---- from a dead process to a row ---- */

static void set_outcome(struct fl_row *row, const char *outcome,
                        const char *reason)
{
    fl_row_set(row, FL_COL_outcome, outcome);
    fl_row_set(row, FL_COL_reason, reason);
}

/* The last line that the trial wrote to stderr, for a reason. */
static char *last_line(const struct fl_text *text)
{
    const char *s = fl_text_str(text), *end = s + text->n;
    while (end > s && end[-1] == '\n')
        end--;
    const char *start = end;
    while (start > s && start[-1] != '\n')
        start--;
    return fl_format("%.*s", (int)(end - start > 300 ? 300 : end - start),
                     start);
}

/* A record is taken only from a process that ended well. */
static void outcome_of(const struct slot *slot, struct fl_row *row)
{
    const struct fl_child *c = &slot->child;
    bool left = WIFEXITED(c->status);
    int code = left ? WEXITSTATUS(c->status) : -WTERMSIG(c->status);
    struct fl_json *record = fl_json_parse(
        fl_text_str(&c->text[FL_RECORD]), c->text[FL_RECORD].n, NULL);
    char *said = last_line(&c->text[FL_ERR]), *why = NULL;
    fl_row_set_integer(row, FL_COL_exit_status, code);
    if (c->timed_out) {
        set_outcome(row, "hang", "killed: no end within the time limit");
    } else if (left && code == 0 && record) {
        fl_row_from_json(row, record);
    } else if (!left) {
        why = fl_format("signal %d (%s)", -code, strsignal(-code));
        set_outcome(row, "crash", why);
    } else if (code == 2 || code == 3 || code == 127) {
        /* Never begun: bad arguments, no device, not even loaded. */
        set_outcome(row, "broken", said);
    } else {
        why = fl_format("the process left with status %d and no record%s%s",
                        code, *said ? ": " : "", said);
        set_outcome(row, "crash", why);
    }
    free(why);
    free(said);
    fl_json_free(record);
}

static void fill(const struct fl_runner *r, const struct slot *slot,
                 struct fl_row *row)
{
    const struct fl_planned *t = slot->trial;
    const struct fl_child *c = &slot->child;
    fl_row_set_integer(row, FL_COL_schema_version, FL_SCHEMA_VERSION);
    fl_row_set(row, FL_COL_trial_id, t->id);
    fl_row_set(row, FL_COL_scenario, fl_json_string(t->scenario, "name", "?"));
    fl_row_set(row, FL_COL_variant, t->variant);
    fl_row_set(row, FL_COL_strategy, t->strategy);
    fl_row_set(row, FL_COL_device, fl_device_kind_name(r->device));
    fl_row_set(row, FL_COL_device_name, r->device_name);
    fl_row_set(row, FL_COL_mode, t->schedule ? "seeded" : "free");
    if (t->schedule)
        fl_row_set(row, FL_COL_schedule, t->schedule);
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", t->seed);
    fl_row_set(row, FL_COL_seed, seed);
    outcome_of(slot, row);
    fl_row_set_integer(row, FL_COL_wall_ms,
                       (c->ended_ns - c->started_ns) / 1000000);
}

/* ---- progress ---- */

static void show(const struct fl_runner *r, const struct fl_row *row,
                 size_t total)
{
    bool terminal = isatty(STDERR_FILENO);
    bool bad = !strcmp(fl_row_get(row, FL_COL_as_expected), "no");
    if (r->quiet && !bad)
        return;
    const char *deviation = fl_row_get(row, FL_COL_deviation);
    const char *reason = fl_row_get(row, FL_COL_reason);
    fprintf(stderr, "%s[%zu/%zu] %s: %s%s%s%s%s%s", terminal ? "\r\033[K" : "",
            r->finished, total, fl_row_get(row, FL_COL_trial_id),
            fl_row_get(row, FL_COL_outcome), bad ? " DEVIATES: " : "",
            deviation, *reason && bad ? " (" : "", bad ? reason : "",
            *reason && bad ? ")" : "");
    if (bad || !terminal || r->finished == total)
        fputs("\n", stderr);
    fflush(stderr);
}

static bool finish(struct fl_runner *r, struct slot *slot, size_t total)
{
    struct fl_row row = { 0 };
    fill(r, slot, &row);
    r->finished++;
    if (slot->trial->aside) {
        show(r, &row, total);
        fl_row_free(&row);
        fl_child_free(&slot->child);
        return true;
    }
    r->deviated += !fl_listing_judge(slot->trial->scenario, &row);
    r->skipped += !strcmp(fl_row_get(&row, FL_COL_outcome), "skipped");
    bool kept = r->keep(r->context, &row,
                        fl_text_str(&slot->child.text[FL_ERR]));
    show(r, &row, total);
    slot->trial->done = true;
    fl_row_free(&row);
    fl_child_free(&slot->child);
    return kept;
}

/* ---- the loop ---- */

struct pool {
    struct slot slots[MOST_JOBS];
    struct fl_child *children[MOST_JOBS];
    struct slot *of[MOST_JOBS];
    int n;
};

static struct slot *free_slot(struct pool *pool)
{
    struct slot *s = pool->slots;
    while (s->trial)
        s++;
    return s;
}

/* May this trial start beside those that run? */
static bool fits(const struct fl_runner *r, const struct pool *pool,
                 const struct fl_planned *trial)
{
    if (pool->n == 0)
        return true;
    return trial->schedule && pool->of[0]->trial->schedule
        && (unsigned)pool->n < r->jobs;
}

static bool serve(struct fl_runner *r, struct pool *pool, size_t total)
{
    int i = fl_child_wait(pool->children, pool->n, &fl_interrupted);
    if (i < 0)
        return fl_interrupted;
    struct slot *slot = pool->of[i];
    pool->n--;
    pool->of[i] = pool->of[pool->n];
    pool->children[i] = pool->children[pool->n];
    bool kept = finish(r, slot, total);
    slot->trial = NULL;
    return kept;
}

int fl_runner_run(struct fl_runner *r)
{
    static struct pool pool;
    struct sigaction action = { .sa_handler = on_signal };
    size_t next = 0, total = fl_plan_left(r->plan);
    bool ok = true;
    pool = (struct pool){ 0 };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (r->jobs < 1)
        r->jobs = 1;
    if (r->jobs > MOST_JOBS)
        r->jobs = MOST_JOBS;
    while (ok && !fl_interrupted && (pool.n || next < r->plan->n)) {
        struct fl_planned *trial = &r->plan->trials[next];
        if (next < r->plan->n && trial->done) {
            next++;
        } else if (next < r->plan->n && fits(r, &pool, trial)) {
            struct slot *slot = free_slot(&pool);
            ok = start(r, slot, trial);
            if (ok) {
                pool.children[pool.n] = &slot->child;
                pool.of[pool.n++] = slot;
                next++;
            }
        } else {
            ok = serve(r, &pool, total);
        }
    }
    for (int i = 0; i < pool.n; i++)
        fl_child_free(pool.children[i]);
    return fl_interrupted ? 130 : !ok ? 3 : r->deviated ? 1
        : r->finished && r->skipped == r->finished ? 77 : 0;
}
