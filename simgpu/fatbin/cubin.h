/* What nvcc's machine code says of a kernel. It is not run: only the figures
 * that the assembler wrote beside it are read. */
#ifndef SIMGPU_CUBIN_H
#define SIMGPU_CUBIN_H

#include <stddef.h>

/* Registers a thread of the kernel (its mangled name) has in the cubin at
 * `data`: 1 to 255; 0 when the cubin does not say, is damaged or is none.
 * Never reads outside [data, data+len). */
unsigned cubin_registers(const void *data, size_t len, const char *kernel);

#endif
