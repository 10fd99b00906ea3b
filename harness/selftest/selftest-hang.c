/* For testing the harness: a trial that never ends. */
#include <unistd.h>

#include "harness/selftest/selftest.h"

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

const struct fl_scenario scenario_selftest_hang = {
    SELFTEST("hang", "a trial that never ends"),
    .setup = selftest_setup,
};
