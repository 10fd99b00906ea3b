/* A trial's trace (trace.c) drawn as text: a line a host call, in the order in
 * which the host made them, with what the device did for it. */
#ifndef FAULTLAG_HARNESS_TIMELINE_H
#define FAULTLAG_HARNESS_TIMELINE_H

#include <stdio.h>

#include "harness/json.h"

/* Lines no longer than `width` columns, as far as names leave room. False:
 * there is no event of the host in it. */
bool fl_timeline_draw(const struct fl_json *trace, int width, bool color,
                      struct fl_text *out);
/* The same of a file, onto `out`, as wide as that terminal. False, told. */
bool fl_timeline_print(const char *path, bool color, FILE *out);

#endif
