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

/* In the guarded variant: looks up with zeros for a bad row. False: not
 * guarded, the scenario is to do it itself. */
bool lookup_guarded(struct fl_trial *t, struct lookup *l, unsigned batch);

/* The oracle; a guarded look-up has taken zeros for the bad row. */
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
