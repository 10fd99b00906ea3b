/* A model on signals of varying length launches one block a signal and one
 * thread a sample. The signals of the second batch have 1088 samples: more than
 * the 1024 threads that a block may have.
 *
 * The launch itself fails with 9, at once and under every strategy, and does
 * nothing; the error is not sticky and work goes on. A check after the launch
 * finds it there. Where nobody asks it stays latched, the step runs to its end
 * on data that was never windowed, and the end is blamed. */
#include "net.h"
#include "reference.h"

enum { GOOD_LENGTH = 1024, BAD_LENGTH = 1088 };

struct state {
    struct net net;
    struct floats w_signal, signal[STEPS];
    struct indices label[STEPS];
    float *pooled;
    int length[STEPS];
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.w_signal = new_floats(t, BAD_LENGTH * DIM, 0.05f);
    upload_floats(t, &s.w_signal);
    s.pooled = device_floats(t, BATCH * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.length[b] = b == BAD_STEP && fl_variant(t) != FL_HEALTHY
                    ? BAD_LENGTH : GOOD_LENGTH;
        s.signal[b] = new_floats(t, BATCH * BAD_LENGTH, 1);
        s.label[b] = new_indices(t, BATCH);
        for (int i = 0; i < BATCH; i++)
            s.label[b].host[i] = random_below(t, CLASSES);
    }
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_floats(t, &s->net, &s->signal[b]);
    load_indices(t, &s->net, &s->label[b]);
}

PROGRAM static void window(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    if (fl_variant(t) == FL_GUARDED && s->length[b] > GOOD_LENGTH)
        s->length[b] = GOOD_LENGTH;     /* cut to what a block can do */
    if (s->length[b] > GOOD_LENGTH)
        fl_host_beacon(t, s->length[b]);
    FL_PLANT(t, stream, k_window(stream, s->signal[b].dev, BATCH,
                                 s->length[b]),
        EXPECT("async", FL_MISATTRIBUTED, 9, "train_step", FL_HEADER,
            .note = "the step's end is the first to ask"),
        EXPECT("sync-unchecked", FL_MISATTRIBUTED, 9, "train_step", FL_HEADER),
        EXPECT("async-check", FL_EXACT, 9, "window", FL_HEADER,
            .note = "nothing asynchronous about it: the call has failed"),
        EXPECT("sync", FL_EXACT, 9, "window", FL_HEADER),
        EXPECT("stream-sync", FL_EXACT, 9, "window", FL_HEADER),
        EXPECT("device-sync", FL_EXACT, 9, "window", FL_HEADER),
        EXPECT("every-8", FL_MISATTRIBUTED, 9, NULL, FL_HEADER,
            .note = "the eighth launch asks"),
        EXPECT("event-poll", FL_EXACT, 9, "window", FL_HEADER),
        EXPECT("graph", FL_MISATTRIBUTED, 9, "train_step", FL_OPEN,
            .device = FL_SIM,
            .note = "refused when it is captured; the step's end is the first "
                    "to ask"),
        EXPECT("graph-sync", FL_MISATTRIBUTED, 9, "train_step", FL_OPEN,
            .device = FL_SIM),
        EXPECT("graph", FL_MISATTRIBUTED, 0, "train_step", FL_OPEN,
            .note = "whether a refused launch also ends the capture is not "
                    "documented"),
        EXPECT("graph-sync", FL_MISATTRIBUTED, 0, "train_step", FL_OPEN),
        EXPECT("dsa", FL_MISATTRIBUTED, 9, "train_step", FL_HEADER,
            .note = "a kernel that was not launched records nothing"),
        EXPECT("breadcrumb", FL_EXACT, 9, "window", FL_HEADER,
            .note = "by the launch's own check; crumbs say nothing here"),
        EXPECT("cupti-log", FL_EXACT, 9, "window", FL_HEADER,
            .note = "the callback sees the code that nvcc's stub drops"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    window(t, s, b);
    FL_LAUNCH(t, stream, k_linear(stream, s->pooled, s->signal[b].dev,
                                  s->w_signal.dev, NULL, BATCH, s->length[b],
                                  DIM));
    FL_LAUNCH(t, stream, k_gelu(stream, s->pooled, s->pooled, BATCH * DIM));
    net_classify(t, &s->net, s->pooled, BATCH);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->pooled, &s->label[b]);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return fl_variant(t) != FL_GUARDED && s->length[BAD_STEP] > 1024
        ? FL_ALWAYS : FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return beacon->by_host && beacon->value == BAD_LENGTH;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[BATCH * BAD_LENGTH];
    float pooled[BATCH * DIM];
    (void)t;

    for (int b = 0; b < STEPS; b++) {
        int length = s->length[b];
        for (int i = 0; i < BATCH * length; i++) {
            int at = i % length, back = length - 1 - at;
            x[i] = s->signal[b].host[i] * 2
                 * (float)(at < back ? at : back) / (float)length;
        }
        ref_linear(pooled, x, s->w_signal.host, NULL, BATCH, length, DIM);
        ref_gelu(pooled, pooled, BATCH * DIM);
        net_ref_train(&s->net, pooled, s->label[b].host, BATCH);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_bad_launch_config = {
    .name = "bad-launch-config",
    .summary = "a block size taken from the data exceeds the device's limit",
    .stands_for = "`invalid configuration argument` from block sizes computed "
        "from shapes (uber-research/sbnet #21, pytorch/ort #116)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .guard = "the signals are cut to the largest block",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
