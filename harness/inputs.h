/* What each operator is given, looked at just before its launch, as a
 * debugging hook in a framework does it: shape and range of every input. The
 * linker routes the program's calls of the launchers in kernels/ here (--wrap,
 * from operators.def). Looking makes the host wait for the operator's stream,
 * so a trial with it tells nothing about times, and a race may not show. */
#ifndef FAULTLAG_HARNESS_INPUTS_H
#define FAULTLAG_HARNESS_INPUTS_H

#include "harness/json.h"
#include "harness/trial.h"

/* From now on; the trial's launches are numbered as it does. */
void fl_inputs_watch(const struct fl_trial *t);
/* The member "operators": one element a launch, in order; and the names of
 * operators that no row describes. */
void fl_inputs_json(struct fl_text *out);

#endif
