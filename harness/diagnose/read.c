/* The reader: cuts bytes into lines, cleans them, and lets the recognisers
 * see those that hold a word they know. Most lines of a log hold none, and
 * cost one step of the automaton a byte. */
#include "harness/diagnose/read.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/diagnose/scan.h"
#include "harness/text.h"

static const struct { enum dg_group group; const char *word; } words[] = {
    { DG_G_DIRTY, "\x1b" }, { DG_G_DIRTY, "\r" }, { DG_G_DIRTY, "\b" },
    { DG_G_ASSERTION, "assertion `" }, { DG_G_ASSERTION, "assertion '" },
    { DG_G_ASSERTION, "assertion \"" }, { DG_G_ASSERTION, "assertion \xe2\x80\x98" },
    { DG_G_ASSERTION, "device-side assertion" },
    { DG_G_ASSERTION, "] ctaid=[" }, { DG_G_ASSERTION, "0] Assertion " },
    { DG_G_TRACE, "Traceback (most recent call last)" },
    { DG_G_TRACE, "File \"" }, { DG_G_TRACE, "Cell In[" },
    { DG_G_TRACE, "Input In [" }, { DG_G_TRACE, "<ipython-input-" },
    { DG_G_TRACE, "-> " }, { DG_G_TRACE, "->[" }, { DG_G_TRACE, "\xe2\x94\x82 " },
    { DG_G_TRACE, "\xe2\x9d\xb1" }, { DG_G_TRACE, "Exception ignored" },
    { DG_G_FRAME, "Exception raised from" }, { DG_G_FRAME, "frame #" },
    { DG_G_FRAME, "stack traceback:" }, { DG_G_FRAME, "Stacktrace:" },
    { DG_G_FRAME, "    @ " }, { DG_G_FRAME, "\tat " }, { DG_G_FRAME, "panicked at" },
    { DG_G_FRAME, "Error in " }, { DG_G_FRAME, "in function" },
    { DG_G_FRAME, "current device:" }, { DG_G_FRAME, "Check failed:" },
    { DG_G_FRAME, "Check failure stack trace" }, { DG_G_FRAME, "    at " },
    { DG_G_FRAME, "watchdog" }, { DG_G_FRAME, "Unexpected Event status" },
    { DG_G_FRAME, "Source file: " }, { DG_G_FRAME, ".jl:" }, { DG_G_FRAME, ": RuntimeError" },
    { DG_G_FRAME, ": AcceleratorError" }, { DG_G_TRACE, "hread 0x" },
    { DG_G_NUMBER, "CUDA error" }, { DG_G_NUMBER, "cuda runtime error" },
    { DG_G_NUMBER, "CUDA failure" }, { DG_G_NUMBER, "Cuda failure" },
    { DG_G_NUMBER, "cudaError" }, { DG_G_NUMBER, "CUDA_ERROR_" },
    { DG_G_NUMBER, "error == cudaSuccess" }, { DG_G_NUMBER, "e == cudaSuccess" },
    { DG_G_NUMBER, "== cudaSuccess" }, { DG_G_NUMBER, "HIP error" },
    { DG_G_NUMBER, "THCudaCheck FAIL" }, { DG_G_NUMBER, "CudaAPIError" },
    { DG_G_NUMBER, "CUDA Runtime error" }, { DG_G_NUMBER, "hipError" },
    { DG_G_STATUS, "CUBLAS_STATUS_" }, { DG_G_STATUS, "CUDNN_STATUS_" },
    { DG_G_STATUS, "CUSOLVER_STATUS_" }, { DG_G_STATUS, "CUSPARSE_STATUS_" },
    { DG_G_STATUS, "CURAND_STATUS_" }, { DG_G_STATUS, "CUFFT_" },
    { DG_G_STATUS, "ncclUnhandledCudaError" }, { DG_G_STATUS, "ncclSystemError" },
    { DG_G_STATUS, "ncclInternalError" }, { DG_G_STATUS, "ncclInvalidUsage" },
    { DG_G_STATUS, "CUBLAS error(" }, { DG_G_STATUS, "CUDNN error(" },
    { DG_G_NUMBER, "cuda execution failed" },
    { DG_G_STATUS, "ncclRemoteError" }, { DG_G_STATUS, "KernelException" },
    { DG_G_BLOCKING, "LAUNCH_BLOCKING" }, { DG_G_BLOCKING, "AMD_SERIALIZE_KERNEL" },
    { DG_G_BLOCKING, "might be asynchronously reported" },
    { DG_G_BLOCKING, "to enable device-side assertions" },
    { DG_G_BLOCKING, "Error launching kernel" },
    { DG_G_TOOL, "=========" }, { DG_G_TOOL, "CUDA_EXCEPTION_" },
    { DG_G_TOOL, "Switching focus to CUDA" }, { DG_G_TOOL, "<<<(" },
    { DG_G_TOOL, "GPU assertion failure message" },
    { DG_G_TOOL, "device-side assertion failures were found" },
    { DG_G_TOOL, "fault at " }, { DG_G_TOOL, "that failed assertion" }, { DG_G_TOOL, "containing assertion" },
    { DG_G_TOOL, "thrown during kernel execution" },
    { DG_G_TOOL, "CUDA Exception:" }, { DG_G_TOOL, "focus set to CUDA" },
    { DG_G_TOOL, "Opening GPU coredump" }, { DG_G_TOOL, "triggered at PC" },
    { DG_G_COMMAND, "compute-sanitizer" }, { DG_G_COMMAND, "cuda-memcheck" },
    { DG_G_COMMAND, "cuda-gdb" }, { DG_G_COMMAND, "python" },
    { DG_G_COMMAND, "torchrun" }, { DG_G_COMMAND, "# second run" },
    { DG_G_COMMAND, "accelerate launch" },
    { DG_G_GARBAGE, "tensor([" }, { DG_G_GARBAGE, "array([" },
};

struct adding { struct dg_words *words; enum dg_group group; int rule; };

static void add_each(void *context, const char *word)
{
    struct adding *a = context;
    dg_words_add(a->words, word, (int)a->group << 16 | a->rule);
}

static void add_rule(struct dg_words *w, const struct dg_rule *r)
{
    struct adding a = { w, DG_G_ERROR, r->index };
    if (r->kind == DG_ERROR || r->kind == DG_STATUS) {
        static const enum dg_key from[] = { DG_TEXT, DG_NAME, DG_DRIVER };
        for (int i = 0; i < (r->kind == DG_ERROR ? 3 : 1); i++)
            dg_each(r->value[from[i]], add_each, &a);
    } else if (r->kind == DG_EVIDENCE && dg_any_is("text", dg_rule_text(r, DG_IN))) {
        a.group = DG_G_EVIDENCE;
        dg_each(r->value[DG_TEXT], add_each, &a);
    }
}

struct dg_words *dg_vocabulary(const struct dg_rules *rules)
{
    struct dg_words *w = dg_words_new();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        dg_words_add(w, words[i].word, (int)words[i].group << 16);
    for (size_t i = 0; i < rules->n; i++)
        add_rule(w, &rules->rules[i]);
    dg_words_build(w);
    return w;
}

void dg_begin(struct dg *d, const struct dg_rules *rules,
              const struct dg_words *vocabulary)
{
    *d = (struct dg){ .rules = rules, .words = vocabulary, .record = -1,
                      .ended_trace = -1, .site_trace = -1, .pytest = -1 };
    d->facts = fl_alloc(sizeof *d->facts);
    d->facts->seen = fl_alloc((rules->n + 1) * sizeof *d->facts->seen);
    d->facts->n_runs = 1;
    d->facts->runs[0].line = 1;
    d->buffer = fl_alloc(DG_LINE_MOST + 1);
}

void dg_free(struct dg *d)
{
    free(d->buffer);
    if (d->facts)
        free(d->facts->seen);
    free(d->facts);
    *d = (struct dg){ 0 };
}

struct dg_run *dg_this_run(struct dg *d)
{
    return &d->facts->runs[d->run];
}

/* An integer of 17 digits and more, printed in a tensor or array: no index. */
static void take_garbage(struct dg *d, struct dg_line *l)
{
    for (const char *p = l->s; *p; p++) {
        size_t n = strspn(p, "0123456789");
        bool part = p > l->s && (dg_is_word(p[-1]) || p[-1] == '.');
        if (n >= 17 && n <= 20 && !part && !dg_is_word(p[n]) && p[n] != '.'
            && !d->facts->garbage_line) {
            d->facts->garbage_line = l->at.line;
            DG_COPY(d->facts->garbage, p - (p > l->s && p[-1] == '-'), p + n);
            return;
        }
        if (n)
            p += n - 1;
    }
}

static void recognise(struct dg *d, struct dg_line *l)
{
    static void (*const takers[])(struct dg *, struct dg_line *) = {
        dg_take_command, dg_take_blocking, dg_take_tool, dg_take_assertion,
        dg_take_error, dg_take_trace, dg_take_frames,
    };
    for (size_t i = 0; i < l->n_hits; i++) {
        int id = l->hits[i].id;
        if (id >> 16 == DG_G_EVIDENCE && !d->facts->seen[id & 0xffff])
            d->facts->seen[id & 0xffff] = l->at.line;
    }
    if (l->groups & 1u << DG_G_GARBAGE)
        take_garbage(d, l);
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        takers[i](d, l);
}

static bool is_prompt(const char *s)
{
    return (*s == '$' || *s == '>' || *s == '%' || *s == '#') && s[1] == ' ';
}

/* A clean line, NUL-ended. */
static void take_clean(struct dg *d, const char *s, size_t n,
                       const struct dg_hit *hits, size_t n_hits)
{
    struct dg_line l = { .s = s, .n = n, .hits = hits, .n_hits = n_hits,
                         .error = -1 };
    for (size_t i = 0; i < n_hits; i++)
        l.groups |= 1u << (hits[i].id >> 16);
    dg_this_run(d)->lines += n > 0;
    if (!l.groups && !d->any_open && d->record < 0
        && d->site_trace < 0 && !is_prompt(s))
        return;
    l.at.line = d->line;
    dg_take_prefix(&l);
    dg_take_learned(d, &l);
    l.at.run = d->run;
    recognise(d, &l);
}

/* Takes out escape sequences, NULs (of UTF-16 too) and other control
 * characters, in place; backspaces and carriage returns cut. */
static size_t clean(char *s, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == 0x1b && i + 1 < n && s[i + 1] == '[') {
            for (i += 2; i < n && !(s[i] >= '@' && s[i] <= '~'); i++)
                continue;
        } else if (c == 0x1b && i + 1 < n && s[i + 1] == ']') {
            /* a title or link: up to BEL or ESC \ */
            for (i += 2; i < n && s[i] != '\a' && s[i] != 0x1b; i++)
                continue;
            if (i + 1 < n && s[i] == 0x1b && s[i + 1] == '\\')
                i++;
        } else if (c == 0x1b) {
            i++;
        } else if (c >= 0x20 || c == '\t' || c == '\r') {
            s[to++] = (char)c;
        }
    }
    s[to] = '\0';
    return to;
}

enum { MOST_HITS = 64 };

static void take_line(struct dg *d, char *s, size_t n)
{
    struct dg_hit hits[MOST_HITS];
    d->line++;
    if (n && s[n - 1] == '\r')
        n--;
    s[n] = '\0';
    if (dg_repeats(d, s, n))
        return;
    size_t n_hits = dg_words_find(d->words, s, n, hits, MOST_HITS);
    bool dirty = n && (memchr(s, '\0', n) != NULL || n_hits == MOST_HITS);
    for (size_t i = 0; i < n_hits; i++)
        dirty |= hits[i].id >> 16 == DG_G_DIRTY;
    if (!dirty) {
        take_clean(d, s, n, hits, n_hits);
        return;
    }
    n = clean(s, n);
    for (char *end = s + n; s <= end;) {
        char *cut = memchr(s, '\r', (size_t)(end - s));
        char *stop = cut ? cut : end;
        *stop = '\0';
        if (stop > s || !cut) {
            n_hits = dg_words_find(d->words, s, (size_t)(stop - s), hits,
                                   MOST_HITS);
            take_clean(d, s, (size_t)(stop - s), hits, n_hits);
        }
        s = stop + 1;
    }
}

void dg_feed(struct dg *d, const char *bytes, size_t n)
{
    while (n) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline ? (size_t)(newline - bytes) : n;
        if (part > DG_LINE_MOST - d->held) {
            part = DG_LINE_MOST - d->held;
            newline = NULL;
        }
        memcpy(d->buffer + d->held, bytes, part);
        d->held += part;
        bytes += part + (newline != NULL);
        n -= part + (newline != NULL);
        if (newline || d->held == DG_LINE_MOST) {
            take_line(d, d->buffer, d->held);
            d->held = 0;
        }
    }
}

void dg_end(struct dg *d)
{
    if (d->held)
        take_line(d, d->buffer, d->held);
    d->held = 0;
    d->facts->lines = d->line;
    dg_end_traces(d);
}
