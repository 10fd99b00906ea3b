/* The references of integers and bits; the rows are in int.def and bits.def. */
#include "tests/ptx/form.h"
#include "tests/ptx/reference.h"

typedef unsigned __int128 U128;
typedef __int128 S128;

static S128 sign_at(S128 v, unsigned bits) {
    U128 top = (U128)1 << (bits - 1), low = (U128)v & (top * 2 - 1);
    return (S128)(low ^ top) - (S128)top;
}
#define I16(x) sign_at(x, 16)
#define I32(x) sign_at(x, 32)
#define I64(x) sign_at(x, 64)

static uint64_t clamp_s32(S128 v) {
    return (uint64_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
static S128 least(S128 a, S128 b) { return a < b ? a : b; }
static S128 most(S128 a, S128 b) { return a < b ? b : a; }
static uint64_t b_least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t distance(S128 a, S128 b) {
    return (uint64_t)(a < b ? b - a : a - b);
}
static uint64_t pair_of(S128 low, S128 high) {
    return ((uint64_t)low & 0xffff) | ((uint64_t)high & 0xffff) << 16;
}
static S128 part(uint64_t v, int i, unsigned bits, int is_signed) {
    uint64_t x = v >> (unsigned)i * bits & ((1ull << bits) - 1);
    return is_signed ? sign_at(x, bits) : (S128)x;
}
static uint64_t dot4(uint64_t a, uint64_t b, int sa, int sb) {
    S128 sum = 0;
    for (int i = 0; i < 4; i++) sum += part(a, i, 8, sa) * part(b, i, 8, sb);
    return (uint64_t)sum;
}
static uint64_t dot2(uint64_t a, uint64_t b, int sa, int sb) {
    return (uint64_t)(part(a, 0, 16, sa) * part(b, 0, 8, sb) +
                      part(a, 1, 16, sa) * part(b, 1, 8, sb));
}
static uint64_t bytes_apart(uint64_t a, uint64_t b, int sa, int sb, int add) {
    uint64_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t x = distance(part(a, i, 8, sa), part(b, i, 8, sb));
        r += add ? x : (x & 255) << 8 * i;
    }
    return r;
}

static int top_bit(uint64_t v) {
    int at = -1;
    for (int i = 0; i < 64; i++)
        if (v >> i & 1) at = i;
    return at;
}
static uint64_t count_bits(uint64_t v) {
    uint64_t n = 0;
    for (int i = 0; i < 64; i++) n += v >> i & 1;
    return n;
}
/* As PTX 9.7.1.16 tells it. */
static uint64_t nth_set(uint64_t mask, uint64_t base, S128 offset) {
    if (base > 31) return ~0ull;
    if (offset == 0) return mask >> base & 1 ? base : ~0ull;
    S128 count = (offset < 0 ? -offset : offset) - 1, pos = (S128)base;
    for (; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1)
        if (mask >> (unsigned)pos & 1 && count-- == 0) return (uint64_t)pos;
    return ~0ull;
}
static uint64_t field(uint64_t a, uint64_t pos, uint64_t len, int bits, int s) {
    uint64_t r = 0, p = pos & 255, n = len & 255, last = p + n - 1;
    if (last >= (uint64_t)bits) last = (uint64_t)bits - 1;
    uint64_t fill = s && n ? a >> last & 1 : 0;
    for (uint64_t i = 0; i < (uint64_t)bits; i++)
        r |= (i < n && p + i < (uint64_t)bits ? a >> (p + i) & 1 : fill) << i;
    return r;
}
static uint64_t inserted(uint64_t a, uint64_t b, uint64_t pos, uint64_t len,
                         int bits) {
    uint64_t p = pos & 255, n = len & 255;
    for (uint64_t i = 0; i < n && p + i < (uint64_t)bits; i++)
        b = (b & ~(1ull << (p + i))) | (a >> i & 1) << (p + i);
    return b;
}
static uint64_t permuted(uint64_t a, uint64_t b, uint64_t c) {
    uint8_t from[8], r[4];
    for (int i = 0; i < 4; i++) from[i] = (uint8_t)(a >> 8 * i);
    for (int i = 0; i < 4; i++) from[4 + i] = (uint8_t)(b >> 8 * i);
    for (int i = 0; i < 4; i++) {
        unsigned sel = c >> 4 * i & 15;
        r[i] = sel & 8 ? (from[sel & 7] & 128 ? 255 : 0) : from[sel];
    }
    return r[0] | r[1] << 8 | r[2] << 16 | (uint64_t)r[3] << 24;
}

#define FORM(name, ops, ...) REF_FUNCTION(__VA_ARGS__)
#define TEXT(name, ops, text, ...) REF_FUNCTION(__VA_ARGS__)
#include "tests/ptx/int.def"
#undef REF_HERE
#define REF_HERE REF_PASTE(bits_ref_, __LINE__)
#include "tests/ptx/bits.def"
#undef FORM
#undef TEXT

#define FORM(name, ops, ...) {name, ops, 0, REF_HERE, 0, {0}, 0},
#define TEXT(name, ops, text, ...) {name, ops, text, REF_HERE, 0, {0}, 0},
static const struct form bit_forms[] = {
#include "tests/ptx/bits.def"
};
#undef REF_HERE
#define REF_HERE REF_PASTE(ref_, __LINE__)
static const struct form int_forms[] = {
#include "tests/ptx/int.def"
};
FORM_LIST(int_forms)
FORM_LIST(bit_forms)
