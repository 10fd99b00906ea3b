/* Trials that `faultlag run` makes beside its plan for what they leave in a
 * file: a timeline, memory and inputs at the report. */
#ifndef FAULTLAG_HARNESS_ASIDES_H
#define FAULTLAG_HARNESS_ASIDES_H

#include <stdio.h>

#include "harness/options.h"
#include "harness/plan.h"

struct fl_aside { char *path, *folder; };       /* folder: a new one for it */

struct fl_asides { struct fl_aside trace, inspection; };

/* Adds what the options ask for to the plan. False, told: it cannot be. */
bool fl_asides_plan(struct fl_asides *a, const struct fl_options *o,
                    struct fl_plan *plan);
/* After the run: prints what is to be printed. */
void fl_asides_print(const struct fl_asides *a, const struct fl_options *o,
                     bool color, FILE *out);
void fl_asides_free(struct fl_asides *a);

#endif
