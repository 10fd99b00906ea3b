/* Runs a plan: one process a trial, each one ending as a row. */
#ifndef FAULTLAG_HARNESS_RUNNER_H
#define FAULTLAG_HARNESS_RUNNER_H

#include <signal.h>

#include "harness/columns.h"
#include "harness/plan.h"

struct fl_runner {
    const struct fl_places *places;
    enum fl_device_kind device;
    const char *device_name;
    struct fl_plan *plan;
    unsigned jobs;              /* seeded trials at a time */
    double limit_s;             /* of one trial */
    bool kernels_end;           /* the device sees to it, so that a hang may
                                   become an error, if one waits for it */
    bool quiet;

    /* Called with each finished trial, in the order of their ends; `log` is
     * what the trial wrote to stderr. False: the row could not be kept, and
     * the run ends. */
    bool (*keep)(void *context, const struct fl_row *row, const char *log);
    void *context;

    size_t finished, deviated, skipped;
};

/* Set by SIGINT and SIGTERM once fl_runner_run has begun. */
extern volatile sig_atomic_t fl_interrupted;

/* Exit code of the run: 0, 1 something deviated, 3 nothing could be started
 * or kept, 77 everything skipped, 130 interrupted. */
int fl_runner_run(struct fl_runner *runner);

#endif
