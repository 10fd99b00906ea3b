/* From the device's clock to the host's, with bounds that hold.
 *
 * Each round trip says: the device read `device` at some host time between
 * `before` and `after`. With host = a + b * device and a timer that advances
 * in steps of g, that is
 *     before <= a + b * (device + g)    and    a + b * device <= after,
 * two half-planes in (a, b). All pairs (a, b) that satisfy every round trip,
 * with b within FL_CLOCK_MAX_PPM of 1, form a convex polygon; the host times
 * that these pairs give for one device time form an interval. Its middle is
 * the estimate and half its width the uncertainty: no assumption about the
 * shape of the noise, and drift is extrapolated honestly. */
#ifndef FAULTLAG_HARNESS_CLOCK_FIT_H
#define FAULTLAG_HARNESS_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A quartz is good to about 100 ppm; two of them, and some room. */
#define FL_CLOCK_MAX_PPM 1000

struct fl_clock_sample { int64_t before_ns, after_ns; uint64_t device; };

struct fl_clock {
    const struct fl_clock_sample *samples;
    size_t n;
    uint64_t granularity;       /* of the device's timer, ns */
};

/* The largest step of which all differences of the samples' device times are
 * multiples; 1 if n < 3. */
uint64_t fl_clock_granularity(const struct fl_clock_sample *samples, size_t n);

/* Host time of a device time. False when no mapping satisfies all samples
 * (the timer was not monotonic, or drifts more than FL_CLOCK_MAX_PPM). */
bool fl_clock_map(const struct fl_clock *clock, uint64_t device,
                  int64_t *host_ns, int64_t *uncertainty_ns);

#endif
