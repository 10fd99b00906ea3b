/* The beacon: how the harness knows, whatever the strategy, that a planted
 * fault is really committed, when, by whom and in which launch.
 *
 * A kernel with a planted fault takes a struct fl_beacon by value. The first
 * thread about to commit the bad access (elected by an atomic exchange on
 * *elected, in device memory) fills *record, which lies in mapped host memory,
 * fences system-wide, and only then sets record->set. So the record outlives
 * the context that the fault destroys. The healthy twin runs the same branch
 * and never takes it. This header is read by C and by CUDA C. */
#ifndef FAULTLAG_HARNESS_BEACON_H
#define FAULTLAG_HARNESS_BEACON_H

#include <stdint.h>

struct fl_beacon_record {
    volatile uint32_t set;      /* written last; 0 or 1 */
    uint32_t launch;            /* launch number, from 1 */
    uint32_t line;              /* line of the planted access in its .cu */
    uint32_t block[3], thread[3];
    uint32_t by_host;           /* 1: set by fl_host_beacon() */
    uint32_t left;              /* 1: the kernel returned instead (dsa) */
    uint64_t device_ns;         /* %globaltimer just before the access */
    int64_t value;              /* the bad index, length, ... as it was seen */
};

#define FL_BEACON_FROM_DEVICE 2u /* in `set`, see fl_scenario.commits */

/* flags of struct fl_beacon */
#define FL_BEACON_EARLY_OUT 1u  /* the kernel must return instead (dsa), if
                                   a check of its own could see the fault */

struct fl_beacon {
    struct fl_beacon_record *record;   /* device address; never NULL */
    uint32_t *elected;                 /* device memory, 0 before the trial */
    uint32_t launch;
    uint32_t flags;
};

#endif
