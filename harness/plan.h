/* What is to be run: every trial of a run, known before the first starts. */
#ifndef FAULTLAG_HARNESS_PLAN_H
#define FAULTLAG_HARNESS_PLAN_H

#include "harness/environment.h"
#include "harness/options.h"

struct fl_planned {
    char *id;                   /* names the trial within the run */
    const struct fl_json *scenario;
    const char *variant, *strategy, *schedule;  /* schedule NULL: free */
    bool blocking;
    unsigned long long seed;
    bool done;                  /* by an earlier, interrupted run, or left to
                                   another shard */
    char *trace, *inspect;      /* paths of what is to be written, or NULL */
    bool inputs;                /* inspect: the operators' inputs, too */
    bool aside;                 /* only for these: no row, no judgement */
};

/* Its strings belong to the listing, which must outlive it. */
struct fl_plan {
    struct fl_planned *trials;
    size_t n;
    unsigned long long shard, shards;   /* this one, from 1, of so many */
};

/* Scenarios: the one called options->name, else those that match
 * options->filter. Trials of all cells are interleaved, in an order drawn
 * from the seed, seeded ones first; a shard has its part of that order and
 * passes over the others. False, told on stderr: bad options. */
bool fl_plan_make(const struct fl_json *listing,
                  const struct fl_options *options,
                  enum fl_device_kind device, struct fl_plan *plan);
/* Adds a trial beside the plan, at its end, that is made for its timeline:
 * tracing adds work to the device, so it gives no row. It is the plan's first
 * faulty free trial under that strategy (NULL: any) of the scenario that comes
 * first by name. False: there is none. */
bool fl_plan_add_trace(struct fl_plan *plan, const char *strategy,
                       const char *path);
/* The same for a look into its memory, and with `inputs` at what its operators
 * are given; in either mode. */
bool fl_plan_add_inspection(struct fl_plan *plan, const char *path,
                            bool inputs);
/* One in a results folder for each of three strategies that differ most, as
 * far as the plan has them. */
void fl_plan_add_traces(struct fl_plan *plan, const char *folder);
size_t fl_plan_left(const struct fl_plan *plan);       /* not done */
void fl_plan_free(struct fl_plan *plan);

#endif
