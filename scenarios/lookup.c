/* See lookup.h. */
#include "lookup.h"

#include <stdlib.h>

/* Its own for each scenario: a process may step several by turns. */
void *lookup_setup(struct fl_trial *t, int64_t bad_row)
{
    struct lookup *l = calloc(1, sizeof *l);

    if (!l)
        fl_broken(t, "no memory for the scenario");
    net_create(t, &l->net);
    l->in = new_inputs(t, TOKENS);
    l->memory = new_floats(t, ROWS * DIM, 1);
    upload_floats(t, &l->memory);
    l->x = device_floats(t, TOKENS * DIM);
    l->recalled = device_floats(t, TOKENS * DIM);
    fl_must(t, cudaMalloc((void **)&l->range, 2 * sizeof *l->range));
    fl_must(t, cudaHostAlloc((void **)&l->host_range, 2 * sizeof *l->range,
                             cudaHostAllocDefault));
    for (int b = 0; b < STEPS; b++) {
        l->neighbour[b] = new_indices(t, TOKENS);
        for (int i = 0; i < TOKENS; i++)
            l->neighbour[b].host[i] = random_below(t, ROWS);
    }
    l->bad_token = (int)random_below(t, TOKENS);
    l->bad_row = bad_row;
    l->twin_row = l->neighbour[BAD_STEP].host[l->bad_token];
    if (fl_variant(t) != FL_HEALTHY)
        l->neighbour[BAD_STEP].host[l->bad_token] = bad_row;
    return l;
}

PROGRAM static void lookup_load(struct fl_trial *t, struct lookup *l,
                                unsigned b)
{
    load_inputs(t, &l->net, &l->in, b);
    load_indices(t, &l->net, &l->neighbour[b]);
}

bool lookup_guarded(struct fl_trial *t, struct lookup *l, unsigned b)
{
    cudaStream_t stream = l->net.stream;
    int64_t *neighbour = l->neighbour[b].dev;

    switch (fl_variant(t)) {
    case FL_GUARDED:
        FL_LAUNCH(t, stream, k_index_select_guarded(
            stream, l->recalled, l->memory.dev, neighbour, TOKENS, DIM, ROWS));
        return true;
    case FL_CLAMPED:
        FL_LAUNCH(t, stream, k_clamp_i64(stream, neighbour, 0, ROWS - 1,
                                         TOKENS));
        return false;
    case FL_REPLACED:
        FL_LAUNCH(t, stream, k_replace_i64(stream, neighbour, ROWS, TOKENS));
        return false;
    default:
        return false;
    }
}

PROGRAM bool safe_index(struct fl_trial *t, struct lookup *l,
                        const struct indices *index, int64_t rows)
{
    cudaStream_t stream = l->net.stream;
    const int64_t *range = l->host_range;

    FL_LAUNCH(t, stream, k_range_i64(stream, l->range, index->dev, index->n));
    FL_CALL(t, cudaMemcpyAsync(l->host_range, l->range, 2 * sizeof *range,
                               cudaMemcpyDeviceToHost, stream));
    FL_WAIT(t, stream, cudaStreamSynchronize(stream));
    return range[0] >= 0 && range[1] < rows;
}

PROGRAM void lookup_encode(struct fl_trial *t, struct lookup *l)
{
    cudaStream_t stream = l->net.stream;

    FL_LAUNCH(t, stream, k_add(stream, l->x, l->x, l->recalled, TOKENS * DIM));
    net_encode(t, &l->net, l->x, NULL);
    net_classify(t, &l->net, l->x, TOKENS);
}

PROGRAM void lookup_step(struct fl_trial *t, struct lookup *l,
                         void (*recall)(struct fl_trial *t, struct lookup *l,
                                        unsigned batch))
{
    unsigned b = fl_step(t) % STEPS;

    lookup_load(t, l, b);
    /* A batch that is refused is not learnt from; the one before it is, again,
     * so that a step is as much work as any. */
    if (fl_variant(t) == FL_CHECKED
        && !safe_index(t, l, &l->neighbour[b], ROWS))
        b = (b + STEPS - 1) % STEPS;
    net_project(t, &l->net, l->x, &l->in.features[b]);
    recall(t, l, b);
    lookup_encode(t, l);
    net_learn(t, &l->net, l->x, &l->in.label[b]);
}

/* ---- the oracle ---- */

enum fl_prediction lookup_predict(const struct fl_trial *t, const void *state)
{
    const struct lookup *l = state;
    return predict_outside(t, l->neighbour, 0, ROWS);
}

bool lookup_commits(const struct fl_trial *t, const void *state,
                    const struct fl_beacon_record *beacon)
{
    const struct lookup *l = state;
    (void)t;
    return element_of(beacon) / DIM == l->bad_token
        && beacon_says(beacon, l->bad_row);
}

static void add_recalled(const struct fl_trial *t, const struct lookup *l,
                         unsigned b, float *x)
{
    for (int i = 0; i < TOKENS; i++) {
        int64_t row = l->neighbour[b].host[i];
        if (b == BAD_STEP && i == l->bad_token)
            switch (fl_variant(t)) {
            case FL_GUARDED: continue;      /* zeros */
            case FL_CLAMPED: row = row < 0 ? 0 : ROWS - 1; break;
            case FL_REPLACED: row = 0; break;
            default: row = l->twin_row;
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

    for (unsigned step = 0; step < STEPS; step++) {
        bool refused = step == BAD_STEP && fl_variant(t) == FL_CHECKED;
        unsigned b = refused ? BAD_STEP - 1 : step;
        net_ref_project(&l->net, x, &l->in.features[b]);
        add(t, l, b, x);
        net_ref_encode(&l->net, x, NULL);
        net_ref_train(&l->net, x, l->in.label[b].host, TOKENS);
    }
    return net_check(&l->net);
}

enum fl_data lookup_check(struct fl_trial *t, void *state)
{
    return lookup_check_with(t, state, add_recalled);
}
