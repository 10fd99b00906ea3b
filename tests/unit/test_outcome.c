/* The classifier, case by case: what the facts of a trial make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/outcome.h"

enum { NEVER, ALWAYS, DEPENDS };
enum { UNREADABLE, RIGHT, WRONG };

#define C FL_OUTCOME_CLEAN
#define E FL_OUTCOME_EXACT
#define L FL_OUTCOME_LATE
#define M FL_OUTCOME_MISATTRIBUTED
#define S FL_OUTCOME_SILENT
#define N FL_OUTCOME_BENIGN
#define H FL_OUTCOME_HIDDEN
#define X FL_OUTCOME_BROKEN

static const struct {
    const char *what;
    struct fl_facts facts;
    enum fl_outcome_index outcome;
    unsigned suspects;
} cases[] = {
    /* planted, predicted, committed, fault launch, code, report launch,
     * by launch check, interval, claims own, suspects, data, named,
     * named fault */
    { "healthy and right", { 0, NEVER, 0, 0, 0, 0, 0, 0, 0, 0, RIGHT, 0, 0 },
      C, 0 },
    { "healthy and wrong", { 0, NEVER, 0, 0, 0, 0, 0, 0, 0, 0, WRONG, 0, 0 },
      X, 0 },
    { "healthy, unreadable",
      { 0, NEVER, 0, 0, 0, 0, 0, 0, 0, 0, UNREADABLE, 0, 0 }, X, 0 },
    { "healthy with a report",
      { 0, NEVER, 0, 0, 700, 3, 1, 0, 0, 1, UNREADABLE, 0, 0 }, X, 0 },
    { "healthy with a beacon",
      { 0, NEVER, 1, 3, 0, 0, 0, 0, 0, 0, RIGHT, 0, 0 }, X, 0 },
    { "healthy, but the oracle objects",
      { 0, ALWAYS, 0, 0, 0, 0, 0, 0, 0, 0, RIGHT, 0, 0 }, X, 0 },

    { "its own check",
      { 1, ALWAYS, 1, 5, 700, 5, 1, 0, 1, 1, UNREADABLE, 0, 0 },
      E, 1 },
    { "its own check, others not excluded",
      { 1, ALWAYS, 1, 5, 700, 5, 1, 0, 0, 4, UNREADABLE, 0, 0 }, E, 4 },
    { "a later launch's check, asynchronous code",
      { 1, ALWAYS, 1, 5, 700, 7, 1, 0, 0, 6, UNREADABLE, 0, 0 }, L, 6 },
    { "the call after the launch",
      { 1, ALWAYS, 1, 5, 700, 5, 0, 0, 0, 3, UNREADABLE, 0, 0 }, L, 3 },
    { "a later check that claims to be right",
      { 1, ALWAYS, 1, 5, 719, 7, 1, 0, 1, 3, UNREADABLE, 0, 0 }, M, 3 },
    { "a later call of a blocking program",
      { 1, ALWAYS, 1, 5, 710, 7, 0, 0, 1, 3, UNREADABLE, 0, 0 }, M, 3 },
    { "a launch error at its own check",
      { 1, ALWAYS, 1, 5, 9, 5, 1, 0, 0, 5, UNREADABLE, 0, 0 }, E, 1 },
    { "a launch error left for the next launch",
      { 1, ALWAYS, 1, 5, 9, 6, 1, 0, 0, 6, UNREADABLE, 0, 0 }, M, 1 },
    { "a launch error left for the end",
      { 1, ALWAYS, 1, 5, 9, 9, 0, 0, 0, 9, UNREADABLE, 0, 0 }, M, 9 },
    { "an interval of eight",
      { 1, ALWAYS, 1, 5, 700, 8, 1, 1, 0, 8, UNREADABLE, 0, 0 }, L, 8 },
    { "an interval that ends with the fault",
      { 1, ALWAYS, 1, 8, 700, 8, 1, 1, 0, 8, UNREADABLE, 0, 0 }, L, 8 },
    { "an interval of one",
      { 1, ALWAYS, 1, 5, 700, 5, 1, 1, 0, 1, UNREADABLE, 0, 0 }, E, 1 },
    { "an interval strategy, a launch error",
      { 1, ALWAYS, 1, 5, 9, 5, 1, 1, 0, 5, UNREADABLE, 0, 0 }, E, 1 },
    { "one suspect named, the right one, by a later check",
      { 1, ALWAYS, 1, 5, 700, 7, 1, 1, 0, 1, UNREADABLE, 1, 1 }, E, 1 },
    { "one suspect named, the right one, by another call",
      { 1, ALWAYS, 1, 5, 700, 9, 0, 1, 0, 1, UNREADABLE, 1, 1 }, E, 1 },
    { "two suspects named",
      { 1, ALWAYS, 1, 5, 700, 5, 1, 1, 0, 2, UNREADABLE, 1, 1 }, L, 2 },
    { "one suspect named, the wrong one",
      { 1, ALWAYS, 1, 5, 700, 5, 1, 1, 0, 1, UNREADABLE, 1, 0 }, M, 1 },
    { "reported without a beacon",
      { 1, ALWAYS, 0, 0, 700, 5, 1, 0, 1, 1, UNREADABLE, 0, 0 }, X, 0 },

    { "committed, data wrong",
      { 1, ALWAYS, 1, 5, 0, 0, 0, 0, 0, 0, WRONG, 0, 0 },
      S, 0 },
    { "committed, data right",
      { 1, ALWAYS, 1, 5, 0, 0, 0, 0, 0, 0, RIGHT, 0, 0 },
      N, 0 },
    { "committed, no report, unreadable",
      { 1, ALWAYS, 1, 5, 0, 0, 0, 0, 0, 0, UNREADABLE, 0, 0 }, X, 0 },
    { "certain, but not committed",
      { 1, ALWAYS, 0, 0, 0, 0, 0, 0, 0, 0, RIGHT, 0, 0 }, X, 0 },
    { "committed, though the oracle sees none",
      { 1, NEVER, 1, 5, 700, 5, 1, 0, 1, 1, UNREADABLE, 0, 0 }, X, 0 },
    { "a race that did not happen",
      { 1, DEPENDS, 0, 0, 0, 0, 0, 0, 0, 0, RIGHT, 0, 0 }, H, 0 },
    { "a race without one bad access",
      { 1, DEPENDS, 0, 0, 0, 0, 0, 0, 0, 0, WRONG, 0, 0 }, S, 0 },
    { "a race that hit",
      { 1, DEPENDS, 1, 5, 700, 9, 0, 0, 0, 7, UNREADABLE, 0, 0 }, L, 7 },
};

static void each_case_is_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fl_verdict v = fl_judge(&cases[i].facts);
        if (v.outcome != cases[i].outcome
            || v.suspects != cases[i].suspects)
            fail_msg("%s: %s, %u suspects", cases[i].what,
                     fl_outcome_name(v.outcome), v.suspects);
        assert_int_equal(v.why != NULL, v.outcome == FL_OUTCOME_BROKEN);
    }
}

static void sets_have_names(void **state)
{
    char text[128];
    (void)state;
    for (unsigned set = 1; set < 1u << FL_OUTCOME_COUNT; set += 37) {
        fl_outcomes_text(set, text, sizeof text);
        assert_int_equal(fl_outcomes_parse(text), set);
    }
    fl_outcomes_text(FL_EXACT | FL_LATE, text, sizeof text);
    assert_string_equal(text, "exact|late");
    assert_int_equal(fl_outcomes_parse(""), 0);
    assert_int_equal(fl_outcomes_parse("exact|no such"), 0);
    fl_outcomes_text(FL_EXACT | FL_LATE, text, 4);      /* cut, not overrun */
    assert_int_equal(strlen(text), 3);
}

/* driver_types.h says of these that the process must be relaunched. */
static void codes_are_told_apart(void **state)
{
    static const int sticky[] = { 226, 700, 702, 710, 714, 715, 716, 717, 718,
                                  719, 721, 810, 911 };
    static const int others[] = { 0, 1, 2, 9, 98, 209, 400, 600, 701, 720,
                                  801, 900, 999 };
    (void)state;
    for (size_t i = 0; i < 13; i++) {
        assert_true(fl_code_is_asynchronous(sticky[i]));
        assert_false(fl_code_is_asynchronous(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_is_judged),
        cmocka_unit_test(sets_have_names),
        cmocka_unit_test(codes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
