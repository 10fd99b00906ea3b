/* What the checker's two files share. */
#ifndef SIMGPU_PTX_CHECK_PARTS_H
#define SIMGPU_PTX_CHECK_PARTS_H

#include "ptx/check.h"

struct check {
    struct ptx_module *m;
    const struct ptx_func *f;
    struct ptx_instr *in;
    const char *source;
    struct ptx_error *err;
    unsigned operand; /* being looked at, from 1, for messages */
};

enum type_class { CLASS_NONE, CLASS_BITS, CLASS_INT, CLASS_FLOAT, CLASS_PRED };

struct check_type {
    const char *text;
    uint8_t bytes, cls;
};
extern const struct check_type check_types[PTX_TYPE_COUNT];

/* Fills the error and returns false. */
bool check_wrong(const struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A register of so many bytes, of any class, or a value that fits. */
bool check_sized(const struct check *c, const struct ptx_operand *op,
                 unsigned bytes, bool is_dest);
const struct ptx_var *check_var(const struct check *c,
                                const struct ptx_operand *op);

/* check_call.c */
bool check_call(struct check *c);
bool check_brx(struct check *c);

#endif
