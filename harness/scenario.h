/* A scenario: one small training or inference program with one planted fault,
 * in one file scenarios/NAME.c, plus one line SCENARIO(ident) in
 * scenarios/catalogue.def. The descriptor is the last thing in the file:
 *
 *   const struct fl_scenario scenario_bad_gather = {
 *       .name = "bad-gather", ...
 *   };
 *
 * A trial calls setup() once, step() `steps` times, then, whatever happened,
 * outcome of the device permitting, check(); the process ends after that. */
#ifndef FAULTLAG_HARNESS_SCENARIO_H
#define FAULTLAG_HARNESS_SCENARIO_H

#include "harness/launch.h"

/* Whether the faulty variant must commit its fault, by the CPU's account. */
enum fl_prediction {
    FL_NEVER,           /* this input is good */
    FL_ALWAYS,
    FL_DEPENDS          /* on the order in which the device does its work */
};

enum fl_data { FL_DATA_UNREADABLE, FL_DATA_RIGHT, FL_DATA_WRONG };

struct fl_scenario {
    const char *name;           /* the file's stem */
    const char *summary;        /* one sentence: what is planted */
    const char *stands_for;     /* the real-world report it stands for */
    unsigned variants;          /* set of enum fl_variant */
    unsigned steps;             /* of one trial; 0 means 1 */
    unsigned limit_ms;          /* shorter time limit of a faulty trial, where
                                   it is to hang and the device ends no kernel
                                   itself; 0: the usual one */

    /* The planted access: kernel function and file ("kernels/gather.cu"); its
     * line comes with the beacon. NULL where the host commits the fault. */
    const char *fault_kernel, *fault_file;
    const char *guard;          /* what the guarded variant does; or NULL */
    bool plant_unchecked;       /* the FL_PLANT stands for a library that does
                                   not look at its launches: no strategy's
                                   check goes with it */
    bool selftest;              /* for testing the harness; not listed */

    /* Before the process makes its context, for what a program does to its
     * own environment; may be NULL. */
    void (*before_context)(void);

    /* Allocates, fills, uploads. Plain calls, neither counted nor recorded:
     * use fl_must(). Returns the scenario's own state. */
    void *(*setup)(struct fl_trial *t);

    /* One step, of nested functions, ending in FL_STEP_END. */
    void (*step)(struct fl_trial *t, void *state);

    /* The CPU oracle, before the first step: will this input go wrong? */
    enum fl_prediction (*predict)(const struct fl_trial *t, const void *state);

    /* The CPU oracle on a beacon: is that thread of that launch (block,
     * thread, value) one that commits the fault? Also asked about the thread
     * that simgpu recorded; then beacon->set is FL_BEACON_FROM_DEVICE, and
     * launch and value are not known. */
    bool (*commits)(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon);

    /* After the steps, only if the context still lives: reads the results
     * back and compares them with the CPU's. Plain calls; a failing one means
     * FL_DATA_UNREADABLE. */
    enum fl_data (*check)(struct fl_trial *t, void *state);

    void (*teardown)(struct fl_trial *t, void *state);  /* may be NULL */
};

/* What a scenario may ask of its trial. */
enum fl_variant fl_variant(const struct fl_trial *t);
static inline bool fl_is_faulty(const struct fl_trial *t)
{
    return fl_variant(t) == FL_FAULTY;
}
static inline bool fl_is_defended(const struct fl_trial *t)
{
    return fl_variant(t) >= FL_GUARDED;
}
unsigned fl_step(const struct fl_trial *t);         /* from 0 */
/* The trial's own random numbers: a function of the trial's seed and the
 * number of calls so far, the same on every device and strategy. */
uint64_t fl_random(struct fl_trial *t);
/* For set-up, where a scenario draws from the seed how many of its samples are
 * bad: the share is a column, so that trials can be sorted by it. */
void fl_bad_samples(struct fl_trial *t, int bad, int of);

/* For set-up and checks: a code other than success ends the trial as broken. */
#define fl_must(t, call) \
    fl_must_at((t), (call), #call, __FILE__, __LINE__)
void fl_must_at(struct fl_trial *t, cudaError_t code, const char *text,
                const char *file, int line);

/* All scenarios, in the catalogue's order; NULL ends it. */
extern const struct fl_scenario *const fl_scenarios[];
const struct fl_scenario *fl_scenario_named(const char *name);
/* Its FL_PLANT, or NULL. */
const struct fl_plant *fl_scenario_plant(const struct fl_scenario *s);

#endif
