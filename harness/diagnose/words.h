/* Many words looked for at once (Aho and Corasick), ASCII case ignored: one
 * table step a byte however many words there are, so that the lines of a log
 * that say nothing cost next to nothing. */
#ifndef FAULTLAG_DIAGNOSE_WORDS_H
#define FAULTLAG_DIAGNOSE_WORDS_H

#include <stddef.h>

struct dg_words;

struct dg_hit { int id; size_t end; };  /* the word ends before s[end] */

struct dg_words *dg_words_new(void);
/* The same word may be added with several ids. Empty words are ignored. */
void dg_words_add(struct dg_words *w, const char *word, int id);
/* After the last word, before the first search. */
void dg_words_build(struct dg_words *w);
/* At most `max` hits in the order of their ends, overlapping ones too; of each
 * id the first. */
size_t dg_words_find(const struct dg_words *w, const char *s, size_t n,
                     struct dg_hit *hits, size_t max);
void dg_words_free(struct dg_words *w);

#endif
