/* The two things that a faultlag-bench-worker can be. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "harness/scenario.h"
#include "harness/strategy.h"

/* Takes turns until standard input ends (turns.h). Exit code of the process. */
int worker_run(const struct fl_strategy *strategy, enum fl_variant variant);

/* Runs the micro benchmarks with Google Benchmark's options in argv. */
int micro_run(int argc, char **argv);

#endif
