/* A program makes its own launches block: it sets CUDA_LAUNCH_BLOCKING to 1 in
 * its environment, as scripts do, but only after the process has a context. One
 * of its indices is far out.
 *
 * The variable is read once, no later than when the context is made, so nothing
 * blocks: whoever reads the report believes that it is exact, and it is as late
 * as that of bad-gather, under each strategy. The strategies that do block got
 * the variable before the process began. */
#include "lookup.h"

#include <stdlib.h>

/* The process has had its context since long before any set-up. */
static void *setup(struct fl_trial *t)
{
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
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
            EXPECT("async", FL_LATE, 700, "train_step", FL_REPORT,
                .note = "nobody asks before the step's own synchronise"),
            EXPECT("sync-unchecked", FL_MISATTRIBUTED, 700, "train_step",
                FL_DERIVED,
                .note = "the launch waited, but nvcc's stub drops its code; "
                        "the next call that is checked is the step's end"),
            EXPECT_SERIAL(700, "recall", "lookup_encode", "train_step"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

const struct fl_scenario scenario_env_too_late = {
    .name = "env-too-late",
    .summary = "CUDA_LAUNCH_BLOCKING is set by the program itself, after its "
        "context was made, and a look-up goes wrong",
    .stands_for = "scripts that set CUDA_LAUNCH_BLOCKING after CUDA was "
        "initialised and trust the line that is then named (pytorch/pytorch "
        "#104801)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "index_select_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the kernel checks each index and takes zeros for a bad one",
    .setup = setup,
    .step = train_step,
    .predict = lookup_predict,
    .commits = lookup_commits,
    .check = lookup_check,
};
