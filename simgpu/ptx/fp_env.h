/* The floating-point state of the thread that runs kernels.
 *
 * Kernels round to nearest and have subnormals, whatever the thread was left
 * with: one made by a host program built with -ffast-math flushes, and so do
 * its children. On x86-64 only MXCSR matters (nothing here uses the x87 unit),
 * and setting it is far quicker than the whole environment.
 */
#ifndef SIMGPU_PTX_FP_ENV_H
#define SIMGPU_PTX_FP_ENV_H

#ifdef __x86_64__
typedef unsigned fp_env;
static inline fp_env fp_env_take(void) {
    fp_env host = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80);
    return host;
}
static inline void fp_env_give(fp_env host) { __builtin_ia32_ldmxcsr(host); }
#else
#include <fenv.h>
typedef fenv_t fp_env;
static inline fp_env fp_env_take(void) {
    fp_env host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV);
    return host;
}
static inline void fp_env_give(fp_env host) { fesetenv(&host); }
#endif

#endif
