/* Puts modules together, as a device linker does for -rdc programs: names
 * that one leaves open are found in another.
 *
 * A module's instructions name functions and variables by index, so joining
 * two is moving the second one's indices up; what a declaration means is then
 * looked up by name, like inside one module.
 */
#include <string.h>

#include "ptx/ast_arena.h"
#include "ptx/ast_index.h"

struct shift { int32_t func, var, loc; uint32_t file; };

static void shift_operand(struct ptx_operand *o, const struct shift *by)
{
    if (o->kind == PTX_OPND_FUNC) o->index += by->func;
    if (o->scope != PTX_SCOPE_MODULE) return;
    if (o->kind == PTX_OPND_VAR ||
        (o->kind == PTX_OPND_MEM && o->base_kind == PTX_OPND_VAR))
        o->index += by->var;
}

static void shift_func(struct ptx_func *f, const struct shift *by)
{
    for (uint32_t i = 0; i < f->n_vec; i++) shift_operand(&f->vec[i], by);
    for (uint32_t i = 0; i < f->n_instrs; i++) {
        struct ptx_instr *in = &f->instrs[i];
        if (in->loc >= 0) in->loc += by->loc;
        for (unsigned o = 0; o < in->n_operands; o++)
            shift_operand(&in->operands[o], by);
    }
}

/* `a` with `b` behind it, in memory of a's module. */
static void *joined(void *arena, const void *a, size_t na, const void *b,
                    size_t nb, size_t size)
{
    char *both = arena_array(arena, na + nb + 1, size);
    if (!both) return NULL;
    if (na) memcpy(both, a, na * size);
    if (nb) memcpy(both + na * size, b, nb * size);
    return both;
}

bool ptx_link(struct ptx_module *into, struct ptx_module *from)
{
    struct shift by = {(int32_t)into->n_funcs, (int32_t)into->n_vars,
                       (int32_t)into->n_locs,
                       into->n_files ? into->files[into->n_files - 1].number + 1
                                     : 0};
#define JOIN(list) joined(into->arena, into->list, into->n_##list,           \
                          from->list, from->n_##list, sizeof *into->list)
    void *funcs = JOIN(funcs), *vars = JOIN(vars), *locs = JOIN(locs),
         *files = JOIN(files);
#undef JOIN
    if (!funcs || !vars || !locs || !files) return false;
    for (uint32_t i = 0; i < from->n_funcs; i++)
        shift_func(&from->funcs[i], &by);
    into->funcs = funcs;
    into->vars = vars;
    into->locs = locs;
    into->files = files;
    for (uint32_t i = 0; i < from->n_locs; i++) {
        struct ptx_loc *l = &into->locs[into->n_locs + i];
        l->file += by.file;
        if (l->inlined_at >= 0) l->inlined_at += by.loc;
    }
    for (uint32_t i = 0; i < from->n_files; i++)
        into->files[into->n_files + i].number += by.file;
    into->n_funcs += from->n_funcs;
    into->n_vars += from->n_vars;
    into->n_locs += from->n_locs;
    into->n_files += from->n_files;
    if (from->sm > into->sm) into->sm = from->sm;
    return ptx_index_names(into);
}
