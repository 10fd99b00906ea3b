/* A sequence classifier takes the hidden state of each sequence's last token
 * that is not padding: the number of those, less one. One sequence of the
 * second batch is all padding.
 *
 * The number is counted on the device, in 32 bits without a sign, so the last
 * of no tokens is number 2^32 - 1, 512 GiB behind the sequence: 700. No host
 * ever sees the empty mask, unlike where a grid is made of it. A mask that
 * always keeps the first position is the defence. */
#include "net.h"
#include "reference.h"

struct state {
    struct net net;
    struct inputs in;
    struct floats presence[STEPS];
    float *x, *pooled;
    uint8_t *mask;
    int kept[STEPS][BATCH]; /* what the twin has */
    int bad_sequence;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, BATCH);
    s.x = device_floats(t, TOKENS * DIM);
    s.pooled = device_floats(t, BATCH * DIM);
    fl_must(t, cudaMalloc((void **)&s.mask, TOKENS));
    s.bad_sequence = (int)random_below(t, BATCH);
    for (int b = 0; b < STEPS; b++) {
        s.presence[b] = new_floats(t, TOKENS, 0);
        for (int i = 0; i < BATCH; i++) {
            bool empty = b == BAD_STEP && i == s.bad_sequence
                      && fl_variant(t) != FL_HEALTHY;
            s.kept[b][i] = 1 + (int)random_below(t, SEQ);
            for (int p = 0; p < s.kept[b][i] && !empty; p++)
                s.presence[b].host[i * SEQ + p] = 1;
        }
    }
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_inputs(t, &s->net, &s->in, b);
    load_floats(t, &s->net, &s->presence[b]);
}

PROGRAM static void project(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    net_project(t, &s->net, s->x, &s->in.features[b]);
    FL_LAUNCH(t, stream, k_mask_above(stream, s->mask, s->presence[b].dev,
                                      0.5f, TOKENS));
}

PROGRAM static void last_hidden(struct fl_trial *t, struct state *s)
{
    cudaStream_t stream = s->net.stream;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_keep_first(stream, s->mask, BATCH, SEQ));
    FL_PLANT(t, stream, k_last_kept(stream, s->pooled, s->x, s->mask, BATCH,
                                    SEQ, DIM, fl_beacon(t)),
        EXPECT_ASKED_AT_END(700, "train_step"),
        EXPECT_SERIAL(700, "last_hidden", "net_classify", "train_step"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    project(t, s, b);
    net_encode(t, &s->net, s->x, NULL);
    last_hidden(t, s);
    net_classify(t, &s->net, s->pooled, BATCH);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->pooled, &s->in.label[b]);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static bool is_empty(const struct state *s, int b, int sequence)
{
    for (int p = 0; p < SEQ; p++)
        if (s->presence[b].host[sequence * SEQ + p] > 0.5f)
            return false;
    return true;
}

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;

    if (fl_variant(t) == FL_GUARDED)
        return FL_NEVER;
    for (int b = 0; b < STEPS; b++)
        for (int i = 0; i < BATCH; i++)
            if (is_empty(s, b, i))
                return FL_ALWAYS;
    return FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / DIM == s->bad_sequence
        && beacon_says(beacon, UINT32_MAX);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM], pooled[BATCH * DIM];

    for (int b = 0; b < STEPS; b++) {
        net_ref_project(&s->net, x, &s->in.features[b]);
        net_ref_encode(&s->net, x, NULL);
        for (int i = 0; i < BATCH; i++) {
            bool first = fl_variant(t) == FL_GUARDED && is_empty(s, b, i);
            int last = first ? 0 : s->kept[b][i] - 1;
            for (int d = 0; d < DIM; d++)
                pooled[i * DIM + d] = x[(i * SEQ + last) * DIM + d];
        }
        net_ref_train(&s->net, pooled, s->in.label[b].host, BATCH);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_empty_mask_minus_one = {
    .name = "empty-mask-minus-one",
    .summary = "the last of the positions that a mask selects, where it "
        "selects none",
    .stands_for = "sequences of no tokens in code that counts on one "
        "(tensorflow/nmt #210), counts that a kernel takes without bounds "
        "(microsoft/onnxruntime #31994)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "last_kept_kernel",
    .fault_file = "kernels/mask.cu",
    .guard = "the first position of each sequence is always kept",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
