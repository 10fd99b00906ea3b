/* A training step adds a learned bias to its attention scores, by a bucket
 * number for each key that comes with the batch. One bucket of the second
 * batch was computed from a distance nobody had clipped.
 *
 * The look-up sits in the mask, in the middle of attention, and has no check:
 * 700. The step reads its loss at the end, so that is what a program without
 * checks is told about: the mask is to blame, the loss is named, four functions
 * away. Clipped buckets are the defence. */
#include "net.h"

#include <math.h>

#include "reference.h"

enum { BUCKETS = 64 };

/* A row of one float, as far out as FAR_ROW is. */
#define FAR_BUCKET (FAR_ROW * DIM)

struct state {
    struct net net;
    struct inputs in;
    struct floats bias;
    struct indices bucket[STEPS];
    float *x;
    int bad_key;            /* sequence * SEQ + position */
    int64_t twin_bucket;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, TOKENS);
    s.bias = new_floats(t, BUCKETS, 1);
    upload_floats(t, &s.bias);
    s.x = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.bucket[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++)
            s.bucket[b].host[i] = random_below(t, BUCKETS);
    }
    s.bad_key = (int)random_below(t, TOKENS);
    s.twin_bucket = s.bucket[BAD_STEP].host[s.bad_key];
    if (fl_variant(t) != FL_HEALTHY)
        s.bucket[BAD_STEP].host[s.bad_key] = FAR_BUCKET;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_inputs(t, &s->net, &s->in, b);
    load_indices(t, &s->net, &s->bucket[b]);
}

PROGRAM static void mask(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    int64_t *bucket = s->bucket[b].dev;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_clamp_i64(stream, bucket, 0, BUCKETS - 1,
                                         TOKENS));
    FL_PLANT(t, stream, k_attention_bias(stream, s->net.score, s->bias.dev,
                                         bucket, BATCH, SEQ, BUCKETS,
                                         fl_beacon(t)),
        EXPECT_ASKED_AT_COPY(700, "read_loss"),
        EXPECT_SERIAL(700, "mask", "attention", "read_loss"));
}

PROGRAM static void attention(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;

    FL_LAUNCH(t, stream, k_linear(stream, n->q, s->x, n->wq.dev, NULL, TOKENS,
                                  DIM, DIM));
    FL_LAUNCH(t, stream, k_linear(stream, n->k, s->x, n->wk.dev, NULL, TOKENS,
                                  DIM, DIM));
    FL_LAUNCH(t, stream, k_linear(stream, n->v, s->x, n->wv.dev, NULL, TOKENS,
                                  DIM, DIM));
    FL_LAUNCH(t, stream, k_attention_scores(stream, n->score, n->q, n->k,
                                            BATCH, SEQ, DIM, 0.17677669f));
    mask(t, s, b);
    FL_LAUNCH(t, stream, k_softmax(stream, n->score, TOKENS, SEQ));
    FL_LAUNCH(t, stream, k_attention_apply(stream, s->x, n->score, n->v, BATCH,
                                           SEQ, DIM));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_linear(stream, s->x, s->in.features[b].dev,
                                  s->net.w_in.dev, NULL, TOKENS, DIM, DIM));
    attention(t, s, b);
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
    read_loss(t, &s->net, true);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return predict_outside(t, s->bucket, 0, BUCKETS);
}

/* Each query of the sequence meets the bad key. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    int64_t e = element_of(beacon);
    (void)t;
    return e / (SEQ * SEQ) * SEQ + e % SEQ == s->bad_key
        && beacon_says(beacon, FAR_BUCKET);
}

static int64_t right_bucket(const struct fl_trial *t, const struct state *s,
                            int b, int key)
{
    if (b != BAD_STEP || key != s->bad_key)
        return s->bucket[b].host[key];
    return fl_variant(t) == FL_GUARDED ? BUCKETS - 1 : s->twin_bucket;
}

static void ref_biased_attention(const struct fl_trial *t,
                                 const struct state *s, int b, float *x)
{
    static float q[TOKENS * DIM], k[TOKENS * DIM], v[TOKENS * DIM];
    float p[SEQ];

    ref_linear(q, x, s->net.wq.host, NULL, TOKENS, DIM, DIM);
    ref_linear(k, x, s->net.wk.host, NULL, TOKENS, DIM, DIM);
    ref_linear(v, x, s->net.wv.host, NULL, TOKENS, DIM, DIM);
    for (int row = 0; row < TOKENS; row++) {
        int first = row / SEQ * SEQ;
        for (int j = 0; j < SEQ; j++) {
            double sum = 0;
            for (int d = 0; d < DIM; d++)
                sum += (double)q[row * DIM + d] * k[(first + j) * DIM + d];
            p[j] = (float)(sum / sqrt(DIM))
                 + s->bias.host[right_bucket(t, s, b, first + j)];
        }
        ref_softmax(p, 1, SEQ);
        for (int d = 0; d < DIM; d++) {
            double sum = 0;
            for (int j = 0; j < SEQ; j++)
                sum += (double)p[j] * v[(first + j) * DIM + d];
            x[row * DIM + d] = (float)sum;
        }
    }
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];

    for (int b = 0; b < STEPS; b++) {
        ref_linear(x, s->in.features[b].host, s->net.w_in.host, NULL, TOKENS,
                   DIM, DIM);
        ref_biased_attention(t, s, b, x);
        net_ref_mlp(&s->net, x);
        net_ref_train(&s->net, x, s->in.label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_attention_mask = {
    .name = "attention-mask",
    .summary = "an unclipped bucket number in the attention mask's bias "
        "look-up",
    .stands_for = "training errors blamed on the loss while blocking launches "
        "lead to the attention mask; position tables shorter than the input "
        "(huggingface/transformers #28104)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "attention_bias_kernel",
    .fault_file = "kernels/attention.cu",
    .guard = "the bucket numbers are clamped to the valid range before use",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
