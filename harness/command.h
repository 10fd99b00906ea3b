/* The commands of faultlag. Each gets its parsed options, and the arguments
 * they came from, and returns the exit code. */
#ifndef FAULTLAG_HARNESS_COMMAND_H
#define FAULTLAG_HARNESS_COMMAND_H

#include "harness/options.h"

enum fl_exit {
    FL_EXIT_OK = 0, FL_EXIT_DEVIATED = 1, FL_EXIT_USAGE = 2,
    FL_EXIT_UNUSABLE = 3, FL_EXIT_SKIPPED = 77, FL_EXIT_INTERRUPTED = 130
};

int fl_cmd_list(const struct fl_options *o, int argc, char **argv);
int fl_cmd_describe(const struct fl_options *o, int argc, char **argv);
int fl_cmd_run(const struct fl_options *o, int argc, char **argv);
int fl_cmd_bench(const struct fl_options *o, int argc, char **argv);
int fl_cmd_diagnose(const struct fl_options *o, int argc, char **argv);
int fl_cmd_compare(const struct fl_options *o, int argc, char **argv);
int fl_cmd_merge(const struct fl_options *o, int argc, char **argv);
int fl_cmd_doctor(const struct fl_options *o, int argc, char **argv);

#endif
