/* For testing the harness: a trial that ends its process on its own. */
#include <stdlib.h>

#include "harness/selftest/selftest.h"

static void step(struct fl_trial *t, void *state)
{
    (void)state;
    if (fl_is_faulty(t)) {
        fl_host_beacon(t, 0);
        FL_PLANT(t, NULL, exit(7),
            EXPECT("*", FL_CRASH, 0, NULL, FL_DERIVED));
    }
    FL_STEP_END(t);
}

const struct fl_scenario scenario_selftest_exit = {
    SELFTEST("exit", "a trial that ends its process on its own"),
    .setup = selftest_setup,
};
