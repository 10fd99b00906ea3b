/* The catalogue as the command line tool knows it: what faultlag-trial prints
 * with --catalogue, since this program links neither scenarios nor CUDA. */
#ifndef FAULTLAG_HARNESS_LISTING_H
#define FAULTLAG_HARNESS_LISTING_H

#include "harness/columns.h"
#include "harness/environment.h"

/* NULL, told on stderr, if the trial program gives none. */
struct fl_json *fl_listing_read(const struct fl_places *places);

const struct fl_json *fl_listing_scenario(const struct fl_json *listing,
                                          const char *name);
bool fl_listing_has_variant(const struct fl_json *scenario,
                            const char *variant);

/* Fills the columns expected, basis, as_expected and deviation of a row whose
 * outcome is known, from the scenario's own rows (expect.h). Returns false
 * when the row deviates. A faulty cell that nobody wrote anything down for
 * expects nothing and does not deviate; a broken trial always does. */
bool fl_listing_judge(const struct fl_json *scenario, struct fl_row *row);

/* The outcomes that a faulty trial may have, and those of which many trials
 * must show one (expect.h, `some`), as sets; 0: nothing is expected. way:
 * "free", "random", "eager" or "lazy". */
unsigned fl_listing_outcomes(const struct fl_json *scenario,
                             const char *strategy, const char *device,
                             const char *way);
unsigned fl_listing_some(const struct fl_json *scenario, const char *strategy,
                         const char *device, const char *way);

#endif
