/* Device assertions in all their shapes:
 *   FILE:LINE: FUNCTION: block: [x,y,z], thread: [x,y,z] Assertion `E` failed.
 *   the same without FUNCTION (Windows), with a C++ signature for it, glued to
 *   a progress bar, with quotes of other kinds (Triton: file `unknown`)
 *   FILE:LINE: FUNCTION: Device-side assertion `E' failed.           (HIP)
 *   Error: FILE:LINE Assertion `E` failed. prose with values         (Paddle)
 *   tid=[x, y, z] ctaid=[x, y, z]: text                              (Numba)
 * Assertions of host programs (`prog: file.c:1: f: Assertion ...`) have none
 * of block, `Error:` and `Device-side`, and are left alone. */
#include "harness/diagnose/read.h"
#include "harness/diagnose/scan.h"

/* The length of a quote at s, 0 if it is none. */
static size_t quote(const char *s)
{
    if (*s == '`' || *s == '\'' || *s == '"')
        return 1;
    return dg_starts(s, "\xe2\x80\x98") || dg_starts(s, "\xe2\x80\x99")
        || dg_starts(s, "\xe2\x80\x9c") || dg_starts(s, "\xe2\x80\x9d") ? 3 : 0;
}

/* The expression after "ssertion ": up to the quote before " failed", since
 * there may be quotes in it. Returns what follows, or NULL. */
static const char *take_expression(struct dg_assertion *a, const char *s)
{
    size_t n = quote(s);
    const char *from = s + n, *end = n ? NULL : strstr(s, " failed");
    if (end) {                  /* a paste that lost its backticks */
        DG_COPY(a->expr, from, end);
        return end + strlen(" failed");
    }
    for (const char *p = from; (p = strstr(p, " failed")); p++)
        for (size_t k = 1; k <= 3; k += 2)
            if (p - from >= (ptrdiff_t)k && quote(p - k) == k) {
                DG_COPY(a->expr, from, p - k);
                return p + strlen(" failed");
            }
    return NULL;
}

/* "FILE:LINE: FUNCTION" or "FILE:LINE", up to `end`. */
static bool take_head(struct dg_assertion *a, const char *s, const char *end)
{
    end = dg_trim_end(s, end);
    for (const char *p = s; (p = memchr(p, ':', (size_t)(end - p))); p++) {
        const char *number = p + 1;
        if (!dg_number(&number, &a->line) || number > end
            || (number < end && *number != ':' && *number != ' '))
            continue;
        const char *from = dg_path_start(s, p);
        if (from == p)
            continue;
        DG_COPY(a->file, from, p);
        while (number < end && (*number == ':' || *number == ' '))
            number++;
        while (end > number && (end[-1] == ':' || end[-1] == ' '))
            end--;
        DG_COPY(a->function, number, end);
        return true;
    }
    return false;
}

static bool same(const struct dg_assertion *a, const struct dg_assertion *b)
{
    return a->line == b->line && a->at.run == b->at.run
        && !strcmp(a->file, b->file) && !strcmp(a->expr, b->expr);
}

const struct dg_rule *dg_match(const struct dg_rules *rules,
                               const struct dg_assertion *a)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct dg_rule *r = &rules->rules[i];
        if (r->kind == DG_ASSERT
            && (!r->value[DG_FILE] || dg_any_in(r->value[DG_FILE], a->file))
            && (!r->value[DG_EXPR] || dg_any_in(r->value[DG_EXPR], a->expr)
                || dg_any_in(r->value[DG_EXPR], a->said))
            && (!r->value[DG_KERNEL]
                || dg_any_in(r->value[DG_KERNEL], a->function)))
            return r;
    }
    return NULL;
}

/* 17 digits and more in what the assertion says: no index. */
static bool has_garbage(const char *s)
{
    while ((s = strpbrk(s, "0123456789"))) {
        size_t n = strspn(s, "0123456789");
        if (n >= 17)
            return true;
        s += n;
    }
    return false;
}

/* Returns where it is counted, or NULL: there is no room for it. */
static unsigned long *keep(struct dg *d, struct dg_assertion *a)
{
    struct dg_facts *f = d->facts;
    f->assertion_lines++;
    dg_this_run(d)->failed = true;
    for (size_t i = 0; i < f->n_assertions; i++)
        if (same(&f->assertions[i], a)) {
            f->assertions[i].count++;
            return &f->assertions[i].count;
        }
    if (f->n_assertions == sizeof f->assertions / sizeof *f->assertions)
        return NULL;
    if (strcmp(a->function, "unknown"))
        dg_short_name(a->function, a->kernel, sizeof a->kernel);
    a->garbage = has_garbage(a->said);
    a->count = 1;
    f->assertions[f->n_assertions] = *a;
    return &f->assertions[f->n_assertions++].count;
}

/* Remembers the line, if it is one assertion and nothing else. */
static void expect_flood(struct dg *d, const struct dg_line *l,
                         const char *block, const char *word,
                         unsigned long *count)
{
    size_t head = (size_t)(block - l->s), tail = l->n - (size_t)(word - l->s);
    d->flood_head_n = 0;
    if (!count || head >= sizeof d->flood_head || tail >= sizeof d->flood_tail
        || !dg_starts(block, "block: ["))
        return;
    memcpy(d->flood_head, l->s, head);
    memcpy(d->flood_tail, word, tail);
    d->flood_head_n = head;
    d->flood_tail_n = tail;
    d->flood_count = count;
}

bool dg_repeats(struct dg *d, const char *s, size_t n)
{
    size_t head = d->flood_head_n, tail = d->flood_tail_n;
    if (!head || n < head + tail || n > head + tail + 80
        || memcmp(s, d->flood_head, head)
        || memcmp(s + n - tail, d->flood_tail, tail))
        return false;
    const char *end = s + n - tail;
    for (const char *p = s + head; p < end; p++)
        if (!*p || !strchr("0123456789block: thread[],", *p))
            return false;
    ++*d->flood_count;
    d->facts->assertion_lines++;
    dg_this_run(d)->lines++;
    return true;
}

/* Numba's debug kernels raise in Python, with the thread in the text. */
static bool take_numba(struct dg_assertion *a, const char *s)
{
    const char *tid = dg_after(s, "tid="), *block = dg_after(s, "ctaid=");
    const char *text = block ? dg_after(block, "]: ") : NULL;
    if (!tid || !text || !dg_triple(tid, a->thread)
        || !dg_triple(block, a->block))
        return false;
    a->has_thread = a->has_block = true;
    a->line = DG_UNKNOWN;
    DG_COPY(a->expr, text, NULL);
    return true;
}

/* Where the assertion's own words begin: at its block, or at `Device-side`. */
static const char *body_of(const char *s, const char *expression)
{
    const char *block = strstr(s, "block: [");
    if (block && block < expression)
        return block;
    const char *device = strcasestr(s, "device-side assertion");
    return device && device < expression ? device : NULL;
}

void dg_take_assertion(struct dg *d, struct dg_line *l)
{
    if (!(l->groups & 1u << DG_G_ASSERTION))
        return;
    d->flood_head_n = 0;
    const char *s = l->body;
    for (int i = 0; i < 64 && s; i++) {     /* lines may be glued together */
        struct dg_assertion a = { .at = l->at };
        if (take_numba(&a, s)) {
            keep(d, &a);
            return;
        }
        const char *word = strcasestr(s, "assertion "), *rest;
        if (!word || !(rest = take_expression(&a, word + strlen("assertion "))))
            return;
        rest += *rest == '.';           /* another may follow at once */
        const char *body = body_of(s, word + 10), *thread;
        if (!quote(word + 10) && !(body && dg_starts(body, "block")))
            return;
        const char *error = dg_after(s, "Error: ");
        if (body) {
            if (dg_starts(body, "block") && dg_triple(body + 7, a.block))
                a.has_block = true;
            if ((thread = dg_after(body, "thread: ")) && thread < word
                && dg_triple(thread, a.thread))
                a.has_thread = true;
            if (take_head(&a, s, body)) {
                unsigned long *count = keep(d, &a);
                if (!i && a.has_thread && !strstr(rest, "ssertion "))
                    expect_flood(d, l, body, word, count);
            }
        } else if (error && error < word && take_head(&a, error, word)) {
            DG_COPY(a.said, dg_blank(rest), NULL);
            a.function[0] = '\0';
            keep(d, &a);
            return;
        }
        s = rest;
    }
}
