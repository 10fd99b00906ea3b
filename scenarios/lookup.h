/* The program of the look-up scenarios: a training step that adds remembered
 * rows, by neighbour numbers that came with the batch, to its projected
 * features. One number of the second batch is the scenario's bad row, in the
 * twin an ordinary one. The look-up itself, which is what faults, is each
 * scenario's own. */
#ifndef SCENARIOS_LOOKUP_H
#define SCENARIOS_LOOKUP_H

#include "net.h"

enum { ROWS = 256 };

struct lookup {
    struct net net;
    struct inputs in;
    struct floats memory;
    struct indices neighbour[STEPS];
    float *x, *recalled;    /* recalled: what the look-up must fill */
    int64_t *range, *host_range;    /* of what safe_index() has seen */
    int bad_token;
    int64_t bad_row, twin_row;
};

void *lookup_setup(struct fl_trial *t, int64_t bad_row);

/* A step without its end: load, project, recall, encode (16 launches), learn.
 * `recall` is the scenario's look-up, or what it does to x in its place; then
 * zeros are recalled. */
void lookup_step(struct fl_trial *t, struct lookup *l,
                 void (*recall)(struct fl_trial *t, struct lookup *l,
                                unsigned batch));
void lookup_encode(struct fl_trial *t, struct lookup *l);

/* What a variant does about a bad row just before the look-up: guarded looks up
 * itself, with zeros for it; clamped and replaced put another in its place.
 * False: the scenario is to look up. */
bool lookup_guarded(struct fl_trial *t, struct lookup *l, unsigned batch);

/* The well-known check from outside: index.min() >= 0 and index.max() < rows.
 * It takes a launch, a copy and a wait, and refuses indices that count from the
 * end. */
bool safe_index(struct fl_trial *t, struct lookup *l,
                const struct indices *index, int64_t rows);

/* The oracle. */
enum fl_prediction lookup_predict(const struct fl_trial *t, const void *l);
bool lookup_commits(const struct fl_trial *t, const void *l,
                    const struct fl_beacon_record *beacon);
enum fl_data lookup_check(struct fl_trial *t, void *l);
/* The check of a scenario that does something else in the look-up's place:
 * `add` does to the projected features what that would, on the CPU. */
enum fl_data lookup_check_with(struct fl_trial *t, struct lookup *l,
                               void (*add)(const struct fl_trial *t,
                                           const struct lookup *l,
                                           unsigned batch, float *x));

#endif
