/* Measuring the device's clock against the host's; the mathematics is in
 * clock_fit.h. */
#ifndef FAULTLAG_HARNESS_CLOCK_H
#define FAULTLAG_HARNESS_CLOCK_H

#include <stdbool.h>

#include "harness/clock_fit.h"

#define FL_CLOCK_SAMPLES 512

struct fl_clock_run {
    struct fl_clock_sample samples[FL_CLOCK_SAMPLES];
    size_t n;
    volatile uint64_t *slot;            /* host view of mapped memory */
    volatile uint64_t *device_slot;
};

/* Adds n round trips. Called early and again just before the trial: the time
 * between is what makes drift visible. False: the device does not answer. */
bool fl_clock_ping(struct fl_clock_run *run, size_t n);
struct fl_clock fl_clock_of(const struct fl_clock_run *run);

#endif
