/* Sums of products computed exactly and rounded once: a reference for add,
 * sub, mul and fma of every format up to f32, in every rounding mode, that
 * uses no floating-point arithmetic for finite operands. */
#ifndef TESTS_PTX_EXACT_H
#define TESTS_PTX_EXACT_H

#include <stdbool.h>
#include <stdint.h>

struct format { int precision, exponent_bits; };
extern const struct format F32_FORMAT, F16_FORMAT, BF16_FORMAT;

enum rounding { RN, RZ, RM, RP };

/* a * b + c, or a * b when !add, on bit patterns of the format. A NaN result
 * is the canonical one: all ones but the sign. */
uint64_t exact_fma(const struct format *f, uint64_t a, uint64_t b, uint64_t c,
                   bool add, enum rounding mode);
/* An integer multiple of a power of two: sign, m * 2^e, rounded to a format. */
uint64_t exact_round(const struct format *f, bool negative,
                     unsigned __int128 m, int e, enum rounding mode);
/* Subnormals to zero of their sign. */
uint64_t exact_flush(const struct format *f, uint64_t v);
bool exact_is_nan(const struct format *f, uint64_t v);
uint64_t exact_nan(const struct format *f);
uint64_t exact_one(const struct format *f);
unsigned exact_bits(const struct format *f);
/* Clamp to [0, 1], a NaN to 0. */
uint64_t exact_sat(const struct format *f, uint64_t v);
/* The value as a double, which holds all of them. */
double exact_value(const struct format *f, uint64_t v);

#endif
