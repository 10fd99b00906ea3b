/* For testing the harness: a trial that is not possible here, except as the
 * twin. */
#include "harness/selftest/selftest.h"

static void *setup(struct fl_trial *t)
{
    if (fl_is_faulty(t))
        fl_skip(t, "no device can do %s", "this");
    return NULL;
}

static void step(struct fl_trial *t, void *state)
{
    (void)state;
    if (fl_is_faulty(t))
        FL_PLANT(t, NULL, (void)0,
            EXPECT("*", FL_EXACT, 0, NULL, FL_DERIVED));
    FL_STEP_END(t);
}

const struct fl_scenario scenario_selftest_skip = {
    SELFTEST("skip", "a trial that is not possible here"),
    .setup = setup,
};
