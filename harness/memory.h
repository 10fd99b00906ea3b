/* The trial's device memory as its calls of the runtime tell it: what is
 * allocated, of what size, from where. The linker routes this program's calls
 * of cudaMalloc and its kin here (--wrap), on every device alike; the library
 * below does not know. Where nobody has asked for it, nothing is kept. */
#ifndef FAULTLAG_HARNESS_MEMORY_H
#define FAULTLAG_HARNESS_MEMORY_H

#include <stddef.h>

#include "harness/json.h"

/* From now on; stack_base: the frame in which call stacks end. */
void fl_memory_watch(void *stack_base);
/* Bytes from p to the end of the live allocation that it is in; 0: it is in
 * none that is known. */
size_t fl_memory_extent(const void *p);
/* The member "memory": all allocations, and how far the one lies that is
 * nearest to the address of the device's own fault record, if there is one. */
void fl_memory_json(struct fl_text *out);

#endif
