/* An inference step draws a category for each token and goes on with what was
 * drawn. In the second batch one feature has overflowed on its way: infinity.
 *
 * Norms and attention make NaN of it, for all tokens of its sequence, and none
 * of them minds. The sampler asserts its weights: 710. Even the launch that
 * blocking names is only the first to look; the cause lies in the input, 17
 * launches earlier. Zeroing bad weights before drawing is the defence, which
 * keeps the program alive and its draws of that sequence meaningless. */
#include "net.h"

#include <math.h>

#include "reference.h"

/* Of a cumulated weight, on the device against the CPU's. */
#define DRAW_TOLERANCE 1e-3

struct state {
    struct net net;
    struct floats table, features[STEPS], u[STEPS];
    float *x;
    int64_t *drawn;
    int bad_sequence;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;
    int bad_feature;

    net_create(t, &s.net);
    s.table = new_floats(t, CLASSES * DIM, 1);
    upload_floats(t, &s.table);
    s.x = device_floats(t, TOKENS * DIM);
    fl_must(t, cudaMalloc((void **)&s.drawn, TOKENS * sizeof *s.drawn));
    for (int b = 0; b < STEPS; b++) {
        s.features[b] = new_floats(t, TOKENS * DIM, 1);
        s.u[b] = new_floats(t, TOKENS, 0.5f);
        for (int i = 0; i < TOKENS; i++)
            s.u[b].host[i] += 0.5f;
    }
    bad_feature = (int)random_below(t, TOKENS * DIM);
    s.bad_sequence = bad_feature / (SEQ * DIM);
    if (fl_variant(t) != FL_HEALTHY)
        s.features[BAD_STEP].host[bad_feature] = INFINITY;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_floats(t, &s->net, &s->features[b]);
    load_floats(t, &s->net, &s->u[b]);
}

PROGRAM static void weigh(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;

    FL_LAUNCH(t, stream, k_linear(stream, s->x, s->features[b].dev,
                                  s->net.w_in.dev, NULL, TOKENS, DIM, DIM));
    net_encode(t, n, s->x, NULL);
    net_classify(t, n, s->x, TOKENS);
    FL_LAUNCH(t, stream, k_softmax(stream, n->logits, TOKENS, CLASSES));
}

PROGRAM static void sample(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    float *weight = s->net.logits;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_zero_bad_weights(stream, weight,
                                                TOKENS * CLASSES));
    FL_PLANT(t, stream, k_sample(stream, s->drawn, weight, s->u[b].dev, TOKENS,
                                 CLASSES, fl_beacon(t)),
        EXPECT_ASKED_AT_END(710, "infer_step"),
        EXPECT_SERIAL(710, "sample", "extend", "infer_step"));
}

PROGRAM static void extend(struct fl_trial *t, struct state *s)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_index_select(stream, s->x, s->table.dev, s->drawn,
                                        TOKENS, DIM, CLASSES, fl_beacon(t)));
    net_mlp(t, &s->net, s->x);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void infer_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    weigh(t, s, b);
    sample(t, s, b);
    extend(t, s);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;

    if (fl_variant(t) == FL_GUARDED)
        return FL_NEVER;
    for (int b = 0; b < STEPS; b++)
        for (int i = 0; i < TOKENS * DIM; i++)
            if (!isfinite(s->features[b].host[i]))
                return FL_ALWAYS;
    return FL_NEVER;
}

/* Attention spreads NaN over the whole sequence, softmax over the whole row. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / SEQ == s->bad_sequence
        && beacon_says(beacon, 0);
}

/* Is c what u draws from these weights, whose sum is 1? */
static bool is_drawn(int64_t c, const float *weight, float u)
{
    double below = 0;

    if (c < 0 || c >= CLASSES)
        return false;
    for (int i = 0; i < c; i++)
        below += weight[i];
    return u > below - DRAW_TOLERANCE
        && u < below + weight[c] + DRAW_TOLERANCE;
}

/* The last step alone: earlier ones leave nothing behind. */
static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM], p[TOKENS * CLASSES];
    int64_t drawn[TOKENS];

    if (cudaMemcpy(drawn, s->drawn, sizeof drawn, cudaMemcpyDeviceToHost)
        != cudaSuccess)
        return FL_DATA_UNREADABLE;
    ref_linear(x, s->features[BAD_STEP].host, s->net.w_in.host, NULL, TOKENS,
               DIM, DIM);
    net_ref_encode(&s->net, x, NULL);
    ref_linear(p, x, s->net.head_w.host, s->net.head_b.host, TOKENS, DIM,
               CLASSES);
    ref_softmax(p, TOKENS, CLASSES);
    for (int i = 0; i < TOKENS; i++) {
        bool zeroed = fl_variant(t) == FL_GUARDED && i / SEQ == s->bad_sequence;
        if (zeroed ? drawn[i] != CLASSES - 1
                   : !is_drawn(drawn[i], p + i * CLASSES,
                               s->u[BAD_STEP].host[i]))
            return FL_DATA_WRONG;
    }
    ref_index_select(x, s->table.host, drawn, TOKENS, DIM);
    net_ref_mlp(&s->net, x);
    ref_linear(p, x, s->net.head_w.host, s->net.head_b.host, TOKENS, DIM,
               CLASSES);
    return compare_floats(s->net.logits, p, TOKENS * CLASSES);
}

const struct fl_scenario scenario_nan_probability = {
    .name = "nan-probability",
    .summary = "an infinite feature becomes NaN probabilities, caught by the "
        "sampler's assertion",
    .stands_for = "`probability tensor contains either inf, nan or element < "
        "0`, the NaN made by an earlier kernel (sgl-project/sglang #21460, "
        "flashinfer-ai/flashinfer #2708)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "sample_kernel",
    .fault_file = "kernels/sample.cu",
    .guard = "weights that are not finite or negative become zero first",
    .setup = setup,
    .step = infer_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
