/* For testing the harness: a trial whose process is killed from outside. */
#include <signal.h>

#include "harness/selftest/selftest.h"

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

const struct fl_scenario scenario_selftest_kill = {
    SELFTEST("kill", "a trial whose process is killed from outside"),
    .setup = selftest_setup,
};
