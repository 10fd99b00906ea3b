/* A running trial: the strategy in force, what was launched and called, the
 * first report. faultlag-trial drives one; the throughput benchmark drives
 * one with `record` off, where a launch costs a counter and the hooks. */
#ifndef FAULTLAG_HARNESS_TRIAL_H
#define FAULTLAG_HARNESS_TRIAL_H

#include <setjmp.h>

#include "harness/scenario.h"
#include "harness/strategy.h"

#define FL_MAX_FRAMES 32

/* One launch or call, in the order in which the host made them. */
struct fl_event {
    const struct fl_site *site;
    cudaStream_t stream;        /* of a launch */
    unsigned launch;            /* its number, or of the last launch before */
    bool is_launch, known_good, suspect;
    int n_frames;               /* innermost first; the first is the site */
    void *frames[FL_MAX_FRAMES];
    int64_t begin_ns, end_ns;   /* CLOCK_MONOTONIC; end 0: not returned */
    int64_t checked_ns;         /* end of the strategy's check; 0: none */
};

struct fl_report {
    cudaError_t code;           /* cudaSuccess: no report */
    const char *api;            /* "cudaGetLastError"; NULL: the site's own */
    const struct fl_site *site; /* launch or call that was being looked at */
    bool by_launch_check;       /* found by a check that goes with a launch */
    unsigned launch;            /* number of the last launch made */
    size_t event;               /* index of that launch or call */
    int64_t time_ns;            /* when the error code was in hand */
};

struct fl_trial {
    const struct fl_scenario *scenario; /* NULL in a benchmark */
    const struct fl_strategy *strategy;
    enum fl_variant variant;
    uint64_t seed, random_state;
    unsigned step;
    int64_t bad_samples_ppm;    /* by fl_bad_samples(); -1: no such sweep */
    bool record;                /* keep events, stacks and times */
    bool stamps;                /* device times of each launch (trace) */

    struct fl_beacon_record *beacon;    /* host view */
    struct fl_beacon beacon_arg;        /* device view, launch filled in */

    unsigned launches;          /* number of the last launch, from 1 */
    unsigned calls;             /* API calls of the program so far */
    unsigned strategy_calls;    /* made by the strategy, for its checks */
    unsigned host_waits;        /* times the strategy made the host wait */
    struct fl_event *events;
    size_t n_events, max_events;
    size_t all_good_before;     /* events before it are known good */
    bool names_suspects;        /* the strategy did, see fl_name_suspect() */
    const struct fl_site *site; /* of the launch or call in force */
    bool in_call;               /* which of the two it is */
    cudaStream_t stream;        /* of the launch in force */
    void *stack_base;           /* where call stacks end */

    struct fl_report report;
    int64_t host_fault_ns;      /* of fl_host_beacon() */
    void *strategy_state;
    volatile uint64_t *stamp_times;     /* [2 * FL_STAMPS], host view */
    uint64_t *stamp_slots;              /* the same, device view */
    jmp_buf raise;              /* where a report or breakage ends up */
    bool can_raise;
    char broken[256];           /* why the trial has no result, or "" */
    bool skipped;               /* that is: not possible here */
};

/* Prepares a zeroed trial whose scenario, strategy, variant, seed, record and
 * stamps are set: beacon, event log, the strategy's start hook. The strategy's
 * `blocking` is the environment's business, not done here. Returns false with
 * t->broken filled. */
bool fl_trial_start(struct fl_trial *t);
void fl_trial_free(struct fl_trial *t);

int64_t fl_now_ns(void);        /* CLOCK_MONOTONIC */
/* The launch in force has no check of the strategy behind it. */
bool fl_is_unchecked(const struct fl_trial *t);

#endif
