/* A training step divides its features by standard deviations, whose roots are
 * taken by a hand-written iteration. The variances come with the batch, from
 * sums of squares less squares of sums, and that of one constant row came out
 * at minus a millionth.
 *
 * No iterate's square is near a negative number, so the kernel never ends. No
 * error exists that any check could find: whoever waits, waits. Only where the
 * device limits the time of a kernel (a GPU that drives a display, as
 * cudaDevAttrKernelExecTimeout tells) does it end, with 702. Where the host
 * hangs is all that one learns, and blocking launches put that at the launch;
 * but a check in the kernel (dsa) sees the sign. A floor under the variances is
 * the defence. */
#include "net.h"

#include <math.h>

#define SLIGHTLY_NEGATIVE -1e-6f    /* what the beacon calls -1 */
#define FLOOR 1e-3f

struct state {
    struct net net;
    struct inputs in;
    float *x;
    struct floats variance[STEPS];
    int bad_row;
    float twin_variance;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, TOKENS);
    s.x = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.variance[b] = new_floats(t, TOKENS, 0.5f);
        for (int i = 0; i < TOKENS; i++)
            s.variance[b].host[i] += 1;
    }
    s.bad_row = (int)random_below(t, TOKENS);
    s.twin_variance = s.variance[BAD_STEP].host[s.bad_row];
    if (fl_variant(t) != FL_HEALTHY)
        s.variance[BAD_STEP].host[s.bad_row] = SLIGHTLY_NEGATIVE;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_inputs(t, &s->net, &s->in, b);
    load_floats(t, &s->net, &s->variance[b]);
}

/* A GPU may or may not have a time limit. */
#define EXPECT_702(strategy, outcomes, where) \
    EXPECT(strategy, FL_HANG | (outcomes), 702, where, FL_OPEN, \
        .device = FL_CUDA, .note = "an error where kernels have a time limit")

PROGRAM static void standardise(struct fl_trial *t, struct state *s,
                                unsigned b)
{
    cudaStream_t stream = s->net.stream;
    float *variance = s->variance[b].dev;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_clamp_f32(stream, variance, FLOOR, INFINITY,
                                         TOKENS));
    FL_PLANT(t, stream, k_standardise(stream, s->x, variance, TOKENS, DIM,
                                      fl_beacon(t)),
        EXPECT_DSA("standardise", "train_step"),
        EXPECT("*", FL_HANG, 0, NULL, FL_DERIVED, .device = FL_SIM,
            .note = "simgpu limits no kernel's time unless told to, and the "
                    "step's end waits under every strategy"),
        EXPECT_702("async", FL_LATE, "train_step"),
        EXPECT_702("sync-unchecked", FL_MISATTRIBUTED, "train_step"),
        EXPECT_702("sync", FL_EXACT, "standardise"),
        EXPECT_702("stream-sync", FL_EXACT, "standardise"),
        EXPECT_702("device-sync", FL_EXACT, "standardise"),
        EXPECT_702("every-8", FL_LATE, NULL),
        EXPECT_702("*", FL_LATE | FL_EXACT, NULL));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    net_project(t, &s->net, s->x, &s->in.features[b]);
    standardise(t, s, b);
    net_mlp(t, &s->net, s->x);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->x, &s->in.label[b]);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;

    if (fl_variant(t) == FL_GUARDED)
        return FL_NEVER;
    for (int b = 0; b < STEPS; b++)
        for (int i = 0; i < TOKENS; i++)
            if (s->variance[b].host[i] < 0)
                return FL_ALWAYS;
    return FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / DIM == s->bad_row && beacon->value == -1;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];

    for (unsigned b = 0; b < STEPS; b++) {
        net_ref_project(&s->net, x, &s->in.features[b]);
        for (int i = 0; i < TOKENS * DIM; i++) {
            float variance = s->variance[b].host[i / DIM];
            if (variance < 0)
                variance = fl_variant(t) == FL_GUARDED ? FLOOR
                                                       : s->twin_variance;
            x[i] /= sqrtf(variance);
        }
        net_ref_mlp(&s->net, x);
        net_ref_train(&s->net, x, s->in.label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_infinite_loop = {
    .name = "infinite-loop",
    .summary = "an iteration in a kernel that never converges on one row",
    .stands_for = "kernels whose loops have no bound and whose host hangs in a "
        "synchronise (MFlowCode/MFC #1646, pytorch/pytorch #134334, "
        "cms-sw/cmssw #37323)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .limit_ms = 250,
    .fault_kernel = "standardise_kernel",
    .fault_file = "kernels/norm.cu",
    .guard = "the variances are clamped to a positive floor before use",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
