/* Errors by name, text or number, and statuses of libraries. */
#include "harness/diagnose/read.h"

#include <stdio.h>

#include "harness/diagnose/scan.h"

#define HAS(l, group) ((l)->groups & 1u << (group))

/* The name as the log prints it: what of the rule's names is in the line. */
struct naming { const char *line; char *out; size_t size; };

static void name_in_line(void *context, const char *name)
{
    struct naming *n = context;
    const char *at = strstr(n->line, name);
    if (!*n->out && at && !dg_is_word(at[strlen(name)]))
        dg_copy(n->out, n->size, name, NULL);
}

static void name_error(struct dg_error *e, const char *line)
{
    struct naming n = { line, e->name, sizeof e->name };
    const char *runtime = dg_rule_text(e->rule, DG_NAME);
    if (!strstr(line, runtime))
        dg_each(e->rule->value[DG_DRIVER], name_in_line, &n);
    if (!*e->name)
        dg_copy(e->name, sizeof e->name, runtime, NULL);
}

int dg_add_error(struct dg *d, struct dg_line *l, const struct dg_rule *rule,
                 const char *name)
{
    struct dg_facts *f = d->facts;
    f->error_lines++;
    dg_this_run(d)->failed = true;
    if (f->n_errors == sizeof f->errors / sizeof *f->errors)
        return -1;
    struct dg_error *e = &f->errors[f->n_errors];
    *e = (struct dg_error){ .at = l->at, .rule = rule };
    e->code = rule && rule->kind == DG_ERROR
        ? dg_rule_number(rule, DG_CODE, DG_UNKNOWN) : DG_UNKNOWN;
    if (name)
        DG_COPY(e->name, name, NULL);
    else
        name_error(e, l->s);
    DG_COPY(e->text, l->body, NULL);
    e->watchdog = strcasestr(l->s, "watchdog") != NULL
        || strstr(l->s, "ProcessGroupNCCL") != NULL;
    e->nccl = strstr(l->s, "NCCL") != NULL || strstr(l->s, "nccl") != NULL;
    static const char teardown[] =
        "failed to free|failed to unload|dtor|estructor|cuMemFree|leaking|"
        "Destroy|ignored|free_all|Error in sys.excepthook";
    e->teardown = dg_any_in(teardown, l->s);
    return (int)f->n_errors++;
}

/* Numbers only where nothing but a CUDA error can be meant. */
static const char *const numbered[] = {
    "CUDA error ", "CUDA error: ", "CUDA error #", "CUDA error(", "CUDA error (",
    "CUDA error detected: ", "cuda runtime error (", "cuda error ",
    "CUDA failure ", "Cuda failure ", "cudaSuccess (", "CUDA Error ",
    "CUDA Error: ", "CUDA runtime error (", "CUDA error code ",
    "CUDA error code: ", "cudaError_t(", "cudaError_t ", "CUDA_ERROR (",
    "error code is ", "HIP error ", "HIP error: ", "CUDA error code=",
    "CUDA error: code=", "CudaAPIError: [", "LinkerError: [",
    "execution failed with error ",
};

static const struct dg_rule *by_number(const struct dg_rules *r, long code)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->rules[i].kind == DG_ERROR
            && dg_rule_number(&r->rules[i], DG_CODE, 0) == code)
            return &r->rules[i];
    for (size_t i = 0; i < r->n; i++)
        if (r->rules[i].kind == DG_ERROR
            && dg_rule_number(&r->rules[i], DG_OLD, 0) == code)
            return &r->rules[i];
    return NULL;
}

static const struct dg_rule *take_number(const struct dg *d,
                                         const struct dg_line *l, long *code)
{
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        const char *p = dg_after(l->body, numbered[i]);
        if (p && dg_number(&p, code) && *code > 0 && !dg_is_word(*p)
            && *p != '.')
            return by_number(d->rules, *code);
    }
    return NULL;
}

/* Text of a rule that is only quoted: the documentation line that PyTorch
 * adds, Paddle's hint, a test's name. */
static bool is_mention(const struct dg *d, const struct dg_line *l)
{
    static const char words[] =
        "Search for `|PASSED|SKIPPED|XFAIL|passed in |no CUDA error|"
        "without CUDA error|CUDA_EXCEPTION_|CUDA Exception: ";
    const struct dg_facts *f = d->facts;
    bool hint = strstr(l->s, "[Hint: ") && f->n_errors
        && l->at.line - f->errors[f->n_errors - 1].at.line < 3;
    /* some servers log what a worker writes at a level of their own */
    bool quiet = (l->level == 'I' || l->level == 'D') && !d->any_open
        && !dg_any_in("Error: |Exception: |what():", l->body);
    return hint || quiet || dg_any_in(words, l->s)
        || dg_starts(l->body, "#") || dg_starts(l->body, "//")
        || (dg_starts(l->body, "=========")
            && (f->n_records || !strstr(l->s, "Program hit ")));
}

/* Among the words of one line the first names its error. */
static const struct dg_rule *first_named(const struct dg *d,
                                         const struct dg_line *l)
{
    for (size_t i = 0; i < l->n_hits; i++)
        if (l->hits[i].id >> 16 == DG_G_ERROR)
            return &d->rules->rules[l->hits[i].id & 0xffff];
    return NULL;
}

/* `CUDNN_STATUS_SUCCESS (8 vs. 0)`, `CUBLAS error(1)` */
static const struct dg_rule *status_by_number(const struct dg *d, const char *s)
{
    static const struct { const char *word, *library; } numbered[] = {
        { "CUBLAS_STATUS_SUCCESS (", "CUBLAS_" }, { "CUBLAS error(", "CUBLAS_" },
        { "CUDNN_STATUS_SUCCESS (", "CUDNN_" }, { "CUDNN error(", "CUDNN_" },
    };
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        const char *p = dg_after(s, numbered[i].word);
        long code;
        if (!p || !dg_number(&p, &code))
            continue;
        for (size_t k = 0; k < d->rules->n; k++) {
            const struct dg_rule *r = &d->rules->rules[k];
            if (r->kind == DG_STATUS && dg_rule_number(r, DG_CODE, 0) == code
                && dg_starts(dg_rule_text(r, DG_NAME), numbered[i].library))
                return r;
        }
    }
    return NULL;
}

static const struct dg_rule *status_rule(const struct dg *d, const char *name)
{
    for (size_t i = 0; i < d->rules->n; i++)
        if (d->rules->rules[i].kind == DG_STATUS
            && !strcmp(dg_rule_text(&d->rules->rules[i], DG_NAME), name))
            return &d->rules->rules[i];
    return NULL;
}

static void take_status(struct dg *d, struct dg_line *l)
{
    static const char *const starts[] = {
        "CUBLAS_STATUS_", "CUDNN_STATUS_", "CUSOLVER_STATUS_",
        "CUSPARSE_STATUS_", "CURAND_STATUS_", "CUFFT_", "nccl",
        "KernelException",
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const char *end;
        for (const char *at = l->body; (at = strstr(at, starts[i])); at = end) {
            char name[64];
            for (end = at; dg_is_word(*end); end++)
                continue;
            DG_COPY(name, at, end);
            const struct dg_rule *rule = status_rule(d, name);
            if (strstr(name, "SUCCESS") || (!rule && !strstr(name, "_STATUS_")))
                continue;
            l->error = dg_add_error(d, l, rule, name);
            return;
        }
    }
    const struct dg_rule *rule = status_by_number(d, l->body);
    if (rule)
        l->error = dg_add_error(d, l, rule, dg_rule_text(rule, DG_NAME));
}

/* PyTorch's line about the documentation names the error of the line before,
 * which has only the text; nothing else of it counts. */
static void take_mention(struct dg *d, struct dg_line *l)
{
    struct dg_facts *f = d->facts;
    if (!f->n_errors || !strstr(l->s, "Search for `"))
        return;
    struct dg_error *e = &f->errors[f->n_errors - 1];
    const struct dg_rule *named = first_named(d, l);
    if (named && !e->rule && l->at.line - e->at.line < 4) {
        e->rule = named;
        e->code = dg_rule_number(named, DG_CODE, DG_UNKNOWN);
        name_error(e, l->s);
    }
}

/* The function in "(F at FILE:LINE)", "(in function F, FILE:LINE)" or
 * "in F at FILE:LINE". */
static void name_function(const char *s, const char *file, char *out,
                          size_t size)
{
    const char *at = strstr(s, file), *from, *in;
    out[0] = '\0';
    while (at > s && strchr(" ,", at[-1]))
        at--;
    if (at - s > 3 && !memcmp(at - 3, " at", 3))
        at -= 3;
    from = at;
    while (from > s && (dg_is_word(from[-1]) || from[-1] == ':'))
        from--;
    in = from - 12 >= s ? from - 12 : s;
    if (from < at && (from > s && from[-1] == '(' ? at[0] == ' '
                      : dg_any_in("function |(in ", in) && from - in <= 12))
        dg_copy(out, size, from, at);
}

/* `CUDA Runtime Error at: main.cpp:90`, whose text is on the next line. */
static void take_place(struct dg *d, struct dg_line *l)
{
    char file[400];
    long line;
    if (!dg_any_in(" at | at:|in file", l->body)
        || !dg_find_site(l->body, file, sizeof file, &line))
        return;
    dg_expect_error(d, l, dg_add_site(d, l, file, line, NULL, DG_SITE), 0);
}

void dg_take_error(struct dg *d, struct dg_line *l)
{
    if (!HAS(l, DG_G_ERROR) && !HAS(l, DG_G_STATUS) && !HAS(l, DG_G_NUMBER))
        return;
    if (is_mention(d, l)) {
        take_mention(d, l);
        return;
    }
    const struct dg_rule *rule = first_named(d, l);
    long code = DG_UNKNOWN;
    if (!rule && HAS(l, DG_G_NUMBER))
        rule = take_number(d, l, &code);
    if (rule)
        l->error = dg_add_error(d, l, rule, NULL);
    if (l->error < 0 && HAS(l, DG_G_STATUS))
        take_status(d, l);
    if (l->error < 0) {
        take_place(d, l);
        return;
    }
    struct dg_error *e = &d->facts->errors[l->error];
    e->caught = e->code == 2
        && dg_any_in("retry|Retry|skipping|Skipping|ran out|alling back|"
                     "allback|educing", l->s);
    char file[400];
    long line;
    const char *where = dg_any_in(l->s, "=========") ? "" : l->body;
    if (!e->watchdog && dg_find_site(where, file, sizeof file, &line)) {
        char function[160];
        name_function(where, file, function, sizeof function);
        dg_add_site(d, l, file, line, function, DG_SITE);
    }
    else if (l->level == 'F' && l->file[0])
        dg_add_site(d, l, l->file, l->file_line, NULL, DG_GLOG);
}
