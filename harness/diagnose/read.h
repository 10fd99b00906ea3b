/* Reading a log, line by line, into facts. */
#ifndef FAULTLAG_DIAGNOSE_READ_H
#define FAULTLAG_DIAGNOSE_READ_H

#include "harness/diagnose/facts.h"
#include "harness/diagnose/words.h"

/* A longer line is read in pieces. */
enum { DG_LINE_MOST = 64 * 1024 };

/* What a word announces; the recogniser that then looks at the line. */
enum dg_group {
    DG_G_DIRTY, DG_G_ERROR, DG_G_STATUS, DG_G_NUMBER, DG_G_ASSERTION,
    DG_G_TRACE, DG_G_FRAME, DG_G_BLOCKING, DG_G_TOOL, DG_G_EVIDENCE,
    DG_G_COMMAND, DG_G_GARBAGE, DG_G_COUNT
};

/* A line, cleaned of colours and control characters; `body` is what follows
 * the prefixes of launchers and loggers. */
struct dg_line {
    const char *s, *body;
    size_t n;
    unsigned groups;                    /* bits of enum dg_group */
    struct dg_place at;
    char level;                         /* D I W E F, or 0 */
    char file[128];                     /* of a glog prefix, else empty */
    long file_line;
    int error;                          /* added by this line, or -1 */
    const struct dg_hit *hits;
    size_t n_hits;
};

/* A call stack that is being read. */
struct dg_open {
    bool used, wants_code, wants_next;
    bool reversed;                      /* innermost frame first */
    uint32_t source;
    unsigned long touched, stray;
    enum dg_language language;
    struct dg_trace trace;
    char wrapped[600];                  /* rich: a path broken over lines */
};

struct dg {
    const struct dg_rules *rules;
    const struct dg_words *words;
    struct dg_facts *facts;
    char *buffer;
    size_t held;                        /* bytes of an unfinished line */
    unsigned long line;
    int run;
    struct dg_open open[6];
    bool any_open;
    long ended_trace;                   /* waits for its error's text, or -1 */
    unsigned long ended_line;
    int record;                         /* being read, or -1 */
    unsigned long record_line;
    /* What stood before "Traceback", and, if it stood before the next line's
     * frame too, is a prefix that no list knows. */
    char head[48], learned[4][48];
    unsigned long head_line;
    size_t n_learned;
    unsigned long ignored_line;         /* "Exception ignored in" */
    int pytest;                         /* error whose place follows, or -1 */
    /* The assertion read last, so that the thousands like it are only
     * counted: what stands before its block and after its thread. */
    char flood_head[600], flood_tail[600];
    size_t flood_head_n, flood_tail_n;  /* 0: none */
    unsigned long *flood_count;
    bool dsa;                           /* in a TORCH_USE_CUDA_DSA report */
    unsigned long last_site_line;       /* a ggml site's code follows */
    int site_trace;
};

/* Every word that the rules and the reader know; dg_words_free. */
struct dg_words *dg_vocabulary(const struct dg_rules *rules);
/* Both must outlive it. */
void dg_begin(struct dg *d, const struct dg_rules *rules,
              const struct dg_words *words);
/* Any bytes, cut anywhere. */
void dg_feed(struct dg *d, const char *bytes, size_t n);
void dg_end(struct dg *d);
void dg_free(struct dg *d);

/* ---- between the parts of the reader ---- */

void dg_take_prefix(struct dg_line *l);
/* Takes off a prefix that was learned from this log. */
void dg_take_learned(const struct dg *d, struct dg_line *l);
/* A line may show that what stood before "Traceback" is a prefix; then its
 * source and body are set anew, and *was is the source without it. */
bool dg_learn_prefix(struct dg *d, struct dg_line *l, uint32_t *was);
void dg_take_assertion(struct dg *d, struct dg_line *l);
/* True if the line is the assertion read last with another block or thread;
 * then it has been counted. */
bool dg_repeats(struct dg *d, const char *s, size_t n);
void dg_take_error(struct dg *d, struct dg_line *l);
void dg_take_blocking(struct dg *d, struct dg_line *l);
void dg_take_command(struct dg *d, struct dg_line *l);
void dg_take_tool(struct dg *d, struct dg_line *l);
void dg_take_trace(struct dg *d, struct dg_line *l);
void dg_take_frames(struct dg *d, struct dg_line *l);
void dg_end_traces(struct dg *d);
/* The rule of an assertion, or NULL. */
const struct dg_rule *dg_match(const struct dg_rules *rules,
                               const struct dg_assertion *a);

/* A rule's error or status, added to the facts; its index, or -1: full. */
int dg_add_error(struct dg *d, struct dg_line *l, const struct dg_rule *rule,
                 const char *name);
struct dg_run *dg_this_run(struct dg *d);
bool dg_is_library(const char *file);   /* not the user's own code */
/* A finished call stack, kept if there is room; its index or -1. */
int dg_keep_trace(struct dg *d, const struct dg_trace *t);
/* A place in the source that an error names by itself. */
int dg_add_site(struct dg *d, const struct dg_line *l, const char *file,
                long line, const char *function, enum dg_language language);
/* The stack `kept` waits for the text of its error, a few lines or `more`
 * further on. */
void dg_expect_error(struct dg *d, const struct dg_line *l, int kept, int more);
/* Of the stacks that are being read: */
bool dg_has_frames(const struct dg_open *o);
void dg_set_code(struct dg_open *o, const char *s);     /* of the last frame */
/* True if the line names an exception, which ends the stack. */
bool dg_take_exception(struct dg *d, struct dg_open *o, struct dg_line *l,
                       const char *s);
void dg_take_notebook(struct dg *d, struct dg_open *o, struct dg_line *l);
void dg_take_rich(struct dg *d, struct dg_open *o, struct dg_line *l);
void dg_add_frame(struct dg_trace *t, const struct dg_frame *f);
void dg_add_code(struct dg_trace *t, const char *code);

#endif
