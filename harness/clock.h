/* Measuring the device's clock against the host's; the mathematics is in
 * clock_fit.h. */
#ifndef FAULTLAG_HARNESS_CLOCK_H
#define FAULTLAG_HARNESS_CLOCK_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "harness/clock_fit.h"

#define FL_CLOCK_KEPT 64        /* of one conversation, the tightest */
#define FL_CLOCK_TALKS 2

struct fl_clock_run {
    struct fl_clock_sample samples[FL_CLOCK_TALKS * FL_CLOCK_KEPT];
    size_t n;
    uint64_t granularity;       /* 0: too few answers to tell */
};

/* Has a conversation with the device and keeps its tightest round trips.
 * Called early and again just before the trial: the time between is what makes
 * drift visible. The code of a call that failed, if one did; a device that
 * does not get round to answering is none. */
cudaError_t fl_clock_talk(struct fl_clock_run *run);
struct fl_clock fl_clock_of(const struct fl_clock_run *run);

#endif
