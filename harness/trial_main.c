/* faultlag-trial: one trial, one process.
 *
 *   faultlag-trial --scenario S --variant V --strategy T --seed N
 *                  --device sim|cuda|auto --mode free|seeded
 *                  [--limit-ms N] [--result-fd N] [--trace FILE]
 *                  [--inspect FILE [--record-inputs yes]]
 *   faultlag-trial --catalogue | --probe
 *
 * The parent chooses device, mode and CUDA_LAUNCH_BLOCKING through the
 * environment; here they are only verified. The record goes to the result
 * file descriptor as one line of JSON. Exit: 0 the record was written, 2
 * usage, 3 no usable device. Anything else, or a signal, is a result that the
 * parent writes down. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/catalogue.h"
#include "harness/inputs.h"
#include "harness/memory.h"
#include "harness/run.h"

static struct fl_run run;               /* static: it outlives a longjmp */

static int usage(const char *why, const char *what)
{
    fprintf(stderr, "faultlag-trial: %s `%s`; this program is started by "
            "faultlag\n", why, what ? what : "");
    return 2;
}

/* Eight calls that any program makes sooner or later; how many of them still
 * fail after the report? */
static int count_cascade(void)
{
    void *memory = NULL;
    char byte = 0;
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    int failed = 0;
    failed += cudaMalloc(&memory, 4096) != cudaSuccess;
    failed += cudaMemset(memory, 0, 1) != cudaSuccess;
    failed += cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost)
        != cudaSuccess;
    failed += cudaStreamCreate(&stream) != cudaSuccess;
    failed += cudaEventCreate(&event) != cudaSuccess;
    failed += cudaStreamSynchronize(stream) != cudaSuccess;
    failed += cudaDeviceSynchronize() != cudaSuccess;
    failed += cudaFree(memory) != cudaSuccess;
    return failed;
}

/* The steps, as the exception handler's protected region. Its frame is where
 * recorded call stacks end. */
static void __attribute__((noinline)) run_steps(void)
{
    struct fl_trial *t = &run.trial;
    const struct fl_scenario *s = t->scenario;
    t->stack_base = __builtin_frame_address(0);
    if (setjmp(t->raise) == 0) {
        t->can_raise = true;
        for (t->step = 0; t->step < (s->steps ? s->steps : 1); t->step++)
            s->step(t, run.state);
    }
    t->can_raise = false;
}

/* Only where the device's time will be wanted: a fault of the device, or a
 * timeline. */
static void ask_the_time(struct fl_trial *t)
{
    bool wanted = run.trace_path
        || (t->variant == FL_FAULTY && t->scenario->fault_kernel);
    if (run.free_running && wanted)
        fl_must(t, fl_clock_talk(&run.clock));
}

/* Set-up and strategy may break the trial, too. */
static bool prepare(void)
{
    struct fl_trial *t = &run.trial;
    bool ok = false;
    if (setjmp(t->raise) == 0) {
        t->can_raise = true;
        ask_the_time(t);
        t->stack_base = __builtin_frame_address(0);
        if (!fl_trial_start(t))
            fl_broken(t, "no trial");
        fl_watch_start(&run);
        run.state = t->scenario->setup(t);
        run.predicted = t->scenario->predict(t, run.state);
        fl_must(t, cudaDeviceSynchronize());
        ask_the_time(t);
        ok = true;
    }
    t->can_raise = false;
    return ok;
}

static void examine(void)
{
    struct fl_trial *t = &run.trial;
    run.cascade_errors = -1;
    if (t->broken[0])
        return;
    if (t->report.code) {
        run.cascade_errors = count_cascade();
        return;
    }
    if (setjmp(t->raise) == 0) {
        t->can_raise = true;
        run.data = t->scenario->check(t, run.state);
        if (t->scenario->teardown)
            t->scenario->teardown(t, run.state);
    }
    t->can_raise = false;
}

static int run_trial(const char *device)
{
    char error[512];
    if (run.trial.scenario->before_context)
        run.trial.scenario->before_context();
    if (!fl_device_open(&run, device, error)) {
        fprintf(stderr, "faultlag-trial: %s\n", error);
        return 3;
    }
    run.trial.record = true;
    run.trial.stamps = run.trace_path != NULL;
    if (run.inspect_path)
        fl_memory_watch(__builtin_frame_address(0));
    if (run.record_inputs)
        fl_inputs_watch(&run.trial);
    if (prepare()) {
        run_steps();
        if (run.inspect_path && !fl_inspect_write(&run, run.inspect_path))
            fprintf(stderr, "faultlag-trial: %s could not be written\n",
                    run.inspect_path);
        examine();
    }
    fl_watch_stop(&run);
    fl_record_write(&run, false);
    if (run.trace_path && !fl_trace_write(&run, run.trace_path))
        fprintf(stderr, "faultlag-trial: no trace written to %s (it exists, "
                "or the trial was seeded or empty)\n", run.trace_path);
    fflush(NULL);
    /* A lost context has nothing left to tidy up. */
    _exit(0);
}

static int print_json(void (*fill)(struct fl_text *))
{
    struct fl_text out = { 0 };
    fill(&out);
    puts(out.s);
    fl_text_free(&out);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "scenario", 1, NULL, 's' }, { "variant", 1, NULL, 'v' },
        { "strategy", 1, NULL, 't' }, { "seed", 1, NULL, 'n' },
        { "device", 1, NULL, 'd' }, { "mode", 1, NULL, 'm' },
        { "limit-ms", 1, NULL, 'l' }, { "result-fd", 1, NULL, 'f' },
        { "trace", 1, NULL, 'r' }, { "inspect", 1, NULL, 'i' },
        { "record-inputs", 1, NULL, 'I' }, { "catalogue", 0, NULL, 'C' },
        { "probe", 0, NULL, 'P' }, { NULL, 0, NULL, 0 }
    };
    struct fl_trial *t = &run.trial;
    const char *scenario = NULL, *variant = "faulty", *strategy = "async";
    const char *device = "auto", *mode = "free";
    int c;
    run.result_fd = STDOUT_FILENO;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (c) {
        case 's': scenario = optarg; break;
        case 'v': variant = optarg; break;
        case 't': strategy = optarg; break;
        case 'n': t->seed = strtoull(optarg, NULL, 10); break;
        case 'd': device = optarg; break;
        case 'm': mode = optarg; break;
        case 'l': run.limit_ns = strtoll(optarg, NULL, 10) * 1000000; break;
        case 'f': run.result_fd = atoi(optarg); break;
        case 'r': run.trace_path = optarg; break;
        case 'i': run.inspect_path = optarg; break;
        case 'I': run.record_inputs = true; break;
        case 'C': return print_json(fl_catalogue_json);
        case 'P': return print_json(fl_device_json);
        default: return usage("bad option", argv[optind - 1]);
        }
    t->scenario = scenario ? fl_scenario_named(scenario) : NULL;
    t->strategy = fl_strategy_named(strategy);
    t->variant = fl_variant_named(variant);
    if (!t->scenario)
        return usage("no scenario", scenario);
    if (!t->strategy)
        return usage("no strategy", strategy);
    if (!(t->scenario->variants & t->variant))
        return usage("no variant", variant);
    /* For testing expectations: the healthy twin in the faulty one's place. */
    if (getenv("FAULTLAG_TWIN") && t->variant == FL_FAULTY)
        t->variant = FL_HEALTHY;
    run.free_running = !strcmp(mode, "free");
    return run_trial(device);
}
