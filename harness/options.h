/* The command line's options, parsed from the table in options.def. */
#ifndef FAULTLAG_HARNESS_OPTIONS_H
#define FAULTLAG_HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum fl_command {
    FL_CMD_LIST = 1, FL_CMD_DESCRIBE = 2, FL_CMD_RUN = 4, FL_CMD_BENCH = 8,
    FL_CMD_DOCTOR = 16, FL_CMD_COMPARE = 32, FL_CMD_MERGE = 64,
    FL_CMD_DIAGNOSE = 128
};

#define FL_MOST_ARGUMENTS 1024          /* positional ones */

/* A switch that was given is "yes"; what was not given and has no default is
 * NULL. */
struct fl_options {
    const char *strategies, *variants, *filter, *device, *trials, *mode,
        *schedules, *seed, *jobs, *timeout, *csv, *json, *trace, *out,
        *resume, *rules, *as_json, *all, *columns, *color, *quiet, *help,
        *shard,
        *timeline, *memory_summary, *record_inputs, *inspect;
    bool schedules_given, device_given;
    const char *names[FL_MOST_ARGUMENTS];       /* positional arguments */
    const char *name;           /* the first one, or NULL */
    size_t n_names;
};

/* False: a usage error, which has been told on stderr. */
bool fl_options_parse(enum fl_command command, int argc, char **argv,
                      struct fl_options *options);
void fl_options_help(enum fl_command command, FILE *out);

/* A whole non-negative number up to max; false, told on stderr, otherwise. */
bool fl_number(const char *text, const char *what, unsigned long long max,
               unsigned long long *value);

/* What --color says of output there; false, told on stderr, otherwise. */
bool fl_use_color(const char *when, FILE *out, bool *color);
/* "2/8", the second of eight; false, told on stderr, otherwise. */
bool fl_shard(const char *text, unsigned long long *number,
              unsigned long long *of);

/* The entry of names[n] most like `word`, or NULL if none comes near. */
const char *fl_nearest(const char *word, const char *const *names, size_t n);

#endif
