/* A bump allocator over zeroed chunks. Requests of half a chunk or more get a
 * block of their own from calloc, so that a large, mostly zero initialiser
 * costs address space and no memory. */
#include "ptx/ast_arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK 4096
#define LARGEST_CHUNK (256 * 1024)

struct chunk {
    struct chunk *next;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *chunks;
    unsigned char *free, *end; /* what is left of the newest small chunk */
    size_t next_chunk;
    void *slot;
};

struct arena *arena_create(void)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a) a->next_chunk = FIRST_CHUNK;
    return a;
}

void arena_destroy(struct arena *a)
{
    if (!a) return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

static unsigned char *add_chunk(struct arena *a, size_t n)
{
    if (n > SIZE_MAX / 2) return NULL;
    struct chunk *c = calloc(1, sizeof *c + n);
    if (!c) return NULL;
    c->next = a->chunks;
    a->chunks = c;
    return c->bytes;
}

void *arena_alloc(struct arena *a, size_t n)
{
    const size_t align = alignof(max_align_t);
    if (n > SIZE_MAX - align) return NULL;
    n = (n + align - 1) & ~(align - 1);
    if (n <= (size_t)(a->end - a->free)) {
        void *p = a->free;
        a->free += n;
        return p;
    }
    if (n >= a->next_chunk / 2) return add_chunk(a, n);
    unsigned char *bytes = add_chunk(a, a->next_chunk);
    if (!bytes) return NULL;
    a->free = bytes + n;
    a->end = bytes + a->next_chunk;
    if (a->next_chunk < LARGEST_CHUNK) a->next_chunk *= 2;
    return bytes;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    return arena_alloc(a, n * size);
}

char *arena_copy(struct arena *a, const void *data, size_t n)
{
    if (n == SIZE_MAX) return NULL;
    char *p = arena_alloc(a, n + 1);
    if (p && n) memcpy(p, data, n);
    return p;
}

void **arena_slot(struct arena *a) { return &a->slot; }
