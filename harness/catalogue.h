/* The catalogue as the trial's process knows it. */
#ifndef FAULTLAG_HARNESS_CATALOGUE_H
#define FAULTLAG_HARNESS_CATALOGUE_H

#include "harness/json.h"
#include "harness/scenario.h"

/* {"scenarios": [...], "strategies": [...]} */
void fl_catalogue_json(struct fl_text *out);

/* A source file's name relative to the source tree, if it lies there. */
const char *fl_source_path(const char *path);
const char *fl_variant_name(enum fl_variant v);
enum fl_variant fl_variant_named(const char *name);     /* 0: there is none */

#endif
