/* What the PTX parser produces and the decoder consumes.
 *
 * The tree keeps names only where something outside the module asks for them
 * (entries, globals, callees); inside a function every register, label and
 * variable is already an index. All memory belongs to the module's arena and
 * dies with ptx_module_free().
 *
 * Rules quoted as "PTX n" are sections of NVIDIA's PTX ISA document.
 */
#ifndef SIMGPU_PTX_AST_H
#define SIMGPU_PTX_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fundamental types, PTX 5.2. Order is the table's in types.def. */
enum ptx_type {
#define PTX_TYPE(name, text, bytes) PTX_##name,
#include "types.def"
#undef PTX_TYPE
    PTX_TYPE_COUNT
};

enum ptx_space {
    PTX_SPACE_NONE, /* register, or a generic address */
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED,
};

/* One X-macro row an opcode (opcodes.def). */
enum ptx_opcode {
#define PTX_OP(name, ...) PTX_OP_##name,
#include "opcodes.def"
#undef PTX_OP
    PTX_OP_COUNT
};

/* Every dotted word after an opcode that is neither a type nor a state space:
 * .lo, .wide, .rn, .sat, .sync, .acquire, .uni, ... (modifiers.def). */
enum ptx_mod {
#define PTX_MOD(name, text) PTX_MOD_##name,
#include "modifiers.def"
#undef PTX_MOD
    PTX_MOD_COUNT
};

enum ptx_sreg { /* special registers, PTX 10 (sregs.def) */
#define PTX_SREG(name, text, type) PTX_SREG_##name,
#include "sregs.def"
#undef PTX_SREG
    PTX_SREG_COUNT
};

enum ptx_operand_kind {
    PTX_OPND_NONE,
    PTX_OPND_REG,    /* reg */
    PTX_OPND_INT,    /* imm.i: decimal, hex, octal, binary; sign applied */
    PTX_OPND_F32,    /* imm.f32 bits in the low half of imm.i: 0fXXXXXXXX */
    PTX_OPND_F64,    /* imm.f64 bits in imm.i: 0dX.. and decimal literals */
    PTX_OPND_SREG,   /* sreg, with component in reg field of the enum itself */
    PTX_OPND_VAR,    /* address of a variable, plus offset: var, imm.i */
    PTX_OPND_FUNC,   /* a function's name: func (call target, or its address) */
    PTX_OPND_LABEL,  /* label: index into ptx_func.labels */
    PTX_OPND_MEM,    /* [reg+imm], [var+imm] or [imm]: base says which */
    PTX_OPND_VEC,    /* {a, b, c, d}: first, count index ptx_func.vec */
    PTX_OPND_SINK,   /* _ */
    PTX_OPND_PROTO,  /* .callprototype or .branchtargets/.calltargets label */
};

/* Where a variable or register index points. */
enum ptx_scope { PTX_SCOPE_MODULE, PTX_SCOPE_FUNC };

struct ptx_operand {
    uint8_t kind;      /* enum ptx_operand_kind */
    uint8_t base_kind; /* of MEM: REG, VAR or INT */
    uint8_t scope;     /* of VAR (and of MEM with a VAR base) */
    bool negated;      /* !%p */
    int32_t index;     /* register, variable, function, label, sreg or first
                          of the vector's operands in ptx_func.vec */
    int32_t pair;      /* register after '|' (setp p|q, shfl d|p), else -1 */
    int32_t count;     /* vector length */
    int64_t imm;       /* value, float bits, or offset of VAR/MEM */
};

#define PTX_MAX_OPERANDS 8
#define PTX_MAX_MODS 12
#define PTX_MAX_TYPES 4

struct ptx_instr {
    uint16_t opcode;               /* enum ptx_opcode */
    uint8_t n_mods, n_types, n_operands;
    uint8_t space;                 /* enum ptx_space, of ld/st/atom/cvta/... */
    uint8_t space2;                /* the second one of cp.async: the source */
    bool pred_negated;
    int32_t pred;                  /* guard predicate's register, or -1 */
    uint8_t mods[PTX_MAX_MODS];    /* enum ptx_mod, in order of writing */
    uint8_t types[PTX_MAX_TYPES];  /* enum ptx_type, in order of writing */
    uint8_t vec;                   /* 0, 2, 4 or 8 for .v2 .v4 .v8 */
    struct ptx_operand operands[PTX_MAX_OPERANDS];
    /* call only: operands[0] is the target; the rest is here. Indices of
     * .param variables or registers: return values, then arguments, in
     * ptx_func.vec. proto is the .callprototype's index for indirect calls. */
    int32_t call_ret_first, call_ret_count;
    int32_t call_arg_first, call_arg_count;
    int32_t proto;                 /* index into ptx_func.protos, or -1 */
    uint32_t text_line;            /* line in the PTX text, from 1 */
    int32_t loc;                   /* index into ptx_module.locs, or -1 */
    const char *text;              /* opcode with its suffixes as written */
};

/* One .loc: a source line and, for inlined code, where it was inlined. */
struct ptx_loc {
    uint32_t file;        /* .file number, index into ptx_module.files by
                             ptx_module_file() */
    uint32_t line, column;
    const char *function; /* inlined function's name, or NULL */
    int32_t inlined_at;   /* index of the caller's loc, or -1 */
};

struct ptx_var {
    const char *name;
    uint8_t space;       /* enum ptx_space */
    uint8_t type;        /* enum ptx_type of one element */
    bool is_extern, is_visible, is_weak, is_managed;
    bool is_pointer_param; /* .param declared with .ptr */
    uint32_t align;      /* bytes, at least the type's size */
    uint64_t size;       /* bytes; 0 for an unsized extern array */
    const uint8_t *init; /* size bytes, or NULL for zero */
    struct ptx_fixup *fixups; /* addresses to add into init */
    uint32_t n_fixups;
    uint32_t vec;        /* vector length of an element, 1 if none */
};

/* `.global .u64 p = other+8;`: add the address of a symbol at load. */
struct ptx_fixup {
    uint64_t offset;     /* bytes from the start of the variable */
    uint32_t bytes;      /* 4 or 8 */
    const char *symbol;  /* variable or function of the module */
    int64_t addend;
    bool generic;        /* generic(sym): convert to a generic address */
};

struct ptx_reg {
    const char *name; /* "%r12" */
    uint8_t type;     /* enum ptx_type */
};

/* Signature: parameters are indices into ptx_func.vars (space PARAM). */
struct ptx_proto {
    const char *name;
    uint32_t n_rets, n_args;
    const struct ptx_var *rets, *args; /* only type, size and align matter */
    bool noreturn;
};

struct ptx_func {
    const char *name;
    bool is_entry, is_extern, is_visible, is_weak, noreturn;
    bool has_body;
    int32_t ret_first, ret_count;   /* vars: return parameters */
    int32_t arg_first, arg_count;   /* vars: parameters */
    /* Only registers that some instruction names: .reg .b32 %r<99> gives
     * none by itself. A name may occur twice (nested blocks). */
    struct ptx_reg *regs;      uint32_t n_regs;
    struct ptx_var *vars;      uint32_t n_vars;   /* .param, .local, .shared */
    struct ptx_instr *instrs;  uint32_t n_instrs;
    struct ptx_operand *vec;   uint32_t n_vec;    /* pool: vectors, call lists */
    uint32_t *labels;          uint32_t n_labels; /* label -> instr index, may
                                                     equal n_instrs */
    const char **label_names;
    struct ptx_proto *protos;  uint32_t n_protos;
    struct ptx_table { const char *name; uint32_t *labels; uint32_t n; }
        *tables;               uint32_t n_tables; /* .branchtargets */
    uint32_t maxntid[3];       /* 0: not given */
    uint32_t reqntid[3], minnctapersm, maxnreg;
    uint32_t cluster[3];                           /* .reqnctapercluster */
    uint32_t text_line;
};

struct ptx_module {
    uint32_t version_major, version_minor; /* .version */
    uint32_t sm;                           /* .target sm_NN */
    uint32_t address_size;                 /* 64 */
    struct ptx_func *funcs; uint32_t n_funcs;
    struct ptx_var *vars;   uint32_t n_vars;
    struct ptx_loc *locs;   uint32_t n_locs;
    struct ptx_file { uint32_t number; const char *path; } *files;
    uint32_t n_files;
    void *arena;
};

/* A message for people: "NAME:LINE: what is wrong", one line, no newline. */
struct ptx_error {
    char text[256];
    uint32_t line; /* in the PTX text */
};

/* Parses and checks one module. `text` need not end in NUL and is not kept.
 * `name` is used in messages. Returns NULL and fills *err on bad input; never
 * crashes on any bytes. Unknown opcodes and modifiers are *not* errors here:
 * they become PTX_OP_unsupported instructions (operand text is skipped), so
 * that other kernels of the module still run; the decoder reports them when
 * the kernel that holds them is first launched. */
struct ptx_module *ptx_parse(const char *text, size_t len, const char *name,
                             struct ptx_error *err);
void ptx_module_free(struct ptx_module *m);

/* Moves everything of `from` into `into`, which then knows what either of
 * them defined. `from` must not be used afterwards, and not freed before
 * `into` is. False: no memory. */
bool ptx_link(struct ptx_module *into, struct ptx_module *from);

/* Path of a .file number, or NULL. */
const char *ptx_module_file(const struct ptx_module *m, uint32_t number);

/* Find by name; NULL/-1 if absent. */
int32_t ptx_find_func(const struct ptx_module *m, const char *name);
int32_t ptx_find_var(const struct ptx_module *m, const char *name);

/* Names for messages: opcode with its suffixes as in the text ("add.s32"),
 * cut to n - 1 bytes. Returns buf. */
char *ptx_instr_text(const struct ptx_module *m, const struct ptx_instr *in,
                     char *buf, size_t n);

#endif
