/* Everything about one trial's process. */
#ifndef FAULTLAG_HARNESS_RUN_H
#define FAULTLAG_HARNESS_RUN_H

#include <pthread.h>

#include "harness/clock.h"
#include "harness/json.h"
#include "harness/trial.h"

struct fl_run {
    struct fl_trial trial;
    void *state;                /* the scenario's */
    enum fl_prediction predicted;
    enum fl_data data;
    int cascade_errors;         /* -1: no report */

    const char *device;         /* "sim" or "cuda", verified */
    char device_name[256];
    bool free_running;          /* times mean something */
    struct fl_clock_run clock;

    pthread_t watcher;
    bool watching;
    volatile bool watcher_stop;
    volatile int64_t seen_ns;   /* watcher: the beacon was set; 0: not seen */
    int64_t limit_ns;           /* at most this long; 0: no limit */

    int result_fd;              /* where the record goes */
    const char *trace_path;     /* or NULL */
    const char *inspect_path;   /* or NULL */
    bool record_inputs;
};

/* ---- device.c ---- */
/* The device's own account of its first fault. */
struct fl_device_fault {
    int code;
    char kernel[256];           /* mangled */
    char file[256];
    uint32_t line;
    uint32_t block[3], thread[3];
    uint64_t address;           /* 0: the fault is not about one */
    uint32_t bytes;
    bool is_write;
};

/* Finds out which device this process has, and makes its context. False with
 * a sentence in error: none, or not the one wanted ("auto": any). */
bool fl_device_open(struct fl_run *run, const char *wanted, char error[512]);
/* One JSON object about the device, for `doctor` and context.json. */
void fl_device_json(struct fl_text *out);
/* False: there was no fault, or the device keeps no account (a GPU). */
bool fl_device_fault(struct fl_device_fault *fault);
/* 1 yes, 0 no, -1 unknown (a GPU). */
int fl_device_repeatable(void);

/* ---- watch.c ---- */
void fl_watch_start(struct fl_run *run);
void fl_watch_stop(struct fl_run *run);

/* ---- record.c ---- */
/* Judges the finished trial and writes its record, one line of JSON whose
 * members are columns. `hang`: the time limit has passed. */
void fl_record_write(struct fl_run *run, bool hang);

/* ---- trace.c ---- */
/* Host calls, device work, fault and report in the Chrome trace format. */
bool fl_trace_write(struct fl_run *run, const char *path);

/* ---- inspect_trial.c ---- */
/* Memory and inputs at the report, as one JSON object. */
bool fl_inspect_write(struct fl_run *run, const char *path);

/* Host time of the fault: what the mapped clock says, narrowed by what the
 * host knows for itself (after the launch began; before the report, and before
 * the watcher saw the beacon). False: there was no fault, there is no mapping,
 * or, with *contradiction set, the two exclude each other. */
bool fl_fault_time(const struct fl_run *run, int64_t *ns,
                   int64_t *uncertainty_ns, const char **contradiction);

#endif
