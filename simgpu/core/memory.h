/* Device memory: the address space, its allocations, and the check of every
 * access.
 *
 * A device address is never a usable host address: allocations lie in a range
 * that the process reserves and cannot touch (reading one on the host is
 * SIGSEGV, as on a GPU); the bytes are in a second mapping, `delta` away.
 * Pinned, registered and managed host memory keeps its host address on the
 * device (unified addressing), so there delta is 0.
 *
 * Checking, a setting: *hardware* (default) lets an access pass when the 2 MiB
 * block it falls in is mapped, as a GPU's MMU does; *exact* lets it pass only
 * inside one live allocation, as memcheck reports.
 */
#ifndef SIMGPU_CORE_MEMORY_H
#define SIMGPU_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;

enum memory_check { MEMORY_CHECK_HARDWARE, MEMORY_CHECK_EXACT };

/* A run of addresses that one check admits: [lo, hi). Host address of a is
 * a + delta. `epoch` guards the copies that warps keep: see memory_epoch(). */
struct span {
    uint64_t lo, hi;
    int64_t delta;
    uint32_t epoch;
    bool writable;
};

/* Windows of the generic address space (cvta, PTX 6.4.1): shared and local
 * addresses of a thread appear here. All inside the reserved range. */
#define WINDOW_BYTES (16u << 20)
uint64_t memory_shared_window(const struct memory *m);
uint64_t memory_local_window(const struct memory *m);
uint64_t memory_param_window(const struct memory *m);

struct memory_config {
    uint64_t total_bytes;      /* what the device says it has */
    enum memory_check check;
    uint64_t guard_bytes;      /* unmapped behind an allocation's blocks */
    int fill;                  /* byte that fresh memory holds; -1: leave it */
};
struct memory *memory_create(const struct memory_config *c);
void memory_destroy(struct memory *m);

/* The widest admitted span around `address`; false: fault. Thread-safe. */
bool memory_find(struct memory *m, uint64_t address, struct span *out);
/* Changes whenever a span may have become invalid. A copy of a span is good
 * while span.epoch == memory_epoch(m). Backing pages stay mapped until
 * memory_destroy, so a stale copy can read old bytes but never crash. */
uint32_t memory_epoch(const struct memory *m);

enum memory_kind {
    MEMORY_DEVICE,     /* cudaMalloc */
    MEMORY_PINNED,     /* host memory made by us, mapped */
    MEMORY_REGISTERED, /* the caller's host memory */
    MEMORY_MANAGED,    /* host and device, one address */
    MEMORY_SYMBOL,     /* a module's variable */
};

/* Flag: kernels may not store there (constants). The host still may. The other
 * flags are the caller's own. */
#define MEMORY_READONLY (1u << 31)

struct allocation {
    uint64_t address, size; /* size as asked for */
    enum memory_kind kind;
    uint64_t serial;        /* 1, 2, ... in order of allocation */
    unsigned flags;
    bool live;              /* false: freed, kept for use-after-free reports */
};

/* 0 when there is no room, or no size. Alignment is 256 bytes, or the page for
 * host memory. */
uint64_t memory_alloc(struct memory *m, uint64_t size, enum memory_kind kind,
                      unsigned flags);
/* Adds a flag to an allocation that does not have it yet; false if it does or
 * there is none at the address. */
bool memory_mark(struct memory *m, uint64_t address, unsigned flag);
/* Makes the caller's host memory an allocation; false if it overlaps one. */
bool memory_register(struct memory *m, void *host, uint64_t size,
                     unsigned flags);
/* False unless `address` is the start of a live allocation of that kind. */
bool memory_free(struct memory *m, uint64_t address, enum memory_kind kind);
/* Frees everything (device reset). */
void memory_reset(struct memory *m);

/* The live allocation that holds `address`, by exact bounds. */
bool memory_lookup(struct memory *m, uint64_t address, struct allocation *out);
/* The allocation, live or freed, nearest to `address`; *distance is 0 inside,
 * positive past its end, negative before its start. */
bool memory_nearest(struct memory *m, uint64_t address, struct allocation *out,
                    int64_t *distance);
/* Is [address, address+size) inside one live allocation (exact bounds, which
 * the runtime knows, unlike the MMU)? */
bool memory_covers(struct memory *m, uint64_t address, uint64_t size);
/* Host address of a device address inside a live allocation, or NULL. */
void *memory_host(struct memory *m, uint64_t address);
void memory_usage(struct memory *m, uint64_t *free_bytes, uint64_t *total);
/* Calls fn for every live allocation in address order; fn must not call back
 * into memory_*. */
void memory_each(struct memory *m,
                 void (*fn)(const struct allocation *, void *), void *ctx);

#endif
