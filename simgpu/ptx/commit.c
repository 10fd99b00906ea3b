/* Committing a fault: the record of what a lane did wrong, with everything
 * that is known where it happens. */
#include <stdio.h>
#include <string.h>

#include "ptx/warp.h"

static void copy(char *to, size_t n, const char *from) {
    snprintf(to, n, "%s", from ? from : "");
}

/* The source lines of an instruction, innermost first: inlined functions carry
 * the place they were inlined at (PTX 11.5.3). */
static void source_frames(const struct program *p, const struct insn_info *at,
                          struct fault *f) {
    const struct ptx_module *m = p->module;
    const char *function = m->funcs[at->func].name;
    for (int32_t i = at->loc; i >= 0 && f->n_frames < FAULT_MAX_INLINE;) {
        const struct ptx_loc *loc = &m->locs[i];
        struct fault_frame *frame = &f->frames[f->n_frames++];
        copy(frame->function, sizeof frame->function,
             loc->function ? loc->function : function);
        copy(frame->file, sizeof frame->file, ptx_module_file(m, loc->file));
        frame->line = loc->line;
        i = loc->inlined_at;
    }
}

static void nearest(struct memory *m, struct fault *f) {
    struct allocation a;
    int64_t distance;
    if (!m || !f->bytes || !memory_nearest(m, f->address, &a, &distance))
        return;
    f->near_address = a.address;
    f->near_size = a.size;
    f->near_serial = a.serial;
    f->near_distance = distance;
    f->near_freed = !a.live;
}

void fault_place(const struct warp *w, const struct insn *in, uint32_t lane,
                 struct fault *f) {
    const struct exec_launch *l = w->block->launch;
    const struct program *p = l->program;
    const struct insn_info *at = &p->info[in - p->code];
    const struct ptx_instr *ast = &p->module->funcs[at->func].instrs[at->ast];
    uint32_t thread = w->index * LANES + lane;
    *f = (struct fault){
        .pc = (uint32_t)(in - p->code),
        .ptx_line = ast->text_line,
        .block = {w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2]},
        .thread = {thread % l->block[0], thread / l->block[0] % l->block[1],
                   thread / l->block[0] / l->block[1]},
        .launch = l->number,
        .lanes = 1,
    };
    copy(f->kernel, sizeof f->kernel, p->name);
    ptx_instr_text(p->module, ast, f->instruction, sizeof f->instruction);
    source_frames(p, at, f);
    f->time_ns = l->services->globaltimer(l->services->ctx);
}

enum exec_result exec_fault(struct warp *w, const struct insn *in,
                            enum fault_kind kind, uint32_t lanes,
                            uint64_t address, uint32_t bytes, bool is_write) {
    struct block *b = w->block;
    struct fault *f = &b->fault;
    if (b->faulted) return EXEC_FAULT;
    fault_place(w, in, (uint32_t)__builtin_ctz(lanes), f);
    f->kind = kind;
    f->address = address;
    f->bytes = bytes;
    f->is_write = is_write;
    f->lanes = (uint32_t)__builtin_popcount(lanes);
    nearest(b->launch->services->memory, f);
    b->faulted = true;
    return EXEC_FAULT;
}
