/* For testing the harness: a trial that is not possible here, except as the
 * twin, which does nothing and is clean. */
#include "harness/scenario.h"

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

const struct fl_scenario scenario_selftest_skip = {
    .name = "selftest-skip",
    .summary = "a trial that is not possible here",
    .stands_for = "the harness's own tests",
    .selftest = true,
    .variants = FL_FAULTY | FL_HEALTHY,
    .setup = setup, .step = step, .predict = predict, .check = check,
};
