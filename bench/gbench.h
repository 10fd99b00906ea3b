/* Google Benchmark for C. The library is C++; gbench.cc is the project's only
 * C++ file and holds nothing but this translation, so that benchmarks are
 * written in C. A benchmark is a function that times a loop:
 *
 *     static void null_launch(struct gb_state *s, void *arg)
 *     {
 *         while (gb_next(s))
 *             launch_null(arg);
 *     }
 *     ...
 *     gb_add("launch", null_launch, stream, GB_WALL);
 *
 * Nothing here throws across the boundary; names are copied. */
#ifndef BENCH_GBENCH_H
#define BENCH_GBENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gb_state;
typedef void gb_body(struct gb_state *s, void *arg);

/* How an iteration is timed. */
enum gb_clock {
    GB_WALL,     /* time around the loop */
    GB_MANUAL,   /* the body reports each iteration with gb_seconds() */
};

void gb_add(const char *name, gb_body *body, void *arg, enum gb_clock clock);

/* True while another iteration is wanted; time starts at the first call. */
int gb_next(struct gb_state *s);
/* Exclude what lies between the two from the time; each costs ~100 ns. */
void gb_pause(struct gb_state *s);
void gb_resume(struct gb_state *s);
void gb_seconds(struct gb_state *s, double seconds);
int64_t gb_iterations(const struct gb_state *s);
/* A value reported as it is; a value divided by the time measured. */
void gb_counter(struct gb_state *s, const char *name, double value);
void gb_rate(struct gb_state *s, const char *name, double total);
/* Marks the benchmark as failed and says why; gb_next() is false after it. */
void gb_fail(struct gb_state *s, const char *why);

/* One line of the context that heads the output (device, versions); the only
 * context that a --benchmark_out file gets. */
void gb_context(const char *key, const char *value);

/* Runs what was added, as told by the --benchmark_* options, which are
 * removed from argv. Returns how many benchmarks ran, -1 on an unknown
 * option, which is named on stderr. */
int gb_run(int *argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
