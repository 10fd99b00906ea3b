/* From facts to a verdict: what failed, whether the stack can be trusted, what
 * was only a victim, the likely causes with their evidence, what to do. */
#ifndef FAULTLAG_DIAGNOSE_DECIDE_H
#define FAULTLAG_DIAGNOSE_DECIDE_H

#include "harness/diagnose/facts.h"
#include "harness/text.h"

enum { DG_NO = 0, DG_YES = 1 };         /* or DG_UNKNOWN */

struct dg_cause {
    const struct dg_rule *rule;
    long weight;
    char *evidence[6];
    size_t n_evidence;
};

struct dg_victim { char what[120]; unsigned long line; const char *why; };

struct dg_verdict {
    bool found;                         /* false: nothing is wrong */
    const struct dg_assertion *assertion;   /* each may be NULL */
    const struct dg_rule *rule;             /* the assertion's */
    const struct dg_record *record;
    const struct dg_error *error;
    const struct dg_trace *trace;
    struct dg_frame frame;              /* reported */
    bool from_tool;                     /* by a tool, not by the host */
    const struct dg_rule *framework;    /* or NULL */
    const char *error_name, *error_say;
    long error_code;
    long underlying;                    /* of an assertion behind it, or -1 */
    const char *kernel;
    const long *block, *thread;
    int blocking, reliable, recoverable;
    const char *blocking_why, *reliable_why, *recoverable_why;
    struct dg_cause causes[10];
    size_t n_causes;
    struct dg_victim victims[10];
    size_t n_victims;
    unsigned long more_victims;
    char *steps[8];
    size_t n_steps;
    const char *ask;                    /* what the log would have to say */
};

/* Facts and rules must outlive the verdict. */
void dg_decide(const struct dg_facts *f, const struct dg_rules *rules,
               struct dg_verdict *v);
void dg_verdict_free(struct dg_verdict *v);

void dg_print(const struct dg_verdict *v, const struct dg_facts *f,
              struct fl_text *out);
void dg_put_json(const struct dg_verdict *v, const struct dg_facts *f,
                 struct fl_text *out);

/* ---- between the parts ---- */

/* The first run with a fault, or -1. */
int dg_first_run(const struct dg_facts *f);
void dg_choose(const struct dg_facts *f, const struct dg_rules *rules,
               struct dg_verdict *v, int run);
void dg_rank_causes(const struct dg_facts *f, const struct dg_rules *rules,
                    struct dg_verdict *v, int run);
void dg_list_victims(const struct dg_facts *f, struct dg_verdict *v, int run);
void dg_list_steps(const struct dg_facts *f, const struct dg_rules *rules,
                   struct dg_verdict *v, int run);
/* The reported line could have launched the kernel whose assertion failed:
 * DG_YES, DG_NO, or DG_UNKNOWN. `user`: the user's own line counts too. */
int dg_could_launch(const struct dg_verdict *v, bool user);
/* A later run, or -1: one with launches that wait, with faults or without. */
int dg_blocking_rerun(const struct dg_facts *f, int run, bool failed);

#endif
