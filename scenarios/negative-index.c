/* A training step looks up remembered rows, and in the second batch one
 * neighbour is -100, the number that frameworks use for "ignore this one".
 *
 * A raw kernel does not count from the end as Python does: it reads 12800
 * bytes before the table, where some other tensor lies. The memory management
 * of a GPU knows pages, not allocations, so the access is legal for it and no
 * strategy ever hears of it. The loss is wrong, and nothing else. */
#include "lookup.h"

static void *setup(struct fl_trial *t)
{
    return lookup_setup(t, -100);
}

PROGRAM static void recall(struct fl_trial *t, struct lookup *l, unsigned b)
{
    cudaStream_t stream = l->net.stream;
    const int64_t *neighbour = l->neighbour[b].dev;

    if (!lookup_guarded(t, l, b))
        FL_PLANT(t, stream, k_index_select(stream, l->recalled, l->memory.dev,
                                           neighbour, TOKENS, DIM, ROWS,
                                           fl_beacon(t)),
            EXPECT_DSA("recall", "train_step"),
            EXPECT("*", FL_SILENT, 0, NULL, FL_REPORT,
                .note = "other tensors lie before the table, in the same 2 MiB "
                        "of mapped memory"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

const struct fl_scenario scenario_negative_index = {
    .name = "negative-index",
    .summary = "a look-up with index -100, the filler for ignored positions",
    .stands_for = "ignore_index fillers (-1, -100) that reach an indexing "
        "kernel (huggingface/transformers #2718); silence: a GPU lets small "
        "overruns pass (risc0/risc0 #3803)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED | FL_CLAMPED | FL_REPLACED
        | FL_CHECKED,
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
