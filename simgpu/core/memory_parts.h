/* The parts that memory.c puts together; nobody else includes this.
 *
 *   blocks   the device range, mapped and unmapped by blocks of 2 MiB, and the
 *            table that answers "is this address mapped" without a lock
 *   table    all live allocations by address, likewise readable without one
 *
 * Writers hold memory.c's mutex. Readers of both tables take none: a block's
 * entry is one atomic word, the allocation table is guarded by a sequence
 * count. */
#ifndef SIMGPU_CORE_MEMORY_PARTS_H
#define SIMGPU_CORE_MEMORY_PARTS_H

#include <stdatomic.h>

#include "core/memory.h"

/* Where the three ranges go if they can, so that addresses are the same in
 * every run: below everything that Linux places at random, and above
 * AddressSanitizer's shadow. ThreadSanitizer leaves programs other places. */
#ifdef __SANITIZE_THREAD__
#define RANGES_BASE 0x7e8000000000ull
#else
#define RANGES_BASE 0x200000000000ull
#endif
#define RANGE_BYTES (128ull << 30)
#define DEVICE_BASE RANGES_BASE
#define BACKING_BASE (RANGES_BASE + RANGE_BYTES)
#define HOST_BASE (RANGES_BASE + 2 * RANGE_BYTES)
#define HOST_BYTES (64ull << 30)

/* Reserves `bytes` of address space without access, at `where` if that is
 * free. NULL when there is no room. */
void *reserve(uint64_t where, uint64_t bytes);

/* ---- blocks ------------------------------------------------------------- */
#define BLOCK_SHIFT 21
#define BLOCK_BYTES (1ull << BLOCK_SHIFT)

struct blocks {
    uint64_t base, bytes;     /* device range */
    uint8_t *backing;         /* the same range for the simulator */
    uint32_t count;
    uint32_t guard;           /* blocks left unmapped behind a run */
    int fill;
    uint64_t mapped;          /* blocks */
    /* A mapped block's maximal run of blocks mapped alike: first << 32 | end,
     * with RUN_READONLY; 0 for an unmapped block. */
    _Atomic uint64_t *runs;
    uint8_t *state;           /* of memory_blocks.c, a byte a block */
};

#define RUN_READONLY 0x80000000u
static inline uint32_t run_first(uint64_t run) { return run >> 32; }
static inline uint32_t run_end(uint64_t run) { return run & 0x7fffffff; }
static inline bool run_readonly(uint64_t run) { return run & RUN_READONLY; }

bool blocks_create(struct blocks *b, uint64_t guard_bytes, int fill);
void blocks_destroy(struct blocks *b);
/* Maps n blocks at the lowest place and returns the first; 0: no room. */
uint32_t blocks_map(struct blocks *b, uint32_t n, bool readonly);
/* The caller changes the epoch afterwards. */
void blocks_unmap(struct blocks *b, uint32_t first, uint32_t n);

static inline uint64_t block_address(const struct blocks *b, uint32_t i) {
    return b->base + ((uint64_t)i << BLOCK_SHIFT);
}

/* ---- allocation table --------------------------------------------------- */
#define TABLE_MAX (1u << 20)
#define TABLE_FREED 1024
#define RANGE_READONLY (1ull << 63)

struct table {
    _Atomic uint32_t seq;     /* odd while a writer is at work */
    _Atomic uint32_t n;
    /* What a check admits, by address: exact, or whole pages of host memory
     * when checking as hardware does. hi carries RANGE_READONLY. */
    struct { _Atomic uint64_t lo, hi; } *range;
    struct allocation *record; /* same order; writers' side only */
    struct allocation freed[TABLE_FREED]; /* ring */
    uint64_t n_freed;
    uint64_t page;            /* rounding of host ranges; 1: exact */
};

bool table_create(struct table *t, uint64_t page);
void table_destroy(struct table *t);
/* False when full or when it would overlap a live allocation. */
bool table_insert(struct table *t, const struct allocation *a);
/* Index of the allocation that holds address, or -1. */
int64_t table_index(const struct table *t, uint64_t address);
/* Moves a live allocation to the freed ones. */
void table_remove(struct table *t, uint32_t index);
/* Lock-free: the admitted range around address, into lo, hi and writable. */
bool table_find(struct table *t, uint64_t address, struct span *out);
bool table_nearest(const struct table *t, uint64_t address,
                   struct allocation *out, int64_t *distance);

static inline bool on_host(enum memory_kind k) {
    return k == MEMORY_PINNED || k == MEMORY_REGISTERED || k == MEMORY_MANAGED;
}

#endif
