/* Which set of handlers this processor gets (exec_ops.h). Builds that have
 * only the baseline (CMakeLists.txt says which) do without SIMGPU_HAVE_V3. */
#include "ptx/exec.h"

extern const select_fn exec_select_table_v1[PTX_OP_COUNT];
#ifdef SIMGPU_HAVE_V3
extern const select_fn exec_select_table_v3[PTX_OP_COUNT];
#endif

static bool baseline_only;

void exec_use_baseline(bool yes) {
    baseline_only = yes;
}

const select_fn *exec_selects(void) {
#ifdef SIMGPU_HAVE_V3
    if (!baseline_only &&
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
        __builtin_cpu_supports("lzcnt"))
        return exec_select_table_v3;
#endif
    return exec_select_table_v1;
}
