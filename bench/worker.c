/* A worker of the throughput benchmark: one strategy, in this process, on
 * healthy work, or on faulty input that a scenario's defence meets. It goes
 * through the harness's own launch macros and strategy hooks with recording
 * off, so what is timed is the strategy, and waits for its turn in between
 * (turns.h).
 *
 * A step is `launches` spin kernels on one stream, each after some host work,
 * and the wait and check that end a step under every strategy; or one step of
 * a scenario.
 */
#include "bench/worker.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/turns.h"
#include "harness/trial.h"
#include "kernels/kernels.h"

#define SPIN_THREADS 32u            /* one warp: length, not load */
#define TIMED_KERNELS 16u
#define SPEED_NS 2e6                /* long enough to hide the launch */

struct worker {
    struct fl_trial trial;
    cudaStream_t stream;
    cudaEvent_t from, to;
    uint32_t *out;
    struct workload *workloads;     /* scenarios set up so far */
    bool warm;                      /* has made a step of spin kernels */
};

struct workload {
    const struct fl_scenario *scenario;
    void *state;
    struct workload *next;
};

/* Set-up and measuring calls; what the strategy finds is fl_check's. */
#define MUST(w, call) fl_must(&(w)->trial, (call))

static void host_work(uint64_t ns)
{
    int64_t until = fl_now_ns() + (int64_t)ns;
    while (fl_now_ns() < until)
        ;
}

static unsigned spin_step(struct worker *w, const struct turn_request *q)
{
    for (uint32_t i = 0; i < q->launches; i++) {
        if (q->host_work_ns)
            host_work(q->host_work_ns);
        FL_LAUNCH(&w->trial, w->stream,
                  k_spin(w->stream, w->out, 1, SPIN_THREADS, q->rounds));
    }
    FL_STEP_END(&w->trial);
    return 1;
}

/* All steps of a trial: they differ, so turns are comparable only where each
 * has made as many of one as of another. */
static unsigned scenario_steps(struct worker *w, struct workload *x)
{
    const struct fl_scenario *s = x->scenario;
    unsigned n = s->steps ? s->steps : 1;
    for (unsigned i = 0; i < n; i++) {
        w->trial.step = i;
        s->step(&w->trial, x->state);
    }
    return n;
}

/* A scenario is set up when it is first asked for, and its steps made once
 * untimed, since kernels are loaded at their first launch. NULL for one that
 * has no such variant. */
static struct workload *workload_named(struct worker *w, const char *name)
{
    for (struct workload *x = w->workloads; x; x = x->next)
        if (!strcmp(x->scenario->name, name))
            return x;
    const struct fl_scenario *s = fl_scenario_named(name);
    if (!s)
        fl_broken(&w->trial, "no scenario is called %s", name);
    if (!(s->variants & w->trial.variant))
        return NULL;
    struct workload *x = calloc(1, sizeof *x);
    if (!x)
        fl_broken(&w->trial, "out of memory");
    w->trial.scenario = x->scenario = s;
    x->state = s->setup(&w->trial);
    MUST(w, cudaDeviceSynchronize());
    scenario_steps(w, x);
    x->next = w->workloads;
    w->workloads = x;
    return x;
}

/* One launch and a wait, untimed, wake what has slept since the last turn. */
static void wake(struct worker *w)
{
    k_spin(w->stream, w->out, 1, SPIN_THREADS, 0);
    MUST(w, cudaStreamSynchronize(w->stream));
}

static void turn_steps(struct worker *w, const struct turn_request *q,
                       struct turn_reply *r)
{
    bool spin = !strcmp(q->workload, "spin");
    struct workload *x = spin ? NULL : workload_named(w, q->workload);
    if (!spin && !x)
        return;                     /* no steps */
    w->trial.scenario = x ? x->scenario : NULL;
    if (spin && !w->warm)
        w->warm = spin_step(w, q);
    wake(w);
    unsigned launches = w->trial.launches;
    int64_t start = fl_now_ns(), now;
    do {
        r->count += x ? scenario_steps(w, x) : spin_step(w, q);
        now = fl_now_ns();
    } while (now - start < (int64_t)q->budget_ns);
    r->ns = (double)(now - start);
    r->launches = (uint32_t)((w->trial.launches - launches) / r->count);
}

/* Time of one kernel when `n` follow each other, between two events. Short
 * kernels show the rate at which launches are taken, not their own length. */
static double kernel_ns(struct worker *w, uint32_t rounds, unsigned n)
{
    float ms = 0;
    wake(w);
    MUST(w, cudaEventRecord(w->from, w->stream));
    for (unsigned i = 0; i < n; i++)
        k_spin(w->stream, w->out, 1, SPIN_THREADS, rounds);
    MUST(w, cudaEventRecord(w->to, w->stream));
    MUST(w, cudaEventSynchronize(w->to));
    MUST(w, cudaEventElapsedTime(&ms, w->from, w->to));
    return ms * 1e6 / n;
}

static double spin_speed(struct worker *w)
{
    uint32_t rounds = 1024;
    double whole;
    while ((whole = kernel_ns(w, rounds, 1)) < SPEED_NS && rounds < 1u << 30)
        rounds *= 2;
    double least = 0;
    for (int i = 0; i < 5; i++) {
        double half = kernel_ns(w, rounds / 2, 1);
        double slope = (kernel_ns(w, rounds, 1) - half) / (rounds / 2);
        if (slope > 0 && (least == 0 || slope < least))
            least = slope;
    }
    return least > 0 ? least : whole / rounds;
}

static void answer(struct worker *w, const struct turn_request *q,
                   struct turn_reply *r)
{
    struct cudaDeviceProp device;
    int version = 0;
    switch (q->kind) {
    case TURN_HELLO:
        MUST(w, cudaGetDeviceProperties(&device, 0));
        MUST(w, cudaRuntimeGetVersion(&version));
        snprintf(r->text, sizeof r->text, "%.*s", TURN_TEXT - 1, device.name);
        r->count = (uint64_t)version;
        r->value = dlsym(RTLD_DEFAULT, "simgpuGetFaultRecord") != NULL;
        break;
    case TURN_SPEED:
        r->value = spin_speed(w);
        break;
    case TURN_KERNEL:
        r->value = kernel_ns(w, q->rounds, TIMED_KERNELS);
        break;
    case TURN_STEPS:
        turn_steps(w, q, r);
        break;
    default:
        fl_broken(&w->trial, "unknown request %u", q->kind);
    }
    r->ok = 1;
}

static void explain(const struct worker *w, struct turn_reply *r)
{
    const struct fl_report *report = &w->trial.report;
    memset(r, 0, sizeof *r);
    if (w->trial.broken[0])
        snprintf(r->text, sizeof r->text, "%.*s", TURN_TEXT - 1,
                 w->trial.broken);
    else
        snprintf(r->text, sizeof r->text, "healthy work failed: %s from %s",
                 cudaGetErrorName(report->code),
                 report->api ? report->api : "a call");
}

static void open_device(struct worker *w)
{
    MUST(w, cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
    MUST(w, cudaMalloc((void **)&w->out, SPIN_THREADS * sizeof *w->out));
    MUST(w, cudaMemset(w->out, 0, SPIN_THREADS * sizeof *w->out));
    MUST(w, cudaEventCreate(&w->from));
    MUST(w, cudaEventCreate(&w->to));
    MUST(w, cudaDeviceSynchronize());
}

int worker_run(const struct fl_strategy *strategy, enum fl_variant variant)
{
    static struct worker w;     /* survives the longjmp out of a step */
    static struct turn_request q;
    static struct turn_reply r;
    /* Replies own the descriptor; what anyone prints goes to stderr. */
    int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);

    w.trial.strategy = strategy;
    w.trial.variant = variant;
    w.trial.seed = 1;
    w.trial.can_raise = true;
    if (!setjmp(w.trial.raise) && fl_trial_start(&w.trial)) {
        open_device(&w);
        while (read(STDIN_FILENO, &q, sizeof q) == (ssize_t)sizeof q) {
            memset(&r, 0, sizeof r);
            answer(&w, &q, &r);
            if (write(out, &r, sizeof r) != (ssize_t)sizeof r)
                break;
        }
        return 0;
    }
    explain(&w, &r);
    return write(out, &r, sizeof r) == (ssize_t)sizeof r ? 1 : 2;
}
