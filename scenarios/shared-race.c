/* A vision-like model drops background patches: a block-wide partition orders
 * 256 candidates, background first, and the model takes the last TOKENS. In
 * the second batch the partition runs without the barrier between writing the
 * warps' counts to shared memory and reading them.
 *
 * A warp that reads a count too early takes it for 0 and puts its patches in
 * wrong places, all of them legal. CUDA promises nothing about the order of
 * warps, so the result is wrong or, if every warp happens to be in time,
 * right; no error is ever raised, whatever the strategy: only comparing data
 * shows it. Blocking launches order kernels, not the warps in one. */
#include "net.h"

#include <string.h>

#include "reference.h"

enum { PATCHES = K_PARTITION };
#define BACKGROUND 0.0f

struct state {
    struct net net;
    struct floats features[STEPS], dullness[STEPS];
    struct indices label[STEPS];
    float *patches, *x;
    uint8_t *background;
    int64_t *order;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.patches = device_floats(t, PATCHES * DIM);
    s.x = device_floats(t, TOKENS * DIM);
    fl_must(t, cudaMalloc((void **)&s.background, PATCHES));
    fl_must(t, cudaMalloc((void **)&s.order, PATCHES * sizeof *s.order));
    for (int b = 0; b < STEPS; b++) {
        s.features[b] = new_floats(t, PATCHES * DIM, 1);
        s.dullness[b] = new_floats(t, PATCHES, 1);
        s.label[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++)
            s.label[b].host[i] = random_below(t, CLASSES);
        /* one background patch in each warp, as k_partition asks, and enough
         * others for the model */
        for (int i = 0; i < PATCHES; i++)
            if (i % 32 == 0)
                s.dullness[b].host[i] = 1;
            else if (i % 3 == 0)
                s.dullness[b].host[i] = -1;
    }
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_floats(t, &s->net, &s->features[b]);
    load_floats(t, &s->net, &s->dullness[b]);
    load_indices(t, &s->net, &s->label[b]);
}

PROGRAM static void embed_patches(struct fl_trial *t, struct state *s,
                                  unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_linear(stream, s->patches, s->features[b].dev,
                                  s->net.w_in.dev, NULL, PATCHES, DIM, DIM));
    FL_LAUNCH(t, stream, k_gelu(stream, s->patches, s->patches,
                                PATCHES * DIM));
}

PROGRAM static void partition(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    bool barrier = !fl_is_faulty(t) || b != BAD_STEP;

    FL_LAUNCH(t, stream, k_mask_above(stream, s->background,
                                      s->dullness[b].dev, BACKGROUND,
                                      PATCHES));
    FL_PLANT(t, stream, k_partition(stream, s->order, s->background, 1,
                                    barrier, fl_beacon(t)),
        EXPECT("*", FL_SILENT, 0, NULL, FL_DERIVED,
            .device = FL_SIM, .mode = FL_FREE,
            .note = "free runs take the warps of a block one after the other, "
                    "each to the next barrier, so all but the last are early"),
        EXPECT("*", FL_SILENT | FL_BENIGN | FL_HIDDEN, 0, NULL, FL_DERIVED,
            .some = FL_SILENT,
            .note = "hidden only if all eight warps write before one reads"));
}

PROGRAM static void keep_foreground(struct fl_trial *t, struct state *s,
                                    unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_CALL(t, cudaMemsetAsync(s->order, 0, PATCHES * sizeof *s->order,
                               stream));
    partition(t, s, b);
    FL_LAUNCH(t, stream, k_index_select(stream, s->x, s->patches,
                                        s->order + PATCHES - TOKENS, TOKENS,
                                        DIM, PATCHES, fl_beacon(t)));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    embed_patches(t, s, b);
    keep_foreground(t, s, b);
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
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

/* Any thread may read early, but no warp misses its own count. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return beacon->block[0] == 0 && beacon->thread[0] < PATCHES
        && beacon->value >= 0 && beacon->value < PATCHES / 32
        && beacon->value != beacon->thread[0] / 32;
}

static void right_order(const struct state *s, int b, int64_t *order)
{
    int n = 0;

    for (int pass = 1; pass >= 0; pass--)
        for (int i = 0; i < PATCHES; i++)
            if ((s->dullness[b].host[i] > BACKGROUND) == pass)
                order[n++] = i;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float patches[PATCHES * DIM], x[TOKENS * DIM];
    int64_t order[PATCHES], got[PATCHES];
    (void)t;

    for (int b = 0; b < STEPS; b++) {
        right_order(s, b, order);
        ref_linear(patches, s->features[b].host, s->net.w_in.host, NULL,
                   PATCHES, DIM, DIM);
        ref_gelu(patches, patches, PATCHES * DIM);
        ref_index_select(x, patches, order + PATCHES - TOKENS, TOKENS, DIM);
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, s->label[b].host, TOKENS);
    }
    if (cudaMemcpy(got, s->order, sizeof got, cudaMemcpyDeviceToHost))
        return FL_DATA_UNREADABLE;
    if (memcmp(got, order, sizeof got))
        return FL_DATA_WRONG;
    return net_check(&s->net);
}

const struct fl_scenario scenario_shared_race = {
    .name = "shared-race",
    .summary = "a block-wide partition without the barrier between its shared "
        "writes and reads",
    .stands_for = "wrong results now and then from scans and compactions that "
        "miss a barrier (NVIDIA/cccl #399, AccelerateHS/accelerate-llvm #97)",
    .variants = FL_FAULTY | FL_HEALTHY,
    .steps = STEPS,
    .fault_kernel = "partition_kernel",
    .fault_file = "kernels/mask.cu",
    .setup = setup,
    .step = train_step,
    .predict = predict_race,
    .commits = commits,
    .check = check,
};
