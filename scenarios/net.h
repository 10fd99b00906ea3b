/* The model that the scenarios train: one transformer block with a classifier
 * on top, small enough for a trial of some tens of milliseconds. Each function
 * launches what a framework in eager mode would, one kernel an operation, and
 * nothing here can go wrong: the planted faults are in the scenarios, which
 * supply input, pooling and labels.
 *
 * Every function of a scenario's program is marked PROGRAM, so that it has a
 * frame of its own, under its own name, in call stacks. */
#ifndef SCENARIOS_NET_H
#define SCENARIOS_NET_H

#include "harness/scenario.h"
#include "kernels/kernels.h"

#define PROGRAM __attribute__((noipa))

/* What the rules of CUDA alone make of a fault that a kernel surely commits,
 * ready for FL_PLANT. `here`: the function of the planted launch; `next`: of
 * the launch after it; `wait`: of the first call after it that waits. What
 * depends on the program's other calls (async, sync-unchecked) stands at the
 * plant. A plant in a serial program has one row or macro for each strategy:
 *
 *     EXPECT("async", ...), EXPECT("sync-unchecked", ...),
 *     EXPECT_NOT_WAITED(code, next, wait),    async-check, event-poll, graphs
 *     EXPECT_CRUMBS(code, here, wait),        breadcrumb
 *     EXPECT_LOG(code, next, wait),           cupti-log
 *     EXPECT_DSA(here, wait),                 or EXPECT_DSA_BLIND(code, where)
 *     EXPECT_WAITED(code, here)               sync and all that synchronise
 *
 * EXPECT_ASKED_AT_... are the first two for the usual programs, EXPECT_SERIAL
 * is the other five. */
#define EXPECT_WAITED(code, here) \
    EXPECT("sync", FL_EXACT, code, here, FL_DERIVED), \
    EXPECT("stream-sync", FL_EXACT, code, here, FL_DERIVED), \
    EXPECT("device-sync", FL_EXACT, code, here, FL_DERIVED), \
    EXPECT("every-8", FL_LATE, code, NULL, FL_DERIVED, \
        .note = "one of up to eight launches")
#define EXPECT_NOT_WAITED(code, next, wait) \
    EXPECT("async-check", FL_LATE, code, next, FL_DERIVED, \
        .device = FL_SIM, .mode = FL_EAGER, \
        .note = "the device is done, but cudaGetLastError only tells what " \
                "a call of this thread returned: the next launch does") , \
    EXPECT("async-check", FL_LATE, code, wait, FL_DERIVED, \
        .device = FL_SIM, .mode = FL_LAZY, \
        .note = "the fault has not happened before the host waits"), \
    EXPECT("async-check", FL_LATE, code, NULL, FL_DERIVED, \
        .device = FL_SIM, \
        .note = "how many launches later is a matter of timing"), \
    EXPECT("async-check", FL_EXACT | FL_LATE, code, NULL, FL_HEADER, \
        .note = "cudaGetLastError may also return errors of earlier " \
                "asynchronous launches"), \
    EXPECT("event-poll", FL_EXACT | FL_LATE, code, NULL, FL_DERIVED, \
        .note = "exact when all launches before were seen complete"), \
    EXPECT("graph", FL_LATE, code, wait, FL_DERIVED, \
        .note = "nothing runs before the graph is launched, ahead of the " \
                "wait; any launch of the graph may be to blame"), \
    EXPECT("graph-sync", FL_LATE, code, wait, FL_DERIVED, \
        .note = "the graph is known, not the launch in it")
/* Where work is serial: only the fault launch has begun and not ended. */
#define EXPECT_CRUMBS(code, here, wait) \
    EXPECT("breadcrumb", FL_EXACT, code, here, FL_DERIVED, \
        .device = FL_SIM, .mode = FL_EAGER, \
        .note = "the device is done, and the crumb behind the launch is a " \
                "call that says so"), \
    EXPECT("breadcrumb", FL_EXACT, code, wait, FL_DERIVED, \
        .device = FL_SIM, .mode = FL_LAZY), \
    EXPECT("breadcrumb", FL_EXACT, code, NULL, FL_DERIVED, \
        .note = "whoever learns of the error, and when, the crumbs name the " \
                "one launch that began and did not end")
/* Where work is serial: a tool sees the codes that launches return, and in its
 * log the fault launch is the first that has not ended. */
#define EXPECT_LOG(code, next, wait) \
    EXPECT("cupti-log", FL_EXACT, code, next, FL_OPEN, \
        .device = FL_SIM, .mode = FL_EAGER, \
        .note = "the next launch returns the code"), \
    EXPECT("cupti-log", FL_EXACT, code, wait, FL_OPEN, \
        .device = FL_SIM, .mode = FL_LAZY), \
    EXPECT("cupti-log", FL_EXACT, code, NULL, FL_OPEN, .device = FL_SIM), \
    EXPECT("cupti-log", FL_EXACT | FL_LATE | FL_MISATTRIBUTED, code, NULL, \
        FL_OPEN, \
        .note = "which activity records survive a fault is not documented")
/* Where the kernel's own check can see the fault: it leaves instead, and its
 * record names the launch. Where none can, `where` is async's. */
#define EXPECT_DSA(here, wait) \
    EXPECT("dsa", FL_EXACT, 710, here, FL_DERIVED, \
        .device = FL_SIM, .mode = FL_EAGER, \
        .note = "the device is done when the host looks"), \
    EXPECT("dsa", FL_EXACT, 710, wait, FL_DERIVED, \
        .device = FL_SIM, .mode = FL_LAZY), \
    EXPECT("dsa", FL_EXACT, 710, NULL, FL_DERIVED, \
        .note = "whenever the host looks, the record names the launch")
#define EXPECT_DSA_BLIND(code, where) \
    EXPECT("dsa", FL_LATE, code, where, FL_DERIVED, \
        .note = "no check in the kernel can see it: found as under async")

#define EXPECT_SERIAL(code, here, next, wait) \
    EXPECT_NOT_WAITED(code, next, wait), \
    EXPECT_CRUMBS(code, here, wait), \
    EXPECT_LOG(code, next, wait), \
    EXPECT_DSA(here, wait), \
    EXPECT_WAITED(code, here)
/* Of a program that only asks at its step's end, in `end`. */
#define EXPECT_ASKED_AT_END(code, end) \
    EXPECT("async", FL_LATE, code, end, FL_DERIVED, \
        .note = "nobody asks before the step's own synchronise"), \
    EXPECT("sync-unchecked", FL_MISATTRIBUTED, code, end, FL_DERIVED, \
        .note = "the launch waited, but nvcc's stub drops its code; the " \
                "next call that is checked is the step's end")
/* Of one that reads its loss back before that, in `copy`. */
#define EXPECT_ASKED_AT_COPY(code, copy) \
    EXPECT("async", FL_LATE, code, copy, FL_DERIVED, \
        .note = "at the copy of the loss, or at the wait behind it"), \
    EXPECT("sync-unchecked", FL_MISATTRIBUTED, code, copy, FL_DERIVED, \
        .note = "the launch waited, but nvcc's stub drops its code; the " \
                "copy of the loss is the next call with one")

enum {
    BATCH = 4,
    SEQ = 16,
    TOKENS = BATCH * SEQ,
    DIM = 32,
    HIDDEN = 64,
    CLASSES = 8,
    STEPS = 2,      /* of a trial: a good batch, then the one in question */
    BAD_STEP = STEPS - 1,
};

/* A device array with its host original. */
struct floats { float *dev, *host; int n; };
struct indices { int64_t *dev, *host; int n; };

/* Host side pinned, so that copies of it are asynchronous; device side not
 * filled. Values of floats: uniform in +-scale, from the trial's seed. */
struct floats new_floats(struct fl_trial *t, int n, float scale);
struct indices new_indices(struct fl_trial *t, int n);
void upload_floats(struct fl_trial *t, const struct floats *f);
void upload_indices(struct fl_trial *t, const struct indices *i);
float *device_floats(struct fl_trial *t, int n);    /* zeroed */
/* What comes with the batches of most programs: features [TOKENS,DIM], labels
 * of `rows` rows. */
struct inputs {
    struct floats features[STEPS];
    struct indices label[STEPS];
};
struct inputs new_inputs(struct fl_trial *t, int rows);
/* The same copies as part of the program, on the net's stream. */
struct net;
void load_floats(struct fl_trial *t, struct net *n, const struct floats *f);
void load_indices(struct fl_trial *t, struct net *n, const struct indices *i);
void load_inputs(struct fl_trial *t, struct net *n, const struct inputs *in,
                 unsigned batch);
/* Uniform in [0, below). */
int64_t random_below(struct fl_trial *t, int64_t below);

struct net {
    cudaStream_t stream;
    /* parameters; the host copies are the CPU oracle's */
    struct floats w_in, wq, wk, wv, wo, norm1, shift1, norm2, shift2, w1, b1,
        w2, b2, head_w, head_b;
    /* activations and gradients, device only */
    float *normed, *q, *k, *v, *score, *mixed, *hidden, *delta;
    float *logits, *dlogits, *losses, *loss, *dhead_w, *dhead_b;
    float *host_loss;   /* what read_loss copies to; pinned */
    float ref_loss;     /* of the CPU's last step */
};

void net_create(struct fl_trial *t, struct net *n);

/* x[TOKENS,DIM] = gelu(features * w_in). 2 launches. */
void net_project(struct fl_trial *t, struct net *n, float *x,
                 const struct floats *features);
/* x[TOKENS,DIM] += attention(norm(x)); += mlp(norm(x)). 15 launches. */
void net_encode(struct fl_trial *t, struct net *n, float *x,
                const int64_t *length);
void net_attention(struct fl_trial *t, struct net *n, float *x,
                   const int64_t *length);
void net_mlp(struct fl_trial *t, struct net *n, float *x);
/* Classifier on pooled[rows,DIM], rows <= TOKENS: 1, 2, 2 and 2 launches. */
void net_classify(struct fl_trial *t, struct net *n, const float *pooled,
                  int rows);
void net_loss(struct fl_trial *t, struct net *n, const int64_t *label,
              int rows);
void net_backward(struct fl_trial *t, struct net *n, const float *pooled,
                  int rows);
void net_update(struct fl_trial *t, struct net *n);
/* Loss, backward and update on pooled[label->n,DIM]. */
void net_learn(struct fl_trial *t, struct net *n, const float *pooled,
               const struct indices *label);
/* Copies the loss to the host, and may wait for it. */
void read_loss(struct fl_trial *t, struct net *n, bool wait);

/* The same on the CPU. net_ref_train does classify to update, on the host
 * copies of the parameters; net_ref_loss classify and loss, net_ref_learn
 * backward and update. */
void net_ref_project(const struct net *n, float *x,
                     const struct floats *features);
void net_ref_encode(const struct net *n, float *x, const int64_t *length);
void net_ref_mlp(const struct net *n, float *x);
void net_ref_train(struct net *n, const float *pooled, const int64_t *label,
                   int rows);
/* The gradient of the logits, which the next call overwrites. */
const float *net_ref_loss(struct net *n, const float *pooled,
                          const int64_t *label, int rows);
void net_ref_learn(struct net *n, const float *pooled, const float *dlogits,
                   int rows);

/* Do the device's loss and classifier weights match the CPU's? */
enum fl_data net_check(struct net *n);

/* Are n device floats at `dev` close to `right`? */
enum fl_data compare_floats(const float *dev, const float *right, int n);

/* The oracle of faults that one value of a batch makes: is one not in
 * [low, below)? Never where there is a guard. */
enum fl_prediction predict_outside(const struct fl_trial *t,
                                   const struct indices batch[STEPS],
                                   int64_t low, int64_t below);

/* The oracle of faults that hang on the order of the device's work. */
enum fl_prediction predict_race(const struct fl_trial *t, const void *state);

/* Which element a beacon's thread works on, in a kernel of K_THREADS. */
static inline int64_t element_of(const struct fl_beacon_record *b)
{
    return (int64_t)b->block[0] * K_THREADS + b->thread[0];
}

/* Did the beacon's thread see that value? A device's own record has none. */
static inline bool beacon_says(const struct fl_beacon_record *b, int64_t value)
{
    return b->set == FL_BEACON_FROM_DEVICE || b->value == value;
}

/* A row so far out that its address is certainly unmapped: 2^46 bytes, 64 TiB,
 * past the table. That is more than a device and its host have, and leaves
 * the 49 bits that a GPU translates. */
#define FAR_ROW ((INT64_C(1) << 46) / (int64_t)(DIM * sizeof(float)))

#endif
