/* Inside the decoder: what its files share (decode.c, decode_operand.c,
 * decode_call.c, decode_frame.c). Nobody else includes this.
 *
 * One decode makes one program: it collects the functions that the entry can
 * reach, lays out what each needs (frame of register rows, local memory,
 * shared memory), then emits the instructions of each in turn. */
#ifndef SIMGPU_PTX_DECODE_H
#define SIMGPU_PTX_DECODE_H

#include "ptx/ast_arena.h"
#include "ptx/exec.h"
#include "ptx/frame.h"

/* A function while it is decoded. */
struct decode_func {
    const struct ptx_func *ast;
    int32_t index;         /* in module->funcs */
    slot_t *regs;          /* register -> frame slot */
    uint32_t *var_offset;  /* variable -> offset in local memory, shared
                              memory (static) or the parameters */
    uint32_t frame;        /* bytes so far; temporaries are added at the end */
    uint32_t *pc_of;       /* instruction -> pc, n_instrs + 1 of them */
};

struct const_key {
    uint64_t value;
    uint32_t bytes, offset; /* bytes 0: free place */
};

struct decoder {
    const struct ptx_module *module;
    struct program *program;
    struct arena *arena;
    exec_symbol_fn symbol;
    void *symbol_ctx;
    struct ptx_error *err;

    struct decode_func *funcs;   /* one a function of the module; ast NULL:
                                    not reached */
    bool *soft;                  /* function -> reached by address only */
    bool *addressed;             /* function -> its address is taken */
    uint32_t *span_first, *span_last; /* variable -> instructions, while one
                                    function is laid out */
    uint32_t *shared_offset;     /* module variable -> offset, UINT32_MAX not
                                    used, DECODE_DYNAMIC: dynamic part */
    uint32_t dynamic_at;         /* where dynamic shared memory starts; while
                                    collecting, its alignment, 0 without */
    uint32_t local_align;
    bool too_large;              /* some variable does not fit its space */
    bool indirect;               /* some reached function calls an address */

    uint32_t code_cap;
    size_t consts_cap;
    struct const_key *const_hash; /* rows by value and width, open addressing */
    uint32_t hash_size, hash_used;

    struct decode_func *f;       /* the one being emitted */
    uint32_t ast;                /* its instruction */
};

#define DECODE_DYNAMIC 0xfffffffeu

/* All return false with d->err filled. */

/* What is not supported, at the current instruction; `what` NULL: its text. */
bool decode_unsupported(struct decoder *d, const char *what);
bool decode_no_memory(struct decoder *d);
bool decode_too_large(struct decoder *d);

/* The function a call means: the body, when there is one by that name besides
 * a declaration. */
int32_t decode_callee(const struct ptx_module *m, int32_t func);

/* decode_frame.c: collects the closure and lays everything out. */
bool decode_collect(struct decoder *d, int32_t entry);
bool decode_depth(struct decoder *d, int32_t entry);

/* decode_const.c: bytes of a type's value in memory (0: predicate), and of an
 * element of its row (1: predicate; 8-bit values live in 16-bit rows). */
unsigned decode_element_bytes(enum ptx_type t);
unsigned decode_row_bytes(enum ptx_type t);
/* The bits of a literal as a value of the type. */
uint64_t decode_literal(const struct ptx_operand *o, enum ptx_type t);
/* A constant row of `bytes` wide elements (1: predicate). */
bool decode_const(struct decoder *d, uint64_t value, unsigned bytes,
                  slot_t *slot);

/* decode_operand.c: a new row in the frame of the current function. */
slot_t decode_temp(struct decoder *d, unsigned bytes);
unsigned decode_reg_bytes(const struct ptx_func *f, int32_t reg);
/* A value of the type, or with a type of NONE any register. `width` may be
 * NULL. May emit instructions before the current one. */
bool decode_source(struct decoder *d, const struct ptx_operand *o,
                   enum ptx_type type, slot_t *slot, uint8_t *width);
bool decode_dest(struct decoder *d, const struct ptx_operand *o, slot_t *slot,
                 slot_t *pair, uint8_t *width);
/* Everything a shape describes. */
bool decode_shape(struct decoder *d, const char *shape,
                  const struct ptx_instr *in, struct insn *out);

/* decode_call.c: shapes "x". */
bool decode_special(struct decoder *d, const struct ptx_instr *in,
                    struct insn *out);

/* decode.c: appends an instruction; NULL when there is no memory. */
struct insn *decode_emit(struct decoder *d);

/* decode_regs.c: registers a thread needs; `maxntid` 0 when not bounded. */
uint32_t decode_registers(const struct ptx_func *f, uint32_t maxntid);

/* prelude.c: instructions that the decoder puts before others. */
exec_fn prelude_not_pred(void);    /* dst = !src[0] */
exec_fn prelude_local_addr(unsigned bytes); /* dst = local base + imm */
exec_fn prelude_address(unsigned bytes); /* dst = src[0] + imm, 64 bits */
exec_fn prelude_sreg(enum ptx_sreg r); /* dst = a register that changes */

#endif
