/* A detector's head pools the features of boxes that an augmentation has moved
 * into random crops. Training clips the boxes to the map afterwards. Validation
 * augments, too, and does not clip.
 *
 * A crop is rarely of no width. What keeps the division by it from being one
 * by zero then puts its boxes trillions of pixels to the right, and the pooling
 * leaves all mapped memory: 700, in validation only, after training has been
 * fine with the same crops. Of the 192 boxes of a validation 1, 2, 4 or 8 are
 * such, drawn from the seed. Clipping before the pooling is the defence. */
#include "net.h"

#include <math.h>

#include "reference.h"

enum { MAP = 16, BOXES_AN_IMAGE = TOKENS / BATCH, DOWN = 4, ACROSS = DIM / DOWN,
       TRAIN = 1, VALIDATE = 3, STEPS_ALL = TRAIN + VALIDATE };

struct state {
    struct net net;
    struct floats map[STEPS_ALL], box[STEPS_ALL], crop[STEPS_ALL];
    struct indices label[STEPS_ALL];
    float *pooled;
};

static bool is_sliver(const struct state *s, unsigned b, int64_t box)
{
    return s->crop[b].host[box * 4 + 2] == 0;
}

/* Crops of 0.6 to 0.8 of an image, and boxes well inside of them. */
static void draw_boxes(struct fl_trial *t, struct state *s, int b)
{
    for (int i = 0; i < TOKENS * 4; i += 2) {
        float *box = s->box[b].host + i, *crop = s->crop[b].host + i;
        bool corner = i % 4 == 0;
        for (int axis = 0; axis < 2; axis++) {
            float r = (float)random_below(t, 1024) / 1024;
            crop[axis] = corner ? 0.2f * r : 0.6f + 0.2f * r;
            box[axis] = (corner ? 0.25f : 0.45f) + 0.1f * r;
        }
    }
}

static void make_slivers(struct fl_trial *t, struct state *s, int first,
                         int steps, int bad)
{
    while (bad > 0) {
        int64_t i = random_below(t, steps * TOKENS);
        unsigned b = (unsigned)(first + i / TOKENS);
        if (is_sliver(s, b, i % TOKENS))
            continue;
        s->crop[b].host[i % TOKENS * 4 + 2] = 0;
        bad--;
    }
}

static void *setup(struct fl_trial *t)
{
    static struct state s;
    int bad;

    net_create(t, &s.net);
    s.pooled = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS_ALL; b++) {
        s.map[b] = new_floats(t, BATCH * MAP * MAP, 1);
        s.box[b] = new_floats(t, TOKENS * 4, 0);
        s.crop[b] = new_floats(t, TOKENS * 4, 0);
        draw_boxes(t, &s, b);
        s.label[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++)
            s.label[b].host[i] = random_below(t, CLASSES);
    }
    bad = fl_variant(t) == FL_HEALTHY ? 0 : 1 << random_below(t, 4);
    fl_bad_samples(t, bad, VALIDATE * TOKENS);
    make_slivers(t, &s, 0, TRAIN, bad > 0);
    make_slivers(t, &s, TRAIN, VALIDATE, bad);
    return &s;
}

static bool clips(const struct fl_trial *t, unsigned b)
{
    return b < TRAIN || fl_variant(t) == FL_GUARDED;
}

PROGRAM static void load_batch(struct fl_trial *t, struct state *s, unsigned b)
{
    load_floats(t, &s->net, &s->map[b]);
    load_floats(t, &s->net, &s->box[b]);
    load_floats(t, &s->net, &s->crop[b]);
    load_indices(t, &s->net, &s->label[b]);
}

PROGRAM static void augment(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;
    float *box = s->box[b].dev;

    FL_LAUNCH(t, stream, k_crop_boxes(stream, box, s->crop[b].dev, MAP,
                                      TOKENS));
    if (clips(t, b))
        FL_LAUNCH(t, stream, k_clamp_f32(stream, box, 0, MAP - 1,
                                         TOKENS * 4));
}

PROGRAM static void pool_boxes(struct fl_trial *t, struct state *s, unsigned b)
{
    cudaStream_t stream = s->net.stream;

    FL_PLANT(t, stream, k_roi_align(stream, s->pooled, s->map[b].dev,
                                    s->box[b].dev, BATCH, BOXES_AN_IMAGE, MAP,
                                    MAP, DOWN, ACROSS, fl_beacon(t)),
        EXPECT_ASKED_AT_COPY(700, "read_loss"),
        EXPECT_SERIAL(700, "pool_boxes", "net_mlp", "read_loss"));
}

PROGRAM static void detect(struct fl_trial *t, struct state *s, unsigned b)
{
    augment(t, s, b);
    pool_boxes(t, s, b);
    net_mlp(t, &s->net, s->pooled);
    net_classify(t, &s->net, s->pooled, TOKENS);
    net_loss(t, &s->net, s->label[b].dev, TOKENS);
}

PROGRAM static void learn(struct fl_trial *t, struct state *s)
{
    net_backward(t, &s->net, s->pooled, TOKENS);
    net_update(t, &s->net);
}

PROGRAM static void epoch_step(struct fl_trial *t, void *state)
{
    struct state *s = state;
    unsigned b = fl_step(t) % STEPS_ALL;

    load_batch(t, s, b);
    detect(t, s, b);
    if (b < TRAIN)
        learn(t, s);
    read_loss(t, &s->net, true);
    FL_STEP_END(t);
}

/* ---- the oracle ---- */

static enum fl_prediction predict(const struct fl_trial *t, const void *state)
{
    const struct state *s = state;

    for (unsigned b = 0; b < STEPS_ALL; b++)
        for (int i = 0; i < TOKENS; i++)
            if (is_sliver(s, b, i) && !clips(t, b))
                return FL_ALWAYS;
    return FL_NEVER;
}

/* A bin of a sliver's box, in the first batch that has one. */
static bool commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct state *s = state;
    (void)t;

    for (unsigned b = TRAIN; b < STEPS_ALL; b++)
        for (int i = 0; i < TOKENS; i++)
            if (is_sliver(s, b, i))
                return is_sliver(s, b, element_of(beacon) / DIM)
                    && (beacon->set == FL_BEACON_FROM_DEVICE
                        || beacon->value >= MAP);
    return false;
}

static void ref_pool(const struct state *s, unsigned b, bool clip, float *x)
{
    for (int e = 0; e < TOKENS * DIM; e++) {
        int n = e / DIM, bin[2] = { e % ACROSS, e / ACROSS % DOWN };
        const int bins[2] = { ACROSS, DOWN };
        const float *image = s->map[b].host
                           + n / BOXES_AN_IMAGE * MAP * MAP;
        const float *crop = s->crop[b].host + n * 4;
        int low[2], high[2];
        double part[2];
        for (int axis = 0; axis < 2; axis++) {
            double edge[2], at;
            for (int end = 0; end < 2; end++) {
                edge[end] = (s->box[b].host[n * 4 + 2 * end + axis]
                             - crop[axis]) / (crop[2 + axis] + 1e-12) * MAP;
                if (clip)
                    edge[end] = fmin(fmax(edge[end], 0), MAP - 1);
            }
            at = edge[0] + (edge[1] - edge[0]) * (bin[axis] + 0.5)
               / bins[axis];
            low[axis] = (int)at;
            high[axis] = low[axis] + (low[axis] < MAP - 1);
            part[axis] = at - low[axis];
        }
        x[e] = (float)((1 - part[1])
                       * ((1 - part[0]) * image[low[1] * MAP + low[0]]
                          + part[0] * image[low[1] * MAP + high[0]])
                       + part[1]
                       * ((1 - part[0]) * image[high[1] * MAP + low[0]]
                          + part[0] * image[high[1] * MAP + high[0]]));
    }
}

static enum fl_data check(struct fl_trial *t, void *state)
{
    struct state *s = state;
    static float x[TOKENS * DIM];

    for (unsigned b = 0; b < STEPS_ALL; b++) {
        ref_pool(s, b, clips(t, b), x);
        net_ref_mlp(&s->net, x);
        if (b < TRAIN)
            net_ref_train(&s->net, x, s->label[b].host, TOKENS);
        else
            net_ref_loss(&s->net, x, s->label[b].host, TOKENS);
    }
    return net_check(&s->net);
}

const struct fl_scenario scenario_roi_align = {
    .name = "roi-align",
    .summary = "validation pools boxes that a rare crop has thrown far out of "
        "the feature map",
    .stands_for = "illegal accesses of ROI pooling from boxes outside the "
        "image (csuhan/ReDet #86, longcw/RoIAlign.pytorch #10), noticed when "
        "the boxes are next looked at (jackroos/VL-BERT #72)",
    .variants = FL_FAULTY | FL_HEALTHY | FL_GUARDED,
    .steps = STEPS_ALL,
    .fault_kernel = "roi_align_kernel",
    .fault_file = "kernels/roi.cu",
    .guard = "validation clips its boxes to the map, as training does",
    .setup = setup,
    .step = epoch_step,
    .predict = predict,
    .commits = commits,
    .check = check,
};
