/* Questions to a finished module. */
#include "ptx/ast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ast_arena.h"
#include "ptx/ast_index.h"
#include "ptx/lexer.h"

/* Names of functions and variables, open addressing; they share one
 * name space (PTX 4.6). */
struct index {
    uint32_t cap;
    struct { const char *name; int32_t func, var; } *slots;
};

static uint32_t find(const struct index *x, const char *name)
{
    uint32_t h = lexer_hash(name, strlen(name));
    uint32_t s = (h ^ h >> 15) & (x->cap - 1);
    while (x->slots[s].name && strcmp(x->slots[s].name, name))
        s = (s + 1) & (x->cap - 1);
    return s;
}

bool ptx_index_names(struct ptx_module *m)
{
    struct index *x = arena_alloc(m->arena, sizeof *x);
    if (!x) return false;
    x->cap = 8;
    while (x->cap / 2 < (uint64_t)m->n_funcs + m->n_vars) x->cap *= 2;
    x->slots = arena_array(m->arena, x->cap, sizeof *x->slots);
    if (!x->slots) return false;
    for (uint32_t i = 0; i < m->n_funcs; i++) {
        uint32_t s = find(x, m->funcs[i].name);
        if (x->slots[s].name && m->funcs[x->slots[s].func].has_body)
            continue; /* a declaration, or a weak one: the first stays */
        x->slots[s].name = m->funcs[i].name;
        x->slots[s].func = (int32_t)i;
        x->slots[s].var = -1;
    }
    for (uint32_t i = 0; i < m->n_vars; i++) {
        uint32_t s = find(x, m->vars[i].name);
        if (x->slots[s].name && x->slots[s].var >= 0 &&
            !m->vars[x->slots[s].var].is_extern)
            continue;
        x->slots[s].name = m->vars[i].name;
        x->slots[s].func = -1;
        x->slots[s].var = (int32_t)i;
    }
    *arena_slot(m->arena) = x;
    return true;
}

int32_t ptx_find_func(const struct ptx_module *m, const char *name)
{
    const struct index *x = *arena_slot(m->arena);
    uint32_t s = find(x, name);
    return x->slots[s].name ? x->slots[s].func : -1;
}

int32_t ptx_find_var(const struct ptx_module *m, const char *name)
{
    const struct index *x = *arena_slot(m->arena);
    uint32_t s = find(x, name);
    return x->slots[s].name ? x->slots[s].var : -1;
}

const char *ptx_module_file(const struct ptx_module *m, uint32_t number)
{
    uint32_t lo = 0, hi = m->n_files; /* sorted by number */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->files[mid].number == number) return m->files[mid].path;
        if (m->files[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

char *ptx_instr_text(const struct ptx_module *m, const struct ptx_instr *in,
                     char *buf, size_t n)
{
    (void)m;
    if (n) snprintf(buf, n, "%s", in->text);
    return buf;
}

void ptx_module_free(struct ptx_module *m)
{
    if (m) arena_destroy(m->arena); /* which holds *m too */
}
