/* The hooks that do not stand in strategies.c, for its table. */
#ifndef FAULTLAG_HARNESS_STRATEGY_HOOKS_H
#define FAULTLAG_HARNESS_STRATEGY_HOOKS_H

#include "harness/strategy.h"

/* strategy_graph.c */
void fl_graph_start(struct fl_trial *t);
void fl_graph_sync_start(struct fl_trial *t);
void fl_graph_before_launch(struct fl_trial *t);
void fl_graph_before_call(struct fl_trial *t);
void fl_graph_step_end(struct fl_trial *t);
void fl_graph_at_report(struct fl_trial *t);

/* strategy_cupti.c */
void fl_cupti_start(struct fl_trial *t);
void fl_cupti_before_launch(struct fl_trial *t);
void fl_cupti_after_launch(struct fl_trial *t);
void fl_cupti_at_report(struct fl_trial *t);

#endif
