/* A training step looks up remembered rows, and in the second batch one number
 * is that of the row after the last.
 *
 * The 128 bytes behind the table are mapped, since a GPU maps memory by much
 * larger pages, so no fault happens and no strategy reports anything: the row
 * is whatever lies there. Only an assertion, a guard, or a checker that knows
 * exact bounds would notice. */
#include "lookup.h"

static void *setup(struct fl_trial *t)
{
    return lookup_setup(t, ROWS);
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
                .note = "the table ends inside a mapped page"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

const struct fl_scenario scenario_near_miss_gather = {
    .name = "near-miss-gather",
    .summary = "a look-up one row past the end of its table",
    .stands_for = "silent out-of-bounds reads that only a sanitizer sees "
        "(risc0/risc0 #3803, ggml-org/llama.cpp #26546), such as an added pad "
        "token whose id is the table's size (huggingface/transformers "
        "#24698)",
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
