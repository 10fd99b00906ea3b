/* A training step attends over packed sequences, by a kernel that takes where
 * each begins and ends. The loader numbers tokens through the whole data set
 * and should subtract the number at which a batch begins. It forgets to.
 *
 * The first batch begins at 0, so every smoke test passes. The second begins
 * half a trillion tokens later: all threads of the attention look 64 TiB past
 * the batch's rows, 700. The lengths, which are differences, are right, and a
 * check of them finds nothing. The step ends 12 launches later. To look at the
 * first and the last number on the host, where they come from, is the
 * defence. */
#include "net.h"

#include "reference.h"

enum { PACKED = 8, LONGEST = SEQ };

struct state {
    struct net net;
    struct inputs in;
    float *x;
    struct indices first[STEPS];    /* PACKED + 1 numbers */
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, TOKENS);
    s.x = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        int64_t *first = (s.first[b] = new_indices(t, PACKED + 1)).host;
        first[0] = b == BAD_STEP && fl_variant(t) != FL_HEALTHY ? FAR_ROW : 0;
        /* a longer and a shorter one, which fill two middling ones' rows */
        for (int i = 0; i < PACKED; i += 2) {
            int64_t more = random_below(t, LONGEST / 2);
            first[i + 1] = first[i] + TOKENS / PACKED + more;
            first[i + 2] = first[i] + 2 * TOKENS / PACKED;
        }
    }
    return &s;
}

PROGRAM static void rebase(int64_t *first)
{
    if (first[0] == 0 && first[PACKED] == TOKENS)
        return;
    for (int i = PACKED; i >= 0; i--)
        first[i] -= first[0];
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    if (fl_variant(t) == FL_GUARDED)
        rebase(s->first[b].host);
    load_inputs(t, &s->net, &s->in, b);
    load_indices(t, &s->net, &s->first[b]);
}

PROGRAM static void attend(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;

    FL_PLANT(t, stream, k_packed_attention(stream, n->mixed, n->q, n->k, n->v,
                                           s->first[b].dev, PACKED, LONGEST,
                                           TOKENS, DIM, fl_beacon(t)),
        EXPECT_ASKED_AT_END(700, "train_step"),
        EXPECT_SERIAL(700, "attend", "attention", "train_step"));
}

PROGRAM static void attention(struct fl_trial *t, struct state *s, unsigned b)
{
    struct net *n = &s->net;
    cudaStream_t stream = n->stream;
    float *x = s->x;

    FL_LAUNCH(t, stream, k_linear(stream, n->q, x, n->wq.dev, NULL, TOKENS,
                                  DIM, DIM));
    FL_LAUNCH(t, stream, k_linear(stream, n->k, x, n->wk.dev, NULL, TOKENS,
                                  DIM, DIM));
    FL_LAUNCH(t, stream, k_linear(stream, n->v, x, n->wv.dev, NULL, TOKENS,
                                  DIM, DIM));
    attend(t, s, b);
    FL_LAUNCH(t, stream, k_add(stream, x, x, n->mixed, TOKENS * DIM));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    net_project(t, &s->net, s->x, &s->in.features[b]);
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
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return predict_outside(t, s->first, 0, TOKENS + 1);
}

/* Every thread that has a token. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    const int64_t *first = s->first[BAD_STEP].host;
    int64_t e = element_of(beacon);
    int64_t sequence = e / (LONGEST * DIM);
    int64_t row = first[sequence] + e / DIM % LONGEST;
    (void)t;
    return row < first[sequence + 1]
        && beacon_says(beacon, row);
}

/* Spread out to padded sequences, which is what the reference knows. */
static void ref_packed_attention(const struct state *s, unsigned b, float *x)
{
    enum { PADDED = PACKED * LONGEST * DIM };
    static float in[PADDED], q[PADDED], k[PADDED], v[PADDED], mixed[PADDED];
    const int64_t *first = s->first[b].host;
    const struct net *n = &s->net;
    int64_t length[PACKED];

    for (int i = 0; i < PACKED; i++) {
        length[i] = first[i + 1] - first[i];
        for (int e = 0; e < length[i] * DIM; e++)
            in[i * LONGEST * DIM + e] = x[(first[i] - first[0]) * DIM + e];
    }
    ref_linear(q, in, n->wq.host, NULL, PACKED * LONGEST, DIM, DIM);
    ref_linear(k, in, n->wk.host, NULL, PACKED * LONGEST, DIM, DIM);
    ref_linear(v, in, n->wv.host, NULL, PACKED * LONGEST, DIM, DIM);
    ref_attention(mixed, q, k, v, length, PACKED, LONGEST, DIM);
    for (int i = 0; i < PACKED; i++)
        for (int e = 0; e < length[i] * DIM; e++)
            x[(first[i] - first[0]) * DIM + e] += mixed[i * LONGEST * DIM + e];
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];
    (void)t;

    for (unsigned b = 0; b < STEPS; b++) {
        net_ref_project(&s->net, x, &s->in.features[b]);
        ref_packed_attention(s, b, x);
        net_ref_mlp(&s->net, x);
        net_ref_train(&s->net, x, s->in.label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_cu_seqlens = {
    .name = "cu-seqlens",
    .summary = "the bounds of packed sequences count from the data set's "
        "start, not from the batch's",
    .stands_for = "illegal accesses of variable-length attention from offsets "
        "that do not fit the packed rows (Dao-AILab/flash-attention #2333, "
        "Knowledgator/FlashDeBERTa #11, zhuzilin/ring-flash-attention #46)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "packed_attention_kernel",
    .fault_file = "kernels/varlen.cu",
    .guard = "the loader compares the first and the last bound with the "
        "batch's rows, on the host, and subtracts the base",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
