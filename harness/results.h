/* A folder of results: trials.csv, which grows by one whole row a trial,
 * context.json, and logs/ of what deviating trials said. */
#ifndef FAULTLAG_HARNESS_RESULTS_H
#define FAULTLAG_HARNESS_RESULTS_H

#include "harness/cells.h"
#include "harness/options.h"
#include "harness/plan.h"

struct fl_results { char *path; int csv; };

/* Makes a new folder (out NULL: results/run-DATE) or opens one to go on with.
 * False, told on stderr: it exists already, or cannot be written. */
bool fl_results_create(struct fl_results *r, const char *out);
bool fl_results_resume(struct fl_results *r, const char *path);
/* Marks the trials of the plan that the folder has already and counts them in
 * cells. False, told: the table is not of this version. */
bool fl_results_skip_done(struct fl_results *r, struct fl_plan *plan,
                          struct fl_cells *cells);
/* `log`, of a row that deviates, goes to logs/; NULL: there is none. */
bool fl_results_keep(struct fl_results *r, const struct fl_row *row,
                     const char *log);
/* Copies what stands beside another folder's table: its trials' logs and the
 * traces. False, told. */
bool fl_results_adopt(const struct fl_results *r, const char *folder);
void fl_results_close(struct fl_results *r);

/* context.json: device, machine, build, arguments, trials that they make.
 * Nothing of the environment but variables that steer CUDA or simgpu. */
bool fl_results_write_context(const struct fl_results *r,
                              const struct fl_text *context);
struct fl_json *fl_results_read_context(const char *folder); /* NULL, told */
/* The arguments in a folder's context.json, after "bench"; NULL, told. */
char **fl_results_arguments(const char *folder, int *argc);

#endif
