/* Small steps over a line of text. A line is NUL-ended; these never step over
 * its end. */
#ifndef FAULTLAG_DIAGNOSE_SCAN_H
#define FAULTLAG_DIAGNOSE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Copies from..to, cut to fit; NULL `to`: to the end. */
void dg_copy(char *out, size_t size, const char *from, const char *to);
#define DG_COPY(array, from, to) dg_copy(array, sizeof array, from, to)

/* What follows `word` in s, or NULL. */
const char *dg_after(const char *s, const char *word);
const char *dg_blank(const char *s);            /* first that is not blank */
const char *dg_trim_end(const char *s, const char *end);
bool dg_starts(const char *s, const char *word);
bool dg_is_digit(char c);
bool dg_is_word(char c);                        /* letter, digit, _ */

/* A decimal number at *s, which moves behind it; false: none, or too long. */
bool dg_number(const char **s, long *value);
/* [1,2,3] or (1,2,3), with or without blanks, at s. */
bool dg_triple(const char *s, long out[3]);

/* The shape of a prefix at s: its length, or 0. In a shape 9 stands for
 * digits, @ for a name, # for a name that ends in a digit, ! for a level's
 * letter, _ for any blanks, * for anything up to the next character of the
 * shape; all else for itself. */
size_t dg_shape(const char *shape, const char *s);

/* The path that ends before `end`, not before `start`: walks back over what
 * paths are made of, and leaves out what a progress bar was glued to it. */
const char *dg_path_start(const char *start, const char *end);
/* The first FILE:LINE, FILE(LINE), `FILE line N` or `line N in file FILE` in s
 * whose file has the ending of a source file. */
bool dg_find_site(const char *s, char *file, size_t size, long *line);

/* A function's own name in a signature as compilers and tools print it. */
void dg_short_name(const char *signature, char *out, size_t size);

#endif
