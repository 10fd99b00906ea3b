/* A training step takes rows of a quantised table a little larger than 2 GiB,
 * by a kernel that computes offsets in 32 bits. One number of the second batch
 * is in the last rows: a legal index, whose offset no longer fits.
 *
 * The offset wraps to minus 2 GiB, which is outside of everything: 700. Small
 * tables never show it, and checking the indices finds nothing wrong. */
#include "lookup.h"

enum { TAIL = 64 };
#define FIRST_TAIL_ROW ((INT64_C(1) << 31) / DIM)
#define SCALE (1.0f / 64)

static int8_t *table;                       /* device */
static int8_t head[ROWS * DIM], tail[TAIL * DIM];

static void *setup(struct fl_trial *t)
{
    struct lookup *l = lookup_setup(t, FIRST_TAIL_ROW
                                       + random_below(t, TAIL));

    for (int i = 0; i < ROWS * DIM; i++)
        head[i] = (int8_t)fl_random(t);
    for (int i = 0; i < TAIL * DIM; i++)
        tail[i] = (int8_t)fl_random(t);
    fl_must(t, cudaMalloc((void **)&table, (FIRST_TAIL_ROW + TAIL) * DIM));
    fl_must(t, cudaMemcpy(table, head, sizeof head, cudaMemcpyHostToDevice));
    fl_must(t, cudaMemcpy(table + FIRST_TAIL_ROW * DIM, tail, sizeof tail,
                          cudaMemcpyHostToDevice));
    return l;
}

PROGRAM static void recall(struct fl_trial *t, struct lookup *l, unsigned b)
{
    cudaStream_t stream = l->net.stream;

    if (fl_variant(t) == FL_GUARDED) {
        FL_LAUNCH(t, stream, k_dequantise_wide(stream, l->recalled, table,
                                               l->neighbour[b].dev, SCALE,
                                               TOKENS, DIM));
        return;
    }
    FL_PLANT(t, stream, k_dequantise(stream, l->recalled, table,
                                     l->neighbour[b].dev, SCALE, TOKENS, DIM,
                                     fl_beacon(t)),
        EXPECT_ASKED_AT_END(700, "train_step"),
        EXPECT_SERIAL(700, "recall", "lookup_encode", "train_step"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, recall);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct lookup *l = state;
    return predict_outside(t, l->neighbour, 0, FIRST_TAIL_ROW);
}

/* What is right is what the table holds: the index is a legal one. */
static void add_rows(const struct fl_trial *t, const struct lookup *l,
                     unsigned b, float *x)
{
    (void)t;
    for (int i = 0; i < TOKENS * DIM; i++) {
        int64_t row = l->neighbour[b].host[i / DIM];
        const int8_t *right = row < ROWS ? &head[row * DIM]
                                         : &tail[(row - FIRST_TAIL_ROW) * DIM];
        x[i] += SCALE * right[i % DIM];
    }
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_rows);
}

const struct fl_scenario scenario_int32_overflow_offset = {
    .name = "int32-overflow-offset",
    .summary = "a legal index whose byte offset overflows 32 bits in the "
        "kernel",
    .stands_for = "tensors beyond 2^31 elements with 32-bit offsets "
        "(alexzhang13/flashattention2-custom-mask #2)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "dequantise_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "a kernel that computes offsets in 64 bits",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = lookup_commits,
    .check = check,
};
