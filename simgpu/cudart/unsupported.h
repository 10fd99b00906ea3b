#ifndef SIMGPU_CUDART_UNSUPPORTED_H
#define SIMGPU_CUDART_UNSUPPORTED_H

/* Says so and records and returns cudaErrorNotSupported. */
int unsupported_call(const char *name);

#endif
