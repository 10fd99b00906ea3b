/* Does a parsed module hold together? See check.c. */
#ifndef SIMGPU_PTX_CHECK_H
#define SIMGPU_PTX_CHECK_H

#include "ptx/ast.h"

/* False with *err filled ("NAME:LINE: ...") at the first thing wrong. What
 * passes can be decoded without looking for missing operands, registers of
 * another class or labels outside the function. An instruction with more
 * operands than its row in opcodes.def becomes PTX_OP_unsupported. */
bool ptx_check(struct ptx_module *m, const char *source,
               struct ptx_error *err);

#endif
