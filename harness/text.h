/* A growing string. Memory exhaustion ends the process: nothing that builds
 * text here could go on without it. */
#ifndef FAULTLAG_HARNESS_TEXT_H
#define FAULTLAG_HARNESS_TEXT_H

#include <stddef.h>

struct fl_text { char *s; size_t n, size; };    /* s is NUL-ended, or NULL */

void fl_text_add(struct fl_text *t, const char *bytes, size_t n);
void fl_text_puts(struct fl_text *t, const char *s);
void fl_text_printf(struct fl_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fl_text_free(struct fl_text *t);
const char *fl_text_str(const struct fl_text *t);       /* never NULL */

/* malloc, strdup and a formatted string that do not fail. */
void *fl_alloc(size_t n);                               /* zeroed */
void *fl_grow(void *p, size_t n, size_t size);          /* realloc n * size */
char *fl_strdup(const char *s);
char *fl_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *fl_time_text(double ns);                          /* "1.52 ms" */

#endif
