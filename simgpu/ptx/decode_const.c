/* Constants: literals as an instruction's type needs them, and the rows that
 * hold them, each once in a program. */
#include <stdlib.h>
#include <string.h>

#include "ptx/decode.h"

/* ---- types -------------------------------------------------------------- */

unsigned decode_element_bytes(enum ptx_type t) {
    static const uint8_t bytes[PTX_TYPE_COUNT] = {
#define PTX_TYPE(name, text, n) [PTX_##name] = (n),
#include "ptx/types.def"
#undef PTX_TYPE
    };
    return bytes[t];
}

unsigned decode_row_bytes(enum ptx_type t) {
    unsigned bytes = decode_element_bytes(t);
    if (t == PTX_PRED) return 1;
    return bytes == 1 ? 2 : bytes;
}

/* ---- constants ----------------------------------------------------------- */

static void fill_row(uint8_t *row, uint64_t value, unsigned bytes) {
    if (bytes == 1) {
        uint32_t all = value ? FULL_MASK : 0;
        memcpy(row, &all, sizeof all);
        return;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint8_t *at = row + lane * bytes;
        memset(at, 0, bytes);
        memcpy(at, &value, bytes < 8 ? bytes : 8);
    }
}

static uint64_t const_hash(uint64_t value, unsigned bytes) {
    uint64_t h = (value ^ (uint64_t)bytes << 56) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static bool grow_hash(struct decoder *d) {
    uint32_t size = d->hash_size ? 2 * d->hash_size : 256;
    struct const_key *old = d->const_hash;
    struct const_key *table = arena_array(d->arena, size, sizeof *table);
    if (!table) return decode_no_memory(d);
    for (uint32_t i = 0; i < d->hash_size; i++) {
        if (!old[i].bytes) continue;
        uint64_t h = const_hash(old[i].value, old[i].bytes);
        while (table[h & (size - 1)].bytes) h++;
        table[h & (size - 1)] = old[i];
    }
    d->const_hash = table;
    d->hash_size = size;
    return true;
}

bool decode_const(struct decoder *d, uint64_t value, unsigned bytes,
                  slot_t *slot) {
    struct program *p = d->program;
    if (bytes == 1) value = value != 0;
    else if (bytes < 8) value &= (1ull << 8 * bytes) - 1;
    if (2 * d->hash_used >= d->hash_size && !grow_hash(d)) return false;
    uint64_t h = const_hash(value, bytes);
    struct const_key *k;
    while ((k = &d->const_hash[h & (d->hash_size - 1)])->bytes) {
        if (k->value == value && k->bytes == bytes) {
            *slot = k->offset | SLOT_CONST;
            return true;
        }
        h++;
    }
    size_t row = bytes == 1 ? 64 : LANES * bytes;
    if (p->consts_size + row > d->consts_cap) {
        size_t cap = d->consts_cap ? 2 * d->consts_cap : 4096;
        uint8_t *grown = aligned_alloc(64, cap);
        if (!grown) return decode_no_memory(d);
        if (p->consts_size) memcpy(grown, p->consts, p->consts_size);
        free(p->consts);
        p->consts = grown;
        d->consts_cap = cap;
    }
    memset(p->consts + p->consts_size, 0, row);
    fill_row(p->consts + p->consts_size, value, bytes);
    *k = (struct const_key){value, bytes, (uint32_t)p->consts_size};
    d->hash_used++;
    p->consts_size += row;
    *slot = k->offset | SLOT_CONST;
    return true;
}

/* The bits of a literal as a value of the type. PTX 4.5: 0f and 0d literals
 * are exact bits, decimal ones are double and converted to what is needed. */
uint64_t decode_literal(const struct ptx_operand *o, enum ptx_type t) {
    float f;
    double x;
    uint32_t w;
    uint64_t bits = (uint64_t)o->imm;
    switch (o->kind) {
    case PTX_OPND_F32:
        if (t != PTX_F64) return (uint32_t)bits;
        w = (uint32_t)bits;
        memcpy(&f, &w, sizeof f);
        x = (double)f;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    case PTX_OPND_F64:
        if (t != PTX_F32 && t != PTX_B32) return bits;
        memcpy(&x, &bits, sizeof x);
        f = (float)x;
        memcpy(&w, &f, sizeof w);
        return w;
    default:
        if (t == PTX_F32) {
            f = (float)o->imm;
            memcpy(&w, &f, sizeof w);
            return w;
        }
        if (t == PTX_F64) {
            x = (double)o->imm;
            memcpy(&bits, &x, sizeof bits);
        }
        return bits;
    }
}
