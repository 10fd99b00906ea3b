/* The few driver entry points that programs may ask for by name. */
#ifndef SIMGPU_CUDART_DRIVER_H
#define SIMGPU_CUDART_DRIVER_H

#include <stdbool.h>

/* NULL if there is none of that name. */
void *driver_entry(const char *name, bool per_thread);

#endif
