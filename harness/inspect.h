/* What a trial said of its memory and of its operators' inputs
 * (inspect_trial.c), for people. */
#ifndef FAULTLAG_HARNESS_INSPECT_H
#define FAULTLAG_HARNESS_INSPECT_H

#include <stdio.h>

#include "harness/json.h"

void fl_inspect_memory(const struct fl_json *trial, struct fl_text *out);
void fl_inspect_inputs(const struct fl_json *trial, struct fl_text *out);
/* Both, or one, of a file. False, told. */
bool fl_inspect_print(const char *path, bool memory, bool inputs, FILE *out);

#endif
