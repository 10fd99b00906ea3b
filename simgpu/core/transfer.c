/* Copies and fills, in pieces so that others get between them. */
#include "core/device_parts.h"
#include "core/guest.h"

/* A turn's step moves this many bytes. */
#define STEP_BYTES 16

static void fill_row(uint8_t *dst, uint64_t value, size_t offset, size_t n) {
    uint8_t byte = (uint8_t)value;
    if (value == byte * 0x0101010101010101u) {
        guest_fill(dst, byte, n);
        return;
    }
    /* 2- and 4-byte patterns; dst is aligned to them, offset their phase. */
    size_t i = 0;
    for (; i < n && (((uint64_t)dst + i) & 7 || (offset + i) & 7); i++)
        guest_store8(dst + i, (uint8_t)(value >> 8 * ((offset + i) & 7)));
    for (; i + 8 <= n; i += 8) guest_store64(dst + i, value);
    for (; i < n; i++)
        guest_store8(dst + i, (uint8_t)(value >> 8 * ((offset + i) & 7)));
}

void transfer_run(struct command *c, struct turn *t) {
    struct transfer *x = &c->transfer;
    size_t total = x->width * x->height;
    size_t left = t->budget < total / STEP_BYTES + 1
                      ? (size_t)t->budget * STEP_BYTES : total;
    while (left && x->done < total) {
        size_t row = x->done / x->width, column = x->done % x->width;
        size_t n = x->width - column < left ? x->width - column : left;
        uint8_t *dst = x->dst + row * x->dst_pitch + column;
        if (c->kind == COMMAND_FILL)
            fill_row(dst, x->value, column, n);
        else
            guest_copy(dst, x->src + row * x->src_pitch + column, n);
        x->done += n;
        left -= n;
        t->steps += n / STEP_BYTES + 1;
    }
}
