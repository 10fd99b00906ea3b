/* An epoch over a small data set in shuffled order: embed the tokens, average
 * over each record, classify, learn. In storage one bit of a few records has
 * flipped, which makes a token's id half a trillion.
 *
 * The embedding look-up trusts its ids: 700. Which step meets a corrupt record
 * first depends on the shuffle and on how many there are, 1, 2, 4 or 8 of 32,
 * drawn from the seed: the program works for some steps and stops in another
 * each time it is run, and no line of it is wrong. A check of the records where
 * they are read, on the host and before any copy, is the defence. */
#include "net.h"

#include <string.h>

#include "reference.h"

enum { RECORDS = 32, EPOCH = RECORDS / BATCH, VOCABULARY = 256 };

struct state {
    struct net net;
    struct floats embedding;
    struct indices token[EPOCH], label[EPOCH], length;
    float *x, *pooled;
    int64_t twin[EPOCH][TOKENS];    /* the tokens as they were written */
};

static bool is_bad(int64_t id)
{
    return id < 0 || id >= VOCABULARY;
}

/* Flips a bit in each of `bad` records; their order is random already. */
static void corrupt(struct fl_trial *t, struct state *s, int bad)
{
    while (bad > 0) {
        int64_t record = random_below(t, RECORDS);
        int64_t *token = s->token[record / BATCH].host + record % BATCH * SEQ;
        int64_t at = random_below(t, SEQ);
        bool again = false;
        for (int i = 0; i < SEQ; i++)
            again |= is_bad(token[i]);
        if (again)
            continue;
        token[at] ^= FAR_ROW;       /* a power of two */
        bad--;
    }
}

static void *setup(struct fl_trial *t)
{
    static struct state s;
    int bad;

    net_create(t, &s.net);
    s.embedding = new_floats(t, VOCABULARY * DIM, 1);
    upload_floats(t, &s.embedding);
    s.x = device_floats(t, TOKENS * DIM);
    s.pooled = device_floats(t, BATCH * DIM);
    s.length = new_indices(t, BATCH);
    for (int i = 0; i < BATCH; i++)
        s.length.host[i] = SEQ;
    upload_indices(t, &s.length);
    for (int b = 0; b < EPOCH; b++) {
        s.token[b] = new_indices(t, TOKENS);
        s.label[b] = new_indices(t, BATCH);
        for (int i = 0; i < TOKENS; i++)
            s.token[b].host[i] = random_below(t, VOCABULARY);
        for (int i = 0; i < BATCH; i++)
            s.label[b].host[i] = random_below(t, CLASSES);
        memcpy(s.twin[b], s.token[b].host, sizeof s.twin[b]);
    }
    bad = fl_variant(t) == FL_HEALTHY ? 0 : 1 << random_below(t, 4);
    fl_bad_samples(t, bad, RECORDS);
    corrupt(t, &s, bad);
    return &s;
}

/* A record with an unknown token is replaced by one of padding, token 0. */
PROGRAM static void read_record(const struct fl_trial *t, int64_t *token)
{
    bool bad = false;

    for (int i = 0; i < SEQ; i++)
        bad |= is_bad(token[i]);
    if (bad && fl_variant(t) == FL_GUARDED)
        memset(token, 0, SEQ * sizeof *token);
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    for (int i = 0; i < BATCH; i++)
        read_record(t, s->token[b].host + i * SEQ);
    load_indices(t, &s->net, &s->token[b]);
    load_indices(t, &s->net, &s->label[b]);
}

PROGRAM static void embed(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_PLANT(t, stream, k_index_select(stream, s->x, s->embedding.dev,
                                       s->token[b].dev, TOKENS, DIM,
                                       VOCABULARY, fl_beacon(t)),
        EXPECT_ASKED_AT_END(700, "train_step"),
        EXPECT_SERIAL(700, "embed", "forward", "train_step"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    embed(t, s, b);
    FL_LAUNCH(t, stream, k_mean_pool_guarded(stream, s->pooled, s->x,
                                             s->length.dev, BATCH, SEQ, DIM));
    net_classify(t, &s->net, s->pooled, BATCH);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % EPOCH;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->pooled, &s->label[b]);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;

    if (fl_variant(t) == FL_GUARDED)
        return FL_NEVER;
    for (int b = 0; b < EPOCH; b++)
        for (int i = 0; i < TOKENS; i++)
            if (is_bad(s->token[b].host[i]))
                return FL_ALWAYS;
    return FL_NEVER;
}

/* A token of the first batch that has a corrupt one. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    int64_t i = element_of(beacon) / DIM;
    (void)t;

    for (int b = 0; b < EPOCH; b++)
        for (int k = 0; k < TOKENS; k++)
            if (is_bad(s->token[b].host[k]))
                return is_bad(s->token[b].host[i])
                    && beacon_says(beacon, s->token[b].host[i]);
    return false;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    float pooled[BATCH * DIM];

    for (int b = 0; b < EPOCH; b++) {
        /* The guard has already put padding in place of what it rejected. */
        const int64_t *token = fl_variant(t) == FL_GUARDED
                             ? s->token[b].host : s->twin[b];
        for (int i = 0; i < BATCH * DIM; i++) {
            double sum = 0;
            for (int p = 0; p < SEQ; p++)
                sum += s->embedding.host[token[i / DIM * SEQ + p] * DIM
                                         + i % DIM];
            pooled[i] = (float)(sum / SEQ);
        }
        net_ref_train(&s->net, pooled, s->label[b].host, BATCH);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_corrupt_sample = {
    .name = "corrupt-sample",
    .summary = "flipped bits in a few records of a data set that is read in "
        "shuffled order",
    .stands_for = "training that stops after thousands of good steps and runs "
        "on when restarted (dbolya/yolact #790), one abnormal sample that "
        "takes all later ones with it (QwenLM/Qwen3-VL #226)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = EPOCH,
    .fault_kernel = "index_select_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the loader checks each record on the host and puts padding in a "
        "bad one's place",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
