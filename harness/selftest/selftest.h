/* What the programs for testing the harness share. Each is a step of its own,
 * which in the faulty variant does what no scenario should and as the twin
 * does nothing and is clean. */
#ifndef FAULTLAG_HARNESS_SELFTEST_H
#define FAULTLAG_HARNESS_SELFTEST_H

#include "harness/scenario.h"

void *selftest_setup(struct fl_trial *t);           /* nothing */
enum fl_prediction selftest_predict(const struct fl_trial *t,
                                    const void *state);
enum fl_data selftest_check(struct fl_trial *t, void *state);

/* The members that all descriptors have, `step` among them. */
#define SELFTEST(name_, summary_) \
    .name = "selftest-" name_, \
    .summary = summary_, \
    .stands_for = "the harness's own tests", \
    .selftest = true, \
    .variants = FL_FAULTY | FL_HEALTHY, \
    .step = step, .predict = selftest_predict, .check = selftest_check

#endif
