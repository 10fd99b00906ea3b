/* Looks names up in the running program's debug information; see stacks.h.
 * Slow (milliseconds), so only after the trial. */
#include "harness/stacks.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Dwfl *open_self(void)
{
    static char *debug_path;
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .debuginfo_path = &debug_path,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl || dwfl_linux_proc_report(dwfl, getpid())
        || dwfl_report_end(dwfl, NULL, NULL)) {
        dwfl_end(dwfl);
        return NULL;
    }
    return dwfl;
}

static void set(struct fl_frame *f, const char *function, const char *file,
                int line)
{
    snprintf(f->function, sizeof f->function, "%s", function ? function : "?");
    snprintf(f->file, sizeof f->file, "%s", file ? file : "?");
    f->line = line;
}

/* Where an inlined function was called from. */
static void call_site(Dwarf_Die *cu, Dwarf_Die *scope, const char **file,
                      int *line)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    Dwarf_Files *files;
    if (!dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attr), &value))
        *line = (int)value;
    if (!dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attr), &value)
        && !dwarf_getsrcfiles(cu, &files, NULL))
        *file = dwarf_filesrc(files, value, NULL, NULL);
}

/* The scopes around pc, innermost first, as they lie in the machine code.
 * (dwarf_getscopes continues, after an inlined function, with the scopes of
 * its definition instead of its caller's.) */
static int scopes_at(Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die **scopes)
{
    Dwarf_Die *inner = NULL;
    int n = dwarf_getscopes(cu, pc, &inner);
    if (n > 0)
        n = dwarf_getscopes_die(&inner[0], scopes);
    free(inner);
    return n;
}

/* All frames that live at one address: inlined ones first. */
static int name_address(Dwfl *dwfl, Dwarf_Addr pc, struct fl_frame *out,
                        int room)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
    if (!module)
        return set(out, NULL, NULL, 0), 1;
    int line = 0, n = 0;
    Dwfl_Line *l = dwfl_module_getsrc(module, pc);
    const char *file = l ? dwfl_lineinfo(l, NULL, &line, NULL, NULL, NULL)
                         : NULL;
    Dwarf_Addr bias;
    Dwarf_Die *cu = dwfl_module_addrdie(module, pc, &bias), *scopes = NULL;
    int n_scopes = cu ? scopes_at(cu, pc - bias, &scopes) : 0;
    for (int i = 0; i < n_scopes && n < room; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            set(&out[n++], dwarf_diename(&scopes[i]), file, line);
        if (tag == DW_TAG_subprogram)
            break;
        if (tag == DW_TAG_inlined_subroutine)
            call_site(cu, &scopes[i], &file, &line);
    }
    free(scopes);
    if (n == 0)
        set(&out[n++], dwfl_module_addrname(module, pc), file, line);
    return n;
}

int fl_name_frames(void *const *addresses, int n, struct fl_frame *out)
{
    static Dwfl *dwfl;          /* kept: opening it is the slow part */
    if (!dwfl && !(dwfl = open_self()))
        return 0;
    int named = 0;
    /* A return address is one past the call. */
    for (int i = 0; i < n && named < FL_MAX_NAMED; i++)
        named += name_address(dwfl, (Dwarf_Addr)(uintptr_t)addresses[i] - 1,
                              &out[named], FL_MAX_NAMED - named);
    return named;
}

int fl_frame_distance(const struct fl_frame *a, int n_a,
                      const struct fl_frame *b, int n_b)
{
    int shared = 0;
    while (shared < n_a && shared < n_b) {
        const struct fl_frame *x = &a[n_a - 1 - shared];
        const struct fl_frame *y = &b[n_b - 1 - shared];
        if (strcmp(x->function, y->function) || strcmp(x->file, y->file))
            break;
        shared++;
        if (x->line != y->line)
            break;
    }
    return n_a + n_b - 2 * shared;
}
