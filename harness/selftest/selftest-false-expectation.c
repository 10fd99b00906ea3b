/* For testing the harness: an expectation that does not hold. */
#include "harness/selftest/selftest.h"

static void step(struct fl_trial *t, void *state)
{
    (void)state;
    if (fl_is_faulty(t)) {
        fl_host_beacon(t, 0);
        FL_PLANT(t, NULL, (void)0,
            EXPECT("*", FL_EXACT, 0, NULL, FL_DERIVED));
    }
    FL_STEP_END(t);
}

const struct fl_scenario scenario_selftest_false_expectation = {
    SELFTEST("false-expectation", "an expectation that does not hold"),
    .setup = selftest_setup,
};
