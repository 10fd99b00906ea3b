/* A loader stages each batch in one pinned buffer, copies it asynchronously,
 * and prepares the next batch in the same buffer. For the second batch it
 * forgets to wait for the copy first.
 *
 * cudaMemcpyAsync from pinned memory returns before the copy is done
 * (API synchronization behavior, cuda_runtime_api.h), so what arrives on the
 * device is the batch, the next one, or some of both. Every value is a legal
 * one: no error under any strategy. Blocking *launches* do not help, since the
 * buffer is overwritten before anything is launched; what they do to copies is
 * not documented. */
#include <string.h>

#include "lookup.h"

static struct floats staging;
static float *spare;            /* guarded: another host side of it */

static void *setup(struct fl_trial *t)
{
    struct lookup *l = lookup_setup(t, 0);

    staging = new_floats(t, TOKENS * DIM, 0);
    fl_must(t, cudaHostAlloc((void **)&spare, sizeof *spare * TOKENS * DIM,
                             cudaHostAllocDefault));
    return l;
}

/* The loader's own memory holds all batches; features[] is that here. */
PROGRAM static void stage(const struct lookup *l, unsigned batch)
{
    memcpy(staging.host, l->in.features[batch % STEPS].host,
           sizeof(float) * TOKENS * DIM);
}

PROGRAM static void load_batch(struct fl_trial *t, struct lookup *l,
                               unsigned b)
{
    cudaStream_t stream = l->net.stream;

    load_indices(t, &l->net, &l->in.label[b]);
    stage(l, b);
    load_floats(t, &l->net, &staging);
    if (fl_variant(t) == FL_GUARDED) {
        float *filled = staging.host;
        staging.host = spare;
        spare = filled;
    } else if (!fl_is_faulty(t) || b != BAD_STEP) {
        FL_WAIT(t, stream, cudaStreamSynchronize(stream));
    }
    stage(l, b + 1);
}

PROGRAM static void project(struct fl_trial *t, struct lookup *l)
{
    cudaStream_t stream = l->net.stream;

    FL_PLANT(t, stream, k_linear(stream, l->x, staging.dev,
                                 l->net.w_in.dev, NULL, TOKENS, DIM, DIM),
        EXPECT("graph", FL_SILENT, 0, NULL, FL_DERIVED,
            .note = "the copy is a node of a graph that starts when the step "
                    "ends, long after the overwriting"),
        EXPECT("graph-sync", FL_SILENT, 0, NULL, FL_DERIVED),
        EXPECT("*", FL_HIDDEN, 0, NULL, FL_DERIVED,
            .device = FL_SIM, .mode = FL_EAGER,
            .note = "each copy is done before its call returns"),
        EXPECT("*", FL_SILENT, 0, NULL, FL_DERIVED,
            .device = FL_SIM, .mode = FL_RANDOM | FL_LAZY,
            .note = "a seeded device moves only inside host calls, and none "
                    "lies between the copy and the overwriting"),
        EXPECT("*", FL_SILENT | FL_HIDDEN, 0, NULL, FL_HEADER,
            .note = "the copy and the host race"));
    FL_LAUNCH(t, stream, k_gelu(stream, l->x, l->x, TOKENS * DIM));
}

PROGRAM static void forward(struct fl_trial *t, struct lookup *l)
{
    project(t, l);
    lookup_encode(t, l);    /* nothing is recalled here: adds zeros */
}

PROGRAM static void train_step(struct fl_trial *t, void *state)
{
    struct lookup *l = state;
    unsigned b = fl_step(t) % STEPS;

    load_batch(t, l, b);
    forward(t, l);
    net_learn(t, &l->net, l->x, &l->in.label[b]);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

/* No thread of a kernel does anything wrong. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    (void)t;
    (void)state;
    (void)beacon;
    return false;
}

static void add_nothing(const struct fl_trial *t, const struct lookup *l,
                        unsigned b, float *x)
{
    (void)t;
    (void)l;
    (void)b;
    (void)x;
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_nothing);
}

const struct fl_scenario scenario_host_buffer_reuse = {
    .name = "host-buffer-reuse",
    .summary = "a pinned staging buffer is refilled while its copy is in "
        "flight",
    .stands_for = "loaders that recycle pinned memory without waiting: wrong "
        "batches now and then, and no error at all "
        "(sgl-project/mini-sglang #67)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS,
    .guard = "two buffers by turns, so that the next batch goes to the other",
    .setup = setup,
    .step = train_step,
    .predict = predict_race,
    .commits = commits,
    .check = check,
};
