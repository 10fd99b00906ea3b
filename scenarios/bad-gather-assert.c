/* A sequence classifier takes the hidden state of each sequence's last token.
 * One sequence of the second batch fills its row, and its index is its length,
 * not its length less one: one past the end.
 *
 * The indexing kernel asserts, as PyTorch's does, so even one past the end is
 * caught: each of the DIM threads of that sequence prints its line when the
 * host next synchronises, and the context is lost with 710. The step copies its
 * loss back with an asynchronous copy, which is the first call that may notice;
 * else the step's end does. Clamping the indices first is the defence. */
#include "net.h"
#include "reference.h"

struct state {
    struct net net;
    struct inputs in;
    struct indices sequence, last[STEPS];
    float *x, *pooled;
    int bad_sequence;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, BATCH);
    s.x = device_floats(t, TOKENS * DIM);
    s.pooled = device_floats(t, BATCH * DIM);
    s.sequence = new_indices(t, BATCH);
    for (int i = 0; i < BATCH; i++)
        s.sequence.host[i] = i;
    upload_indices(t, &s.sequence);
    for (int b = 0; b < STEPS; b++) {
        s.last[b] = new_indices(t, BATCH);
        for (int i = 0; i < BATCH; i++)
            s.last[b].host[i] = random_below(t, SEQ);
    }
    s.bad_sequence = (int)random_below(t, BATCH);
    s.last[BAD_STEP].host[s.bad_sequence] =
        fl_variant(t) == FL_HEALTHY ? SEQ - 1 : SEQ;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_inputs(t, &s->net, &s->in, b);
    load_indices(t, &s->net, &s->last[b]);
}

PROGRAM static void last_hidden(struct fl_trial *t, struct state *s,
                                unsigned b)
{
    cudaStream_t stream = s->net.stream;
    int64_t *last = s->last[b].dev;
    struct k_index by[] = { { s->sequence.dev, BATCH }, { last, SEQ } };

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_clamp_i64(stream, last, 0, SEQ - 1, BATCH));
    FL_PLANT(t, stream, k_index_assert(stream, s->pooled, s->x, by, 2, BATCH,
                                       DIM, fl_beacon(t)),
        EXPECT("async", FL_LATE, 710, "read_loss", FL_DERIVED,
            .device = FL_SIM, .mode = FL_EAGER,
            .note = "all work is done when the copy is issued"),
        EXPECT("async", FL_LATE, 710, "train_step", FL_DERIVED,
            .device = FL_SIM, .mode = FL_LAZY,
            .note = "no work is done when the copy is issued"),
        EXPECT("async", FL_LATE, 710, NULL, FL_DERIVED,
            .note = "read_loss if the assertion was faster than the host, "
                    "else train_step"),
        EXPECT("sync-unchecked", FL_MISATTRIBUTED, 710, "read_loss",
            FL_DERIVED,
            .note = "the launch waited, but nvcc's stub drops its code; the "
                    "copy of the loss is the next call that returns one"),
        EXPECT_SERIAL(710, "last_hidden", "net_classify", "train_step"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    net_project(t, &s->net, s->x, &s->in.features[b]);
    net_encode(t, &s->net, s->x, NULL);
    last_hidden(t, s, b);
    net_classify(t, &s->net, s->pooled, BATCH);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->pooled, &s->in.label[b]);
    read_loss(t, &s->net, false);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return predict_outside(t, s->last, -SEQ, SEQ);
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / DIM == s->bad_sequence
        && beacon_says(beacon, SEQ);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM], pooled[BATCH * DIM];
    (void)t;

    for (int b = 0; b < STEPS; b++) {
        net_ref_project(&s->net, x, &s->in.features[b]);
        net_ref_encode(&s->net, x, NULL);
        for (int i = 0; i < BATCH; i++) {
            /* what the twin has, and what a clamped index comes to */
            int64_t last = s->last[b].host[i] == SEQ ? SEQ - 1
                                                     : s->last[b].host[i];
            for (int d = 0; d < DIM; d++)
                pooled[i * DIM + d] = x[(i * SEQ + last) * DIM + d];
        }
        net_ref_train(&s->net, pooled, s->in.label[b].host, BATCH);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_bad_gather_assert = {
    .name = "bad-gather-assert",
    .summary = "an index one past the end, caught by an assertion in the "
        "kernel",
    .stands_for = "PyTorch's `device-side assert triggered`, raised on a later "
        "line than the indexing (MIC-DKFZ/nnUNet #37, vllm-project/vllm "
        "#21731)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "index_assert_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the indices are clamped to the valid range before use",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
