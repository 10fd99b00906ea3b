/* Under what circumstances results came about. */
#ifndef FAULTLAG_HARNESS_CONTEXT_H
#define FAULTLAG_HARNESS_CONTEXT_H

#include "harness/json.h"

/* One object: time, version and commit of this program, device (as
 * faultlag-trial --probe says), machine, arguments, and how many trials they
 * make. */
void fl_context_json(struct fl_text *out, int argc, char **argv,
                     size_t trials, const struct fl_json *probe);

#endif
