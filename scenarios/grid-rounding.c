/* A hand-written kernel without `if (i < n)` runs on a grid rounded up to whole
 * blocks. In the second batch n is not a multiple of the block, so the last 48
 * threads work on what lies behind the array: the gains, which an arena packs
 * right behind it.
 *
 * The gains are live memory of the same program, so no device objects, under
 * any strategy; the model just computes with squared gains. (An allocator that
 * rounds sizes up would have hidden it in the padding.) */
#include "lookup.h"

enum { EVEN = 15 * K_THREADS, ODD = EVEN + 80, GAINS = 64 };

static float *arena;
static struct floats values, gain;

static int n_of(const struct fl_trial *t, unsigned b)
{
    return b == BAD_STEP && fl_variant(t) != FL_HEALTHY ? ODD : EVEN;
}

static void *setup(struct fl_trial *t)
{
    struct lookup *l = lookup_setup(t, 0);

    values = new_floats(t, ODD, 1);
    gain = new_floats(t, GAINS, 1);
    arena = device_floats(t, ODD + GAINS);
    return l;
}

PROGRAM static void fill_arena(struct fl_trial *t, struct lookup *l, int n)
{
    FL_CALL(t, cudaMemcpyAsync(arena, values.host, sizeof(float) * (size_t)n,
                               cudaMemcpyHostToDevice, l->net.stream));
    FL_CALL(t, cudaMemcpyAsync(arena + n, gain.host, sizeof(float) * GAINS,
                               cudaMemcpyHostToDevice, l->net.stream));
}

PROGRAM static void square(struct fl_trial *t, struct lookup *l, int n)
{
    unsigned blocks = (unsigned)(n + K_THREADS - 1) / K_THREADS;

    if (fl_variant(t) == FL_GUARDED) {
        FL_LAUNCH(t, l->net.stream, k_square_guarded(l->net.stream, arena, n,
                                                     blocks));
        return;
    }
    FL_PLANT(t, l->net.stream, k_square(l->net.stream, arena, n, blocks,
                                        fl_beacon(t)),
        EXPECT_DSA("square", "train_step"),
        EXPECT("*", FL_SILENT, 0, NULL, FL_DERIVED,
            .note = "the neighbour is the program's own memory"));
}

PROGRAM static void add_energy(struct fl_trial *t, struct lookup *l,
                               unsigned b)
{
    cudaStream_t stream = l->net.stream;
    int n = n_of(t, b);

    fill_arena(t, l, n);
    square(t, l, n);
    FL_LAUNCH(t, stream, k_add(stream, l->x, l->x, arena, n));
    FL_LAUNCH(t, stream, k_bias(stream, l->x, l->x, arena + n, TOKENS, DIM));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    lookup_step(t, state, add_energy);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    (void)state;
    return !fl_is_defended(t) && n_of(t, BAD_STEP) % K_THREADS ? FL_ALWAYS
                                                                : FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return element_of(beacon) >= ODD && element_of(beacon) < EVEN + K_THREADS
        && beacon->value == element_of(beacon);
}

static void add_right_energy(const struct fl_trial *t, const struct lookup *l,
                             unsigned b, float *x)
{
    (void)l;
    for (int i = 0; i < n_of(t, b); i++)
        x[i] += values.host[i] * values.host[i];
    for (int i = 0; i < TOKENS * DIM; i++)
        x[i] += gain.host[i % DIM];
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_right_energy);
}

const struct fl_scenario scenario_grid_rounding = {
    .name = "grid-rounding",
    .summary = "a kernel without a bounds check on a grid rounded up to whole "
        "blocks",
    .stands_for = "hand-written kernels that index by the thread number alone "
        "(numba/numba #7284)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "square_kernel",
    .fault_file = "kernels/elementwise.cu",
    .guard = "the kernel checks its element's number against n",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
