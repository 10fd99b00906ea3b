/* Stamps of a traced trial; see stamp.h. The slots are made on first use. */
#include "harness/stamp.h"

#include "harness/trial.h"

static bool have_slots(struct fl_trial *t)
{
    if (t->stamp_times)
        return true;
    size_t bytes = 2 * FL_STAMPS * sizeof(uint64_t);
    void *host, *device;
    if (cudaHostAlloc(&host, bytes, cudaHostAllocMapped)
        || cudaHostGetDevicePointer(&device, host, 0))
        return false;
    for (size_t i = 0; i < 2 * FL_STAMPS; i++)
        ((uint64_t *)host)[i] = 0;
    t->stamp_times = host;
    t->stamp_slots = device;
    return true;
}

static size_t slot(unsigned number, enum fl_stamp_kind kind)
{
    return 2 * (size_t)(number - 1) + kind;
}

void fl_stamp(struct fl_trial *t, cudaStream_t stream, unsigned number,
              enum fl_stamp_kind kind)
{
    if (number <= FL_STAMPS && have_slots(t))
        k_timer(stream, t->stamp_slots + slot(number, kind));
}

uint64_t fl_stamp_time(const struct fl_trial *t, unsigned number,
                       enum fl_stamp_kind kind)
{
    return t->stamp_times && number <= FL_STAMPS
        ? t->stamp_times[slot(number, kind)] : 0;
}
