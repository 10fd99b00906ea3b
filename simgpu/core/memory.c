/* Allocation and the access check, on top of the blocks and the table.
 *
 * Requests up to SMALL_MAX are carved in granules from single blocks ("small
 * blocks", a bitmap each), larger ones are blocks of their own. Host memory
 * comes from a range of its own, so that its addresses, too, are the same in
 * every run. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory_parts.h"

#define GRANULE 512u
#define GRANULES (BLOCK_BYTES / GRANULE)
#define SMALL_MAX (1ull << 20)

struct small {
    uint32_t block;
    bool readonly;
    uint32_t used;            /* granules, without the first */
    uint32_t longest;         /* no run of free granules is longer */
    uint64_t taken[GRANULES / 64];
};

struct host_range {
    uint8_t *base;
    uint64_t bytes, next;     /* next: offset never handed out yet */
    struct { uint64_t address, bytes; } *freed; /* kept mapped, reused */
    uint32_t n_freed, cap_freed;
};

struct memory {
    enum memory_check check;
    uint64_t total, page, serial;
    int64_t delta;
    _Atomic uint32_t epoch;
    struct blocks blocks;
    struct table table;
    pthread_mutex_t lock;     /* everything that changes */
    struct small **small;     /* by block number */
    uint32_t n_small, cap_small;
    struct host_range host;
};

struct memory *memory_create(const struct memory_config *c) {
    struct memory *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->check = c->check;
    m->total = c->total_bytes;
    m->page = (uint64_t)sysconf(_SC_PAGESIZE);
    m->epoch = 1;
    pthread_mutex_init(&m->lock, NULL);
    if (!blocks_create(&m->blocks, c->guard_bytes, c->fill) ||
        !table_create(&m->table,
                      c->check == MEMORY_CHECK_EXACT ? 1 : m->page)) {
        memory_destroy(m);
        return NULL;
    }
    m->delta = (int64_t)((uint64_t)m->blocks.backing - m->blocks.base);
    return m;
}

void memory_destroy(struct memory *m) {
    if (!m) return;
    for (uint32_t i = 0; i < m->n_small; i++) free(m->small[i]);
    free(m->small);
    free(m->host.freed);
    if (m->host.base) munmap(m->host.base, m->host.bytes);
    if (m->table.range) table_destroy(&m->table);
    blocks_destroy(&m->blocks);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

uint64_t memory_shared_window(const struct memory *m) {
    return m->blocks.base;
}
uint64_t memory_local_window(const struct memory *m) {
    return m->blocks.base + WINDOW_BYTES;
}
uint64_t memory_param_window(const struct memory *m) {
    return m->blocks.base + 2 * WINDOW_BYTES;
}

/* ---- the check ----------------------------------------------------------- */

uint32_t memory_epoch(const struct memory *m) {
    return atomic_load_explicit(&m->epoch, memory_order_acquire);
}

static void spans_changed(struct memory *m) {
    atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
}

bool memory_find(struct memory *m, uint64_t address, struct span *out) {
    uint64_t offset = address - m->blocks.base;
    bool device = offset < m->blocks.bytes;
    /* The epoch first: what is unmapped later makes the span stale. */
    out->epoch = memory_epoch(m);
    out->delta = device ? m->delta : 0;
    if (!device || m->check == MEMORY_CHECK_EXACT)
        return table_find(&m->table, address, out);
    uint64_t run = atomic_load_explicit(&m->blocks.runs[offset >> BLOCK_SHIFT],
                                        memory_order_acquire);
    out->lo = block_address(&m->blocks, run_first(run));
    out->hi = block_address(&m->blocks, run_end(run));
    out->writable = !run_readonly(run);
    return run != 0;
}

/* ---- small blocks -------------------------------------------------------- */

static void mark(struct small *s, uint32_t first, uint32_t n, bool taken) {
    for (uint32_t i = first; i < first + n; i++) {
        uint64_t bit = 1ull << (i % 64);
        if (taken) s->taken[i / 64] |= bit;
        else s->taken[i / 64] &= ~bit;
    }
}

/* First run of n free granules, or 0 (granule 0 is always taken). */
static uint32_t find_granules(struct small *s, uint32_t n) {
    uint32_t run = 0, longest = 0;
    if (n > s->longest) return 0;
    for (uint32_t i = 0; i < GRANULES; i++) {
        if (i % 64 == 0 && s->taken[i / 64] == UINT64_MAX) {
            run = 0;
            i += 63;
        } else if (s->taken[i / 64] >> (i % 64) & 1) {
            run = 0;
        } else if (++run == n) {
            return i + 1 - n;
        } else if (run > longest) {
            longest = run;
        }
    }
    s->longest = longest;
    return 0;
}

static bool capacity_left(const struct memory *m, uint64_t blocks) {
    return blocks <= (m->total >> BLOCK_SHIFT) &&
           m->blocks.mapped + blocks <= m->total >> BLOCK_SHIFT;
}

/* A new small block, kept in order of address so that lower ones are tried
 * first. The first granule is never handed out: a small step before the first
 * allocation stays inside the mapping, as on a GPU, whose context has memory
 * there. */
static struct small *small_create(struct memory *m, bool readonly) {
    if (m->n_small == m->cap_small) {
        uint32_t cap = m->cap_small ? 2 * m->cap_small : 16;
        struct small **grown = realloc(m->small, cap * sizeof *grown);
        if (!grown) return NULL;
        m->small = grown;
        m->cap_small = cap;
    }
    struct small *s = calloc(1, sizeof *s);
    if (!s || !capacity_left(m, 1) ||
        !(s->block = blocks_map(&m->blocks, 1, readonly))) {
        free(s);
        return NULL;
    }
    s->readonly = readonly;
    s->longest = GRANULES;
    mark(s, 0, 1, true);
    uint32_t at = m->n_small++;
    for (; at > 0 && m->small[at - 1]->block > s->block; at--)
        m->small[at] = m->small[at - 1];
    return m->small[at] = s;
}

static uint64_t small_alloc(struct memory *m, uint64_t size, bool readonly) {
    uint32_t n = (uint32_t)((size + GRANULE - 1) / GRANULE), at = 0;
    struct small *s = NULL;
    for (uint32_t i = 0; i < m->n_small && !at; i++)
        if ((s = m->small[i])->readonly == readonly) at = find_granules(s, n);
    if (!at) {
        if (!(s = small_create(m, readonly))) return 0;
        at = find_granules(s, n);
    }
    mark(s, at, n, true);
    s->used += n;
    return block_address(&m->blocks, s->block) + at * GRANULE;
}

static void small_free(struct memory *m, uint32_t i, uint64_t address,
                       uint64_t size) {
    struct small *s = m->small[i];
    uint32_t n = (uint32_t)((size + GRANULE - 1) / GRANULE);
    uint64_t offset = address - block_address(&m->blocks, s->block);
    mark(s, (uint32_t)(offset / GRANULE), n, false);
    s->longest = GRANULES;
    s->used -= n;
    if (s->used) return;
    blocks_unmap(&m->blocks, s->block, 1);
    free(s);
    m->n_small--;
    memmove(&m->small[i], &m->small[i + 1],
            (m->n_small - i) * sizeof *m->small);
}

static uint64_t device_alloc(struct memory *m, uint64_t size, bool readonly) {
    if (size <= SMALL_MAX) return small_alloc(m, size, readonly);
    uint64_t n = size / BLOCK_BYTES + (size % BLOCK_BYTES != 0);
    if (!capacity_left(m, n)) return 0;
    uint32_t first = blocks_map(&m->blocks, (uint32_t)n, readonly);
    return first ? block_address(&m->blocks, first) : 0;
}

static void device_free(struct memory *m, uint64_t address, uint64_t size) {
    uint64_t block = (address - m->blocks.base) >> BLOCK_SHIFT;
    for (uint32_t i = 0; size <= SMALL_MAX && i < m->n_small; i++)
        if (m->small[i]->block == block) {
            small_free(m, i, address, size);
            return;
        }
    blocks_unmap(&m->blocks, (uint32_t)block,
                 (uint32_t)((size + BLOCK_BYTES - 1) >> BLOCK_SHIFT));
}

/* ---- host memory --------------------------------------------------------- */

static uint64_t host_alloc(struct memory *m, uint64_t size) {
    struct host_range *h = &m->host;
    uint64_t bytes = (size + m->page - 1) & ~(m->page - 1);
    if (!h->base) {
        h->bytes = HOST_BYTES;
        while (!(h->base = reserve(HOST_BASE, h->bytes)))
            if ((h->bytes /= 4) < (1 << 20)) return 0;
    }
    for (uint32_t i = h->n_freed; i-- > 0;)
        if (h->freed[i].bytes == bytes) {
            uint64_t address = h->freed[i].address;
            h->freed[i] = h->freed[--h->n_freed];
            return address;
        }
    if (bytes < size || bytes > h->bytes - h->next) return 0;
    if (mprotect(h->base + h->next, bytes, PROT_READ | PROT_WRITE)) return 0;
    h->next += bytes;
    return (uint64_t)h->base + h->next - bytes;
}

/* The pages stay mapped, empty, since a warp may hold a span of them. */
static void host_free(struct memory *m, uint64_t address, uint64_t size) {
    struct host_range *h = &m->host;
    uint64_t bytes = (size + m->page - 1) & ~(m->page - 1);
    madvise((void *)address, bytes, MADV_DONTNEED);
    if (h->n_freed == h->cap_freed) {
        uint32_t cap = h->cap_freed ? 2 * h->cap_freed : 16;
        void *grown = realloc(h->freed, cap * sizeof *h->freed);
        if (!grown) return;
        h->freed = grown;
        h->cap_freed = cap;
    }
    h->freed[h->n_freed].address = address;
    h->freed[h->n_freed++].bytes = bytes;
}

/* ---- allocations --------------------------------------------------------- */

static void release(struct memory *m, const struct allocation *a) {
    if (!on_host(a->kind)) device_free(m, a->address, a->size);
    else if (a->kind != MEMORY_REGISTERED) host_free(m, a->address, a->size);
}

uint64_t memory_alloc(struct memory *m, uint64_t size, enum memory_kind kind,
                      unsigned flags) {
    if (!size) return 0;
    pthread_mutex_lock(&m->lock);
    struct allocation a = { .size = size, .kind = kind, .flags = flags,
                            .serial = m->serial + 1, .live = true };
    a.address = on_host(kind)
        ? host_alloc(m, size)
        : device_alloc(m, size, (flags & MEMORY_READONLY) != 0);
    if (a.address && !table_insert(&m->table, &a)) {
        release(m, &a);
        spans_changed(m);
        a.address = 0;
    }
    if (a.address) m->serial++;
    pthread_mutex_unlock(&m->lock);
    return a.address;
}

bool memory_register(struct memory *m, void *host, uint64_t size,
                     unsigned flags) {
    pthread_mutex_lock(&m->lock);
    struct allocation a = { .address = (uint64_t)host, .size = size,
                            .kind = MEMORY_REGISTERED, .flags = flags,
                            .serial = m->serial + 1, .live = true };
    bool ok = a.address + size > a.address && table_insert(&m->table, &a);
    m->serial += ok;
    pthread_mutex_unlock(&m->lock);
    return ok;
}

static void remove_index(struct memory *m, uint32_t i) {
    struct allocation a = m->table.record[i];
    table_remove(&m->table, i);
    release(m, &a);
}

bool memory_free(struct memory *m, uint64_t address, enum memory_kind kind) {
    pthread_mutex_lock(&m->lock);
    int64_t i = table_index(&m->table, address);
    bool ok = i >= 0 && m->table.record[i].address == address &&
              m->table.record[i].kind == kind;
    if (ok) {
        remove_index(m, (uint32_t)i);
        spans_changed(m);
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}

bool memory_mark(struct memory *m, uint64_t address, unsigned flag) {
    pthread_mutex_lock(&m->lock);
    int64_t i = table_index(&m->table, address);
    struct allocation *a = i >= 0 ? &m->table.record[i] : NULL;
    bool ok = a && a->address == address && !(a->flags & flag);
    if (ok) a->flags |= flag;
    pthread_mutex_unlock(&m->lock);
    return ok;
}

void memory_reset(struct memory *m) {
    pthread_mutex_lock(&m->lock);
    while (m->table.n) remove_index(m, m->table.n - 1);
    spans_changed(m);
    pthread_mutex_unlock(&m->lock);
}

/* ---- questions ----------------------------------------------------------- */

bool memory_lookup(struct memory *m, uint64_t address,
                   struct allocation *out) {
    pthread_mutex_lock(&m->lock);
    int64_t i = table_index(&m->table, address);
    if (i >= 0) *out = m->table.record[i];
    pthread_mutex_unlock(&m->lock);
    return i >= 0;
}

bool memory_nearest(struct memory *m, uint64_t address, struct allocation *out,
                    int64_t *distance) {
    pthread_mutex_lock(&m->lock);
    bool found = table_nearest(&m->table, address, out, distance);
    pthread_mutex_unlock(&m->lock);
    return found;
}

bool memory_covers(struct memory *m, uint64_t address, uint64_t size) {
    struct allocation a;
    return memory_lookup(m, address, &a) &&
           size <= a.size - (address - a.address);
}

void *memory_host(struct memory *m, uint64_t address) {
    struct allocation a;
    if (!memory_lookup(m, address, &a)) return NULL;
    return (void *)(address + (on_host(a.kind) ? 0 : (uint64_t)m->delta));
}

void memory_usage(struct memory *m, uint64_t *free_bytes, uint64_t *total) {
    pthread_mutex_lock(&m->lock);
    *total = m->total;
    *free_bytes = m->total - (m->blocks.mapped << BLOCK_SHIFT);
    pthread_mutex_unlock(&m->lock);
}

void memory_each(struct memory *m,
                 void (*fn)(const struct allocation *, void *), void *ctx) {
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < m->table.n; i++) fn(&m->table.record[i], ctx);
    pthread_mutex_unlock(&m->lock);
}
