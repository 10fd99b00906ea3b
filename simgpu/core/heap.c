/* malloc and free in kernels: first fit in one device allocation. Extents are
 * kept on the host's side, in order of address, so that a kernel that writes
 * where it should not cannot break the heap. */
#include <stdlib.h>
#include <string.h>

#include "core/device_parts.h"

#define ALIGNMENT 16

static bool insert(struct device *d, uint32_t at, struct extent e) {
    if (d->n_extents == d->cap_extents) {
        uint32_t cap = d->cap_extents ? 2 * d->cap_extents : 64;
        void *grown = realloc(d->extents, cap * sizeof *d->extents);
        if (!grown) return false;
        d->extents = grown;
        d->cap_extents = cap;
    }
    memmove(&d->extents[at + 1], &d->extents[at],
            (d->n_extents - at) * sizeof *d->extents);
    d->extents[at] = e;
    d->n_extents++;
    return true;
}

static void erase(struct device *d, uint32_t at) {
    d->n_extents--;
    memmove(&d->extents[at], &d->extents[at + 1],
            (d->n_extents - at) * sizeof *d->extents);
}

static bool start(struct device *d) {
    if (d->heap) return true;
    d->heap = memory_alloc(d->memory, d->config.heap_bytes, MEMORY_SYMBOL, 0);
    return d->heap &&
           insert(d, 0, (struct extent){ d->heap, d->config.heap_bytes,
                                         false });
}

enum status device_set_heap(struct device *d, size_t bytes) {
    if (bytes > d->config.memory_bytes) return STATUS_NO_MEMORY;
    device_lock(d);
    bool used = d->builtins & (1u << BUILTIN_MALLOC | 1u << BUILTIN_FREE);
    if (!used) d->config.heap_bytes = bytes;
    device_unlock(d);
    return used ? STATUS_INVALID : STATUS_OK;
}

static uint64_t take(struct device *d, uint64_t bytes) {
    for (uint32_t i = 0; i < d->n_extents; i++) {
        struct extent *e = &d->extents[i];
        if (e->taken || e->bytes < bytes) continue;
        uint64_t address = e->address;
        struct extent rest = { address + bytes, e->bytes - bytes, false };
        if (rest.bytes && !insert(d, i + 1, rest)) return 0;
        d->extents[i] = (struct extent){ address, bytes, true };
        return address;
    }
    return 0;
}

uint64_t heap_malloc(void *device, uint64_t bytes) {
    struct device *d = device;
    uint64_t rounded = (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    uint64_t address = 0;
    if (!bytes || rounded < bytes) return 0;
    pthread_mutex_lock(&d->heap_lock);
    if (start(d)) address = take(d, rounded);
    pthread_mutex_unlock(&d->heap_lock);
    return address;
}

/* Free extents never touch: one is merged with its neighbours. */
static void give(struct device *d, uint32_t i) {
    d->extents[i].taken = false;
    if (i + 1 < d->n_extents && !d->extents[i + 1].taken) {
        d->extents[i].bytes += d->extents[i + 1].bytes;
        erase(d, i + 1);
    }
    if (i > 0 && !d->extents[i - 1].taken) {
        d->extents[i - 1].bytes += d->extents[i].bytes;
        erase(d, i);
    }
}

bool heap_free(void *device, uint64_t address) {
    struct device *d = device;
    pthread_mutex_lock(&d->heap_lock);
    uint32_t lo = 0, hi = d->n_extents;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (d->extents[mid].address < address) lo = mid + 1;
        else hi = mid;
    }
    bool ok = lo < d->n_extents && d->extents[lo].address == address &&
              d->extents[lo].taken;
    if (ok) give(d, lo);
    pthread_mutex_unlock(&d->heap_lock);
    return ok || !address;
}
