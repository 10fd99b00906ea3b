/* The runtime of a trial: what FL_LAUNCH, FL_CALL and their kin do. On the
 * timed path stand a counter, the strategy's hooks and, in a recorded trial,
 * two clock reads and a walk of the frame pointers (tens of nanoseconds).
 * Names are looked up only at the end of the trial (stacks.c). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/random.h"
#include "harness/stamp.h"
#include "harness/trial.h"

int64_t fl_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static _Noreturn void raise_end(struct fl_trial *t)
{
    if (t->can_raise)
        longjmp(t->raise, 1);
    fprintf(stderr, "faultlag: %s\n", t->broken[0] ? t->broken
            : cudaGetErrorString(t->report.code));
    exit(1);
}

static _Noreturn void give_up(struct fl_trial *t, const char *format,
                              va_list args)
{
    if (!t->broken[0])
        vsnprintf(t->broken, sizeof t->broken, format, args);
    raise_end(t);
}

void fl_broken(struct fl_trial *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    give_up(t, format, args);
}

void fl_skip(struct fl_trial *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->skipped = true;
    give_up(t, format, args);
}

void fl_must_at(struct fl_trial *t, cudaError_t code, const char *text,
                const char *file, int line)
{
    if (code != cudaSuccess)
        fl_broken(t, "%s:%d: %s: %s (%d)", file, line, text,
                  cudaGetErrorName(code), code);
}

/* ---- recording ---- */

/* Return addresses from the caller of the recording function outwards, up to
 * the frame in which the trial was started. All of this program is compiled
 * with frame pointers (-fno-omit-frame-pointer), which makes the walk some
 * thirty times cheaper than an unwinder's. */
static int walk_frames(const struct fl_trial *t, void **frame, void **out)
{
    int n = 0;
    while (n < FL_MAX_FRAMES && (void *)frame < t->stack_base) {
        out[n++] = frame[1];
        void **next = frame[0];
        if (next <= frame)
            break;
        frame = next;
    }
    return n;
}

static struct fl_event *new_event(struct fl_trial *t,
                                  const struct fl_site *site, void **frame)
{
    if (t->n_events == t->max_events) {
        size_t more = t->max_events * 2;
        struct fl_event *events = realloc(t->events, more * sizeof *events);
        if (!events)
            fl_broken(t, "no memory for %zu events", more);
        t->events = events;
        t->max_events = more;
    }
    struct fl_event *e = &t->events[t->n_events++];
    *e = (struct fl_event){ .site = site, .launch = t->launches };
    e->n_frames = walk_frames(t, frame, e->frames);
    return e;
}

/* The first error becomes the report, and the step is over. */
static void found(struct fl_trial *t, const char *api, cudaError_t code,
                  const struct fl_site *site, bool by_launch_check)
{
    if (t->record) {
        t->report.time_ns = fl_now_ns();
        if (by_launch_check)
            t->events[t->n_events - 1].checked_ns = t->report.time_ns;
    }
    t->report.code = code;
    t->report.api = api;
    t->report.site = site;
    t->report.by_launch_check = by_launch_check;
    t->report.launch = t->launches;
    t->report.event = t->n_events ? t->n_events - 1 : 0;
    if (t->strategy->at_report)
        t->strategy->at_report(t);
    raise_end(t);
}

/* ---- launches ---- */

bool fl_is_unchecked(const struct fl_trial *t)
{
    return t->site->planted && t->scenario && t->scenario->plant_unchecked;
}

static bool has_hooks(const struct fl_trial *t)
{
    return t->strategy->sees_all || !fl_is_unchecked(t);
}

void fl_launch_begin(struct fl_trial *t, const struct fl_site *site,
                     cudaStream_t stream)
{
    t->launches++;
    t->site = site;
    t->in_call = false;
    t->stream = stream;
    if (t->record) {
        struct fl_event *e = new_event(t, site, __builtin_frame_address(0));
        e->is_launch = true;
        e->stream = stream;
        if (t->stamps)
            fl_stamp(t, stream, t->launches, FL_STAMP_BEGIN);
        e->begin_ns = fl_now_ns();
    }
    if (t->strategy->before_launch && has_hooks(t))
        t->strategy->before_launch(t);
}

void fl_launch_end(struct fl_trial *t)
{
    if (t->record) {
        t->events[t->n_events - 1].end_ns = fl_now_ns();
        if (t->stamps)
            fl_stamp(t, t->stream, t->launches, FL_STAMP_END);
    }
    if (t->strategy->after_launch && has_hooks(t)) {
        t->strategy->after_launch(t);
        if (t->record)
            t->events[t->n_events - 1].checked_ns = fl_now_ns();
    }
}

/* ---- other calls ---- */

static void call_begin(struct fl_trial *t, const struct fl_site *site,
                       void **frame)
{
    t->calls++;
    t->site = site;
    t->in_call = true;
    if (t->record)
        new_event(t, site, frame);
    if (t->strategy->before_call)
        t->strategy->before_call(t);
    if (t->record)
        t->events[t->n_events - 1].begin_ns = fl_now_ns();
}

void fl_call_begin(struct fl_trial *t, const struct fl_site *site)
{
    call_begin(t, site, __builtin_frame_address(0));
}

cudaError_t fl_call_end(struct fl_trial *t, cudaError_t code,
                        cudaStream_t waited_for)
{
    if (t->record)
        t->events[t->n_events - 1].end_ns = fl_now_ns();
    if (code == cudaErrorNotReady)      /* an answer, not an error */
        return code;
    if (code != cudaSuccess)
        found(t, NULL, code, t->site, false);
    if (waited_for != FL_NO_STREAM)
        fl_known_good(t, waited_for);
    else if (t->strategy->blocking)     /* every launch so far has waited */
        fl_known_good(t, FL_ALL_STREAMS);
    if (t->strategy->after_call)
        t->strategy->after_call(t);
    return code;
}

void fl_step_end(struct fl_trial *t, const struct fl_site *site)
{
    call_begin(t, site, __builtin_frame_address(0));
    cudaError_t code = cudaDeviceSynchronize();
    if (code == cudaSuccess) {
        /* What no check has asked for yet: a latched launch error. */
        code = cudaGetLastError();
        if (code != cudaSuccess) {
            if (t->record)
                t->events[t->n_events - 1].end_ns = fl_now_ns();
            found(t, "cudaGetLastError", code, site, false);
        }
    }
    fl_call_end(t, code, FL_ALL_STREAMS);
    if (t->strategy->step_end)
        t->strategy->step_end(t);
}

/* ---- for strategies ---- */

unsigned fl_launch_now(const struct fl_trial *t) { return t->launches; }
cudaStream_t fl_stream_now(const struct fl_trial *t) { return t->stream; }
const char *fl_call_now(const struct fl_trial *t) { return t->site->text; }
void **fl_strategy_state(struct fl_trial *t) { return &t->strategy_state; }

void fl_called(struct fl_trial *t, unsigned calls)
{
    t->strategy_calls += calls;
}

void fl_check(struct fl_trial *t, const char *api, cudaError_t code)
{
    fl_called(t, 1);
    if (code != cudaSuccess && code != cudaErrorNotReady)
        fl_report(t, api, code);
}

void fl_report(struct fl_trial *t, const char *source, cudaError_t code)
{
    found(t, source, code, t->site, !t->in_call);
}

void fl_waited(struct fl_trial *t) { t->host_waits++; }

void fl_known_good_up_to(struct fl_trial *t, cudaStream_t stream,
                         unsigned number)
{
    for (size_t i = t->n_events; i-- > t->all_good_before; ) {
        struct fl_event *e = &t->events[i];
        if (e->is_launch && e->launch <= number
            && (stream == FL_ALL_STREAMS || e->stream == stream))
            e->known_good = true;
    }
    if (stream == FL_ALL_STREAMS && number == t->launches)
        t->all_good_before = t->n_events;
}

void fl_known_good(struct fl_trial *t, cudaStream_t stream)
{
    if (t->record)
        fl_known_good_up_to(t, stream, t->launches);
}

void fl_leave_early(struct fl_trial *t)
{
    t->beacon_arg.flags |= FL_BEACON_EARLY_OUT;
}

unsigned fl_left_early(const struct fl_trial *t)
{
    const struct fl_beacon_record *b = t->beacon;
    return __atomic_load_n(&b->set, __ATOMIC_ACQUIRE) && b->left ? b->launch
                                                                 : 0;
}

bool fl_is_known_good(const struct fl_trial *t, unsigned number)
{
    for (size_t i = 0; i < t->n_events; i++)
        if (t->events[i].is_launch && t->events[i].launch == number)
            return t->events[i].known_good;
    return false;
}

void fl_innocent_after(struct fl_trial *t, unsigned number)
{
    for (size_t i = t->n_events; i-- > 0 && t->events[i].launch > number; )
        t->events[i].known_good = true;
}

void fl_name_suspect(struct fl_trial *t, unsigned number)
{
    for (size_t i = 0; i < t->n_events; i++)
        if (t->events[i].is_launch && t->events[i].launch == number)
            t->events[i].suspect = t->names_suspects = true;
}

/* ---- for scenarios ---- */

struct fl_beacon fl_beacon(const struct fl_trial *t)
{
    struct fl_beacon b = t->beacon_arg;
    b.launch = t->launches;
    return b;
}

void fl_host_beacon(struct fl_trial *t, int64_t value)
{
    struct fl_beacon_record *b = t->beacon;
    if (b->set)
        return;
    t->host_fault_ns = fl_now_ns();
    b->by_host = 1;
    b->value = value;
    b->launch = t->launches + 1;
    b->set = 1;
}

enum fl_variant fl_variant(const struct fl_trial *t) { return t->variant; }
unsigned fl_step(const struct fl_trial *t) { return t->step; }

uint64_t fl_random(struct fl_trial *t)
{
    return fl_splitmix(&t->random_state);
}

void fl_bad_samples(struct fl_trial *t, int bad, int of)
{
    t->bad_samples_ppm = INT64_C(1000000) * bad / of;
}

/* ---- start and end ---- */

bool fl_trial_start(struct fl_trial *t)
{
    t->random_state = t->seed;
    t->bad_samples_ppm = -1;
    t->max_events = 1024;
    t->events = malloc(t->max_events * sizeof *t->events);
    if (!t->stack_base)
        t->stack_base = __builtin_frame_address(0);
    cudaError_t code = t->events ? cudaSuccess : cudaErrorMemoryAllocation;
    if (!code)
        code = cudaHostAlloc((void **)&t->beacon, sizeof *t->beacon,
                             cudaHostAllocMapped);
    if (!code) {
        memset(t->beacon, 0, sizeof *t->beacon);
        code = cudaHostGetDevicePointer((void **)&t->beacon_arg.record,
                                        t->beacon, 0);
    }
    if (!code)
        code = cudaMalloc((void **)&t->beacon_arg.elected, sizeof(uint32_t));
    if (!code)
        code = cudaMemset(t->beacon_arg.elected, 0, sizeof(uint32_t));
    if (!code)
        code = cudaDeviceSynchronize();
    if (code) {
        snprintf(t->broken, sizeof t->broken, "beacon: %s (%d)",
                 cudaGetErrorName(code), code);
        return false;
    }
    if (t->strategy->start)
        t->strategy->start(t);
    return true;
}

void fl_trial_free(struct fl_trial *t)
{
    cudaFree(t->beacon_arg.elected);
    cudaFreeHost(t->beacon);
    free(t->events);
    free(t->strategy_state);
}
