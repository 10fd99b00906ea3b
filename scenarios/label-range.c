/* A training step on labels that came from masks: one label of the second
 * batch is 255, the colour of "void", and there are eight classes.
 *
 * The loss asserts its labels, as frameworks do: 710. Here the usual suspicion
 * is right, the loss is to blame, but a program that asks at the step's end is
 * not told so, and neither is one that checks after each launch: it hears of it
 * in the backward pass. */
#include "net.h"
#include "reference.h"

enum { VOID = 255 };

struct state {
    struct net net;
    struct inputs in;
    float *x;
    int bad_token;
    int64_t twin_label;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, TOKENS);
    s.x = device_floats(t, TOKENS * DIM);
    s.bad_token = (int)random_below(t, TOKENS);
    s.twin_label = s.in.label[BAD_STEP].host[s.bad_token];
    if (fl_variant(t) != FL_HEALTHY)
        s.in.label[BAD_STEP].host[s.bad_token] = VOID;
    return &s;
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_linear(stream, s->x, s->in.features[b].dev,
                                  s->net.w_in.dev, NULL, TOKENS, DIM, DIM));
    net_encode(t, &s->net, s->x, NULL);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void loss(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;
    int64_t *label = s->in.label[b].dev;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_clamp_i64(stream, label, 0, CLASSES - 1,
                                         TOKENS));
    FL_PLANT(t, stream, k_cross_entropy(stream, n->losses, n->dlogits,
                                        n->logits, label, TOKENS, CLASSES,
                                        fl_beacon(t)),
        EXPECT_ASKED_AT_END(710, "train_step"),
        EXPECT_SERIAL(710, "loss", "net_backward", "train_step"));
}

PROGRAM static void mean_loss(struct fl_trial *t, struct state *s)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;

    FL_LAUNCH(t, stream, k_mean(stream, n->loss, n->losses, TOKENS, TOKENS));
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_inputs(t, &s->net, &s->in, b);
    forward(t, s, b);
    loss(t, s, b);
    net_backward(t, &s->net, s->x, TOKENS);
    net_update(t, &s->net);
    mean_loss(t, s);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return predict_outside(t, s->in.label, 0, CLASSES);
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) == s->bad_token
        && beacon_says(beacon, VOID);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];
    int64_t label[TOKENS];

    for (int b = 0; b < STEPS; b++) {
        for (int i = 0; i < TOKENS; i++) {
            label[i] = s->in.label[b].host[i];
            if (b == BAD_STEP && i == s->bad_token)
                label[i] = fl_variant(t) == FL_GUARDED ? CLASSES - 1
                                                       : s->twin_label;
        }
        ref_linear(x, s->in.features[b].host, s->net.w_in.host, NULL, TOKENS,
                   DIM, DIM);
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, label, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_label_range = {
    .name = "label-range",
    .summary = "a class label outside the classes, caught by the loss's "
        "assertion",
    .stands_for = "mask pixels of 255 and other labels outside 0..n_classes-1 "
        "(milesial/Pytorch-UNet #375, MIC-DKFZ/nnUNet #37, "
        "modelscope/ms-swift #3267)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "cross_entropy_kernel",
    .fault_file = "kernels/loss.cu",
    .guard = "the labels are clamped to the valid range before use",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
