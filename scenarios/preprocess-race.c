/* An augmentation kernel on the loader's stream draws which rows the model
 * gathers on its own stream. The second batch forgets to make the model's
 * stream wait for the loader's event.
 *
 * The index buffer is recycled: before the augmentation has written it, it
 * holds another tensor's bits, which as indices lie far out. So the gather
 * faults with 700 when it overtakes the augmentation, and the step is right
 * when it does not: both are legal, and timing decides. Whatever makes the
 * host wait for the augmentation before it launches the gather (blocking
 * launches, a synchronise after each) hides the fault. */
#include "net.h"
#include "reference.h"

enum { ROWS = 256 };

/* The recycled bits; some 19-digit number in reports of this kind. */
#define STALE (ROWS + FAR_ROW)

struct state {
    struct net net;
    cudaStream_t loader;
    cudaEvent_t augmented;
    struct inputs in;
    struct floats samples;
    struct indices pick[STEPS];
    float *x, *picked;
    uint32_t seed[STEPS], rounds[STEPS];
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    fl_must(t, cudaStreamCreateWithFlags(&s.loader, cudaStreamNonBlocking));
    fl_must(t, cudaEventCreateWithFlags(&s.augmented,
                                        cudaEventDisableTiming));
    s.samples = new_floats(t, ROWS * DIM, 1);
    upload_floats(t, &s.samples);
    s.in = new_inputs(t, TOKENS);
    s.x = device_floats(t, TOKENS * DIM);
    s.picked = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        s.pick[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++)
            s.pick[b].host[i] = STALE;
        upload_indices(t, &s.pick[b]);
        s.seed[b] = (uint32_t)fl_random(t);
        /* Some 20 to 700 us on a GPU: around what the model needs from here
         * to the gather, so either may be first. */
        s.rounds[b] = 2000u << random_below(t, 6);
    }
    return &s;
}

PROGRAM static void augment(struct fl_trial *t, struct state *s, unsigned b)
{
    FL_LAUNCH(t, s->loader, k_augment(s->loader, s->pick[b].dev, s->seed[b],
                                      s->rounds[b], ROWS, TOKENS));
    FL_CALL(t, cudaEventRecord(s->augmented, s->loader));
}

PROGRAM static void gather_samples(struct fl_trial *t, struct state *s,
                                   unsigned b)
{
    cudaStream_t stream = s->net.stream;

    if (fl_variant(t) == FL_GUARDED)
        FL_WAIT(t, s->loader, cudaStreamSynchronize(s->loader));
    else if (!fl_is_faulty(t) || b != BAD_STEP)
        FL_CALL(t, cudaStreamWaitEvent(stream, s->augmented, 0));
    FL_PLANT(t, stream, k_index_select(stream, s->picked, s->samples.dev,
                                       s->pick[b].dev, TOKENS, DIM, ROWS,
                                       fl_beacon(t)),
        EXPECT("sync", FL_HIDDEN, 0, NULL, FL_REPORT,
            .note = "the augmentation's own launch has waited for it"),
        EXPECT("sync-unchecked", FL_HIDDEN, 0, NULL, FL_REPORT),
        EXPECT("stream-sync", FL_HIDDEN, 0, NULL, FL_DERIVED),
        EXPECT("device-sync", FL_HIDDEN, 0, NULL, FL_DERIVED),
        EXPECT("graph", FL_HIDDEN | FL_LATE, 700, "train_step", FL_DERIVED,
            .note = "two branches of one graph with no edge between them"),
        EXPECT("graph-sync", FL_HIDDEN | FL_LATE, 700, "train_step",
            FL_DERIVED),
        EXPECT("*", FL_HIDDEN, 0, NULL, FL_DERIVED,
            .device = FL_SIM, .mode = FL_EAGER,
            .note = "each launch is done before the next is made"),
        EXPECT("async", FL_HIDDEN | FL_LATE, 700, "train_step", FL_DERIVED,
            .some = FL_LATE,
            .note = "a fault whenever the gather is first; nobody asks before "
                    "the step's end"),
        EXPECT("async-check", FL_HIDDEN | FL_LATE, 700, NULL, FL_DERIVED,
            .device = FL_SIM, .some = FL_LATE),
        EXPECT("async-check", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_HEADER, .some = FL_LATE | FL_EXACT,
            .note = "cudaGetLastError may also return errors of earlier "
                    "asynchronous launches"),
        EXPECT("every-8", FL_HIDDEN | FL_LATE, 700, NULL, FL_DERIVED,
            .note = "the eighth launch may fall between the two"),
        EXPECT("event-poll", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_DERIVED, .some = FL_LATE | FL_EXACT),
        EXPECT("dsa", FL_HIDDEN | FL_EXACT, 710, NULL, FL_DERIVED,
            .some = FL_EXACT,
            .note = "the gather's check sees the stale index"),
        EXPECT("breadcrumb", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_DERIVED, .some = FL_LATE | FL_EXACT,
            .note = "two suspects while the augmentation's stream is busy"),
        EXPECT("cupti-log", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_OPEN, .device = FL_SIM, .some = FL_LATE | FL_EXACT,
            .note = "two suspects until the augmentation has ended"),
        EXPECT("cupti-log", FL_HIDDEN | FL_LATE | FL_EXACT | FL_MISATTRIBUTED,
            700, NULL, FL_OPEN,
            .note = "which activity records survive a fault is not "
                    "documented"));
    FL_LAUNCH(t, stream, k_add(stream, s->x, s->x, s->picked, TOKENS * DIM));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    net_project(t, &s->net, s->x, &s->in.features[b]);
    augment(t, s, b);
    gather_samples(t, s, b);
    net_encode(t, &s->net, s->x, NULL);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    load_inputs(t, &s->net, &s->in, b);
    forward(t, s, b);
    net_learn(t, &s->net, s->x, &s->in.label[b]);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

/* Any thread of the gather may be the first; what it reads is stale. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    return element_of(beacon) < TOKENS * DIM
        && beacon_says(beacon, STALE);
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM], picked[TOKENS * DIM];
    int64_t pick[TOKENS];
    (void)t;

    for (int b = 0; b < STEPS; b++) {
        for (uint32_t i = 0; i < TOKENS; i++)
            pick[i] = k_augment_row(s->seed[b], i, s->rounds[b], ROWS);
        net_ref_project(&s->net, x, &s->in.features[b]);
        ref_index_select(picked, s->samples.host, pick, TOKENS, DIM);
        for (int i = 0; i < TOKENS * DIM; i++)
            x[i] += picked[i];
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, s->in.label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_preprocess_race = {
    .name = "preprocess-race",
    .summary = "a gather on one stream does not wait for the kernel that "
        "writes its indices on another",
    .stands_for = "illegal accesses and 19-digit indices that vanish under "
        "CUDA_LAUNCH_BLOCKING=1, the cause a missing stream dependency "
        "(JeffreyXiang/CuMesh #29, facebookresearch/faiss #1731, "
        "sgl-project/mini-sglang #67)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .fault_kernel = "index_select_kernel",
    .fault_file = "kernels/gather.cu",
    .guard = "the host waits for the loader's stream before the gather; the "
        "twin's stream does, which costs no wait of the host",
    .setup = setup,
    .step = train_step,
    .predict = predict_race,
    .commits = commits,
    .check = check,
};
