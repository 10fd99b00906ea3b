/* A loader clears a buffer, copies each batch's pictures to it and then the
 * batch's sample numbers, all on a stream of its own and asynchronously from
 * pinned memory; the model gathers by those numbers on another stream. The
 * second batch forgets to make that stream wait for the loader's event.
 *
 * The number buffer is recycled and holds another tensor's bits before the copy
 * arrives, so a gather that overtakes it faults with 700. This is
 * preprocess-race with a copy in the kernel's place, and that makes all the
 * difference: CUDA_LAUNCH_BLOCKING is about launches. A copy is none; whether
 * it blocks as well is not documented. Nor does it help to synchronise the
 * model's own stream: only a wait for the whole device, or for the loader's
 * event, orders the two. */
#include "net.h"

#include "reference.h"

enum { ROWS = 256, PICTURES = 16, MOST_BYTES = 1 << 16 /* of a picture */ };

/* The recycled bits. */
#define STALE (ROWS + FAR_ROW)

struct state {
    struct net net;
    struct inputs in;
    float *x;
    cudaStream_t loader;
    cudaEvent_t copied;
    struct floats samples;
    struct indices pick[STEPS];
    float *pictures, *host_pictures;
    size_t picture_bytes[STEPS];
    float *picked;
};

static void *setup(struct fl_trial *t)
{
    static struct state s;

    net_create(t, &s.net);
    s.in = new_inputs(t, TOKENS);
    s.x = device_floats(t, TOKENS * DIM);
    fl_must(t, cudaStreamCreateWithFlags(&s.loader, cudaStreamNonBlocking));
    fl_must(t, cudaEventCreateWithFlags(&s.copied, cudaEventDisableTiming));
    s.samples = new_floats(t, ROWS * DIM, 1);
    upload_floats(t, &s.samples);
    s.picked = device_floats(t, TOKENS * DIM);
    fl_must(t, cudaMalloc((void **)&s.pictures, PICTURES * MOST_BYTES));
    fl_must(t, cudaHostAlloc((void **)&s.host_pictures, PICTURES * MOST_BYTES,
                             cudaHostAllocDefault));
    for (int b = 0; b < STEPS; b++) {
        s.pick[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++)
            s.pick[b].host[i] = STALE;
        upload_indices(t, &s.pick[b]);
        for (int i = 0; i < TOKENS; i++)
            s.pick[b].host[i] = random_below(t, ROWS);
        /* Some 20 to 60 us for all of them on a GPU's bus: around what the
         * model needs from here to the gather, so either may be first. */
        s.picture_bytes[b] = (size_t)MOST_BYTES >> random_below(t, 5);
    }
    return &s;
}

PROGRAM static void prefetch(struct fl_trial *t, struct state *s, unsigned b)
{
    size_t bytes = s->picture_bytes[b], n = bytes / sizeof(float);

    FL_LAUNCH(t, s->loader, k_fill_f32(s->loader, s->pictures, 0,
                                       PICTURES * (int)n));
    for (size_t i = 0; i < PICTURES; i++)
        FL_CALL(t, cudaMemcpyAsync(s->pictures + i * n,
                                   s->host_pictures + i * n, bytes,
                                   cudaMemcpyHostToDevice, s->loader));
    FL_CALL(t, cudaMemcpyAsync(s->pick[b].dev, s->pick[b].host,
                               TOKENS * sizeof(int64_t),
                               cudaMemcpyHostToDevice, s->loader));
    FL_CALL(t, cudaEventRecord(s->copied, s->loader));
}

PROGRAM static void gather_samples(struct fl_trial *t, struct state *s,
                                   unsigned b)
{
    cudaStream_t stream = s->net.stream;

    if (fl_variant(t) == FL_GUARDED)
        FL_WAIT(t, s->loader, cudaStreamSynchronize(s->loader));
    else if (!fl_is_faulty(t) || b != BAD_STEP)
        FL_CALL(t, cudaStreamWaitEvent(stream, s->copied, 0));
    FL_PLANT(t, stream, k_index_select(stream, s->picked, s->samples.dev,
                                       s->pick[b].dev, TOKENS, DIM, ROWS,
                                       fl_beacon(t)),
        EXPECT("device-sync", FL_HIDDEN, 0, NULL, FL_DERIVED,
            .note = "the projection's launches waited for the copy, too"),
        EXPECT("graph", FL_HIDDEN | FL_LATE, 700, "train_step", FL_DERIVED,
            .note = "two branches of one graph with no edge between them"),
        EXPECT("graph-sync", FL_HIDDEN | FL_LATE, 700, "train_step",
            FL_DERIVED),
        EXPECT("*", FL_HIDDEN, 0, NULL, FL_DERIVED,
            .device = FL_SIM, .mode = FL_EAGER,
            .note = "each copy is done before its call returns"),
        EXPECT("sync", FL_HIDDEN | FL_EXACT, 700, "gather_samples", FL_OPEN,
            .device = FL_SIM,
            .note = "simgpu blocks launches and nothing else; of a GPU nothing "
                    "is expected until one has shown it"),
        EXPECT("sync-unchecked", FL_HIDDEN | FL_MISATTRIBUTED, 700,
            "train_step", FL_OPEN, .device = FL_SIM),
        EXPECT("stream-sync", FL_HIDDEN | FL_EXACT, 700, "gather_samples",
            FL_DERIVED,
            .note = "a wait for the model's stream says nothing of the "
                    "loader's"),
        EXPECT("async", FL_HIDDEN | FL_LATE, 700, "train_step", FL_DERIVED,
            .device = FL_SIM, .mode = FL_LAZY, .some = FL_LATE,
            .note = "a fault whenever the gather is first"),
        EXPECT("async", FL_HIDDEN | FL_LATE, 700, "train_step", FL_DERIVED),
        EXPECT("async-check", FL_HIDDEN | FL_LATE, 700, NULL, FL_DERIVED,
            .device = FL_SIM),
        EXPECT("async-check", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_HEADER,
            .note = "cudaGetLastError may also return errors of earlier "
                    "asynchronous launches"),
        EXPECT("every-8", FL_HIDDEN | FL_LATE, 700, NULL, FL_DERIVED,
            .note = "the eighth launch may fall between the two"),
        EXPECT("event-poll", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_DERIVED),
        EXPECT("dsa", FL_HIDDEN | FL_EXACT, 710, NULL, FL_DERIVED,
            .note = "the gather's check sees the stale index"),
        EXPECT("breadcrumb", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_DERIVED,
            .note = "two suspects while the loader still clears its buffer"),
        EXPECT("cupti-log", FL_HIDDEN | FL_LATE | FL_EXACT, 700, NULL,
            FL_OPEN, .device = FL_SIM,
            .note = "two suspects while the loader still clears its buffer"),
        EXPECT("cupti-log", FL_HIDDEN | FL_LATE | FL_EXACT | FL_MISATTRIBUTED,
            700, NULL, FL_OPEN,
            .note = "which activity records survive a fault is not "
                    "documented"));
    FL_LAUNCH(t, stream, k_add(stream, s->x, s->x, s->picked,
                               TOKENS * DIM));
}

PROGRAM static void forward(struct fl_trial *t, struct state *s, unsigned b)
{
    net_project(t, &s->net, s->x, &s->in.features[b]);
    gather_samples(t, s, b);
    net_encode(t, &s->net, s->x, NULL);
    net_classify(t, &s->net, s->x, TOKENS);
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS;

    prefetch(t, s, b);
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
    (void)t;

    for (unsigned b = 0; b < STEPS; b++) {
        net_ref_project(&s->net, x, &s->in.features[b]);
        ref_index_select(picked, s->samples.host, s->pick[b].host, TOKENS,
                         DIM);
        for (int i = 0; i < TOKENS * DIM; i++)
            x[i] += picked[i];
        net_ref_encode(&s->net, x, NULL);
        net_ref_train(&s->net, x, s->in.label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_copy_race = {
    .name = "copy-race",
    .summary = "a gather on one stream does not wait for the asynchronous copy "
        "that brings its indices on another",
    .stands_for = "transfers on a stream of their own whose consumer does not "
        "wait (ROCm/pytorch #3194, NVIDIA/DALI #5364)",
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
