/* The benchmark's parent: it links no CUDA, plans the cells, starts a worker
 * for each strategy and each defence, gives turns, writes throughput.csv and
 * prints what came of it. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "bench/turns.h"

#define THROUGHPUT_SCHEMA 1
#define BASELINE "async"
#define HEALTHY "healthy"
#define MAX_LIST 64
#define MAX_WORKERS (MAX_LIST + 8)
#define MAX_CELLS (MAX_LIST * MAX_LIST + MAX_LIST)

struct options {
    const char *device;             /* auto, sim, cuda; later sim or cuda */
    const char *out;                /* folder of the files, or NULL */
    bool throughput, micro;
    double seconds;                 /* for the throughput part */
    double turn_ns;
    unsigned launches, min_repetitions;
    uint64_t seed;
    const char *strategies[MAX_LIST];   size_t n_strategies;
    const char *scenarios[MAX_LIST];    size_t n_scenarios;
    double kernel_ns[MAX_LIST];         size_t n_kernels;
    double host_ns[MAX_LIST];           size_t n_hosts;
    char **passed;                  /* options for Google Benchmark */
    int n_passed;
};

/* Fills *o; returns 0, or the exit code of the process. */
int options_parse(struct options *o, int argc, char **argv);

/* ---- workers (workers.c) ------------------------------------------------- */

/* Healthy work under a strategy; or, under the baseline, faulty input against
 * the defence that a scenario's variant of that name has. */
struct worker {
    const char *strategy, *variant;
    const char *name;               /* the strategy, or the defence */
    pid_t pid;
    int to, from;                   /* pipes; -1 when it is gone */
    char gone[TURN_TEXT];           /* why */
};

/* Starts it and hears from it; false when it is of no use on that device, or
 * found itself on another one. */
bool worker_start(struct worker *w, const char *device, const char *strategy,
                  const char *variant, struct turn_reply *hello);
bool worker_is_defence(const struct worker *w);
/* False when the worker has failed, died or did not answer in time: it is
 * gone from then on, and says why. */
bool worker_ask(struct worker *w, const struct turn_request *q,
                struct turn_reply *r);
void worker_stop(struct worker *w);
/* Runs the micro benchmarks in a worker of their own; its exit code. */
int micro_start(const struct options *o);

/* ---- what was measured (results.c) --------------------------------------- */

struct cell {
    const char *workload;
    double kernel_ns, host_work_ns; /* NAN for a scenario's twin */
    uint32_t rounds;
    unsigned repetitions;           /* so far */
    double seconds;                 /* spent on it so far */
};

struct turn {
    const struct cell *cell;
    const struct worker *by;
    const char *device;
    unsigned repetition, order, launches;
    double steps, elapsed_ns, kernel_measured_ns;
};

void csv_header(FILE *f, const struct options *o, const char *device_name,
                unsigned long long runtime);
void csv_row(FILE *f, const struct turn *t);
/* Everything that was measured. */
struct bench {
    const struct options *o;
    struct worker workers[MAX_WORKERS];
    size_t n_workers;
    struct worker *baseline;
    struct cell cells[MAX_CELLS];
    size_t n_cells;
    struct turn *turns;
    size_t n_turns, max_turns;
    uint64_t random;
    FILE *csv;
};

/* Cost of each strategy and defence against the baseline, a line a cell. */
void summary_print(FILE *f, const struct bench *b);

/* ---- the loop (throughput.c) --------------------------------------------- */

/* Exit code: 0, 1 when a worker failed, 3 when nothing could be measured. */
int throughput_run(const struct options *o);

#endif
