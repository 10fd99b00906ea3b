/* The device's side of harness/beacon.h: fired by a thread that is about to
 * commit the planted access.
 *
 * The first thread to arrive writes the record; any other waits until it has
 * done so, because its own bad access would end the kernel, and with it the
 * record, before it is complete. Threads of one warp may wait for each other
 * here: since Volta every thread makes progress. */
#ifndef KERNELS_BEACON_CUH
#define KERNELS_BEACON_CUH

#include "harness/beacon.h"

/* The planted access stands two lines below, so that it reads
 *
 *     if (BEACON(beacon, index >= rows, index))
 *         return;
 *     y[i] = table[index];
 *
 * True: the kernel is to leave instead of committing. The second form is for
 * what no check that a kernel would make could see (a pointer that the host
 * has freed, another warp's progress): it always commits. */
#define BEACON(beacon, bad, value) \
    ((bad) && beacon_fire((beacon), (value), __LINE__ + 2))
#define BEACON_UNSEEN(beacon, bad, value) \
    BEACON(beacon_unseen(beacon), bad, value)

enum { BEACON_FREE, BEACON_TAKEN, BEACON_WRITTEN };

static __device__ uint64_t global_timer_ns(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

static __device__ struct fl_beacon beacon_unseen(struct fl_beacon b)
{
    b.flags &= ~FL_BEACON_EARLY_OUT;
    return b;
}

static __device__ bool beacon_fire(struct fl_beacon b, int64_t value,
                                   uint32_t line)
{
    if (atomicCAS(b.elected, BEACON_FREE, BEACON_TAKEN) == BEACON_FREE) {
        struct fl_beacon_record *r = b.record;
        r->launch = b.launch;
        r->line = line;
        r->block[0] = blockIdx.x;
        r->block[1] = blockIdx.y;
        r->block[2] = blockIdx.z;
        r->thread[0] = threadIdx.x;
        r->thread[1] = threadIdx.y;
        r->thread[2] = threadIdx.z;
        r->by_host = 0;
        r->left = b.flags & FL_BEACON_EARLY_OUT;
        r->value = value;
        r->device_ns = global_timer_ns();
        __threadfence_system();
        r->set = 1;
        __threadfence_system(); /* the flag, too, before the fault */
        atomicExch(b.elected, BEACON_WRITTEN);
    } else {
        while (atomicAdd(b.elected, 0) != BEACON_WRITTEN)
            ;
    }
    return b.flags & FL_BEACON_EARLY_OUT;
}

#endif
