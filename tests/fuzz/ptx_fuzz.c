/* Any text through parser, checker and decoder: no crash, no leak, and what
 * the parser lets through holds what ast.h promises. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ptx/ast.h"
#include "ptx/exec.h"

#define CHECK(x) ((x) ? (void)0 : broken(#x))
static void broken(const char *what)
{
    fprintf(stderr, "promise broken: %s\n", what);
    abort();
}

static void check_operand(const struct ptx_module *m, const struct ptx_func *f,
                          const struct ptx_operand *o, unsigned depth)
{
    int kind = o->kind == PTX_OPND_MEM ? o->base_kind : o->kind;
    uint32_t i = (uint32_t)o->index;
    CHECK(o->pair < 0 || (uint32_t)o->pair < f->n_regs);
    switch (kind) {
    case PTX_OPND_REG: CHECK(i < f->n_regs); break;
    case PTX_OPND_SREG: CHECK(i < PTX_SREG_COUNT); break;
    case PTX_OPND_FUNC: CHECK(i < m->n_funcs); break;
    case PTX_OPND_LABEL: CHECK(i < f->n_labels); break;
    case PTX_OPND_VAR:
        CHECK(i < (o->scope == PTX_SCOPE_FUNC ? f->n_vars : m->n_vars));
        break;
    case PTX_OPND_PROTO: CHECK(i < f->n_protos || i < f->n_tables); break;
    case PTX_OPND_VEC:
        CHECK(depth == 0 && o->count > 0);
        CHECK(i <= f->n_vec && (uint32_t)o->count <= f->n_vec - i);
        for (int32_t k = 0; k < o->count; k++)
            check_operand(m, f, &f->vec[i + (uint32_t)k], 1);
        break;
    default: break;
    }
}

static void check_list(const struct ptx_module *m, const struct ptx_func *f,
                       int32_t first, int32_t count)
{
    CHECK(first >= 0 && count >= 0);
    CHECK((uint32_t)first <= f->n_vec &&
          (uint32_t)count <= f->n_vec - (uint32_t)first);
    for (int32_t k = 0; k < count; k++)
        check_operand(m, f, &f->vec[first + k], 1);
}

static void check_func(const struct ptx_module *m, const struct ptx_func *f)
{
    char text[40];
    CHECK(ptx_find_func(m, f->name) == f - m->funcs);
    CHECK((uint32_t)(f->ret_count + f->arg_count) <= f->n_vars);
    for (uint32_t i = 0; i < f->n_labels; i++) CHECK(f->labels[i] <= f->n_instrs);
    for (uint32_t i = 0; i < f->n_tables; i++)
        for (uint32_t k = 0; k < f->tables[i].n; k++)
            CHECK(f->tables[i].labels[k] < f->n_labels);
    for (uint32_t i = 0; i < f->n_instrs; i++) {
        const struct ptx_instr *in = &f->instrs[i];
        CHECK(in->opcode < PTX_OP_COUNT && in->n_operands <= PTX_MAX_OPERANDS);
        CHECK(in->pred < 0 || f->regs[in->pred].type == PTX_PRED);
        CHECK(in->loc < 0 || (uint32_t)in->loc < m->n_locs);
        CHECK(in->proto < 0 || (uint32_t)in->proto < f->n_protos);
        CHECK(strlen(ptx_instr_text(m, in, text, sizeof text)) < sizeof text);
        for (unsigned k = 0; k < in->n_operands; k++)
            check_operand(m, f, &in->operands[k], 0);
        check_list(m, f, in->call_ret_first, in->call_ret_count);
        check_list(m, f, in->call_arg_first, in->call_arg_count);
    }
}

static void check_module(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->n_funcs; i++) check_func(m, &m->funcs[i]);
    for (uint32_t i = 0; i < m->n_locs; i++) {
        const struct ptx_loc *l = &m->locs[i];
        CHECK(l->inlined_at < (int32_t)i); /* a chain that ends */
        CHECK(!l->function || strlen(l->function) < (size_t)1 << 30);
        ptx_module_file(m, l->file);
    }
    for (uint32_t i = 0; i < m->n_vars; i++) {
        const struct ptx_var *v = &m->vars[i];
        CHECK(ptx_find_var(m, v->name) == (int32_t)i);
        for (uint32_t k = 0; k < v->n_fixups; k++)
            CHECK(v->init && v->fixups[k].bytes <= v->size &&
                  v->fixups[k].offset <= v->size - v->fixups[k].bytes);
    }
}

static bool symbol(void *ctx, const char *name, uint64_t *address)
{
    (void)ctx;
    (void)name;
    *address = 0x700000000000;
    return true;
}

/* Every entry either becomes a program or the message says why not. */
static void decode_all(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->n_funcs; i++) {
        struct ptx_error err = { 0 };
        const struct ptx_func *f = &m->funcs[i];
        if (!f->is_entry || !f->has_body) continue;
        struct program *p = program_decode(m, f->name, symbol, NULL, &err);
        CHECK(p || *err.text);
        if (p) program_free(p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_error err = { 0 };
    struct ptx_module *m = ptx_parse((const char *)data, size, "fuzz", &err);
    if (m) {
        check_module(m);
        decode_all(m);
    } else {
        CHECK(*err.text && !strchr(err.text, '\n'));
    }
    ptx_module_free(m);
    return 0;
}

/* nvcc's line information is complete: every file has a path, every inlined
 * place the name of its function. */
static bool locs_are_complete(const char *name, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->n_locs; i++) {
        const struct ptx_loc *l = &m->locs[i];
        if (ptx_module_file(m, l->file) &&
            (l->inlined_at < 0 || (l->function && *l->function)))
            continue;
        fprintf(stderr, "%s: .loc %u %u %u: file or function is missing\n",
                name, l->file, l->line, l->column);
        return false;
    }
    return true;
}

bool fuzz_seed_is_good(const char *name, const uint8_t *data, size_t size)
{
    struct ptx_error err = { 0 };
    struct ptx_module *m = ptx_parse((const char *)data, size, name, &err);
    if (!m) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    bool good = locs_are_complete(name, m);
    for (uint32_t i = 0; i < m->n_funcs; i++)
        for (uint32_t k = 0; k < m->funcs[i].n_instrs; k++) {
            const struct ptx_instr *in = &m->funcs[i].instrs[k];
            if (in->opcode != PTX_OP_unsupported) continue;
            fprintf(stderr, "%s:%u: not understood: %s\n", name, in->text_line,
                    in->text);
            good = false;
        }
    ptx_module_free(m);
    return good;
}

const char *const fuzz_words[] = {
    "{", "}", "[", "]", "(", ")", ";", ",", "|", "!", "@", "_", ":", "-", "+",
    "~", "<", ">", "=", "\"", "//", "/*", "*/", "\n", "0", "1", "-1", "7",
    "255", "65536", "4294967295", "4294967296", "18446744073709551615",
    "0f7FC00000", "0d7FF8000000000000", "1.5", "0x", ".reg .b32 %r<9>;",
    ".reg .pred p;", ".param .b32 param0;", ".param .align 8 .b8 q[16];",
    ".shared .b8 s[4];", ".local .align 16 .b8 l[64];", ".pred", ".b8", ".b16",
    ".b64", ".b128", ".f16", ".f32", ".f64", ".s16", ".u64", ".v2", ".v4",
    ".global", ".shared", ".local", ".const", ".param", ".volatile", ".wide",
    ".hi", ".sat", ".ftz", ".rn", ".uni", ".sync", ".cas", ".add", ".eq",
    "add", "mov", "ld", "st", "cvt", "setp", "atom", "bra", "call", "ret",
    "bar.sync", "shfl", "vote", "brx.idx", "cp.async", "%tid.x", "%r1", "%rd1",
    "%f1", "%p1", "%fd1", "%rs1", "WARP_SZ", "vprintf", "__assertfail",
    ".branchtargets", ".callprototype", ".calltargets", ".loc 1 2 3",
    "function_name", "inlined_at 1 2 3", ".entry k()", ".func f()", ".align",
    ".extern", ".visible", ".weak", "generic(", "0xFF(", ".maxntid 1,2,3",
    ".section .debug_str {", ".alias", ".attribute(.managed)", ".noreturn",
    NULL,
};
