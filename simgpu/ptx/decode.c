/* One entry and what it calls, decoded to a program: the frame of the work and
 * its messages. decode_frame.c lays out, decode_operand.c and decode_call.c
 * resolve operands, the select functions (opcodes.def) pick handlers. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/decode.h"

/* ---- messages --------------------------------------------------------------- */

static bool fail(struct decoder *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(struct decoder *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(d->err->text, sizeof d->err->text, format, args);
    va_end(args);
    return false;
}

bool decode_no_memory(struct decoder *d) {
    return fail(d, "kernel %.120s: no memory to decode it", d->program->name);
}

bool decode_too_large(struct decoder *d) {
    return fail(d, "kernel %.120s: variables of more than %u MiB",
                d->program->name, WINDOW_BYTES >> 20);
}

bool decode_unsupported(struct decoder *d, const char *what) {
    const struct ptx_instr *in = &d->f->ast->instrs[d->ast];
    char text[96], where[120] = "";
    if (!what) what = ptx_instr_text(d->module, in, text, sizeof text);
    if (in->loc >= 0) {
        const struct ptx_loc *loc = &d->module->locs[in->loc];
        const char *file = ptx_module_file(d->module, loc->file);
        size_t n = file ? strlen(file) : 0;
        /* Long paths lose their beginning, not the file's name. */
        if (n) snprintf(where, sizeof where, "%s%s:%u: ", n > 90 ? "..." : "",
                        n > 90 ? file + n - 90 : file, loc->line);
    }
    d->err->line = in->text_line;
    return fail(d, "%skernel %.60s: unsupported PTX: %.80s (ptx line %u)",
                where, d->program->name, what, in->text_line);
}

/* ---- emission ----------------------------------------------------------------- */

struct insn *decode_emit(struct decoder *d) {
    struct program *p = d->program;
    if (p->n_code == d->code_cap) {
        uint32_t cap = d->code_cap ? 2 * d->code_cap : 256;
        struct insn *code = aligned_alloc(64, cap * sizeof *code);
        struct insn_info *info = realloc(p->info, cap * sizeof *info);
        if (info) p->info = info;
        if (!code || !info) {
            free(code);
            decode_no_memory(d);
            return NULL;
        }
        if (p->n_code) memcpy(code, p->code, p->n_code * sizeof *code);
        free(p->code);
        p->code = code;
        d->code_cap = cap;
    }
    p->info[p->n_code] = (struct insn_info){
        (uint32_t)d->f->index, d->ast, d->f->ast->instrs[d->ast].loc};
    return &p->code[p->n_code++];
}

static const char *shape_of(uint16_t opcode) {
    static const char *const shapes[PTX_OP_COUNT] = {
#define PTX_OP(name, text, shape, select) [PTX_OP_##name] = shape,
#include "ptx/opcodes.def"
#undef PTX_OP
    };
    return shapes[opcode];
}

static bool emit_instr(struct decoder *d, const struct ptx_instr *in) {
    const char *shape = shape_of(in->opcode);
    struct insn out = {
        .dst = SLOT_NONE, .dst2 = SLOT_NONE, .pred = SLOT_NONE, .vec = 1,
        .src = {SLOT_NONE, SLOT_NONE, SLOT_NONE, SLOT_NONE},
        .space = in->space,
    };
    if (in->space == PTX_SPACE_PARAM && !d->f->ast->is_entry)
        out.space = PTX_SPACE_LOCAL;
    if (in->opcode == PTX_OP_unsupported) return decode_unsupported(d, NULL);
    if (!strcmp(shape, "x") ? !decode_special(d, in, &out)
                            : !decode_shape(d, shape, in, &out))
        return false;
    if (in->opcode == PTX_OP_ret) out.imm = d->f->ast->is_entry;
    if (in->pred >= 0) {
        out.pred = d->f->regs[in->pred];
        out.pred_flip = in->pred_negated ? FULL_MASK : 0;
    }
    out.fn = exec_selects()[in->opcode](d->module, in, &out);
    if (!out.fn) return decode_unsupported(d, NULL);
    struct insn *at = decode_emit(d);
    if (at) *at = out;
    return at != NULL;
}

/* Control that runs off the end returns (PTX 9.7.12.5: an implicit ret). */
static bool emit_end(struct decoder *d) {
    const struct ptx_func *f = d->f->ast;
    struct ptx_instr ret = {.opcode = PTX_OP_ret, .pred = -1, .loc = -1};
    if (f->n_instrs == 0) return fail(d, "kernel %.120s: function %.100s is "
                                      "empty", d->program->name, f->name);
    d->ast = f->n_instrs - 1;
    return emit_instr(d, &ret);
}

/* Branches hold labels until the whole function has its pcs. */
static void resolve_labels(struct decoder *d) {
    struct decode_func *df = d->f;
    const struct ptx_func *f = df->ast;
    for (uint32_t i = 0; i < f->n_instrs; i++) {
        struct insn *in = &d->program->code[df->pc_of[i + 1] - 1];
        if (f->instrs[i].opcode == PTX_OP_bra) {
            in->imm = df->pc_of[f->labels[in->imm]];
        } else if (f->instrs[i].opcode == PTX_OP_brx) {
            struct insn_table *t = (struct insn_table *)in->ext;
            for (uint32_t k = 0; k < t->n; k++)
                t->pc[k] = df->pc_of[f->labels[t->pc[k]]];
        }
    }
}

static bool emit_func(struct decoder *d, int32_t index) {
    struct decode_func *df = d->f = &d->funcs[index];
    const struct ptx_func *f = df->ast;
    uint32_t start = d->program->n_code;
    df->pc_of = arena_array(d->arena, f->n_instrs + 1, sizeof(uint32_t));
    if (!df->pc_of) return decode_no_memory(d);
    for (d->ast = 0; d->ast < f->n_instrs; d->ast++) {
        df->pc_of[d->ast] = d->program->n_code;
        if (!emit_instr(d, &f->instrs[d->ast])) return false;
    }
    df->pc_of[f->n_instrs] = d->program->n_code;
    resolve_labels(d);
    if (!emit_end(d)) return false;
    d->program->funcs[index].pc = start;
    d->program->funcs[index].frame_bytes = (df->frame + 63u) & ~63u;
    return true;
}

static bool emit_all(struct decoder *d, int32_t entry) {
    for (uint32_t i = 0; i < d->module->n_funcs; i++)
        d->program->funcs[i].pc = UINT32_MAX;
    if (!emit_func(d, entry)) return false; /* the entry is at pc 0 */
    for (uint32_t i = 0; i < d->module->n_funcs; i++) {
        if (!d->funcs[i].ast || (int32_t)i == entry) continue;
        uint32_t before = d->program->n_code;
        if (emit_func(d, (int32_t)i)) continue;
        if (!d->soft[i]) return false;
        d->program->n_code = before;
    }
    return true;
}

/* ---- the program ---------------------------------------------------------------- */

static uint32_t max_threads(const struct ptx_func *f) {
    const uint32_t *n = f->reqntid[0] ? f->reqntid : f->maxntid;
    uint32_t total = n[0];
    if (n[0] && n[1]) total *= n[1];
    if (n[0] && n[2]) total *= n[2];
    return total;
}

static bool decode(struct decoder *d, int32_t entry) {
    struct program *p = d->program;
    const struct ptx_func *f = &d->module->funcs[entry];
    d->f = &d->funcs[entry];
    if (!emit_all(d, entry) || !decode_depth(d, entry)) return false;
    p->maxntid = max_threads(f);
    p->regs_per_thread = decode_registers(f, p->maxntid);
    return true;
}

struct program *program_decode(const struct ptx_module *m, const char *name,
                               exec_symbol_fn symbol, void *ctx,
                               struct ptx_error *err) {
    struct ptx_error ignored;
    struct decoder d = {.module = m, .symbol = symbol, .symbol_ctx = ctx,
                        .err = err ? err : &ignored};
    *d.err = (struct ptx_error){.line = 0};
    struct program *p = d.program = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->module = m;
    p->name = name;
    p->arena = d.arena = arena_create();
    int32_t entry = ptx_find_func(m, name);
    bool ok;
    if (!d.arena)
        ok = decode_no_memory(&d);
    else if (entry < 0 || !m->funcs[entry].is_entry ||
             !m->funcs[entry].has_body)
        ok = fail(&d, "kernel %.120s: not in the module", name);
    else
        ok = (p->name = m->funcs[entry].name, decode_collect(&d, entry)) &&
             decode(&d, entry);
    if (ok) return p;
    program_free(p);
    return NULL;
}

void program_free(struct program *p) {
    if (!p) return;
    free(p->code);
    free(p->info);
    free(p->consts);
    arena_destroy(p->arena);
    free(p);
}
