/* A language model's step begins by looking up its tokens' embeddings. One
 * token of the second batch is a padding token that was added to the tokenizer
 * afterwards: its id is the size of the table that nobody resized.
 *
 * The look-up asserts: 710. It is the first launch of the step, so everything
 * else of the step stands between the fault and the wait that reports it; the
 * function after it, the one that programs usually name, is the first matrix
 * multiplication. A look-up that takes zeros for unknown ids is the defence. */
#include "net.h"
#include "reference.h"

enum { VOCABULARY = 256, ADDED_TOKEN = VOCABULARY };

struct state {
    struct net net;
    struct floats embedding;
    struct indices token[STEPS], label[STEPS];
    float *x;
    int bad_token;
    int64_t twin_id;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.embedding = new_floats(t, VOCABULARY * DIM, 1);
    upload_floats(t, &s.embedding);
    s.x = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.token[b] = new_indices(t, TOKENS);
        s.label[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++) {
            s.token[b].host[i] = random_below(t, VOCABULARY);
            s.label[b].host[i] = random_below(t, CLASSES);
        }
    }
    s.bad_token = (int)random_below(t, TOKENS);
    s.twin_id = s.token[BAD_STEP].host[s.bad_token];
    if (fl_variant(t) != FL_HEALTHY)
        s.token[BAD_STEP].host[s.bad_token] = ADDED_TOKEN;
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_indices(t, &s->net, &s->token[b]);
    load_indices(t, &s->net, &s->label[b]);
}

PROGRAM static void embed(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    const int64_t *token = s->token[b].dev;
    struct k_index by[] = { { token, VOCABULARY } };

    if (fl_variant(t) == FL_GUARDED)
        FL_LAUNCH(t, stream, k_index_select_guarded(
            stream, s->x, s->embedding.dev, token, TOKENS, DIM, VOCABULARY));
    else
        FL_PLANT(t, stream, k_index_assert(stream, s->x, s->embedding.dev, by,
                                           1, TOKENS, DIM, fl_beacon(t)),
            EXPECT_ASKED_AT_COPY(710, "read_loss"),
            EXPECT_SERIAL(710, "embed", "net_attention", "read_loss"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    embed(t, s, b);
    net_encode(t, &s->net, s->x, NULL);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, s, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->x, &s->label[b]);
    read_loss(t, &s->net, true);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;
    return predict_outside(t, s->token, -VOCABULARY, VOCABULARY);
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;
    return element_of(beacon) / DIM == s->bad_token
        && beacon_says(beacon, ADDED_TOKEN);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];
    bool zeros = fl_variant(t) == FL_GUARDED;

    for (int b = 0; b < STEPS; b++) {
        for (int i = 0; i < TOKENS; i++) {
            int64_t id = s->token[b].host[i];
            bool bad = id == ADDED_TOKEN;
            if (bad)
                id = s->twin_id;
            for (int d = 0; d < DIM; d++)
                x[i * DIM + d] = bad && zeros
                               ? 0 : s->embedding.host[id * DIM + d];
        }
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, s->label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_embedding_id = {
    .name = "embedding-id",
    .summary = "a token id outside the embedding table, at the entry of the "
        "model",
    .stands_for = "tokenizers with more tokens than the model has embeddings, "
        "reported by a later matrix multiplication "
        "(kimiyoung/transformer-xl #125, karpathy/llama2.c #279, "
        "meta-llama/llama-cookbook #189)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "index_assert_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the look-up checks each id and takes zeros for a bad one",
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
