/* A training step looks up remembered rows by neighbour numbers that came with
 * the batch, and in the second batch one number points 64 TiB past the table.
 *
 * The look-up is an unchecked kernel, so the hardware meets an unmapped
 * address: 700, sticky, for the whole context. Nothing in the step waits, so a
 * program that asks at its end learns of it there, 22 launches later, in a
 * function that has nothing to do with look-ups. Blocking launches name the
 * look-up, provided that the launch is checked. */
#include "net.h"
#include "reference.h"

enum { ROWS = 256, BAD_STEP = STEPS - 1 };

struct state {
    struct net net;
    struct floats memory, w_in, features[STEPS];
    struct indices neighbour[STEPS], label[STEPS];
    float *x, *recalled;
    int bad_token;
    int64_t twin_row;       /* what the twin has in its place */
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.memory = new_floats(t, ROWS * DIM, 1);
    s.w_in = new_floats(t, DIM * DIM, 0.3f);
    upload_floats(t, &s.memory);
    upload_floats(t, &s.w_in);
    s.x = device_floats(t, TOKENS * DIM);
    s.recalled = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.features[b] = new_floats(t, TOKENS * DIM, 1);
        s.neighbour[b] = new_indices(t, TOKENS);
        s.label[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++) {
            s.neighbour[b].host[i] = random_below(t, ROWS);
            s.label[b].host[i] = random_below(t, CLASSES);
        }
    }
    s.bad_token = (int)random_below(t, TOKENS);
    s.twin_row = s.neighbour[BAD_STEP].host[s.bad_token];
    if (fl_variant(t) != FL_HEALTHY)
        s.neighbour[BAD_STEP].host[s.bad_token] = ROWS + FAR_ROW;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_floats(t, &s->net, &s->features[b]);
    load_indices(t, &s->net, &s->neighbour[b]);
    load_indices(t, &s->net, &s->label[b]);
}

PROGRAM static void project(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_linear(stream, s->x, s->features[b].dev,
                                  s->w_in.dev, NULL, TOKENS, DIM, DIM));
    FL_LAUNCH(t, stream, k_gelu(stream, s->x, s->x, TOKENS * DIM));
}

PROGRAM static void recall(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    const int64_t *neighbour = s->neighbour[b].dev;

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_index_select_guarded(
            stream, s->recalled, s->memory.dev, neighbour, TOKENS, DIM, ROWS));
    else
        FL_PLANT(t, stream, k_index_select(stream, s->recalled, s->memory.dev,
                                           neighbour, TOKENS, DIM, ROWS,
                                           fl_beacon(t)),
            EXPECT("async", FL_LATE, 700, "train_step", FL_DERIVED,
                .note = "nobody asks before the step's own synchronise"),
            EXPECT("sync-unchecked", FL_MISATTRIBUTED, 700, "train_step",
                FL_DERIVED,
                .note = "the launch waited, but nvcc's stub drops its code; "
                        "the next call that is checked is the step's end"),
            EXPECT_NOT_WAITED(700, "recall", "train_step"),
            EXPECT_WAITED(700, "recall"));
    FL_LAUNCH(t, stream, k_add(stream, s->x, s->x, s->recalled, TOKENS * DIM));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    project(t, s, b);
    recall(t, s, b);
    net_encode(t, &s->net, s->x, NULL);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_loss(t, &s->net, s->label[b].dev, TOKENS);
    net_backward(t, &s->net, s->x, TOKENS);
    net_update(t, &s->net);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static int64_t right_row(const struct state *s, int b, int token)
{
    bool planted = b == BAD_STEP && token == s->bad_token;
    return planted ? s->twin_row : s->neighbour[b].host[token];
}

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;

    if (fl_variant(t) == FL_GUARDED)
        return FL_NEVER;
    for (int b = 0; b < STEPS; b++)
        for (int i = 0; i < TOKENS; i++) {
            int64_t row = s->neighbour[b].host[i];
            if (row < 0 || row >= ROWS)
                return FL_ALWAYS;
        }
    return FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / DIM == s->bad_token
        && (beacon->set == FL_BEACON_FROM_DEVICE
            || beacon->value == ROWS + FAR_ROW);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];

    for (int b = 0; b < STEPS; b++) {
        ref_linear(x, s->features[b].host, s->w_in.host, NULL, TOKENS, DIM,
                   DIM);
        ref_gelu(x, x, TOKENS * DIM);
        for (int i = 0; i < TOKENS; i++) {
            bool zero = fl_variant(t) == FL_GUARDED && b == BAD_STEP
                     && i == s->bad_token;
            for (int d = 0; d < DIM && !zero; d++)
                x[i * DIM + d] += s->memory.host[right_row(s, b, i) * DIM + d];
        }
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, s->label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_bad_gather = {
    .name = "bad-gather",
    .summary = "a look-up with one index far past the end of its table",
    .stands_for = "illegal memory access blamed on an innocent later line, "
        "true place a custom or embedding kernel several calls earlier "
        "(pytorch/pytorch #42077, PaddlePaddle/PaddleNLP #6031)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "index_select_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the kernel checks each index and takes zeros for a bad one",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
