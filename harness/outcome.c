/* The classifier of trials; see outcome.h and the words in expect.h. */
#include "harness/outcome.h"

#include <stdio.h>
#include <string.h>

/* As in scenario.h, which needs CUDA's headers. */
enum { NEVER, ALWAYS };
enum { UNREADABLE, RIGHT, WRONG };

bool fl_code_is_asynchronous(int code)
{
    static const int codes[] = { 226, 700, 702, 710, 714, 715, 716, 717, 718,
                                 719, 721, 810, 911 };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static struct fl_verdict broken(const char *why)
{
    return (struct fl_verdict){ .outcome = FL_OUTCOME_BROKEN, .why = why };
}

static struct fl_verdict judge_report(const struct fl_facts *f)
{
    if (!f->committed)
        return broken(f->predicted == NEVER
            ? "an error was reported where no fault is"
            : "an error was reported, but the beacon is not set");
    bool about_itself = !fl_code_is_asynchronous(f->code);
    bool names_one = f->by_launch_check && (about_itself || !f->interval);
    struct fl_verdict v = { .suspects = f->suspects };
    if (names_one && about_itself)
        v.suspects = 1;
    if (f->named)       /* innocents alone: a false claim */
        v.outcome = !f->named_fault ? FL_OUTCOME_MISATTRIBUTED
                  : f->suspects == 1 ? FL_OUTCOME_EXACT : FL_OUTCOME_LATE;
    else if (names_one && f->report_launch == f->fault_launch)
        v.outcome = FL_OUTCOME_EXACT;
    else if (f->interval && f->suspects == 1)   /* all others are known good */
        v.outcome = FL_OUTCOME_EXACT;
    else if (about_itself || f->claims_own)
        v.outcome = FL_OUTCOME_MISATTRIBUTED;
    else
        v.outcome = FL_OUTCOME_LATE;
    return v;
}

static struct fl_verdict judge_silence(const struct fl_facts *f)
{
    if (f->committed)
        switch (f->data) {
        case RIGHT: return (struct fl_verdict){ FL_OUTCOME_BENIGN, 0, NULL };
        case WRONG: return (struct fl_verdict){ FL_OUTCOME_SILENT, 0, NULL };
        default: return broken("no report, yet the results are unreadable");
        }
    if (f->predicted == ALWAYS)
        return broken("the CPU oracle is sure of a fault, but the beacon is "
                      "not set");
    if (f->data == UNREADABLE)
        return broken("no fault, yet the results are unreadable");
    if (f->predicted == NEVER)
        return f->data == RIGHT
            ? (struct fl_verdict){ FL_OUTCOME_CLEAN, 0, NULL }
            : broken("wrong results where no fault is");
    /* It depended on the order of things. A race can spoil data without any
     * one access to light a beacon. */
    return (struct fl_verdict){ f->data == RIGHT ? FL_OUTCOME_HIDDEN
                                                 : FL_OUTCOME_SILENT, 0, NULL };
}

struct fl_verdict fl_judge(const struct fl_facts *f)
{
    if (!f->planted && f->committed)
        return broken("the beacon is set in a variant without the fault");
    if (!f->planted && f->predicted != NEVER)
        return broken("the CPU oracle finds a fault in a variant without it");
    if (f->committed && f->predicted == NEVER)
        return broken("the beacon is set, but the CPU oracle finds no fault");
    return f->code ? judge_report(f) : judge_silence(f);
}

const char *fl_outcome_name(enum fl_outcome_index outcome)
{
    static const char *const names[] = {
#define X(ident, name, meaning) name,
        FL_OUTCOMES(X)
#undef X
    };
    return outcome < FL_OUTCOME_COUNT ? names[outcome] : "?";
}

void fl_outcomes_text(unsigned set, char *out, size_t size)
{
    size_t n = 0;
    if (size)
        out[0] = '\0';
    for (int i = 0; i < FL_OUTCOME_COUNT; i++)
        if (set & 1u << i && n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? "|" : "",
                                  fl_outcome_name((enum fl_outcome_index)i));
}

unsigned fl_outcomes_parse(const char *text)
{
    unsigned set = 0;
    while (*text) {
        size_t n = strcspn(text, "|");
        int i = 0;
        for (; i < FL_OUTCOME_COUNT; i++) {
            const char *name = fl_outcome_name((enum fl_outcome_index)i);
            if (strlen(name) == n && !memcmp(name, text, n))
                break;
        }
        if (i == FL_OUTCOME_COUNT)
            return 0;
        set |= 1u << i;
        text += n + (text[n] == '|');
    }
    return set;
}

const char *fl_basis_name(enum fl_basis basis)
{
    static const char *const names[] = {
#define X(ident, name, meaning) name,
        FL_BASES(X)
#undef X
    };
    return basis < FL_BASIS_COUNT ? names[basis] : "?";
}
