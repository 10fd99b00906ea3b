/* Records of tools: compute-sanitizer (and cuda-memcheck), cuda-gdb and GPU
 * core dumps, PyTorch's TORCH_USE_CUDA_DSA report, and simgpu's own, which has
 * the sanitizer's shape. */
#include "harness/diagnose/read.h"

#include <stdio.h>

#include "harness/diagnose/scan.h"

static struct dg_record *current(struct dg *d)
{
    return d->record >= 0 ? &d->facts->records[d->record] : NULL;
}

static struct dg_record *add(struct dg *d, const struct dg_line *l,
                             const char *tool)
{
    struct dg_facts *f = d->facts;
    d->record = -1;
    d->record_line = l->at.line;
    dg_this_run(d)->failed = true;
    if (f->n_records == sizeof f->records / sizeof *f->records)
        return NULL;
    d->record = (int)f->n_records++;
    struct dg_record *r = &f->records[d->record];
    *r = (struct dg_record){ .at = l->at, .line = DG_UNKNOWN };
    DG_COPY(r->tool, tool, NULL);
    return r;
}

/* What begins a record: its words, and what they mean. */
static const struct { const char *word; enum { OOB, RACE, INIT, BARRIER } kind; }
titles[] = {
    { "Invalid __", OOB }, { "Invalid atomic", OOB }, { "Misaligned ", OOB },
    { "Race reported", RACE }, { "hazard", RACE },
    { "Uninitialized ", INIT }, { "Barrier error", BARRIER },
    { "Divergent thread", BARRIER }, { "Invalid read of size", OOB },
    { "Invalid write of size", OOB }, { "Invalid arguments", BARRIER },
    { "Device stack overflow", OOB }, { "Stack overflow", OOB },
    { "Illegal instruction", OOB }, { "Kernel assertion", OOB },
    { "Use-after-free", OOB }, { "Invalid  __", OOB },
};

static bool take_title(struct dg *d, struct dg_line *l, const char *s)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        const char *at = strstr(s, titles[i].word), *end;
        if (!at || at - s > 60)
            continue;
        struct dg_record *r = add(d, l, "compute-sanitizer");
        if (!r)
            return true;
        if (titles[i].kind == RACE)
            at = s;
        end = strstr(at, " of size");
        DG_COPY(r->title, at, end ? end : strstr(at, " at 0x"));
        r->race = titles[i].kind == RACE;
        r->uninitialised = titles[i].kind == INIT;
        r->barrier = titles[i].kind == BARRIER;
        r->misaligned = strstr(r->title, "isaligned") != NULL;
        return true;
    }
    return false;
}

/* at 0xb0 in KERNEL | at KERNEL+0x9c0 in FILE:LINE | at 0x98 in FILE:LINE:K */
static void take_at(struct dg_record *r, const char *s)
{
    const char *in = strstr(s, " in "), *kernel = s;
    char file[400];
    long line;
    const char *place = dg_starts(s, "0x") && in ? in + 4 : in ? in : s;
    if (r->kernel[0])
        return;
    if (dg_starts(s, "0x"))
        kernel = in ? in + 4 : s;
    if (dg_find_site(place, file, sizeof file, &line)) {
        DG_COPY(r->file, file, NULL);
        r->line = line;
        if (kernel == place) {          /* FILE:LINE:KERNEL */
            const char *after = dg_after(place, file);
            after = after ? strchr(after + 1, ':') : NULL;
            kernel = after ? after + 1 : "";
        }
    }
    const char *end = strstr(kernel, "+0x");
    DG_COPY(r->kernel, kernel, end && (!in || end < in || kernel > in) ? end : NULL);
    if (!end && in && kernel < in && *r->file) {
        size_t n = (size_t)(in - kernel);
        if (n < sizeof r->kernel)
            r->kernel[n] = '\0';
    }
    dg_short_name(r->kernel, r->short_kernel, sizeof r->short_kernel);
}

static void take_threads(struct dg_record *r, const char *s)
{
    const char *thread = dg_after(s, "thread "), *block = dg_after(s, "block ");
    if (thread && !r->has_thread)
        r->has_thread = dg_triple(thread, r->thread);
    if (block && !r->has_block)
        r->has_block = dg_triple(block, r->block);
}

/* ========= simgpu: TEXT (error N) in kernel K */
static bool take_simgpu(struct dg *d, struct dg_line *l, const char *s)
{
    const char *kernel;
    if (!(s = dg_after(s, "simgpu: ")) || !(kernel = dg_after(s, " in kernel ")))
        return false;
    struct dg_record *r = add(d, l, "simgpu");
    const char *number = dg_after(s, "(error ");
    long code;
    if (!r)
        return true;
    DG_COPY(r->title, s, strstr(s, " (error "));
    DG_COPY(r->kernel, kernel, NULL);
    dg_short_name(r->kernel, r->short_kernel, sizeof r->short_kernel);
    if (number && dg_number(&number, &code)) {
        r->misaligned = code == 716;
        for (size_t i = 0; i < d->rules->n; i++)
            if (d->rules->rules[i].kind == DG_ERROR
                && dg_rule_number(&d->rules->rules[i], DG_CODE, 0) == code) {
                l->error = dg_add_error(d, l, &d->rules->rules[i], NULL);
                break;
            }
    }
    return true;
}

static void take_sanitizer(struct dg *d, struct dg_line *l)
{
    const char *bar = strstr(l->s, "=========");
    struct dg_record *r;
    char file[400];
    long line;
    if (!bar)
        return;
    const char *s = dg_blank(bar + strlen("========="));
    bool nested = s - bar > (ptrdiff_t)strlen("=========") + 2;
    if (!nested && (take_simgpu(d, l, s) || take_title(d, l, s)))
        return;
    if (!nested || !(r = current(d))) {
        if (!nested)
            d->record = -1;
        return;
    }
    if (dg_starts(s, "at ") && !strcmp(r->tool, "simgpu")) {
        if (!r->file[0] && dg_find_site(s + 3, file, sizeof file, &line)) {
            DG_COPY(r->file, file, NULL);
            r->line = line;
        }
    } else if (dg_starts(s, "at ")) {
        take_at(r, s + 3);
    } else if (dg_starts(s, "by thread ") || dg_starts(s, "block (")) {
        take_threads(r, s);
    } else if (strstr(s, " access by thread ") || strstr(s, " Thread (")) {
        take_threads(r, s);         /* racecheck names both of them */
        const char *at = dg_after(s, " at ");
        if (at)
            take_at(r, at);
    } else if (dg_starts(s, "Saved host") || dg_starts(s, "Host Frame")) {
        d->record = -1;
    } else {
        r->misaligned |= strstr(s, "misaligned") != NULL;
        if (!r->detail[0])
            DG_COPY(r->detail, s, NULL);
    }
}

/* fault at 22.85 ms: KERNEL, FILE:LINE        under faultlag's timelines */
static void take_timeline(struct dg *d, struct dg_line *l)
{
    const char *s = l->body;
    size_t n = dg_shape("fault at 9.9 ms: ", s);
    struct dg_record *r;
    if (!n || !(r = add(d, l, "faultlag")))
        return;
    DG_COPY(r->title, "fault", NULL);
    DG_COPY(r->kernel, s + n, strchr(s + n, ','));
    dg_short_name(r->kernel, r->short_kernel, sizeof r->short_kernel);
    dg_find_site(s + n, r->file, sizeof r->file, &r->line);
    d->record = -1;
}

/* ---- cuda-gdb and core dumps ---- */

static void take_exception(struct dg *d, struct dg_line *l, const char *s)
{
    struct dg_record *r = current(d);
    const char *end = s, *name = strchr(s, ',');
    while (dg_is_word(*end))
        end++;
    /* two signals for one fault: the later one says it better */
    if (!r || strcmp(r->tool, "cuda-gdb") || r->has_block)
        r = add(d, l, "cuda-gdb");
    if (!r)
        return;
    d->record_line = l->at.line;
    DG_COPY(r->title, s, end);
    if (name)
        DG_COPY(r->detail, dg_blank(name + 1), NULL);
    r->misaligned = dg_any_in("isaligned", r->detail);
}

/* 0x0000 in void k<6>(float*)<<<(182,1,1),(32,8,1)>>> () at FILE:LINE */
static void take_gdb_frame(struct dg_record *r, const char *s)
{
    const char *launch = strstr(s, "<<<("), *from = s, *in;
    char name[400];
    if (r->kernel[0])
        return;
    if (!launch && !(launch = strstr(s, " (")))
        return;
    while ((in = strstr(from, " in ")) && in < launch)
        from = in + 4;
    if (from == s && *s == '#' && (from = strchr(s, ' ')))
        from = dg_blank(from);
    DG_COPY(name, from ? from : s, launch);
    DG_COPY(r->kernel, name, NULL);
    /* gdb's name keeps its template arguments: without them it is no name
     * that a breakpoint takes */
    char *open = name, *p;
    int depth = 0;
    for (p = name; *p && !(*p == '(' && !depth); p++) {
        depth += (*p == '<') - (*p == '>');
        if ((*p == ' ' || *p == '*') && !depth)
            open = p + 1;
    }
    DG_COPY(r->short_kernel, open, p);
    long line;
    char file[400];
    const char *at = strstr(launch, " at ");
    if (at && dg_find_site(at, file, sizeof file, &line)) {
        DG_COPY(r->file, file, NULL);
        r->line = line;
    }
}

static void take_gdb(struct dg *d, struct dg_line *l)
{
    const char *s = strstr(l->s, "CUDA_EXCEPTION_");
    struct dg_record *r;
    if (s && !dg_any_in("PASSED|disable|enable", l->s))
        take_exception(d, l, s);
    if (!s && (s = dg_after(l->s, "CUDA Exception: "))
        && (!(r = current(d)) || strcmp(r->tool, "cuda-gdb"))
        && (r = add(d, l, "cuda-gdb")))
        DG_COPY(r->title, s, NULL);
    r = current(d);
    if (!r || strcmp(r->tool, "cuda-gdb"))
        return;
    if (strstr(l->s, "ocus set to CUDA") || strstr(l->s, "Switching focus to CUDA") || strstr(l->s, ", block ("))
        take_threads(r, l->s);
    if (strstr(l->s, "<<<(") || dg_starts(l->body, "#0 "))
        take_gdb_frame(r, l->s);
    const char *pc = strstr(l->s, "triggered at PC");
    if (pc && !r->file[0])
        dg_find_site(pc, r->file, sizeof r->file, &r->line);
}

/* CUDA.jl: a BoundsError was thrown during kernel execution on thread (2, 1,
 * 1) in block (1, 1, 1). */
static void take_julia(struct dg *d, struct dg_line *l)
{
    const char *end = strstr(l->body, " was thrown during kernel execution");
    const char *from = end;
    struct dg_record *r = current(d);
    if (!end || (r && !strcmp(r->tool, "CUDA.jl")))
        return;
    while (from > l->body && !dg_starts(from, " a "))
        from--;
    r = add(d, l, "CUDA.jl");
    if (!r)
        return;
    DG_COPY(r->title, from + (*from == ' ' ? 3 : 0), end);
    take_threads(r, end);
}

/* ---- TORCH_USE_CUDA_DSA ---- */

/* key = value lines; an assertion line of the usual shape may have come
 * before, and then they say the same. */
static bool take_dsa(struct dg *d, struct dg_line *l)
{
    static const char *const keys[] = {
        "GPU assertion failure message = ", "File containing assertion = ",
        "Device function containing assertion = ",
        "Thread ID that failed assertion = ", "Block ID that failed assertion = ",
    };
    struct dg_facts *f = d->facts;
    const char *s = dg_blank(l->body), *value = NULL;
    int key = 0;
    for (; key < 5 && !(value = dg_starts(s, keys[key])
                        ? s + strlen(keys[key]) : NULL); key++)
        continue;
    if (!value)
        return dg_starts(s, "File containing kernel launch")
            || dg_starts(s, "Name of kernel");
    if (key == 0) {
        d->dsa = !f->n_assertions;
        if (d->dsa) {
            f->n_assertions = 1;
            f->assertion_lines++;
            f->assertions[0] = (struct dg_assertion){ .at = l->at, .count = 1 };
            DG_COPY(f->assertions[0].expr, value, NULL);
        }
    }
    if (!d->dsa)
        return true;
    struct dg_assertion *a = &f->assertions[0];
    if (key == 1)
        dg_find_site(value, a->file, sizeof a->file, &a->line);
    if (key == 2) {
        DG_COPY(a->function, value, NULL);
        dg_short_name(value, a->kernel, sizeof a->kernel);
    }
    if (key == 3)
        a->has_thread = dg_triple(value, a->thread);
    if (key == 4)
        a->has_block = dg_triple(value, a->block);
    return true;
}

/* Another's lines may stand between those of a record, but not many. */
enum { MOST_BETWEEN = 60 };

void dg_take_tool(struct dg *d, struct dg_line *l)
{
    if (d->record >= 0 && l->at.line - d->record_line > MOST_BETWEEN)
        d->record = -1;
    if (l->groups & 1u << DG_G_TOOL)
        d->dsa |= strstr(l->s, "device-side assertion failures were found") != NULL;
    if (d->dsa || strstr(l->s, "GPU assertion failure message"))
        take_dsa(d, l);
    if (strstr(l->s, "========="))
        take_sanitizer(d, l);
    else if ((l->groups & 1u << DG_G_TOOL) || d->record >= 0)
        take_gdb(d, l), take_julia(d, l), take_timeline(d, l);
}
