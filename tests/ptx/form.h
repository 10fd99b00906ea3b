/* One row a PTX instruction form: how it is written, what its operands are,
 * and a reference that says what it must compute, written without any of the
 * executing code.
 *
 * ops: the operands' letters, destinations ':' sources.
 *   h r d   16, 32, 64 bits            p  predicate (0 or 1)
 *   F D     f32, f64                   n  32 bits, mostly small (shifts, fields)
 *   H B     f16, bf16                  X Y  pairs of f16, of bf16
 *   w       32 bits, values that are floats of any width or halves at random
 * A letter fixes the register's width and the pool its values come from.
 * text: the instruction with $0 $1 ... for sources, $d $e for destinations;
 * NULL: the name and the operands in order.
 */
#ifndef TESTS_PTX_FORM_H
#define TESTS_PTX_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define FORM_MAX_SRC 6
#define FORM_MAX_DST 4

struct form;
/* From the sources' bits (zero-extended) to the destinations'. */
typedef void (*form_ref)(const struct form *f, const uint64_t *s, uint64_t *d);
/* Is `got` near enough to `want`, given the sources? */
typedef bool (*form_near)(const uint64_t *s, uint64_t got, uint64_t want);

/* For what lanes do together: all 32 at once, `mask` those that execute. Gives
 * the lanes whose result is defined. */
typedef uint32_t (*form_warp_ref)(const struct form *f, uint32_t mask,
                                  const uint64_t (*s)[FORM_MAX_SRC],
                                  uint64_t (*d)[FORM_MAX_DST]);

struct form {
    const char *name, *ops, *text;
    form_ref ref;
    form_near near; /* NULL: equal bits */
    int arg[5];     /* of a reference that serves many forms */
    form_warp_ref warp; /* NULL: ref */
};

/* 16 bytes that every kernel has in the .const variable `image` and in its
 * parameter `image_param`. Functions same32 and same64 return their argument. */
extern const uint8_t form_image[16];

struct form_list {
    const char *name;
    const struct form *forms;
    unsigned n;
};

/* In a .def file: FORM(name, ops, statement), on s, d, and a, b, c, e for
 * s[0] to s[3]. Files include it twice, see FORMS. */
#define REF_PASTE2(a, b) a##b
#define REF_PASTE(a, b) REF_PASTE2(a, b)
#define REF_HERE REF_PASTE(ref_, __LINE__)
#define REF_FUNCTION(...)                                                    \
    static void REF_HERE(const struct form *f_, const uint64_t *s,           \
                         uint64_t *d) {                                      \
        uint64_t a = s[0], b = s[1], c = s[2], e = s[3];                     \
        (void)f_, (void)a, (void)b, (void)c, (void)e;                        \
        __VA_ARGS__;                                                         \
    }

bool form_run(const struct form *f, bool baseline); /* prints what differs */
unsigned form_values(void);                  /* values compared so far */




#endif
