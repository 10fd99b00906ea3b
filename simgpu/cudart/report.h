/* The first fault of the process: kept for simgpuGetFaultRecord(), and told
 * on stderr when SIMGPU_REPORT is set. */
#ifndef SIMGPU_CUDART_REPORT_H
#define SIMGPU_CUDART_REPORT_H

#include "core/fault.h"

void report_fault(const struct fault *f);

#endif
