/* The automaton; see words.h. States are numbered so that those that end a
 * word come last: the search compares one number a byte. */
#include "harness/diagnose/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/text.h"

/* A word's ending: more words that end in the same state follow. */
struct ending { int id; int next; };

struct dg_words {
    unsigned char class[256];
    unsigned n_classes;
    char **words;
    int *ids;
    size_t n_words;
    uint32_t *step;             /* [state * n_classes + class], a row's start */
    uint32_t first_ending;      /* rows from here on end a word */
    int *endings;               /* per state, index into `all`, or -1 */
    struct ending *all;
    size_t n_all;
};

static unsigned char fold(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

struct dg_words *dg_words_new(void)
{
    return fl_alloc(sizeof(struct dg_words));
}

void dg_words_add(struct dg_words *w, const char *word, int id)
{
    if (!*word)
        return;
    w->words = fl_grow(w->words, w->n_words + 1, sizeof *w->words);
    w->ids = fl_grow(w->ids, w->n_words + 1, sizeof *w->ids);
    w->words[w->n_words] = fl_strdup(word);
    w->ids[w->n_words++] = id;
}

/* Bytes that no word has share class 0. Returns the most states there can
 * be. */
static size_t classify(struct dg_words *w)
{
    size_t most = 1;
    w->n_classes = 1;
    for (size_t i = 0; i < w->n_words; i++)
        for (const char *s = w->words[i]; *s; s++, most++) {
            unsigned char c = fold((unsigned char)*s);
            if (!w->class[c])
                w->class[c] = (unsigned char)w->n_classes++;
        }
    for (int c = 'A'; c <= 'Z'; c++)
        w->class[c] = w->class[c + 32];
    return most;
}

static void end_here(struct dg_words *w, int state, int id)
{
    w->all = fl_grow(w->all, w->n_all + 1, sizeof *w->all);
    w->all[w->n_all] = (struct ending){ id, w->endings[state] };
    w->endings[state] = (int)w->n_all++;
}

/* The trie in `go` (0: no edge); the number of its states. */
static size_t plant(struct dg_words *w, uint32_t *go)
{
    size_t n = 1, k = w->n_classes;
    for (size_t i = 0; i < w->n_words; i++) {
        size_t state = 0;
        for (const char *s = w->words[i]; *s; s++) {
            uint32_t *edge = &go[state * k + w->class[(unsigned char)*s]];
            if (!*edge)
                *edge = (uint32_t)n++;
            state = *edge;
        }
        end_here(w, (int)state, w->ids[i]);
    }
    return n;
}

/* Completes the edges breadth first: where the trie has none, a state goes
 * where its longest proper suffix goes. */
static void complete(struct dg_words *w, uint32_t *go, size_t n)
{
    size_t k = w->n_classes, head = 0, tail = 0;
    uint32_t *suffix = fl_alloc(n * sizeof *suffix);
    uint32_t *queue = fl_alloc(n * sizeof *queue);
    for (size_t c = 0; c < k; c++)
        if (go[c])
            queue[tail++] = go[c];
    while (head < tail) {
        uint32_t s = queue[head++];
        for (int e = w->endings[suffix[s]]; e >= 0; e = w->all[e].next)
            end_here(w, (int)s, w->all[e].id);
        for (size_t c = 0; c < k; c++) {
            uint32_t *edge = &go[s * k + c], down = go[suffix[s] * k + c];
            if (*edge) {
                suffix[*edge] = down;
                queue[tail++] = *edge;
            } else {
                *edge = down;
            }
        }
    }
    free(suffix);
    free(queue);
}

/* Renumbers: states without an ending first. Rows are then named by their
 * offset, which saves a multiplication a byte. */
static void order(struct dg_words *w, const uint32_t *go, size_t n)
{
    size_t k = w->n_classes, next = 0;
    uint32_t *name = fl_alloc(n * sizeof *name);
    int *endings = fl_alloc(n * sizeof *endings);
    for (int ending = 0; ending < 2; ending++) {
        if (ending)
            w->first_ending = (uint32_t)(next * k);
        for (size_t s = 0; s < n; s++)
            if ((w->endings[s] >= 0) == ending) {
                endings[next] = w->endings[s];
                name[s] = (uint32_t)(next++ * k);
            }
    }
    w->step = fl_alloc(n * k * sizeof *w->step);
    for (size_t s = 0; s < n; s++)
        for (size_t c = 0; c < k; c++)
            w->step[name[s] + c] = name[go[s * k + c]];
    free(w->endings);
    w->endings = endings;
    free(name);
}

void dg_words_build(struct dg_words *w)
{
    size_t most = classify(w);
    uint32_t *go = fl_alloc(most * w->n_classes * sizeof *go);
    w->endings = fl_alloc(most * sizeof *w->endings);
    for (size_t i = 0; i < most; i++)
        w->endings[i] = -1;
    size_t n = plant(w, go);
    complete(w, go, n);
    order(w, go, n);
    free(go);
}

static size_t add_hit(struct dg_hit *hits, size_t n, size_t max, int id,
                      size_t end)
{
    for (size_t i = 0; i < n; i++)
        if (hits[i].id == id)
            return n;
    if (n < max)
        hits[n++] = (struct dg_hit){ id, end };
    return n;
}

size_t dg_words_find(const struct dg_words *w, const char *s, size_t n,
                     struct dg_hit *hits, size_t max)
{
    const unsigned char *class = w->class;
    const uint32_t *step = w->step;
    uint32_t at = 0, first = w->first_ending;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        at = step[at + class[(unsigned char)s[i]]];
        if (at < first)
            continue;
        for (int e = w->endings[at / w->n_classes]; e >= 0;
             e = w->all[e].next)
            found = add_hit(hits, found, max, w->all[e].id, i + 1);
    }
    return found;
}

void dg_words_free(struct dg_words *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_words; i++)
        free(w->words[i]);
    free(w->words);
    free(w->ids);
    free(w->step);
    free(w->endings);
    free(w->all);
    free(w);
}
