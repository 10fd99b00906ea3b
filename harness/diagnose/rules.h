/* The rules by which logs are read, from rules.txt, which says what each kind
 * is for, and from a file of the user's own. A rule is a kind and values. */
#ifndef FAULTLAG_DIAGNOSE_RULES_H
#define FAULTLAG_DIAGNOSE_RULES_H

#include <stdbool.h>
#include <stddef.h>

enum dg_kind {
    DG_ERROR, DG_STATUS, DG_ASSERT, DG_EVIDENCE, DG_CAUSE, DG_STEP,
    DG_FRAMEWORK, DG_ASKING, DG_KIND_COUNT
};

enum dg_key {
    DG_NAME, DG_DRIVER, DG_CODE, DG_OLD, DG_TEXT, DG_STICKY, DG_VICTIM,
    DG_FILE, DG_EXPR, DG_KERNEL, DG_OP, DG_CALLS, DG_BECAUSE_OF, DG_OR,
    DG_IN, DG_WEIGHT, DG_SAY, DG_DO, DG_FOR, DG_WHEN,
    DG_KEY_COUNT
};

struct dg_rule {
    enum dg_kind kind;
    int index;                              /* among all rules */
    const char *value[DG_KEY_COUNT];        /* NULL: not given */
};

struct dg_rules {
    struct dg_rule *rules;
    size_t n;
    char *text[2];
};

/* The built-in rules, and before them those of the file at `path`, if that is
 * not NULL. False, told on stderr: the file cannot be used. */
bool dg_rules_load(struct dg_rules *r, const char *path);
void dg_rules_free(struct dg_rules *r);

/* For tests and the fuzzer: takes any text; false and a message: it is not a
 * set of rules. */
bool dg_rules_parse(struct dg_rules *r, const char *text, char error[160]);

/* The built-in rules' text. */
extern const char dg_builtin_rules[];

long dg_rule_number(const struct dg_rule *r, enum dg_key key, long otherwise);
const char *dg_rule_text(const struct dg_rule *r, enum dg_key key);  /* or "" */

/* True if one of the alternatives, separated by `|`, is in `text`. A given but
 * empty list matches nothing. */
bool dg_any_in(const char *alternatives, const char *text);
/* True if one of the alternatives is `word`. */
bool dg_any_is(const char *alternatives, const char *word);
/* Calls f for each alternative. */
void dg_each(const char *alternatives, void (*f)(void *, const char *),
             void *context);

#endif
