/* A training step amplifies its hard tokens: those above a threshold are
 * compacted to a list, and a library kernel scales the listed rows, with a
 * grid computed from the length of the list. In the second batch no token is
 * hard, so the grid is empty.
 *
 * A zero grid dimension is an invalid configuration: 9, returned by the launch
 * itself, not sticky. nvcc's stub drops that code and the library does not ask,
 * so it stays latched in the thread's last-error slot until anybody does ask:
 * the check of the next launch, whatever that is, is blamed. Nothing is
 * asynchronous here, and blocking launches change nothing. The rows are right,
 * since nothing was to be done. */
#include "net.h"
#include "reference.h"

#define HARD 0.5f
#define GAIN 1.5f

struct state {
    struct net net;
    struct inputs in;
    struct floats difficulty[STEPS];
    float *x;
    uint8_t *mask;
    int64_t *chosen;
    int32_t *count, *host_count;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, TOKENS);
    s.x = device_floats(t, TOKENS * DIM);
    fl_must(t, cudaMalloc((void **)&s.mask, TOKENS));
    fl_must(t, cudaMalloc((void **)&s.chosen, TOKENS * sizeof *s.chosen));
    fl_must(t, cudaMalloc((void **)&s.count, sizeof *s.count));
    fl_must(t, cudaHostAlloc((void **)&s.host_count, sizeof *s.host_count,
                             cudaHostAllocDefault));
    for (int b = 0; b < STEPS; b++) {
        s.difficulty[b] = new_floats(t, TOKENS, b == BAD_STEP ? HARD : 1);
        /* one at least, in good batches */
        int hard = (int)random_below(t, TOKENS);
        if (b != BAD_STEP || fl_variant(t) == FL_HEALTHY)
            s.difficulty[b].host[hard] = 1.5f * HARD;
    }
    return &s;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_inputs(t, &s->net, &s->in, b);
    load_floats(t, &s->net, &s->difficulty[b]);
}

/* What frameworks call nonzero: the host must know the count, so it waits. */
PROGRAM static int nonzero(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_LAUNCH(t, stream, k_mask_above(stream, s->mask, s->difficulty[b].dev,
                                      HARD, TOKENS));
    FL_LAUNCH(t, stream, k_compact(stream, s->chosen, s->count, s->mask,
                                   TOKENS));
    FL_CALL(t, cudaMemcpyAsync(s->host_count, s->count, sizeof *s->count,
                               cudaMemcpyDeviceToHost, stream));
    FL_WAIT(t, stream, cudaStreamSynchronize(stream));
    return *s->host_count;
}

PROGRAM static void amplify(struct fl_trial *t, struct state *s, int count)
{
    cudaStream_t stream = s->net.stream;

    if (count == 0 && fl_variant(t) == FL_GUARDED)
        return;
    if (count == 0)
        fl_host_beacon(t, count);
    FL_PLANT(t, stream, k_index_scale(stream, s->x, s->chosen, GAIN, count,
                                      DIM),
        EXPECT("async", FL_MISATTRIBUTED, 9, "train_step", FL_REPORT,
            .note = "the step's end is the first to ask"),
        EXPECT("async-check", FL_MISATTRIBUTED, 9, "net_attention", FL_REPORT,
            .note = "the next launch's check finds what this one left"),
        EXPECT("sync", FL_MISATTRIBUTED, 9, "net_attention", FL_REPORT,
            .note = "blocking does not help: the launch already failed when "
                    "it was made"),
        EXPECT("sync-unchecked", FL_MISATTRIBUTED, 9, "train_step",
            FL_REPORT),
        EXPECT("stream-sync", FL_MISATTRIBUTED, 9, "net_attention",
            FL_REPORT,
            .note = "the synchronise itself succeeds"),
        EXPECT("device-sync", FL_MISATTRIBUTED, 9, "net_attention",
            FL_REPORT),
        EXPECT("every-8", FL_MISATTRIBUTED, 9, NULL, FL_REPORT),
        EXPECT("event-poll", FL_MISATTRIBUTED, 9, "net_attention",
            FL_REPORT),
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
        EXPECT("dsa", FL_MISATTRIBUTED, 9, "train_step", FL_REPORT,
            .note = "a kernel that was not launched records nothing"),
        EXPECT("breadcrumb", FL_MISATTRIBUTED, 9, "net_attention", FL_REPORT,
            .note = "a launch that failed when it was made leaves no mark"),
        EXPECT("cupti-log", FL_EXACT, 9, "amplify", FL_HEADER,
            .note = "the callback sees what every launch returns, the "
                    "library's too"));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    net_project(t, &s->net, s->x, &s->in.features[b]);
    amplify(t, s, nonzero(t, s, b));
    net_encode(t, &s->net, s->x, NULL);
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

    for (int b = 0; b < STEPS; b++) {
        int hard = 0;
        for (int i = 0; i < TOKENS; i++)
            hard += s->difficulty[b].host[i] > HARD;
        if (hard == 0)
            return fl_variant(t) == FL_GUARDED ? FL_NEVER : FL_ALWAYS;
    }
    return FL_NEVER;
}

static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return beacon->by_host && beacon->value == 0;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];
    (void)t;

    for (int b = 0; b < STEPS; b++) {
        net_ref_project(&s->net, x, &s->in.features[b]);
        for (int i = 0; i < TOKENS * DIM; i++)
            if (s->difficulty[b].host[i / DIM] > HARD)
                x[i] *= GAIN;
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, s->in.label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_empty_mask = {
    .name = "empty-mask",
    .summary = "a boolean mask that selects nothing makes a grid of no blocks, "
        "in a library that does not look at its launches",
    .stands_for = "`invalid configuration argument` in training, the cause a "
        "grid of zero somewhere else (pytorch/pytorch #113321, pytorch/FBGEMM "
        "#2639); that it stays latched: NVIDIA/cuCollections #75",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .guard = "an early return when nothing was selected",
    .plant_unchecked = true,
    .setup = setup,
    .step = train_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
