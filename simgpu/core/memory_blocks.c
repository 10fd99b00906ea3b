/* The device range: reserved without access, mirrored by a backing range that
 * the simulator uses, handed out in blocks of 2 MiB.
 *
 * "Mapped" is the simulated MMU's word: a block in `runs`. The backing pages
 * of a block become accessible when it is first mapped and stay so, since a
 * warp may still hold a span of a block that was unmapped a moment ago. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/guest.h"
#include "core/memory_parts.h"

#define FIRST_BLOCK ((4 * WINDOW_BYTES) >> BLOCK_SHIFT)

/* Larger mappings are neither filled nor kept when unmapped: a program that
 * takes all memory and uses a corner of it must not cost all memory. */
#define FILL_LIMIT (16ull << 20)

enum { BLOCK_FILLED = 1 };



void *reserve(uint64_t where, uint64_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = MAP_FAILED;
    if (where) {
        p = mmap((void *)where, bytes, PROT_NONE,
                 flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (p != MAP_FAILED && p != (void *)where) { /* kernels before 4.17 */
            munmap(p, bytes);
            p = MAP_FAILED;
        }
    }
    if (p == MAP_FAILED) p = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* As reserve(), with the start at a multiple of a block. */
static uint8_t *reserve_aligned(uint64_t where, uint64_t bytes) {
    uint8_t *p = reserve(where, bytes);
    if (!p || ((uint64_t)p & (BLOCK_BYTES - 1)) == 0) return p;
    munmap(p, bytes);
    p = reserve(0, bytes + BLOCK_BYTES);
    if (!p) return NULL;
    uint64_t head = -(uint64_t)p & (BLOCK_BYTES - 1);
    if (head) munmap(p, head);
    munmap(p + head + bytes, BLOCK_BYTES - head);
    return p + head;
}

bool blocks_create(struct blocks *b, uint64_t guard_bytes, int fill) {
    memset(b, 0, sizeof *b);
    /* Less where the address space is limited (ulimit -v). */
    for (b->bytes = RANGE_BYTES; b->bytes >= (1ull << 30); b->bytes /= 4) {
        uint8_t *base = reserve_aligned(DEVICE_BASE, b->bytes);
        b->backing = base ? reserve_aligned(BACKING_BASE, b->bytes) : NULL;
        if (b->backing) {
            b->base = (uint64_t)base;
            break;
        }
        if (base) munmap(base, b->bytes);
    }
    if (!b->backing) return false;
    madvise(b->backing, b->bytes, MADV_HUGEPAGE);
    b->count = (uint32_t)(b->bytes >> BLOCK_SHIFT);
    b->guard = (uint32_t)((guard_bytes + BLOCK_BYTES - 1) >> BLOCK_SHIFT);
    b->fill = fill;
    b->runs = calloc(b->count, sizeof *b->runs);
    b->state = calloc(b->count, 1);
    if (b->runs && b->state) return true;
    blocks_destroy(b);
    return false;
}

void blocks_destroy(struct blocks *b) {
    if (b->backing) {
        munmap((void *)b->base, b->bytes);
        munmap(b->backing, b->bytes);
    }
    free(b->runs);
    free(b->state);
    memset(b, 0, sizeof *b);
}

static uint64_t run_of(struct blocks *b, uint32_t i) {
    return atomic_load_explicit(&b->runs[i], memory_order_relaxed);
}

static void set_run(struct blocks *b, uint32_t first, uint32_t end,
                    bool readonly) {
    uint64_t run = (uint64_t)first << 32 | end |
                   (readonly ? RUN_READONLY : 0);
    for (uint32_t i = first; i < end; i++)
        atomic_store_explicit(&b->runs[i], run, memory_order_release);
}

/* Lowest place for n blocks with `guard` unmapped ones on both sides. */
static uint32_t find_place(struct blocks *b, uint32_t n, uint32_t guard) {
    uint64_t place = FIRST_BLOCK, i = place;
    while (i < b->count && i < place + n + guard) {
        uint64_t run = run_of(b, (uint32_t)i);
        if (!run) {
            i++;
            continue;
        }
        place = run_end(run) + guard;
        i = run_end(run);
    }
    return place + n <= b->count ? (uint32_t)place : 0;
}

/* Makes the backing of [first, first+n) accessible and, unless the mapping is
 * a large one, filled where it never was. */
static bool prepare(struct blocks *b, uint32_t first, uint32_t n) {
    uint8_t *p = b->backing + ((uint64_t)first << BLOCK_SHIFT);
    bool fill = b->fill >= 0 && n <= FILL_LIMIT >> BLOCK_SHIFT;
    if (mprotect(p, (uint64_t)n << BLOCK_SHIFT, PROT_READ | PROT_WRITE))
        return false;
    for (uint32_t i = 0; i < n; i++, p += BLOCK_BYTES) {
        if (fill && !(b->state[first + i] & BLOCK_FILLED)) {
            guest_fill(p, (uint8_t)b->fill, BLOCK_BYTES);
            b->state[first + i] |= BLOCK_FILLED;
        }

    }
    return true;
}

uint32_t blocks_map(struct blocks *b, uint32_t n, bool readonly) {
    uint32_t first = find_place(b, n, b->guard);
    if (!first) first = find_place(b, n, 0);
    if (!first || !prepare(b, first, n)) return 0;
    uint32_t lo = first, hi = first + n;
    uint64_t run = run_of(b, lo - 1);
    if (run && run_readonly(run) == readonly) lo = run_first(run);
    run = hi < b->count ? run_of(b, hi) : 0;
    if (run && run_readonly(run) == readonly) hi = run_end(run);
    set_run(b, lo, hi, readonly);
    b->mapped += n;
    return first;
}

void blocks_unmap(struct blocks *b, uint32_t first, uint32_t n) {
    uint64_t run = run_of(b, first);
    for (uint32_t i = first; i < first + n; i++)
        atomic_store_explicit(&b->runs[i], 0, memory_order_release);
    set_run(b, run_first(run), first, run_readonly(run));
    set_run(b, first + n, run_end(run), run_readonly(run));
    b->mapped -= n;
    if (n > FILL_LIMIT >> BLOCK_SHIFT) {
        madvise(b->backing + ((uint64_t)first << BLOCK_SHIFT),
                (uint64_t)n << BLOCK_SHIFT, MADV_DONTNEED);
        for (uint32_t i = first; i < first + n; i++)
            b->state[i] &= (uint8_t)~BLOCK_FILLED;
    }
}
