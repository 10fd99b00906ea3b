/* A program asks how many devices there are, then sets CUDA_LAUNCH_BLOCKING to
 * 1 in its own environment, then makes its context. One of its indices is far
 * out.
 *
 * cudaGetDeviceCount initialises the driver and makes no context. Which of the
 * two reads the variable is not documented, so on a GPU this may be in time or
 * not. simgpu reads it with the context: there it is in time, each strategy
 * runs on launches that block, and a check after each launch is exact. Compare
 * env-too-late. */
#include "lookup.h"

#include <stdlib.h>

static void count_then_set(void)
{
    int devices;

    cudaGetDeviceCount(&devices);   /* no device: the harness says so next */
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
}

static void *setup(struct fl_trial *t)
{
    return lookup_setup(t, ROWS + FAR_ROW);
}

PROGRAM static void recall(struct fl_trial *t, struct lookup *l, unsigned b)
{
    cudaStream_t stream = l->net.stream;
    const int64_t *neighbour = l->neighbour[b].dev;

    if (!lookup_guarded(t, l, b))
        FL_PLANT(t, stream, k_index_select(stream, l->recalled, l->memory.dev,
                                           neighbour, TOKENS, DIM, ROWS,
                                           fl_beacon(t)),
            EXPECT("async", FL_LATE, 700, "train_step", FL_DERIVED,
                .note = "blocked or not, nvcc's stub drops the launch's code, "
                        "and nobody asks before the step's end"),
            EXPECT("async-check", FL_EXACT, 700, "recall", FL_OPEN,
                .device = FL_SIM,
                .note = "the variable was in time"),
            EXPECT("event-poll", FL_EXACT, 700, "recall", FL_OPEN,
                .device = FL_SIM),
            EXPECT("breadcrumb", FL_EXACT, 700, "recall", FL_OPEN,
                .device = FL_SIM),
            EXPECT("cupti-log", FL_EXACT, 700, "recall", FL_OPEN,
                .device = FL_SIM,
                .note = "the launch returns the code, and a tool sees it"),
            EXPECT("dsa", FL_EXACT, 710, "recall", FL_OPEN,
                .device = FL_SIM),
            EXPECT("async-check", FL_EXACT | FL_LATE, 700, NULL, FL_OPEN,
                .note = "exact if the variable was in time"),
            EXPECT("event-poll", FL_EXACT | FL_LATE, 700, NULL, FL_OPEN),
            EXPECT("breadcrumb", FL_EXACT, 700, NULL, FL_DERIVED,
                .note = "in time or not"),
            EXPECT("cupti-log", FL_EXACT | FL_LATE | FL_MISATTRIBUTED, 700,
                NULL, FL_OPEN,
                .note = "which activity records survive a fault is not "
                        "documented"),
            EXPECT("dsa", FL_EXACT, 710, NULL, FL_DERIVED,
                .note = "whenever the host looks, the record names the "
                        "launch"),
            EXPECT("graph", FL_LATE, 700, "train_step", FL_DERIVED,
                .note = "the graph is launched ahead of the step's wait"),
            EXPECT("graph-sync", FL_LATE, 700, "train_step", FL_DERIVED),
            EXPECT("sync-unchecked", FL_MISATTRIBUTED, 700, "train_step",
                FL_DERIVED,
                .note = "the launch waited, but nvcc's stub drops its code; "
                        "the next call that is checked is the step's end"),
            EXPECT_WAITED(700, "recall"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

const struct fl_scenario scenario_env_after_count = {
    .name = "env-after-count",
    .summary = "CUDA_LAUNCH_BLOCKING is set by the program itself, after it "
        "counted the devices and before its context, and a look-up goes wrong",
    .stands_for = "scripts that set CUDA_LAUNCH_BLOCKING after a library was "
        "loaded that looks for devices (pytorch/pytorch #104801)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "index_select_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the kernel checks each index and takes zeros for a bad one",
    .before_context = count_then_set,
    .setup = setup,
    .step = train_step,
    .predict = lookup_predict,
    .commits = lookup_commits,
    .check = lookup_check,
};
