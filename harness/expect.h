/* Expectations: what must come of a planted fault, cell by cell, written
 * beside the planted launch and before the first run of the cell.
 *
 *   FL_PLANT(t, stream, k_gather(...),
 *       EXPECT("sync",  FL_EXACT, 700, "attention", FL_DERIVED),
 *       EXPECT("async", FL_LATE,  700, "read_loss", FL_DERIVED),
 *       EXPECT("*",     FL_LATE,  700, NULL,        FL_DERIVED));
 *
 * The rows of all scenarios land in the linker section "fl_plants"; a plant
 * belongs to the scenario whose name is its file's stem. The first row that
 * matches strategy, device and mode decides; the true launch site is the
 * FL_PLANT itself, so no line number is ever written down. Rows are about the
 * `faulty` variant: all others must be clean always. */
#ifndef FAULTLAG_HARNESS_EXPECT_H
#define FAULTLAG_HARNESS_EXPECT_H

#include <stddef.h>

/* What a scenario is run as, X(ident, name, meaning). From `guarded` on: the
 * faulty input against a defence. */
#define FL_VARIANTS(X) \
    X(FAULTY, "faulty", "the planted fault") \
    X(HEALTHY, "healthy", "the twin: differs by exactly the fault") \
    X(GUARDED, "guarded", "a defence of the scenario's own") \
    X(CLAMPED, "clamped", "a kernel cuts each index to the valid range") \
    X(REPLACED, "replaced", "a kernel puts index 0 in a bad one's place") \
    X(CHECKED, "checked", "the host reads the least and the greatest index " \
        "back, and takes another batch if one is bad")

enum fl_variant_index {
#define X(ident, name, meaning) FL_VARIANT_##ident,
    FL_VARIANTS(X)
#undef X
    FL_VARIANT_COUNT
};

/* The same as a set. */
enum fl_variant {
#define X(ident, name, meaning) FL_##ident = 1 << FL_VARIANT_##ident,
    FL_VARIANTS(X)
#undef X
};

/* What became of a trial, X(ident, name, meaning). */
#define FL_OUTCOMES(X) \
    X(CLEAN, "clean", "no fault planted, none reported, data right") \
    X(EXACT, "exact", "the report names the launch that committed the fault") \
    X(LATE, "late", "reported by a later launch or call, which does not " \
        "claim the fault as its own") \
    X(MISATTRIBUTED, "misattributed", "another launch or call is blamed by " \
        "a check that claims to be about that launch or call") \
    X(SILENT, "silent", "committed, never reported, data wrong") \
    X(BENIGN, "benign", "committed, never reported, data right") \
    X(HIDDEN, "hidden", "the fault did not happen under this strategy") \
    X(HANG, "hang", "no end within the time limit") \
    X(CRASH, "crash", "the process died of a signal or left on its own") \
    X(BROKEN, "broken", "the harness could not do its work; no result") \
    X(SKIPPED, "skipped", "not possible on this device")

enum fl_outcome_index {
#define X(ident, name, meaning) FL_OUTCOME_##ident,
    FL_OUTCOMES(X)
#undef X
    FL_OUTCOME_COUNT
};

/* The same as a set, for expectations. */
enum fl_outcomes {
#define X(ident, name, meaning) FL_##ident = 1 << FL_OUTCOME_##ident,
    FL_OUTCOMES(X)
#undef X
};

/* On what an expectation rests, X(ident, name, meaning). */
#define FL_BASES(X) \
    X(HEADER, "header", "CUDA's headers say so") \
    X(REPORT, "report", "a public report says so") \
    X(DERIVED, "derived", "follows from documented rules and the program") \
    X(OPEN, "open", "sources disagree; simgpu's documented choice") \
    X(HARDWARE, "hardware", "seen on a GPU")

enum fl_basis {
#define X(ident, name, meaning) FL_##ident,
    FL_BASES(X)
#undef X
    FL_BASIS_COUNT
};

enum fl_device { FL_SIM = 1, FL_CUDA = 2, FL_ANY_DEVICE = 3 };

/* How the device advances (simgpu's two ways to run); a GPU is always free. */
enum fl_mode {
    FL_FREE = 1, FL_RANDOM = 2, FL_EAGER = 4, FL_LAZY = 8,
    FL_SEEDED = FL_RANDOM | FL_EAGER | FL_LAZY,
    FL_ANY_MODE = FL_FREE | FL_SEEDED
};

struct fl_expect {
    const char *strategy;       /* its name, or "*" */
    unsigned outcomes;          /* set of enum fl_outcomes */
    int code;                   /* cudaError_t of the report; 0: none or any */
    const char *where;          /* function that holds the report site, exact;
                                   NULL: not fixed by the program */
    enum fl_basis basis;
    unsigned device, mode;      /* sets; 0 means any */
    unsigned some;              /* of a cell with FL_SOME_TRIALS trials or more
                                   at least one must be one of these: a race
                                   may go either way in a trial, but not in
                                   all of them; 0: no such claim */
    const char *note;           /* why, where it is not plain; may be NULL */
};

#define FL_SOME_TRIALS 20

/* Designated initialisers may follow: .device = FL_CUDA, .note = "..." */
#define EXPECT(strategy_, outcomes_, code_, where_, ...) \
    { .strategy = (strategy_), .outcomes = (outcomes_), .code = (code_), \
      .where = (where_), .basis = __VA_ARGS__ }

struct fl_site;
struct fl_plant {
    const struct fl_site *site;
    const struct fl_expect *rows;
    size_t n_rows;
};

#endif
