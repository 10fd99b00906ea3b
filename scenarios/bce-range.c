/* A training step judges each token by several yes-or-no questions, with a loss
 * that takes probabilities. The second batch comes by a path that forgot the
 * sigmoid, so that the loss is given raw scores.
 *
 * The loss asserts that what it gets is in [0, 1]: 710, with a line for each of
 * some hundred threads. Scores clamped into the range are the defence; what is
 * learnt from them is another matter. */
#include "net.h"

#include <math.h>

#include "reference.h"

enum { ANSWERS = TOKENS * CLASSES };

/* The guard's range is [EDGE, 1 - EDGE]. */
#define EDGE 1e-4f
/* Of a score, on the device against the CPU's. */
#define SCORE_TOLERANCE 1e-3

struct state {
    struct net net;
    struct floats features[STEPS], target[STEPS];
    float *x, *losses;
    float ref_p[ANSWERS];   /* what the last step's loss is given */
};

static bool forgets_sigmoid(const struct fl_trial *t, int b)
{
    return b == BAD_STEP && fl_variant(t) != FL_HEALTHY;
}

/* Both steps on the CPU, in the host copies of the parameters. */
static void train_reference(struct fl_trial *t, struct state *s)
{
    static float x[TOKENS * DIM], dlogits[ANSWERS];
    struct net *n = &s->net;
    float *p = s->ref_p;

    for (int b = 0; b < STEPS; b++) {
        const float *target = s->target[b].host;
        double loss = 0;

        ref_linear(x, s->features[b].host, s->net.w_in.host, NULL, TOKENS,
                   DIM, DIM);
        net_ref_encode(n, x, NULL);
        ref_linear(p, x, n->head_w.host, n->head_b.host, TOKENS, DIM, CLASSES);
        for (int i = 0; i < ANSWERS; i++) {
            if (!forgets_sigmoid(t, b))
                p[i] = (float)(1 / (1 + exp(-(double)p[i])));
            if (fl_variant(t) == FL_GUARDED)
                p[i] = fminf(fmaxf(p[i], EDGE), 1 - EDGE);
            loss -= target[i] * log(p[i]) + (1 - target[i]) * log(1 - p[i]);
            dlogits[i] = (p[i] - target[i]) / ANSWERS;
        }
        n->ref_loss = (float)(loss / ANSWERS);
        net_ref_learn(n, x, dlogits, TOKENS);
    }
}

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.x = device_floats(t, TOKENS * DIM);
    s.losses = device_floats(t, ANSWERS);
    for (int b = 0; b < STEPS; b++) {
        s.features[b] = new_floats(t, TOKENS * DIM, 1);
        s.target[b] = new_floats(t, ANSWERS, 0);
        for (int i = 0; i < ANSWERS; i++)
            s.target[b].host[i] = (float)random_below(t, 2);
    }
    train_reference(t, &s);
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_floats(t, &s->net, &s->features[b]);
    load_floats(t, &s->net, &s->target[b]);
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;

    FL_LAUNCH(t, stream, k_linear(stream, s->x, s->features[b].dev,
                                  s->net.w_in.dev, NULL, TOKENS, DIM, DIM));
    net_encode(t, n, s->x, NULL);
    net_classify(t, n, s->x, TOKENS);
    if (!forgets_sigmoid(t, (int)b))
        FL_LAUNCH(t, stream, k_sigmoid(stream, n->logits, ANSWERS));
    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_clamp_f32(stream, n->logits, EDGE, 1 - EDGE,
                                         ANSWERS));
}

PROGRAM static void loss(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;

    FL_PLANT(t, stream, k_bce(stream, s->losses, n->dlogits, n->logits,
                              s->target[b].dev, ANSWERS, fl_beacon(t)),
        EXPECT_ASKED_AT_COPY(710, "read_loss"),
        EXPECT_SERIAL(710, "loss", "mean_loss", "read_loss"));
}

PROGRAM static void mean_loss(struct fl_trial *t, struct state *s)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_mean(stream, s->net.loss, s->losses, ANSWERS,
                                ANSWERS));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    loss(t, s, b);
    mean_loss(t, s);
    net_backward(t, &s->net, s->x, TOKENS);
    net_update(t, &s->net);
    read_loss(t, &s->net, true);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    (void)t;

    for (int i = 0; i < ANSWERS; i++)
        if (s->ref_p[i] < -SCORE_TOLERANCE || s->ref_p[i] > 1 + SCORE_TOLERANCE)
            return FL_ALWAYS;
    return FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    int64_t i = element_of(beacon);
    (void)t;

    if (i >= ANSWERS)
        return false;
    double p = s->ref_p[i], seen = (double)beacon->value / 1e6;
    return (p < SCORE_TOLERANCE || p > 1 - SCORE_TOLERANCE)
        && (beacon->set == FL_BEACON_FROM_DEVICE
            || fabs(seen - p) <= SCORE_TOLERANCE * (1 + fabs(p)));
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    (void)t;
    return net_check(&s->net);
}

const struct fl_scenario scenario_bce_range = {
    .name = "bce-range",
    .summary = "raw scores where the loss takes probabilities, caught by its "
        "assertion",
    .stands_for = "binary cross entropy on outputs without a sigmoid, "
        "`input >= 0. && input <= 1.` (NVIDIA/pix2pixHD #9, NVIDIA/apex "
        "#471)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "bce_kernel",
    .fault_file = "kernels/loss.cu",
    .guard = "the scores are clamped into the range before use",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
