/* For testing the harness: a trial that would not end before its own short
 * limit. The twin does nothing and is clean. */
#include <unistd.h>

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
        FL_PLANT(t, NULL, pause(),
            EXPECT("*", FL_HANG, 0, NULL, FL_DERIVED));
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

const struct fl_scenario scenario_selftest_limit = {
    .name = "selftest-limit",
    .summary = "a trial that would not end before its own short limit",
    .stands_for = "the harness's own tests",
    .selftest = true,
    .limit_ms = 300,
    .variants = FL_FAULTY | FL_HEALTHY,
    .setup = setup, .step = step, .predict = predict, .check = check,
};
