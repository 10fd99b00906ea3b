/* For testing the harness: a trial whose process is killed from outside.
 * The twin does nothing and is clean. */
#include <signal.h>

#include "harness/scenario.h"

static void *setup(struct fl_trial *t)
{
    (void)t;
    return NULL;
}

static void step(struct fl_trial *t, void *state)
{
    (void)state;
    if (fl_is_faulty(t)) {
        fl_host_beacon(t, 0);
        FL_PLANT(t, NULL, raise(SIGKILL),
            EXPECT("*", FL_CRASH, 0, NULL, FL_DERIVED));
    }
    FL_STEP_END(t);
}

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    (void)state;
    return fl_is_faulty(t) ? FL_ALWAYS : FL_NEVER;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    (void)t, (void)state;
    return FL_DATA_RIGHT;
}

const struct fl_scenario scenario_selftest_kill = {
    .name = "selftest-kill",
    .summary = "a trial whose process is killed from outside",
    .stands_for = "the harness's own tests",
    .selftest = true,
    .variants = FL_FAULTY | FL_HEALTHY,
    .setup = setup, .step = step, .predict = predict, .check = check,
};
