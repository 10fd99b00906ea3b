/* What was read in a log, before anything is concluded from it. Everything is
 * of fixed size: a log may have any length and hold anything, and of a million
 * equal assertions the first and the count are what matters. */
#ifndef FAULTLAG_DIAGNOSE_FACTS_H
#define FAULTLAG_DIAGNOSE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/diagnose/rules.h"

enum { DG_UNKNOWN = -1 };               /* a number the log does not give */

/* Where something stands in the log. */
struct dg_place {
    unsigned long line;                 /* from 1 */
    int run;                            /* from 0; a new shell command */
    uint32_t source;                    /* of the rank or worker, 0: none */
};

struct dg_frame {
    char file[400], function[160], code[400];   /* empty: not given */
    long line;
};

struct dg_assertion {
    struct dg_place at;
    char file[400], expr[400], function[600], kernel[128];
    long line, block[3], thread[3];
    bool has_block, has_thread, garbage;    /* garbage: see dg_facts.garbage */
    char said[300];                     /* prose after it */
    unsigned long count;
};

/* An error code, name or text, or a library's status. */
struct dg_error {
    struct dg_place at;
    const struct dg_rule *rule;         /* kind error or status, or NULL */
    char name[64];                      /* as printed, or as the rule has it */
    long code;                          /* today's number */
    char text[200];
    bool watchdog, nccl, teardown, caught;
};

enum dg_language {
    DG_PYTHON, DG_NOTEBOOK, DG_RICH, DG_JULIA, DG_JAVA, DG_LUA, DG_RUST, DG_R,
    DG_SITE,            /* a file and line printed with the error */
    DG_RAISED,          /* c10's "Exception raised from" */
    DG_GLOG             /* a fatal line, and the frames below it */
};

/* A call stack that ends in an error: its innermost frame, the innermost one
 * in the user's own code, and the last lines of code in it. */
struct dg_trace {
    struct dg_place at;
    enum dg_language language;
    struct dg_frame last, user;
    char code[1200];                    /* lines of code, innermost last */
    char calls[600];                    /* functions, innermost last */
    char exception[96], message[300];
    int error;                          /* index, or -1: not about CUDA */
    bool ignored, watchdog;             /* from a destructor; of a watchdog */
};

/* A record of compute-sanitizer, cuda-gdb or simgpu. */
struct dg_record {
    struct dg_place at;
    char tool[24], title[96], detail[160], kernel[400], short_kernel[128];
    char file[400];
    long line, block[3], thread[3];
    bool has_block, has_thread, race, misaligned, uninitialised, barrier;
};

/* How launches were made, as the log tells it; per run. */
struct dg_run {
    unsigned long line, lines;          /* first; how many */
    bool set, unset;                    /* an explicit setting: 1, 0 */
    unsigned long hints, dsa_notes;     /* PyTorch's sentences */
    bool shell;                         /* begins with a command */
    bool failed;
    char command[200];
};

struct dg_facts {
    unsigned long lines;
    struct dg_assertion assertions[32];
    struct dg_error errors[64];
    struct dg_trace traces[24];
    struct dg_record records[16];
    struct dg_run runs[8];
    size_t n_assertions, n_errors, n_traces, n_records, n_runs;
    unsigned long assertion_lines, error_lines;
    unsigned long garbage_line;         /* integers no index can be */
    char garbage[24];
    /* Lines on which a rule's word of kind evidence was seen, by its index. */
    unsigned long *seen;
    char launch_kernel[128];            /* named by a launcher's message */
};

#endif
