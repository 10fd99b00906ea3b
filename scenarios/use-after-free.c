/* A training step sums in two kernels by way of a workspace of 2 MiB, and in
 * the second step the workspace is freed between the two.
 *
 * cudaFree waits for the work before it and gives whole blocks of memory back,
 * so the second kernel reads an address that nothing is behind: 700 at that
 * launch. How soon a GPU's driver really unmaps is its own affair, and small
 * pieces stay mapped: there the old bytes may still be found. */
#include "lookup.h"

enum { PARTS = 256, WORK = TOKENS * DIM };

static void *setup(struct fl_trial *t)
{
    return lookup_setup(t, 0);
}

PROGRAM static void join(struct fl_trial *t, struct lookup *l,
                         const float *workspace, bool freed)
{
    cudaStream_t stream = l->net.stream;

    FL_PLANT(t, stream, k_join(stream, l->recalled, workspace, PARTS, WORK,
                               freed, fl_beacon(t)),
        EXPECT("*", FL_EXACT | FL_LATE | FL_MISATTRIBUTED | FL_SILENT
            | FL_BENIGN, 0, NULL, FL_OPEN, .device = FL_CUDA,
            .note = "when a driver unmaps freed memory is not documented"),
        EXPECT_ASKED_AT_END(700, "train_step"),
        EXPECT_NOT_WAITED(700, "lookup_encode", "train_step"),
        EXPECT_CRUMBS(700, "join", "train_step"),
        EXPECT_LOG(700, "lookup_encode", "train_step"),
        EXPECT_DSA_BLIND(700, "train_step"),
        EXPECT_WAITED(700, "join"));
}

PROGRAM static void recall(struct fl_trial *t, struct lookup *l, unsigned b)
{
    cudaStream_t stream = l->net.stream;
    bool too_early = fl_is_faulty(t) && b == BAD_STEP;
    float *workspace;

    FL_CALL(t, cudaMalloc((void **)&workspace,
                          sizeof *workspace * PARTS * WORK));
    FL_LAUNCH(t, stream, k_split(stream, workspace, l->memory.dev, PARTS,
                                 WORK));
    if (too_early)
        FL_CALL(t, cudaFree(workspace));
    join(t, l, workspace, too_early);
    if (!too_early)
        FL_CALL(t, cudaFree(workspace));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    (void)state;
    return fl_is_faulty(t) ? FL_ALWAYS : FL_NEVER;
}

/* All threads of the launch. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return element_of(beacon) < WORK
        && beacon_says(beacon, 0);
}

static void add_sum(const struct fl_trial *t, const struct lookup *l,
                    unsigned b, float *x)
{
    (void)t;
    (void)b;
    for (int i = 0; i < WORK; i++)
        x[i] += l->memory.host[i];
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_sum);
}

const struct fl_scenario scenario_use_after_free = {
    .name = "use-after-free",
    .summary = "a kernel reads a workspace that was freed before its launch",
    .stands_for = "memory given back on the host while kernels that use it are "
        "still to come (vllm-project/vllm #43020)",
    .variants = FL_FAULTY | FL_HEALTHY,
    .steps = STEPS,
    .fault_kernel = "join_kernel",
    .fault_file = "kernels/reduce.cu",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
