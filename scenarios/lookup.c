/* See lookup.h. */
#include "lookup.h"

#include "reference.h"

enum { BAD_STEP = STEPS - 1 };

void *lookup_setup(struct fl_trial *t, int64_t bad_row)
{
    static struct lookup l;

    net_create(t, &l.net);
    l.memory = new_floats(t, ROWS * DIM, 1);
    l.w_in = new_floats(t, DIM * DIM, 0.3f);
    upload_floats(t, &l.memory);
    upload_floats(t, &l.w_in);
    l.x = device_floats(t, TOKENS * DIM);
    l.recalled = device_floats(t, TOKENS * DIM);
    for (int b = 0; b < STEPS; b++) {
        l.features[b] = new_floats(t, TOKENS * DIM, 1);
        l.neighbour[b] = new_indices(t, TOKENS);
        l.label[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++) {
            l.neighbour[b].host[i] = random_below(t, ROWS);
            l.label[b].host[i] = random_below(t, CLASSES);
        }
    }
    l.bad_token = (int)random_below(t, TOKENS);
    l.bad_row = bad_row;
    l.twin_row = l.neighbour[BAD_STEP].host[l.bad_token];
    if (fl_variant(t) != FL_HEALTHY)
        l.neighbour[BAD_STEP].host[l.bad_token] = bad_row;
    return &l;
}

PROGRAM void lookup_load(struct fl_trial *t, struct lookup *l, unsigned batch)
{
    load_floats(t, &l->net, &l->features[batch]);
    load_indices(t, &l->net, &l->neighbour[batch]);
    load_indices(t, &l->net, &l->label[batch]);
}

PROGRAM void lookup_project(struct fl_trial *t, struct lookup *l,
                            unsigned batch)
{
    cudaStream_t stream = l->net.stream;

    FL_LAUNCH(t, stream, k_linear(stream, l->x, l->features[batch].dev,
                                  l->w_in.dev, NULL, TOKENS, DIM, DIM));
    FL_LAUNCH(t, stream, k_gelu(stream, l->x, l->x, TOKENS * DIM));
}

PROGRAM void lookup_encode(struct fl_trial *t, struct lookup *l)
{
    cudaStream_t stream = l->net.stream;

    FL_LAUNCH(t, stream, k_add(stream, l->x, l->x, l->recalled, TOKENS * DIM));
    net_encode(t, &l->net, l->x, NULL);
    net_classify(t, &l->net, l->x, TOKENS);
}

PROGRAM void lookup_learn(struct fl_trial *t, struct lookup *l, unsigned batch)
{
    net_loss(t, &l->net, l->label[batch].dev, TOKENS);
    net_backward(t, &l->net, l->x, TOKENS);
    net_update(t, &l->net);
}

/* ---- the oracle ---- */

enum fl_prediction lookup_predict(const struct fl_trial *t, const void *state)
{
    const struct lookup *l = state;

    if (fl_variant(t) == FL_GUARDED)
        return FL_NEVER;
    for (int b = 0; b < STEPS; b++)
        for (int i = 0; i < TOKENS; i++) {
            int64_t row = l->neighbour[b].host[i];
            if (row < 0 || row >= ROWS)
                return FL_ALWAYS;
        }
    return FL_NEVER;
}

bool lookup_commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct lookup *l = state;
    (void)t;
    return element_of(beacon) / DIM == l->bad_token
        && (beacon->set == FL_BEACON_FROM_DEVICE
            || beacon->value == l->bad_row);
}

static void add_recalled(const struct fl_trial *t, const struct lookup *l,
                         unsigned b, float *x)
{
    for (int i = 0; i < TOKENS; i++) {
        int64_t row = l->neighbour[b].host[i];
        if (b == BAD_STEP && i == l->bad_token) {
            if (fl_variant(t) == FL_GUARDED)
                continue;
            row = l->twin_row;
        }
        for (int d = 0; d < DIM; d++)
            x[i * DIM + d] += l->memory.host[row * DIM + d];
    }
}

enum fl_data lookup_check_with(struct fl_trial *t, struct lookup *l,
                               void (*add)(const struct fl_trial *t,
                                           const struct lookup *l,
                                           unsigned batch, float *x))
{
    static float x[TOKENS * DIM];

    for (unsigned b = 0; b < STEPS; b++) {
        ref_linear(x, l->features[b].host, l->w_in.host, NULL, TOKENS, DIM,
                   DIM);
        ref_gelu(x, x, TOKENS * DIM);
        add(t, l, b, x);
        net_ref_encode(&l->net, x, NULL);
        net_ref_train(&l->net, x, l->label[b].host, TOKENS);
    }
    return net_check(&l->net);
}

enum fl_data lookup_check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_recalled);
}
