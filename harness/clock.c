/* Round trips. A kernel waits on mapped memory; the host notes the time, asks,
 * and spins until the answer, the device's time, is there. That takes two
 * crossings of the bus, a tenth of a launch. The kernel is launched by a
 * thread of its own, since under CUDA_LAUNCH_BLOCKING=1 the launch returns
 * only when the conversation is over. */
#include "harness/clock.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stamp.h"
#include "harness/trial.h"

#define MANY 16                 /* fewer may share a multiple of the step */
#define COARSEST_NS 2000        /* taken for a step that is not known */
#define ENOUGH_NS INT64_C(60000000)
#define PATIENCE_NS 50000       /* then let others have the core */

struct talk {
    struct fl_talk *host, *device;
    cudaError_t code;
    volatile bool over;
};

static void *launch(void *argument)
{
    struct talk *t = argument;
    k_answer(NULL, t->device, FL_TALK_ROUNDS);
    t->code = cudaGetLastError();
    if (!t->code)
        t->code = cudaDeviceSynchronize();
    t->over = true;
    return NULL;
}

static bool ask(struct talk *t, uint32_t i, struct fl_clock_sample *s)
{
    uint64_t *answer = &t->host->answers[i - 1];
    bool over;
    s->before_ns = fl_now_ns();
    __atomic_store_n(&t->host->asked, i, __ATOMIC_RELEASE);
    do {
        over = t->over;         /* read first: the last answer comes before */
        s->device = __atomic_load_n(answer, __ATOMIC_ACQUIRE);
        s->after_ns = fl_now_ns();
        if (s->after_ns - s->before_ns > PATIENCE_NS)
            sched_yield();
    } while (!s->device && !over);
    return s->device != 0;
}

/* How many questions were answered. On a crowded machine, where each answer
 * may cost a time slice, fewer are asked; one is enough for bounds that hold,
 * if wide ones. */
static size_t converse(struct talk *t, struct fl_clock_sample *samples)
{
    int64_t start = fl_now_ns();
    size_t n = 0;
    while (n < FL_TALK_ROUNDS && ask(t, (uint32_t)n + 1, &samples[n])) {
        n++;
        if (fl_now_ns() - start > ENOUGH_NS)
            break;
    }
    __atomic_store_n(&t->host->asked, FL_TALK_ROUNDS, __ATOMIC_RELEASE);
    return n;
}

static int by_width(const void *a, const void *b)
{
    const struct fl_clock_sample *x = a, *y = b;
    int64_t d = (x->after_ns - x->before_ns) - (y->after_ns - y->before_ns);
    return (d > 0) - (d < 0);
}

/* The conversation itself, with *n its answers; the code of what failed. */
static cudaError_t hold(struct fl_clock_sample *samples, size_t *n)
{
    struct talk t = { 0 };
    pthread_t thread;
    cudaError_t code = cudaHostAlloc((void **)&t.host, sizeof *t.host,
                                     cudaHostAllocMapped);
    if (code)
        return code;
    memset(t.host, 0, sizeof *t.host);
    code = cudaHostGetDevicePointer((void **)&t.device, t.host, 0);
    if (!code && pthread_create(&thread, NULL, launch, &t))
        code = cudaErrorUnknown;
    if (!code) {
        *n = converse(&t, samples);
        pthread_join(thread, NULL);
        code = t.code;
    }
    cudaFreeHost(t.host);
    return code;
}

cudaError_t fl_clock_talk(struct fl_clock_run *run)
{
    struct fl_clock_sample samples[FL_TALK_ROUNDS];
    size_t n = 0, room = FL_CLOCK_TALKS * FL_CLOCK_KEPT - run->n;
    cudaError_t code = hold(samples, &n);
    if (code || n == 0)
        return code;
    uint64_t step = fl_clock_granularity(samples, n);
    if (n >= MANY && (!run->granularity || step < run->granularity))
        run->granularity = step;
    qsort(samples, n, sizeof *samples, by_width);
    size_t kept = n < FL_CLOCK_KEPT ? n : FL_CLOCK_KEPT;
    kept = kept < room ? kept : room;
    memcpy(&run->samples[run->n], samples, kept * sizeof *samples);
    run->n += kept;
    return cudaSuccess;
}

struct fl_clock fl_clock_of(const struct fl_clock_run *run)
{
    return (struct fl_clock){
        run->samples, run->n,
        run->granularity ? run->granularity : COARSEST_NS
    };
}
