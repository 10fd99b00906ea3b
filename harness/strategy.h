/* A strategy: how the host learns of errors. One row in strategies.def; the
 * hooks are in strategies.c and, of the larger ones, in strategy_*.c. A hook
 * that finds an error calls fl_check(), which does not return when the code is
 * one. */
#ifndef FAULTLAG_HARNESS_STRATEGY_H
#define FAULTLAG_HARNESS_STRATEGY_H

#include "harness/launch.h"

struct fl_strategy {
    const char *name;
    const char *summary;
    bool blocking;          /* runs with CUDA_LAUNCH_BLOCKING=1 */
    bool claims_own;        /* promises that a report is about the launch or
                               call that it names: a wrong one misattributes */
    bool interval;          /* its checks speak of several launches at once */
    bool sees_all;          /* its hooks go with launches of libraries, too
                               (plant_unchecked in scenario.h) */
    /* Each may be NULL. */
    void (*start)(struct fl_trial *t);          /* before the set-up */
    void (*before_launch)(struct fl_trial *t);
    void (*after_launch)(struct fl_trial *t);   /* the launch just made */
    void (*before_call)(struct fl_trial *t);    /* FL_CALL and its kin */
    void (*after_call)(struct fl_trial *t);     /* it was good */
    void (*step_end)(struct fl_trial *t);       /* the step's wait was good */
    void (*at_report)(struct fl_trial *t);      /* whoever found the error; may
                                                   name suspects */
};

/* In the order of strategies.def; a NULL name ends it. */
extern const struct fl_strategy fl_strategies[];
const struct fl_strategy *fl_strategy_named(const char *name);

/* ---- for hooks ---- */

unsigned fl_launch_now(const struct fl_trial *t);       /* number, from 1 */
cudaStream_t fl_stream_now(const struct fl_trial *t);   /* of that launch */
const char *fl_call_now(const struct fl_trial *t);      /* as written */

/* The strategy's own call `api` gave `code` while looking at the launch or
 * call in force: an error becomes the trial's report. */
void fl_check(struct fl_trial *t, const char *api, cudaError_t code);

/* The strategy made so many calls whose codes are answers, not errors. */
void fl_called(struct fl_trial *t, unsigned calls);

/* The strategy has just made the host wait for the device. */
void fl_waited(struct fl_trial *t);

/* Everything issued so far on `stream` (FL_ALL_STREAMS) is complete and good;
 * the second form speaks of launch `number` and all before it there. */
void fl_known_good(struct fl_trial *t, cudaStream_t stream);
void fl_known_good_up_to(struct fl_trial *t, cudaStream_t stream,
                         unsigned number);

/* From now on kernels are to record what a check of theirs can see and to
 * leave; the number of the launch in which one did, 0 for none. */
void fl_leave_early(struct fl_trial *t);
unsigned fl_left_early(const struct fl_trial *t);

/* An error that no call has returned: `source` told of it. */
void fl_report(struct fl_trial *t, const char *source, cudaError_t code);

bool fl_is_known_good(const struct fl_trial *t, unsigned number);
/* Launches after `number` have not reached the device yet. */
void fl_innocent_after(struct fl_trial *t, unsigned number);

/* The strategy names these launches itself, in place of all that are not
 * known good. For the hook at_report; passed over where the code is about the
 * call that returned it. */
void fl_name_suspect(struct fl_trial *t, unsigned number);

/* A slot for the strategy's own state, malloc'ed. */
void **fl_strategy_state(struct fl_trial *t);

#endif
