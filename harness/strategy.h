/* A strategy: how the host learns of errors. One row in strategies.def; the
 * hooks of each are in strategies.c. A hook that finds an error calls
 * fl_check(), which does not return when the code is one. */
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
    void (*start)(struct fl_trial *t);          /* after set-up; may be NULL */
    void (*before_launch)(struct fl_trial *t);
    void (*after_launch)(struct fl_trial *t);   /* the launch just made */
    void (*step_end)(struct fl_trial *t);       /* before the step's own wait */
    void (*at_report)(struct fl_trial *t);      /* whoever found the error; may
                                                   name suspects */
};

/* In the order of strategies.def; a NULL name ends it. */
extern const struct fl_strategy fl_strategies[];
const struct fl_strategy *fl_strategy_named(const char *name);

/* ---- for hooks ---- */

unsigned fl_launch_now(const struct fl_trial *t);       /* number, from 1 */
cudaStream_t fl_stream_now(const struct fl_trial *t);   /* of that launch */

/* The strategy's own call `api` gave `code` while looking at the launch in
 * force: an error becomes the trial's report. */
void fl_check(struct fl_trial *t, const char *api, cudaError_t code);

/* The strategy has just made the host wait for the device. */
void fl_waited(struct fl_trial *t);

/* Everything issued so far on `stream` (FL_ALL_STREAMS) is complete and good;
 * the second form speaks of launch `number` and all before it there. */
void fl_known_good(struct fl_trial *t, cudaStream_t stream);
void fl_known_good_up_to(struct fl_trial *t, cudaStream_t stream,
                         unsigned number);

/* The strategy names these launches itself, in place of all that are not
 * known good. For the hook at_report; passed over where the code is about the
 * call that returned it. */
void fl_name_suspect(struct fl_trial *t, unsigned number);

/* A slot for the strategy's own state, malloc'ed. */
void **fl_strategy_state(struct fl_trial *t);

#endif
