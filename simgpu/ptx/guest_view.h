/* Memory as one thread sees it, for what reads it a byte at a time: strings
 * and arguments of printf and assertions. */
#ifndef SIMGPU_PTX_GUEST_VIEW_H
#define SIMGPU_PTX_GUEST_VIEW_H

#include "ptx/exec.h"

/* Host address of `bytes` bytes at a generic address, or NULL. */
const void *guest_view(struct warp *w, uint32_t lane, uint64_t address,
                       uint32_t bytes);

/* Formats as device printf does: `format` and `args` are generic addresses,
 * args a buffer in which each argument lies at a multiple of its size. Appends
 * to *text (malloc'ed, *len bytes, not ended by NUL). Returns the number of
 * arguments parsed, or -2 after an address that cannot be read, then in *bad,
 * or without memory, *bad 0.
 *
 * As in CUDA's guide: at most 32 arguments, a conversion beyond them and an
 * unknown one is printed as it stands; %s of a null pointer is "(null)". */
int device_format(struct warp *w, uint32_t lane, uint64_t format,
                  uint64_t args, char **text, size_t *len, uint64_t *bad);

/* Copies a string of the guest, cut to n - 1 bytes; false at a bad address. */
bool guest_string(struct warp *w, uint32_t lane, uint64_t address, char *to,
                  size_t n);

#endif
