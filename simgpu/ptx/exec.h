/* The decoded form of a kernel and the state of what runs it.
 *
 * A *program* is one entry with every function it can call, decoded once to a
 * dense array of instructions whose operands are resolved slots. A *warp* is
 * 32 lanes; its registers are rows of 32 values ("structure of arrays"), so a
 * handler is one loop over a row, which the compiler turns into vector code.
 * A *fragment* is the set of lanes of a warp that stand at one pc in one
 * frame: a converged warp has one, a divergent one several; of the runnable
 * ones the deepest frame and then the lowest pc runs (so that they meet again
 * where the compiler joined them), until it has used its turn (so that every
 * thread makes progress, PTX 3.1 "independent thread scheduling").
 */
#ifndef SIMGPU_PTX_EXEC_H
#define SIMGPU_PTX_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fault.h"
#include "core/memory.h"
#include "ptx/ast.h"

#define LANES 32
#define FULL_MASK 0xffffffffu

/* ---- operands ---------------------------------------------------------- */

/* A slot is a byte offset with the base it counts from in the low two bits.
 * Rows: 32 x u32 (b32, f32: 128 bytes), 32 x u64 (256 bytes), 32 x u16 for
 * b8 and b16 (64 bytes), each aligned to 64 bytes; a predicate is one u32 with
 * a bit a lane, aligned to 4. */
typedef uint32_t slot_t;
enum slot_base {
    SLOT_FRAME,   /* registers of the running function, relative to its frame */
    SLOT_CONST,   /* immediates, one filled row each, per program */
    SLOT_UNIFORM, /* special registers equal in a block: ntid, ctaid, laneid */
    SLOT_WARP,    /* special registers of a warp: tid, warpid */
};
#define SLOT_NONE 0xffffffffu

struct warp;
struct insn;

/* What a handler tells the loop. */
enum exec_result {
    EXEC_NEXT,    /* go on with the instruction at w->pc */
    EXEC_SWITCH,  /* fragments changed (split, exit, block): choose again */
    EXEC_FAULT,   /* w->block->fault is filled; the block is over */
};

/* Executes one instruction for the lanes of `mask` (never 0: a guard
 * predicate has been applied). w->pc already stands at the next one. */
typedef enum exec_result (*exec_fn)(struct warp *w, const struct insn *in,
                                    uint32_t mask);

/* How operands arrive in an instruction, by kind (decode_operand.c):
 *   register            its row; the width is the register's own, which ld, st
 *                       and cvt allow to be wider than the type (PTX 9.4.1)
 *   immediate           a filled SLOT_CONST row of the width of the type that
 *                       the shape letter names; 0xffffffff or 0 for a
 *                       predicate; a literal of the other float width converted
 *   special register    a SLOT_UNIFORM or SLOT_WARP row; the changing ones
 *                       (clock, globaltimer) are read into a frame row by an
 *                       instruction put before this one
 *   variable's address  .global, .const: a const row, the device address;
 *                       .shared, kernel .param: a const row, the offset in the
 *                       block's shared memory, in the launch's parameters;
 *                       .local, .param of a function: a frame row, the offset
 *                       in the thread's local memory
 *   function's address  a const row, exec_func_address()
 *   [memory operand]    src = row of the base (src_bytes 4 or 8), or SLOT_NONE,
 *                       and imm: address is row + imm, or imm alone; a second
 *                       one in an instruction is a row of full addresses
 *   {vector}            dst or src is element 0's slot, and ext points at two
 *                       struct insn_vec, of the destination and of the source
 *   !p                  a frame row, negated by an instruction put before
 *   _ or left out       SLOT_NONE
 * Destinations are taken from the left, d|p puts p into dst2; sources fill
 * src[] in the order of the shape's letters, left-out ones included. */
struct insn_vec {
    uint8_t n;           /* elements, 0: this side has no vector */
    uint8_t bytes[8];    /* width of each element's row */
    slot_t slot[8];      /* SLOT_NONE for _ */
};

struct insn { /* 64 bytes: one cache line */
    exec_fn fn;
    int64_t imm;           /* address offset, branch target pc, ... */
    const void *ext;       /* what else a handler needs (vectors, calls) */
    slot_t dst, dst2;      /* dst2: setp p|q, shfl d|p, or SLOT_NONE */
    slot_t src[4];         /* a, b, c, d */
    slot_t pred;           /* guard, or SLOT_NONE */
    uint32_t pred_flip;    /* 0 or FULL_MASK: xor onto the guard */
    uint8_t bytes;         /* of one element: the size of types[0] */
    uint8_t vec;           /* elements of a vector operand, 1 without */
    uint8_t dst_bytes;     /* width of the destination's row: 2, 4, 8; a
                              predicate has 1 */
    uint8_t src_bytes[3];  /* widths of the source registers' rows, likewise */
    uint8_t space;         /* enum ptx_space; .param of functions is LOCAL */
    uint8_t cmp;           /* small selector of the handler's own use */
};

/* Vector operands; only when in->ext was filled for one. */
static inline const struct insn_vec *insn_dst_vec(const struct insn *in) {
    return (const struct insn_vec *)in->ext;
}
static inline const struct insn_vec *insn_src_vec(const struct insn *in) {
    return (const struct insn_vec *)in->ext + 1;
}

static inline bool slot_valid(slot_t s) { return s != SLOT_NONE; }

/* ---- program ----------------------------------------------------------- */

struct exec_param { uint32_t offset, size; };

/* Where an instruction comes from, for messages and faults. */
struct insn_info {
    uint32_t func;  /* index in module->funcs */
    uint32_t ast;   /* index in its instrs */
    int32_t loc;    /* index in module->locs, or -1 */
};

/* Functions that the device itself provides. */
enum exec_builtin {
    BUILTIN_NONE,
    BUILTIN_VPRINTF,
    BUILTIN_ASSERTFAIL,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
    BUILTIN_SET_CONDITIONAL,
};

struct program {
    const struct ptx_module *module;
    const char *name;            /* mangled entry name */
    struct insn *code;  uint32_t n_code;
    struct insn_info *info;      /* one an instruction */
    uint8_t *consts;    size_t consts_size;  /* SLOT_CONST */
    uint32_t max_frame;          /* bytes of the deepest known call chain;
                                    recursion grows the stack by need */
    bool recursive;              /* or calls through addresses: depth unknown */
    uint32_t local_bytes;        /* local memory a thread, known chain */
    uint32_t shared_static;      /* bytes of static shared memory */
    struct exec_param *params; uint32_t n_params;
    uint32_t param_bytes;
    uint32_t maxntid;            /* threads a block at most, 0 not given */
    uint32_t regs_per_thread;    /* an estimate, or machine code's */
    uint64_t sregs_used;         /* bit a PTX_SREG_* */
    uint32_t builtins;           /* bit an enum exec_builtin that it calls */
    struct exec_func *funcs;     /* one a function of the module */
    void *arena;
};

/* The "address" of a function, module-wide so that it may be kept in memory
 * and passed between kernels (function tables). Anything else that is called
 * is FAULT_INVALID_PC. */
static inline uint64_t exec_func_address(int32_t func_index) {
    return 0x100 + 16 * (uint64_t)(uint32_t)func_index;
}

/* Gives the decoder the device address of a module variable. */
typedef bool (*exec_symbol_fn)(void *ctx, const char *name, uint64_t *address);

/* Decodes the entry `name` and its callees. NULL with *err filled when the
 * closure holds an instruction form this build does not execute: the message
 * reads "FILE:LINE: kernel K: unsupported PTX: add.bf16 (ptx line N)". */
struct program *program_decode(const struct ptx_module *m, const char *name,
                               exec_symbol_fn symbol, void *ctx,
                               struct ptx_error *err);
void program_free(struct program *p);

/* ---- launch, block, warp ----------------------------------------------- */

struct exec_services; /* what the device lends: below */

struct exec_launch {
    const struct program *program;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;     /* bytes */
    const uint8_t *params;       /* param_bytes, laid out as in the program */
    uint64_t number;             /* launch number in the process, from 1 */
    uint64_t grid_workspace;     /* device address for grid sync, or 0 */
    uint32_t n_sms;              /* %nsmid; 0 is taken as 1 */
    uint32_t stack_bytes;        /* local memory a thread for recursion, 0:
                                    1024 (CUDA's default stack limit) */
    struct exec_services *services;
    _Atomic uint32_t *stop;      /* non-zero: blocks end at their next turn */
};

struct exec_services {
    struct memory *memory;
    /* Nanoseconds for %globaltimer: logical time in a seeded run. */
    uint64_t (*globaltimer)(void *ctx);
    uint64_t (*clock)(void *ctx); /* cycles for %clock64 */
    /* One finished text of device printf. Kept in the 1 MB circular buffer
     * until the next flush point. */
    void (*print)(void *ctx, const char *text, size_t len);
    /* One failed assertion, already formatted as CUDA's line (no newline);
     * the lane then ends, the launch goes on and is lost when it finishes. */
    void (*assert_failed)(void *ctx, const struct exec_launch *l,
                          const char *line, const struct fault *where);
    uint64_t (*device_malloc)(void *ctx, uint64_t bytes); /* in-kernel heap */
    bool (*device_free)(void *ctx, uint64_t address);
    void *ctx;
};

enum frag_state { FRAG_READY, FRAG_AT_BARRIER, FRAG_AT_SYNC, FRAG_ASLEEP };

struct fragment {
    uint32_t pc, mask;
    uint32_t fp;          /* frame's byte offset in the warp's stack */
    uint8_t state;        /* enum frag_state */
    uint8_t barrier;      /* which, while it waits at one */
    uint32_t since;       /* w->steps when it last ran or could not */
    uint32_t sync_mask;   /* lanes it waits for at a .sync instruction; its pc
                             then is that instruction's, not the next one's */
};

#define MAX_BARRIERS 16

struct block;

/* The running fragment is in pc, mask, fp; frags[current] is its place in the
 * list and only brought up to date when another one is chosen. */
struct warp {
    uint8_t *base[4];     /* of enum slot_base; base[SLOT_FRAME] moves with fp */
    const struct insn *code;
    uint32_t pc;          /* of the running fragment, next instruction */
    uint32_t mask;        /* of the running fragment; 0: it has none any more */
    struct span cache;    /* last allocation hit: core/memory.h */
    struct block *block;
    _Alignas(64) uint32_t lanes[LANES]; /* lanes_mask, one word a lane, 0 or
                             ~0, for blends: read it by exec_lanes() only */
    uint32_t lanes_mask;
    uint32_t carry;       /* CC.CF, a bit a lane (PTX 9.7.2) */
    uint8_t *stack;       /* frames */
    uint32_t fp, stack_size;
    uint8_t *grown_stack; /* what recursion made of it, to free, or NULL */
    uint8_t *local;       /* local memory: lane l at l * local_stride */
    uint32_t local_stride;
    uint32_t index;       /* in the block */
    uint32_t live;        /* lanes that have not exited */
    uint32_t steps;       /* instructions executed, modulo 2^32 */
    uint32_t n_frags, current;
    bool strict;          /* a jump may pass a place to merge: choose again */
    struct fragment frags[LANES];
    uint32_t arrived[MAX_BARRIERS]; /* lanes, at barriers with a count */
    /* Lanes leave here what a .sync instruction exchanges. */
    uint64_t exchange[LANES];
    uint32_t exchange_pred;
};

struct barrier {
    uint32_t expected;    /* threads, or 0: all of the block */
    uint32_t waiting;     /* threads that wait */
    uint32_t popc;        /* bar.red: threads whose predicate held */
    uint32_t counted;     /*          of so many */
};

struct block {
    const struct exec_launch *launch;
    uint32_t ctaid[3];
    uint32_t n_threads, n_warps;
    struct warp *warps;
    uint8_t *uniform;      /* rows of SLOT_UNIFORM */
    uint8_t *shared;       /* shared_bytes, zeroed only by initcheck runs */
    uint32_t shared_bytes; /* static + dynamic */
    struct barrier barriers[MAX_BARRIERS];
    uint32_t barriers_used;   /* a bit each: some thread waits or has arrived */
    uint32_t live;            /* threads that have not exited */
    uint32_t unfinished, runnable; /* warps, a bit each */
    struct fault fault;    /* filled when a lane commits one */
    bool faulted;
    uint64_t steps;        /* warp instructions executed so far */
    uint32_t next_warp;
    uint64_t jitter;       /* state of a free run's turn lengths */
    uint64_t filled_for;   /* launch number for which SLOT_UNIFORM was filled */
    void *memory;          /* what all of this lies in */
};

enum block_state {
    BLOCK_DONE,
    BLOCK_RUNNING, /* budget used up, launch->stop seen, or every warp sleeps */
    BLOCK_FAULTED,
    BLOCK_STUCK,   /* every thread waits for another one of the block: it will
                      never end, and running it again does nothing */
};

/* Room for one block of `l`, reusable with block_start() for any block of the
 * same launch, and of another launch of the same program, block shape and
 * dynamic shared size once b->launch points at that: block_start() takes all
 * else from there. NULL when there is no memory. */
struct block *block_create(const struct exec_launch *l);
void block_start(struct block *b, const uint32_t ctaid[3]);
/* Runs at most about `budget` warp instructions. With a non-NULL rng the
 * order of warps and the length of their turns are drawn from it (seeded
 * runs: 1 to 1023 instructions, every order of magnitude as likely); else warps
 * take turns in order, of 64 to 511 instructions. Both interleave warps in
 * the middle of straight code, so that a missing barrier can show. */
struct rng;
enum block_state block_run(struct block *b, uint64_t budget, struct rng *rng);
void block_destroy(struct block *b);

/* ---- for handlers ------------------------------------------------------ */

static inline void *slot_at(const struct warp *w, slot_t s) {
    return w->base[s & 3] + (s & ~3u);
}
/* The row of a slot as an array of LANES elements, in code that has a `w`. */
#define ROW(type, s) \
    ((type *)__builtin_assume_aligned(slot_at(w, (s)), 64))
#define PRED(s) (*(uint32_t *)slot_at(w, (s)))

/* Fills w->block->fault for the lowest lane of `lanes` and returns EXEC_FAULT.
 * `address` and `bytes` describe that lane's access (0, 0 if none). */
enum exec_result exec_fault(struct warp *w, const struct insn *in,
                            enum fault_kind kind, uint32_t lanes,
                            uint64_t address, uint32_t bytes, bool is_write);

/* The same record without a kind: where `lane` stands. */
void fault_place(const struct warp *w, const struct insn *in, uint32_t lane,
                 struct fault *f);

/* One row of opcodes.def names the function that picks the handler for an
 * instruction's types and modifiers and fills what is particular in *out
 * (operand slots are already resolved by the row's shape). Returns NULL for a
 * form that is not supported: the decoder turns that into the message. */
typedef exec_fn (*select_fn)(const struct ptx_module *m,
                             const struct ptx_instr *in, struct insn *out);

/* The select functions, by opcode, of the variant that suits this processor
 * (exec_ops.h). */
const select_fn *exec_selects(void);
/* Programs decoded from now on use the baseline's handlers (tests run both). */
void exec_use_baseline(bool yes);

static inline bool ptx_has_mod(const struct ptx_instr *in, enum ptx_mod mod) {
    for (unsigned i = 0; i < in->n_mods; i++)
        if (in->mods[i] == mod) return true;
    return false;
}

#endif
