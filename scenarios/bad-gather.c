/* A training step looks up remembered rows by neighbour numbers that came with
 * the batch, and in the second batch one number points 64 TiB past the table.
 *
 * The look-up is an unchecked kernel, so the hardware meets an unmapped
 * address: 700, sticky, for the whole context. Nothing in the step waits, so a
 * program that asks at its end learns of it there, 22 launches later, in a
 * function that has nothing to do with look-ups. Blocking launches name the
 * look-up, provided that the launch is checked. */
#include "lookup.h"

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
            EXPECT_ASKED_AT_END(700, "train_step"),
            EXPECT_SERIAL(700, "recall", "lookup_encode", "train_step"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

const struct fl_scenario scenario_bad_gather = {
    .name = "bad-gather",
    .summary = "a look-up with one index far past the end of its table",
    .stands_for = "illegal memory access blamed on an innocent later line, "
        "true place a custom or embedding kernel several calls earlier "
        "(pytorch/pytorch #42077, PaddlePaddle/PaddleNLP #6031)",
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
