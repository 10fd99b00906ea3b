/* For testing the harness: a trial that dies of a bad host pointer. */
#include "harness/selftest/selftest.h"

static volatile int *volatile nowhere;

static void step(struct fl_trial *t, void *state)
{
    (void)state;
    if (fl_is_faulty(t)) {
        fl_host_beacon(t, 0);
        FL_PLANT(t, NULL, (void)*nowhere,
            EXPECT("*", FL_CRASH, 0, NULL, FL_DERIVED));
    }
    FL_STEP_END(t);
}

const struct fl_scenario scenario_selftest_crash = {
    SELFTEST("crash", "a trial that dies of a bad host pointer"),
    .setup = selftest_setup,
};
