/* Growing strings and allocations that do not fail; see text.h. */
#include "harness/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p)
{
    if (!p) {
        fputs("faultlag: out of memory\n", stderr);
        exit(3);
    }
    return p;
}

void *fl_alloc(size_t n) { return or_die(calloc(1, n ? n : 1)); }
char *fl_strdup(const char *s) { return or_die(strdup(s)); }

void *fl_grow(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return or_die(NULL);
    size_t bytes = n * size;
    return or_die(realloc(p, bytes ? bytes : 1));
}

void fl_text_add(struct fl_text *t, const char *bytes, size_t n)
{
    if (t->n + n + 1 > t->size) {
        size_t size = t->size ? t->size : 128;
        while (size < t->n + n + 1)
            size *= 2;
        t->s = fl_grow(t->s, size, 1);
        t->size = size;
    }
    if (n)
        memcpy(t->s + t->n, bytes, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void fl_text_puts(struct fl_text *t, const char *s)
{
    fl_text_add(t, s, strlen(s));
}

static char *format_new(const char *format, va_list args)
{
    char *s = NULL;
    if (vasprintf(&s, format, args) < 0)
        s = NULL;
    return or_die(s);
}

void fl_text_printf(struct fl_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *s = format_new(format, args);
    va_end(args);
    fl_text_puts(t, s);
    free(s);
}

char *fl_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *s = format_new(format, args);
    va_end(args);
    return s;
}

char *fl_time_text(double ns)
{
    return ns < 1e3 ? fl_format("%.0f ns", ns)
        : ns < 1e6 ? fl_format("%.1f us", ns / 1e3)
        : ns < 1e9 ? fl_format("%.2f ms", ns / 1e6)
        : fl_format("%.2f s", ns / 1e9);
}

void fl_text_free(struct fl_text *t)
{
    free(t->s);
    *t = (struct fl_text){ 0 };
}

const char *fl_text_str(const struct fl_text *t) { return t->s ? t->s : ""; }
