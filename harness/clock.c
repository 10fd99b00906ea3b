/* Round trips: the host notes the time, launches a kernel that writes the
 * device's time to mapped memory, and spins until it sees it there. */
#include "harness/clock.h"

#include <cuda_runtime_api.h>

#include "harness/stamp.h"
#include "harness/trial.h"

#define ANSWER_NS INT64_C(2000000000)

static bool ping(struct fl_clock_run *run, struct fl_clock_sample *s)
{
    *run->slot = 0;
    s->before_ns = fl_now_ns();
    k_timer(NULL, run->device_slot);
    do {
        s->device = __atomic_load_n(run->slot, __ATOMIC_ACQUIRE);
        s->after_ns = fl_now_ns();
        if (s->after_ns - s->before_ns > ANSWER_NS)
            return false;
    } while (s->device == 0);
    return true;
}

bool fl_clock_ping(struct fl_clock_run *run, size_t n)
{
    if (!run->slot) {
        if (cudaHostAlloc((void **)&run->slot, sizeof *run->slot,
                          cudaHostAllocMapped)
            || cudaHostGetDevicePointer((void **)&run->device_slot,
                                        (void *)run->slot, 0))
            return false;
        struct fl_clock_sample warm_up;         /* loads the module */
        if (!ping(run, &warm_up) || cudaDeviceSynchronize())
            return false;
    }
    for (size_t i = 0; i < n && run->n < FL_CLOCK_SAMPLES; i++) {
        if (!ping(run, &run->samples[run->n]) || cudaDeviceSynchronize())
            return false;
        run->n++;
    }
    return true;
}

struct fl_clock fl_clock_of(const struct fl_clock_run *run)
{
    return (struct fl_clock){
        .samples = run->samples, .n = run->n,
        .granularity = fl_clock_granularity(run->samples, run->n),
    };
}
