/* A training step adds a slice of a longer tensor to its features with a kernel
 * that loads four floats at a time. The slice of the second batch begins at an
 * offset that is no multiple of four.
 *
 * A 16-byte load from an address that is not 16-byte aligned is 716, sticky,
 * whatever lies there. Contiguity checks do not help: the slice is contiguous.
 * The defence is to look at the pointer and fall back to single loads. */
#include "lookup.h"

enum { ALIGNED = 4, MISALIGNED = 5 };

static struct floats whole;     /* the tensor that is sliced */

static int offset_of(const struct fl_trial *t, unsigned b)
{
    return b == BAD_STEP && fl_variant(t) != FL_HEALTHY ? MISALIGNED : ALIGNED;
}

static void *setup(struct fl_trial *t)
{
    struct lookup *l = lookup_setup(t, 0);

    whole = new_floats(t, TOKENS * DIM + 2 * ALIGNED, 1);
    upload_floats(t, &whole);
    return l;
}

PROGRAM static void add_slice(struct fl_trial *t, struct lookup *l, unsigned b)
{
    cudaStream_t stream = l->net.stream;
    const float *slice = whole.dev + offset_of(t, b);

    if (fl_variant(t) == FL_GUARDED && b == BAD_STEP)
        FL_LAUNCH(t, stream, k_add(stream, l->x, l->x, slice, TOKENS * DIM));
    else
        FL_PLANT(t, stream, k_add4(stream, l->x, slice, TOKENS * DIM,
                                   fl_beacon(t)),
            EXPECT_ASKED_AT_END(716, "train_step"),
            EXPECT_NOT_WAITED(716, "lookup_encode", "train_step"),
            EXPECT_CRUMBS(716, "add_slice", "train_step"),
            EXPECT_LOG(716, "lookup_encode", "train_step"),
            EXPECT_DSA_BLIND(716, "train_step"),
            EXPECT_WAITED(716, "add_slice"));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, add_slice);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    (void)state;
    return fl_variant(t) != FL_GUARDED && offset_of(t, BAD_STEP) % 4
        ? FL_ALWAYS : FL_NEVER;
}

/* All threads of the launch. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return element_of(beacon) < TOKENS * DIM / 4
        && beacon_says(beacon, MISALIGNED % 4 * (int)sizeof(float));
}

static void add_right_slice(const struct fl_trial *t, const struct lookup *l,
                            unsigned b, float *x)
{
    (void)l;
    for (int i = 0; i < TOKENS * DIM; i++)
        x[i] += whole.host[i + offset_of(t, b)];
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_right_slice);
}

const struct fl_scenario scenario_misaligned_vector = {
    .name = "misaligned-vector",
    .summary = "a vector load from a slice that is not 16-byte aligned",
    .stands_for = "`misaligned address` reported at the next synchronise, from "
        "an extension's int4 load on a view (Jim137/qkan #26)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "add4_kernel",
    .fault_file = "kernels/elementwise.cu",
    .guard = "a scalar kernel when the pointer is not aligned",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
