/* See net.h. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

#include "reference.h"

#define RATE 0.05f
#define TOLERANCE 1e-3f /* float sums of at most a few hundred terms */

/* ---- arrays ---- */

int64_t random_below(struct fl_trial *t, int64_t below)
{
    return (int64_t)(fl_random(t) % (uint64_t)below);
}

struct floats new_floats(struct fl_trial *t, int n, float scale)
{
    struct floats f = { .n = n };
    size_t bytes = sizeof *f.host * (size_t)n;

    fl_must(t, cudaMalloc((void **)&f.dev, bytes));
    fl_must(t, cudaHostAlloc((void **)&f.host, bytes, cudaHostAllocDefault));
    for (int i = 0; i < n; i++)
        f.host[i] = scale * (float)(random_below(t, 1 << 21) - (1 << 20))
                  / (1 << 20);
    return f;
}

struct indices new_indices(struct fl_trial *t, int n)
{
    struct indices i = { .n = n };
    size_t bytes = sizeof *i.host * (size_t)n;

    fl_must(t, cudaMalloc((void **)&i.dev, bytes));
    fl_must(t, cudaHostAlloc((void **)&i.host, bytes, cudaHostAllocDefault));
    memset(i.host, 0, bytes);
    return i;
}

void upload_floats(struct fl_trial *t, const struct floats *f)
{
    fl_must(t, cudaMemcpy(f->dev, f->host, sizeof *f->host * (size_t)f->n,
                          cudaMemcpyHostToDevice));
}

void upload_indices(struct fl_trial *t, const struct indices *i)
{
    fl_must(t, cudaMemcpy(i->dev, i->host, sizeof *i->host * (size_t)i->n,
                          cudaMemcpyHostToDevice));
}

PROGRAM void load_floats(struct fl_trial *t, struct net *n,
                         const struct floats *f)
{
    FL_CALL(t, cudaMemcpyAsync(f->dev, f->host, sizeof *f->host * (size_t)f->n,
                               cudaMemcpyHostToDevice, n->stream));
}

PROGRAM void load_indices(struct fl_trial *t, struct net *n,
                          const struct indices *i)
{
    FL_CALL(t, cudaMemcpyAsync(i->dev, i->host, sizeof *i->host * (size_t)i->n,
                               cudaMemcpyHostToDevice, n->stream));
}

float *device_floats(struct fl_trial *t, int n)
{
    float *f;

    fl_must(t, cudaMalloc((void **)&f, sizeof *f * (size_t)n));
    fl_must(t, cudaMemset(f, 0, sizeof *f * (size_t)n));
    return f;
}

struct inputs new_inputs(struct fl_trial *t, int rows)
{
    struct inputs in;

    for (int b = 0; b < STEPS; b++) {
        in.features[b] = new_floats(t, TOKENS * DIM, 1);
        in.label[b] = new_indices(t, rows);
        for (int i = 0; i < rows; i++)
            in.label[b].host[i] = random_below(t, CLASSES);
    }
    return in;
}

PROGRAM void load_inputs(struct fl_trial *t, struct net *n,
                         const struct inputs *in, unsigned b)
{
    load_floats(t, n, &in->features[b]);
    load_indices(t, n, &in->label[b]);
}

static struct floats parameter(struct fl_trial *t, int n, float scale)
{
    struct floats f = new_floats(t, n, scale);
    upload_floats(t, &f);
    return f;
}

/* Scales near 1, as a norm's are. */
static struct floats norm_scale(struct fl_trial *t, int n)
{
    struct floats f = new_floats(t, n, 0.1f);
    for (int i = 0; i < n; i++)
        f.host[i] += 1;
    upload_floats(t, &f);
    return f;
}

void net_create(struct fl_trial *t, struct net *n)
{
    fl_must(t, cudaStreamCreateWithFlags(&n->stream, cudaStreamNonBlocking));

    n->w_in = parameter(t, DIM * DIM, 0.3f);
    n->wq = parameter(t, DIM * DIM, 0.3f);
    n->wk = parameter(t, DIM * DIM, 0.3f);
    n->wv = parameter(t, DIM * DIM, 0.3f);
    n->wo = parameter(t, DIM * DIM, 0.3f);
    n->norm1 = norm_scale(t, DIM);
    n->shift1 = parameter(t, DIM, 0.1f);
    n->norm2 = norm_scale(t, DIM);
    n->shift2 = parameter(t, DIM, 0.1f);
    n->w1 = parameter(t, DIM * HIDDEN, 0.3f);
    n->b1 = parameter(t, HIDDEN, 0.1f);
    n->w2 = parameter(t, HIDDEN * DIM, 0.3f);
    n->b2 = parameter(t, DIM, 0.1f);
    n->head_w = parameter(t, DIM * CLASSES, 0.3f);
    n->head_b = parameter(t, CLASSES, 0.1f);

    n->normed = device_floats(t, TOKENS * DIM);
    n->q = device_floats(t, TOKENS * DIM);
    n->k = device_floats(t, TOKENS * DIM);
    n->v = device_floats(t, TOKENS * DIM);
    n->score = device_floats(t, TOKENS * SEQ);
    n->mixed = device_floats(t, TOKENS * DIM);
    n->hidden = device_floats(t, TOKENS * HIDDEN);
    n->delta = device_floats(t, TOKENS * DIM);
    n->logits = device_floats(t, TOKENS * CLASSES);
    n->dlogits = device_floats(t, TOKENS * CLASSES);
    n->losses = device_floats(t, TOKENS);
    n->loss = device_floats(t, 1);
    fl_must(t, cudaHostAlloc((void **)&n->host_loss, sizeof *n->host_loss,
                             cudaHostAllocDefault));
    n->dhead_w = device_floats(t, DIM * CLASSES);
    n->dhead_b = device_floats(t, CLASSES);
}

/* ---- the device's side ---- */

PROGRAM void net_project(struct fl_trial *t, struct net *n, float *x,
                         const struct floats *features)
{
    cudaStream_t s = n->stream;

    FL_LAUNCH(t, s, k_linear(s, x, features->dev, n->w_in.dev, NULL, TOKENS,
                             DIM, DIM));
    FL_LAUNCH(t, s, k_gelu(s, x, x, TOKENS * DIM));
}

PROGRAM void net_attention(struct fl_trial *t, struct net *n, float *x,
                           const int64_t *length)
{
    cudaStream_t s = n->stream;

    FL_LAUNCH(t, s, k_layernorm(s, n->normed, x, n->norm1.dev, n->shift1.dev,
                                TOKENS, DIM));
    FL_LAUNCH(t, s, k_linear(s, n->q, n->normed, n->wq.dev, NULL, TOKENS, DIM,
                             DIM));
    FL_LAUNCH(t, s, k_linear(s, n->k, n->normed, n->wk.dev, NULL, TOKENS, DIM,
                             DIM));
    FL_LAUNCH(t, s, k_linear(s, n->v, n->normed, n->wv.dev, NULL, TOKENS, DIM,
                             DIM));
    FL_LAUNCH(t, s, k_attention_scores(s, n->score, n->q, n->k, BATCH, SEQ,
                                       DIM, 0.17677669f)); /* 1/sqrt(DIM) */
    if (length)
        FL_LAUNCH(t, s, k_attention_mask(s, n->score, length, BATCH, SEQ));
    FL_LAUNCH(t, s, k_softmax(s, n->score, TOKENS, SEQ));
    FL_LAUNCH(t, s, k_attention_apply(s, n->mixed, n->score, n->v, BATCH, SEQ,
                                      DIM));
    FL_LAUNCH(t, s, k_linear(s, n->delta, n->mixed, n->wo.dev, NULL, TOKENS,
                             DIM, DIM));
    FL_LAUNCH(t, s, k_add(s, x, x, n->delta, TOKENS * DIM));
}

PROGRAM void net_mlp(struct fl_trial *t, struct net *n, float *x)
{
    cudaStream_t s = n->stream;

    FL_LAUNCH(t, s, k_layernorm(s, n->normed, x, n->norm2.dev, n->shift2.dev,
                                TOKENS, DIM));
    FL_LAUNCH(t, s, k_linear(s, n->hidden, n->normed, n->w1.dev, n->b1.dev,
                             TOKENS, DIM, HIDDEN));
    FL_LAUNCH(t, s, k_gelu(s, n->hidden, n->hidden, TOKENS * HIDDEN));
    FL_LAUNCH(t, s, k_linear(s, n->delta, n->hidden, n->w2.dev, n->b2.dev,
                             TOKENS, HIDDEN, DIM));
    FL_LAUNCH(t, s, k_add(s, x, x, n->delta, TOKENS * DIM));
}

PROGRAM void net_encode(struct fl_trial *t, struct net *n, float *x,
                        const int64_t *length)
{
    net_attention(t, n, x, length);
    net_mlp(t, n, x);
}

PROGRAM void net_classify(struct fl_trial *t, struct net *n,
                          const float *pooled, int rows)
{
    FL_LAUNCH(t, n->stream, k_linear(n->stream, n->logits, pooled,
                                     n->head_w.dev, n->head_b.dev, rows, DIM,
                                     CLASSES));
}

PROGRAM void net_loss(struct fl_trial *t, struct net *n, const int64_t *label,
                      int rows)
{
    cudaStream_t s = n->stream;

    FL_LAUNCH(t, s, k_cross_entropy(s, n->losses, n->dlogits, n->logits, label,
                                    rows, CLASSES, fl_beacon(t)));
    FL_LAUNCH(t, s, k_mean(s, n->loss, n->losses, rows, (float)rows));
}

PROGRAM void net_backward(struct fl_trial *t, struct net *n,
                          const float *pooled, int rows)
{
    cudaStream_t s = n->stream;

    FL_LAUNCH(t, s, k_linear_grad_weight(s, n->dhead_w, pooled, n->dlogits,
                                         rows, DIM, CLASSES));
    FL_LAUNCH(t, s, k_column_sum(s, n->dhead_b, n->dlogits, rows, CLASSES));
}

PROGRAM void net_update(struct fl_trial *t, struct net *n)
{
    cudaStream_t s = n->stream;

    FL_LAUNCH(t, s, k_sgd(s, n->head_w.dev, n->dhead_w, RATE, DIM * CLASSES));
    FL_LAUNCH(t, s, k_sgd(s, n->head_b.dev, n->dhead_b, RATE, CLASSES));
}

PROGRAM void net_learn(struct fl_trial *t, struct net *n, const float *pooled,
                       const struct indices *label)
{
    net_loss(t, n, label->dev, label->n);
    net_backward(t, n, pooled, label->n);
    net_update(t, n);
}

PROGRAM void read_loss(struct fl_trial *t, struct net *n, bool wait)
{
    FL_CALL(t, cudaMemcpyAsync(n->host_loss, n->loss, sizeof *n->host_loss,
                               cudaMemcpyDeviceToHost, n->stream));
    if (wait)
        FL_WAIT(t, n->stream, cudaStreamSynchronize(n->stream));
}

/* ---- the CPU's side ---- */

void net_ref_project(const struct net *n, float *x,
                     const struct floats *features)
{
    ref_linear(x, features->host, n->w_in.host, NULL, TOKENS, DIM, DIM);
    ref_gelu(x, x, TOKENS * DIM);
}

void net_ref_encode(const struct net *n, float *x, const int64_t *length)
{
    static float normed[TOKENS * DIM], q[TOKENS * DIM], k[TOKENS * DIM],
        v[TOKENS * DIM], mixed[TOKENS * DIM], delta[TOKENS * DIM];

    ref_layernorm(normed, x, n->norm1.host, n->shift1.host, TOKENS, DIM);
    ref_linear(q, normed, n->wq.host, NULL, TOKENS, DIM, DIM);
    ref_linear(k, normed, n->wk.host, NULL, TOKENS, DIM, DIM);
    ref_linear(v, normed, n->wv.host, NULL, TOKENS, DIM, DIM);
    ref_attention(mixed, q, k, v, length, BATCH, SEQ, DIM);
    ref_linear(delta, mixed, n->wo.host, NULL, TOKENS, DIM, DIM);
    for (int i = 0; i < TOKENS * DIM; i++)
        x[i] += delta[i];
    net_ref_mlp(n, x);
}

void net_ref_mlp(const struct net *n, float *x)
{
    static float normed[TOKENS * DIM], hidden[TOKENS * HIDDEN],
        delta[TOKENS * DIM];

    ref_layernorm(normed, x, n->norm2.host, n->shift2.host, TOKENS, DIM);
    ref_linear(hidden, normed, n->w1.host, n->b1.host, TOKENS, DIM, HIDDEN);
    ref_gelu(hidden, hidden, TOKENS * HIDDEN);
    ref_linear(delta, hidden, n->w2.host, n->b2.host, TOKENS, HIDDEN, DIM);
    for (int i = 0; i < TOKENS * DIM; i++)
        x[i] += delta[i];
}

void net_ref_learn(struct net *n, const float *pooled, const float *dlogits,
                   int rows)
{
    static float dw[DIM * CLASSES];
    float db[CLASSES] = { 0 };

    ref_linear_grad_weight(dw, pooled, dlogits, rows, DIM, CLASSES);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < CLASSES; c++)
            db[c] += dlogits[r * CLASSES + c];
    ref_sgd(n->head_w.host, dw, RATE, DIM * CLASSES);
    ref_sgd(n->head_b.host, db, RATE, CLASSES);
}

const float *net_ref_loss(struct net *n, const float *pooled,
                          const int64_t *label, int rows)
{
    static float logits[TOKENS * CLASSES], dlogits[TOKENS * CLASSES];

    ref_linear(logits, pooled, n->head_w.host, n->head_b.host, rows, DIM,
               CLASSES);
    n->ref_loss = ref_cross_entropy(dlogits, logits, label, rows, CLASSES);
    return dlogits;
}

void net_ref_train(struct net *n, const float *pooled, const int64_t *label,
                   int rows)
{
    net_ref_learn(n, pooled, net_ref_loss(n, pooled, label, rows), rows);
}

enum fl_data compare_floats(const float *dev, const float *right, int n)
{
    float *got = malloc(sizeof *got * (size_t)n);
    enum fl_data data = FL_DATA_UNREADABLE;

    if (got && cudaMemcpy(got, dev, sizeof *got * (size_t)n,
                          cudaMemcpyDeviceToHost) == cudaSuccess)
        data = all_close(got, right, (size_t)n, TOLERANCE) ? FL_DATA_RIGHT
                                                           : FL_DATA_WRONG;
    free(got);
    return data;
}

enum fl_data net_check(struct net *n)
{
    enum fl_data loss = compare_floats(n->loss, &n->ref_loss, 1);

    if (loss != FL_DATA_RIGHT)
        return loss;
    return compare_floats(n->head_w.dev, n->head_w.host, DIM * CLASSES);
}

enum fl_prediction predict_outside(const struct fl_trial *t,
                                   const struct indices batch[STEPS],
                                   int64_t low, int64_t below)
{
    if (fl_is_defended(t))
        return FL_NEVER;
    for (int b = 0; b < STEPS; b++)
        for (int i = 0; i < batch[b].n; i++)
            if (batch[b].host[i] < low || batch[b].host[i] >= below)
                return FL_ALWAYS;
    return FL_NEVER;
}

enum fl_prediction predict_race(const struct fl_trial *t, const void *state)
{
    (void)state;
    return fl_is_faulty(t) ? FL_DEPENDS : FL_NEVER;
}
