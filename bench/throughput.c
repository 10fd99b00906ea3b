/* The throughput benchmark: cells x strategies and defences, repeated until the
 * time is used up. Within one repetition of a cell these follow each other at
 * once, in an order drawn anew, and only such neighbours are ever compared; so
 * a machine that gets slower or faster meanwhile changes no ratio. Cells share
 * the time evenly, so that those with short steps, which other programs on
 * the machine disturb most, are repeated most. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "harness/expect.h"
#include "harness/random.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- set-up -------------------------------------------------------------- */

static const char *const variants[] = {
#define X(ident, name, meaning) name,
    FL_VARIANTS(X)
#undef X
};

static struct worker *start_worker(struct bench *b, const char *strategy,
                                   const char *variant, struct turn_reply *r)
{
    struct worker *w = &b->workers[b->n_workers++];
    if (!worker_start(w, b->o->device, strategy, variant, r))
        fprintf(stderr, "faultlag-bench: %s: %s\n", w->name, w->gone);
    return w;
}

static bool start_workers(struct bench *b)
{
    const struct options *o = b->o;
    struct turn_reply r = { 0 };
    for (size_t i = 0; i < o->n_strategies; i++) {
        struct worker *w = start_worker(b, o->strategies[i], HEALTHY, &r);
        if (!strcmp(w->strategy, BASELINE))
            b->baseline = w;
    }
    if (b->baseline->pid <= 0)
        return false;
    if (b->csv)
        csv_header(b->csv, o, r.text, (unsigned long long)r.count);
    for (int i = FL_VARIANT_GUARDED; i < FL_VARIANT_COUNT; i++)
        if (o->n_scenarios)
            start_worker(b, BASELINE, variants[i], &r);
    return true;
}

/* Lengths are turned into rounds once, by the baseline's worker, so that all
 * strategies do the same work. */
static bool make_cells(struct bench *b)
{
    const struct options *o = b->o;
    struct turn_request q = { .kind = TURN_SPEED };
    struct turn_reply r;
    if (!worker_ask(b->baseline, &q, &r))
        return false;
    for (size_t h = 0; h < o->n_hosts; h++)
        for (size_t k = 0; k < o->n_kernels; k++)
            b->cells[b->n_cells++] = (struct cell){
                .workload = "spin", .kernel_ns = o->kernel_ns[k],
                .host_work_ns = o->host_ns[h],
                .rounds = (uint32_t)fmin(lround(o->kernel_ns[k] / r.value),
                                         UINT32_MAX) };
    for (size_t s = 0; s < o->n_scenarios; s++)
        b->cells[b->n_cells++] = (struct cell){
            .workload = o->scenarios[s], .kernel_ns = NAN,
            .host_work_ns = NAN };
    return true;
}

/* Intervals are wide on a busy machine; who reads them later should know. */
static void note_load(const struct bench *b)
{
    double load;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&load, 1) != 1)
        return;
    if (b->csv)
        fprintf(b->csv, "# load average %.1f on %ld cores at the start\n",
                load, cores);
    if (load > 0.5 * (double)cores)
        fprintf(stderr, "faultlag-bench: other programs keep this machine "
                "busy (load %.1f on %ld cores): intervals will be wide; "
                "--seconds makes them narrower\n", load, cores);
}

/* ---- turns --------------------------------------------------------------- */

static void shuffle(struct bench *b, size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = fl_splitmix(&b->random) % i, other = order[k];
        order[k] = order[i - 1];
        order[i - 1] = other;
    }
}

static bool keep(struct bench *b, const struct turn *t)
{
    if (b->n_turns == b->max_turns) {
        size_t more = b->max_turns ? b->max_turns * 2 : 1024;
        struct turn *turns = realloc(b->turns, more * sizeof *turns);
        if (!turns)
            return false;
        b->turns = turns;
        b->max_turns = more;
    }
    b->turns[b->n_turns++] = *t;
    if (b->csv)
        csv_row(b->csv, t);
    return true;
}

static void lost(struct bench *b, const struct worker *w)
{
    fprintf(stderr, "faultlag-bench: %s: %s\n", w->name, w->gone);
    if (b->csv)
        fprintf(b->csv, "# %s ended: %s\n", w->name, w->gone);
}

/* One repetition of one cell. */
static void take_turns(struct bench *b, const struct cell *c)
{
    struct turn_request q = { .kind = TURN_KERNEL, .rounds = c->rounds,
                              .launches = b->o->launches };
    struct turn_reply r;
    struct turn t = { .cell = c, .device = b->o->device,
                      .repetition = c->repetitions,
                      .kernel_measured_ns = NAN };
    size_t order[MAX_WORKERS];
    bool spin = !isnan(c->kernel_ns);
    if (spin && worker_ask(b->baseline, &q, &r))
        t.kernel_measured_ns = r.value;
    q.kind = TURN_STEPS;
    q.budget_ns = (uint64_t)b->o->turn_ns;
    q.host_work_ns = isnan(c->host_work_ns) ? 0 : (uint64_t)c->host_work_ns;
    snprintf(q.workload, sizeof q.workload, "%s", c->workload);
    shuffle(b, order, b->n_workers);
    for (size_t i = 0; i < b->n_workers && !interrupted; i++) {
        struct worker *w = &b->workers[order[i]];
        if (w->pid <= 0 || (spin && worker_is_defence(w)))
            continue;
        if (!worker_ask(w, &q, &r)) {
            lost(b, w);
            continue;
        }
        if (!r.count)
            continue;           /* this scenario has no such variant */
        t.by = w;
        t.order = (unsigned)i;
        t.launches = r.launches;
        t.steps = (double)r.count;
        t.elapsed_ns = r.ns;
        keep(b, &t);
    }
}

/* The cell that has had the least time; late: only ones that have not had
 * their repetitions yet. NULL when there is none. */
static struct cell *next_cell(struct bench *b, bool late)
{
    struct cell *next = NULL;
    for (struct cell *c = b->cells; c < b->cells + b->n_cells; c++)
        if (!(late && c->repetitions >= b->o->min_repetitions) &&
            (!next || c->seconds < next->seconds))
            next = c;
    return next;
}

static void repeat(struct bench *b)
{
    double start = now_s(), told = start;
    struct cell *c;
    while (!interrupted && b->baseline->pid > 0 &&
           (c = next_cell(b, now_s() - start > b->o->seconds))) {
        double before = now_s();
        take_turns(b, c);
        c->repetitions++;
        c->seconds += now_s() - before;
        if (now_s() - told > 5) {
            told = now_s();
            fprintf(stderr, "throughput: %.0f of %.0f s\n", told - start,
                    b->o->seconds);
        }
    }
}

int throughput_run(const struct options *o)
{
    static struct bench b;
    int rc = 3;
    b = (struct bench){ .o = o, .random = o->seed };
    if (o->out) {
        char path[4096];
        snprintf(path, sizeof path, "%s/throughput.csv", o->out);
        b.csv = fopen(path, "wx");          /* never over an older file */
        if (!b.csv) {
            perror(path);
            return 3;
        }
    }
    note_load(&b);
    struct sigaction stop = { .sa_handler = on_signal };
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (start_workers(&b) && make_cells(&b)) {
        repeat(&b);
        summary_print(stdout, &b);
        rc = 0;
    }
    for (size_t i = 0; i < b.n_workers; i++) {
        if (b.workers[i].pid <= 0 && rc == 0)
            rc = 1;
        worker_stop(&b.workers[i]);
    }
    if (b.csv)
        fclose(b.csv);
    free(b.turns);
    return interrupted ? 130 : rc;
}
