/* One module's memory: many small blocks, one end. */
#ifndef SIMGPU_PTX_AST_ARENA_H
#define SIMGPU_PTX_AST_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *a); /* NULL is allowed */

/* n zero bytes, aligned for any type; NULL when there is no memory. */
void *arena_alloc(struct arena *a, size_t n);
/* n elements of `size` bytes; NULL too when the product overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A copy of n bytes with a NUL behind them. */
char *arena_copy(struct arena *a, const void *data, size_t n);

/* One word for the owner: the module keeps its name index there. */
void **arena_slot(struct arena *a);

#endif
