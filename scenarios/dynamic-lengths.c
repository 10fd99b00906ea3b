/* Sequences of different length lie in a padded buffer of SEQ positions each,
 * and are pooled by a kernel that trusts the length array. In the second batch
 * one length is that of the document before it was cut to SEQ tokens.
 *
 * From position SEQ on the kernel reads other sequences, other tensors, then
 * whatever is mapped; a GPU notices nothing until the walk leaves mapped memory
 * (2^28 positions of 128 bytes make sure that it does), so even the device
 * learns of the fault late. Then: 700. The step ends by reading its loss, where
 * an asynchronous program is told. Lengths cut to the capacity are the
 * defence. */
#include "net.h"
#include "reference.h"

enum { UNCUT = 1 << 28 };

struct state {
    struct net net;
    struct inputs in;
    struct indices length[STEPS];
    float *x, *pooled;
    int bad_sequence;
    int64_t twin_length;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, BATCH);
    s.x = device_floats(t, TOKENS * DIM);
    s.pooled = device_floats(t, BATCH * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.length[b] = new_indices(t, BATCH);
        for (int i = 0; i < BATCH; i++)
            s.length[b].host[i] = 1 + random_below(t, SEQ);
    }
    s.bad_sequence = (int)random_below(t, BATCH);
    s.twin_length = s.length[BAD_STEP].host[s.bad_sequence];
    if (fl_variant(t) != FL_HEALTHY)
        s.length[BAD_STEP].host[s.bad_sequence] = UNCUT;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_inputs(t, &s->net, &s->in, b);
    load_indices(t, &s->net, &s->length[b]);
}

PROGRAM static void project(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    net_project(t, &s->net, s->x, &s->in.features[b]);
    FL_LAUNCH(t, stream, k_zero_padding(stream, s->x, s->length[b].dev, BATCH,
                                        SEQ, DIM));
}

PROGRAM static void pool(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    const int64_t *length = s->length[b].dev;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_mean_pool_guarded(stream, s->pooled, s->x,
                                                 length, BATCH, SEQ, DIM));
    else
        FL_PLANT(t, stream, k_mean_pool(stream, s->pooled, s->x, length,
                                        BATCH, SEQ, DIM, fl_beacon(t)),
            EXPECT_ASKED_AT_COPY(700, "read_loss"),
            EXPECT_SERIAL(700, "pool", "net_classify", "read_loss"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    project(t, s, b);
    net_encode(t, &s->net, s->x, s->length[b].dev);
    pool(t, s, b);
    net_classify(t, &s->net, s->pooled, BATCH);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->pooled, &s->in.label[b]);
    read_loss(t, &s->net, true);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return predict_outside(t, s->length, 1, SEQ + 1);
}

/* All channels of the sequence leave the buffer together; which of them leaves
 * mapped memory first is up to the device. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / DIM == s->bad_sequence
        && beacon_says(beacon, UNCUT);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM], pooled[BATCH * DIM];
    int64_t length[BATCH];

    for (int b = 0; b < STEPS; b++) {
        for (int i = 0; i < BATCH; i++) {
            length[i] = s->length[b].host[i];
            if (length[i] > SEQ)
                length[i] = fl_variant(t) == FL_GUARDED ? SEQ : s->twin_length;
        }
        net_ref_project(&s->net, x, &s->in.features[b]);
        for (int i = 0; i < TOKENS * DIM; i++)
            if (i / DIM % SEQ >= length[i / (SEQ * DIM)])
                x[i] = 0;
        net_ref_encode(&s->net, x, length);
        for (int i = 0; i < BATCH * DIM; i++) {
            double sum = 0;
            for (int p = 0; p < length[i / DIM]; p++)
                sum += x[(i / DIM * SEQ + p) * DIM + i % DIM];
            pooled[i] = (float)(sum / (double)length[i / DIM]);
        }
        net_ref_train(&s->net, pooled, s->in.label[b].host, BATCH);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_dynamic_lengths = {
    .name = "dynamic-lengths",
    .summary = "a length array that disagrees with the padded buffer it "
        "belongs to",
    .stands_for = "variable-length kernels that walk by a length which their "
        "buffer was not made for (Dao-AILab/flash-attention #1773, "
        "pytorch/pytorch #186142)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "mean_pool_kernel",
    .fault_file = "kernels/varlen.cu",
    .guard = "the kernel cuts each length to the buffer's capacity",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
