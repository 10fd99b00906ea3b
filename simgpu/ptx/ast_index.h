/* Between the parser and ast.c: makes ptx_find_func() and ptx_find_var()
 * answer. False when there is no memory. */
#ifndef SIMGPU_PTX_AST_INDEX_H
#define SIMGPU_PTX_AST_INDEX_H

#include "ptx/ast.h"

bool ptx_index_names(struct ptx_module *m);

#endif
