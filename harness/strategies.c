/* The strategies' hooks but those of strategy_*.c, and the table of them all,
 * made from strategies.def.
 * A launch's own return code is gone by the time a hook runs (nvcc's stub
 * drops it), so launch errors are asked for with cudaGetLastError. */
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#include "harness/scenario.h"
#include "harness/strategy_hooks.h"

static void get_last_error(struct fl_trial *t)
{
    fl_check(t, "cudaGetLastError", cudaGetLastError());
}

/* The launch itself has waited. */
static void blocked(struct fl_trial *t)
{
    fl_waited(t);
}

static void blocked_and_checked(struct fl_trial *t)
{
    fl_waited(t);
    get_last_error(t);
    fl_known_good(t, FL_ALL_STREAMS);
}

static void stream_sync(struct fl_trial *t)
{
    cudaStream_t stream = fl_stream_now(t);
    fl_waited(t);
    fl_check(t, "cudaStreamSynchronize", cudaStreamSynchronize(stream));
    get_last_error(t);
    fl_known_good(t, stream);
}

static void device_sync(struct fl_trial *t)
{
    fl_waited(t);
    fl_check(t, "cudaDeviceSynchronize", cudaDeviceSynchronize());
    get_last_error(t);
    fl_known_good(t, FL_ALL_STREAMS);
}

static void every_8(struct fl_trial *t)
{
    if (fl_launch_now(t) % 8 == 0)
        device_sync(t);
}

/* ---- event-poll ----
 * Outstanding launches in the order they were made, each with its event. The
 * oldest are queried until one is not done; after a fault every query returns
 * the error (cudaEventQuery answers for the context, not for the event), so
 * what had been seen complete before is all that is known. */
#define POLL_RING 256

struct poll {
    unsigned head, tail;        /* outstanding: [tail, head) */
    struct { cudaEvent_t event; cudaStream_t stream; unsigned launch; }
        slots[POLL_RING];
};

static void event_poll_start(struct fl_trial *t)
{
    struct poll *p = calloc(1, sizeof *p);
    if (!p)
        fl_broken(t, "no memory for the event ring");
    for (int i = 0; i < POLL_RING; i++)
        fl_must(t, cudaEventCreateWithFlags(&p->slots[i].event,
                                            cudaEventDisableTiming));
    *fl_strategy_state(t) = p;
}

static void event_poll(struct fl_trial *t)
{
    struct poll *p = *fl_strategy_state(t);
    get_last_error(t);
    if (p->head - p->tail == POLL_RING)         /* give up on the oldest */
        p->tail++;
    unsigned i = p->head++ % POLL_RING;
    p->slots[i].stream = fl_stream_now(t);
    p->slots[i].launch = fl_launch_now(t);
    fl_check(t, "cudaEventRecord",
             cudaEventRecord(p->slots[i].event, p->slots[i].stream));
    while (p->tail != p->head) {
        unsigned k = p->tail % POLL_RING;
        cudaError_t code = cudaEventQuery(p->slots[k].event);
        fl_check(t, "cudaEventQuery", code);
        if (code == cudaErrorNotReady)
            break;
        fl_known_good_up_to(t, p->slots[k].stream, p->slots[k].launch);
        p->tail++;
    }
}

/* ---- dsa ----
 * A kernel that finds a bad value writes a record to mapped host memory and
 * leaves, as PyTorch's device-side assertions do; here the beacon's record is
 * that record. The host looks at it whenever it comes by. No fault happens, so
 * the context lives; what a kernel does not check is found as under async. */
static void dsa_look(struct fl_trial *t)
{
    if (fl_left_early(t))
        fl_report(t, "failure record", cudaErrorAssert);
}

static void dsa_name(struct fl_trial *t)
{
    if (fl_left_early(t))
        fl_name_suspect(t, fl_left_early(t));
}

/* ---- breadcrumb ----
 * Around each launch its number is written to mapped host memory, in the
 * order of its stream and by the stream itself: the host waits for nothing,
 * and the crumbs outlive the context. A stream runs one launch after the
 * other, so of each stream at most one launch has begun and not ended, and
 * the launch that faults is one of them: it never ends.
 *
 * cuStreamWriteValue32 waits for the stream's earlier work and makes it
 * visible before it writes. What other ways of leaving crumbs there are, why
 * this one, and why on both sides: tests/perf/crumbs.cu and its table in
 * docs/strategies.md. */
#define CRUMB_STREAMS 64        /* of a trial */

enum { BEGUN, ENDED };

struct crumbs {
    CUresult (*write)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    unsigned streams;
    cudaStream_t stream[CRUMB_STREAMS];
    volatile uint32_t (*seen)[2];       /* [CRUMB_STREAMS], mapped */
    uint32_t (*slots)[2];               /* the same, device view */
};

static void crumbs_start(struct fl_trial *t)
{
    struct crumbs *c = calloc(1, sizeof *c);
    size_t bytes = sizeof *c->seen * CRUMB_STREAMS;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
    void *entry = NULL;

    if (!c)
        fl_broken(t, "no memory for breadcrumbs");
    *fl_strategy_state(t) = c;
    fl_must(t, cudaHostAlloc((void **)&c->seen, bytes, cudaHostAllocMapped));
    memset((void *)c->seen, 0, bytes);
    fl_must(t, cudaHostGetDevicePointer((void **)&c->slots, (void *)c->seen,
                                        0));
    fl_must(t, cudaGetDriverEntryPointByVersion(
        "cuStreamWriteValue32", &entry, 12000, cudaEnableDefault, &found));
    if (!entry || found != cudaDriverEntryPointSuccess)
        fl_skip(t, "breadcrumbs need the driver's cuStreamWriteValue32");
    memcpy(&c->write, &entry, sizeof entry);
}

static void leave_crumb(struct fl_trial *t, int end)
{
    struct crumbs *c = *fl_strategy_state(t);
    cudaStream_t stream = fl_stream_now(t);
    uint32_t number = fl_launch_now(t);
    unsigned i = 0;

    while (i < c->streams && c->stream[i] != stream)
        i++;
    if (i == CRUMB_STREAMS)
        fl_broken(t, "breadcrumbs for %d streams only", CRUMB_STREAMS);
    if (i == c->streams)
        c->stream[c->streams++] = stream;
    /* The driver's codes are the runtime's. */
    CUdeviceptr slot = (CUdeviceptr)(uintptr_t)&c->slots[i][end];
    fl_check(t, "cuStreamWriteValue32",
             (cudaError_t)c->write(stream, slot, number, 0));
}

static void crumb_before(struct fl_trial *t)
{
    leave_crumb(t, BEGUN);
}

static void crumb_after(struct fl_trial *t)
{
    get_last_error(t);
    leave_crumb(t, ENDED);
}

static void crumbs_read(struct fl_trial *t)
{
    const struct crumbs *c = *fl_strategy_state(t);

    for (unsigned i = 0; i < c->streams; i++)
        if (c->seen[i][BEGUN] != c->seen[i][ENDED])
            fl_name_suspect(t, c->seen[i][BEGUN]);
}

enum { BLOCKING = 1, OWN = 2, INTERVAL = 4, SEES_ALL = 8 };

const struct fl_strategy fl_strategies[] = {
#define STRATEGY(ident, name_, traits, summary_, ...) \
    { .name = name_, .summary = summary_, .blocking = (traits) & BLOCKING, \
      .claims_own = (traits) & OWN, .interval = (traits) & INTERVAL, \
      .sees_all = (traits) & SEES_ALL, __VA_ARGS__ },
#include "harness/strategies.def"
#undef STRATEGY
    { .name = NULL }
};

const struct fl_strategy *fl_strategy_named(const char *name)
{
    for (const struct fl_strategy *s = fl_strategies; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}
