/* Which set of handlers this processor gets (exec_ops.h). Clang's
 * __builtin_cpu_supports() knows too few features to tell: its builds (the
 * fuzzers') use the baseline. */
#include "ptx/exec.h"

extern const select_fn exec_select_table_v1[PTX_OP_COUNT];
#ifdef __x86_64__
extern const select_fn exec_select_table_v3[PTX_OP_COUNT];
#endif

static bool baseline_only;

void exec_use_baseline(bool yes) {
    baseline_only = yes;
}

const select_fn *exec_selects(void) {
#if defined(__x86_64__) && !defined(__clang__)
    if (!baseline_only &&
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
        __builtin_cpu_supports("lzcnt"))
        return exec_select_table_v3;
#endif
    return exec_select_table_v1;
}
