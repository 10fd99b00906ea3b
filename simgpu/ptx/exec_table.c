/* The opcode -> select function table of one variant (exec_ops.h). */
#include "ptx/exec_ops.h"

#define PTX_OP(name, text, shape, select)                                  \
    exec_fn EXEC(select_##select)(const struct ptx_module *,               \
                                  const struct ptx_instr *, struct insn *);
#include "ptx/opcodes.def"
#undef PTX_OP

/* An opcode that is known by name only. */
SELECT(none) {
    return NULL;
}

extern const select_fn EXEC(exec_select_table)[PTX_OP_COUNT];
const select_fn EXEC(exec_select_table)[PTX_OP_COUNT] = {
#define PTX_OP(name, text, shape, select) EXEC(select_##select),
#include "ptx/opcodes.def"
#undef PTX_OP
};
