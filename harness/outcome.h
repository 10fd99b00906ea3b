/* What became of a trial, decided from facts alone. */
#ifndef FAULTLAG_HARNESS_OUTCOME_H
#define FAULTLAG_HARNESS_OUTCOME_H

#include <stdbool.h>

#include "harness/expect.h"

struct fl_facts {
    bool planted;               /* the faulty variant */
    int predicted;              /* enum fl_prediction, the CPU oracle's */
    bool committed;             /* the beacon is set */
    unsigned fault_launch;      /* by the beacon; 0: unknown */
    int code;                   /* of the report; 0: none */
    unsigned report_launch;     /* last launch made when it came */
    bool by_launch_check;       /* by the check that goes with that launch */
    bool interval, claims_own;  /* the strategy's traits */
    unsigned suspects;          /* launches that the report cannot exclude */
    int data;                   /* enum fl_data */
    bool named, named_fault;    /* the strategy named these suspects itself;
                                   the fault launch is one of them */
};

struct fl_verdict {
    enum fl_outcome_index outcome;
    unsigned suspects;          /* launches named; 0: no report */
    const char *why;            /* of a broken trial: what does not agree */
};

struct fl_verdict fl_judge(const struct fl_facts *facts);

/* A code that comes from work done earlier on the device, after which the
 * context is lost; any other code is about the call that returned it, or was
 * left latched by a launch. cuda-error-semantics: the codes that
 * driver_types.h describes as leaving the process inconsistent. */
bool fl_code_is_asynchronous(int code);

const char *fl_outcome_name(enum fl_outcome_index outcome);
/* "exact|late"; fl_outcomes_parse gives 0 for a word it does not know. */
void fl_outcomes_text(unsigned set, char *out, size_t size);
unsigned fl_outcomes_parse(const char *text);
const char *fl_basis_name(enum fl_basis basis);

#endif
