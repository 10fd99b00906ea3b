/* All live allocations in address order, and the last freed ones.
 *
 * Warps look addresses up here while the host allocates and frees, so readers
 * use a sequence count: every word is atomic, a reader that met a writer looks
 * again. Loads are acquire and stores release instead of fences, which
 * ThreadSanitizer does not follow. */
#include <string.h>
#include <sys/mman.h>

#include "core/memory_parts.h"

#define LOAD(x) atomic_load_explicit(&(x), memory_order_acquire)
#define STORE(x, v) atomic_store_explicit(&(x), (v), memory_order_release)

static void *zeroed_pages(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool table_create(struct table *t, uint64_t page) {
    memset(t, 0, sizeof *t);
    t->page = page;
    t->range = zeroed_pages(TABLE_MAX * sizeof *t->range);
    t->record = zeroed_pages(TABLE_MAX * sizeof *t->record);
    if (t->range && t->record) return true;
    table_destroy(t);
    return false;
}

void table_destroy(struct table *t) {
    if (t->range) munmap(t->range, TABLE_MAX * sizeof *t->range);
    if (t->record) munmap(t->record, TABLE_MAX * sizeof *t->record);
    t->range = NULL;
    t->record = NULL;
}

/* First index whose record starts above address. */
static uint32_t upper(const struct table *t, uint64_t address) {
    uint32_t lo = 0, hi = t->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (t->record[mid].address <= address) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static void begin_write(struct table *t) {
    atomic_store_explicit(&t->seq, t->seq + 1, memory_order_relaxed);
}
static void end_write(struct table *t) { STORE(t->seq, t->seq + 1); }

static void move_range(struct table *t, uint32_t to, uint32_t from) {
    STORE(t->range[to].lo, t->range[from].lo);
    STORE(t->range[to].hi, t->range[from].hi);
}

bool table_insert(struct table *t, const struct allocation *a) {
    uint32_t at = upper(t, a->address), n = t->n;
    if (n == TABLE_MAX) return false;
    if (at > 0 && t->record[at - 1].address + t->record[at - 1].size >
                      a->address)
        return false;
    if (at < n && t->record[at].address < a->address + a->size) return false;

    memmove(&t->record[at + 1], &t->record[at], (n - at) * sizeof *t->record);
    t->record[at] = *a;
    uint64_t lo = a->address, hi = lo + a->size;
    if (on_host(a->kind)) {
        lo &= ~(t->page - 1);
        hi = (hi + t->page - 1) & ~(t->page - 1);
    }
    if (a->flags & MEMORY_READONLY) hi |= RANGE_READONLY;
    begin_write(t);
    for (uint32_t i = n; i > at; i--) move_range(t, i, i - 1);
    STORE(t->range[at].lo, lo);
    STORE(t->range[at].hi, hi);
    STORE(t->n, n + 1);
    end_write(t);
    return true;
}

int64_t table_index(const struct table *t, uint64_t address) {
    uint32_t i = upper(t, address);
    if (!i || address - t->record[i - 1].address >= t->record[i - 1].size)
        return -1;
    return i - 1;
}

void table_remove(struct table *t, uint32_t index) {
    struct allocation *gone = &t->freed[t->n_freed++ % TABLE_FREED];
    uint32_t n = t->n - 1;
    *gone = t->record[index];
    gone->live = false;
    memmove(&t->record[index], &t->record[index + 1],
            (n - index) * sizeof *t->record);
    begin_write(t);
    for (uint32_t i = index; i < n; i++) move_range(t, i, i + 1);
    STORE(t->n, n);
    end_write(t);
}

static bool search(struct table *t, uint64_t address, struct span *out) {
    uint32_t a = 0, b = LOAD(t->n);
    while (a < b) { /* first range that starts above */
        uint32_t mid = (a + b) / 2;
        if (LOAD(t->range[mid].lo) <= address) a = mid + 1;
        else b = mid;
    }
    /* Registered ranges may share a page, so the one before may hold it. */
    for (uint32_t i = a; i > 0 && i + 2 > a; i--) {
        uint64_t hi = LOAD(t->range[i - 1].hi);
        out->lo = LOAD(t->range[i - 1].lo);
        out->hi = hi & ~RANGE_READONLY;
        out->writable = !(hi & RANGE_READONLY);
        if (out->lo <= address && address < out->hi) return true;
    }
    return false;
}

bool table_find(struct table *t, uint64_t address, struct span *out) {
    for (;;) {
        uint32_t seq = LOAD(t->seq);
        if (seq & 1) continue;
        bool found = search(t, address, out);
        if (atomic_load_explicit(&t->seq, memory_order_relaxed) == seq)
            return found;
    }
}

/* Bytes from the allocation to address: 0 inside, > 0 past the end (the byte
 * right behind it is 1 past), < 0 before. */
static int64_t distance_to(const struct allocation *a, uint64_t address) {
    if (address < a->address) return -(int64_t)(a->address - address);
    if (address - a->address < a->size) return 0;
    return (int64_t)(address - (a->address + a->size) + 1);
}

static void consider(const struct allocation *a, uint64_t address,
                     struct allocation *best, int64_t *best_distance) {
    int64_t d = distance_to(a, address);
    if (best->size &&
        (d < 0 ? -d : d) >=
            (*best_distance < 0 ? -*best_distance : *best_distance))
        return;
    *best = *a;
    *best_distance = d;
}

bool table_nearest(const struct table *t, uint64_t address,
                   struct allocation *out, int64_t *distance) {
    uint32_t i = upper(t, address);
    memset(out, 0, sizeof *out);
    if (i > 0) consider(&t->record[i - 1], address, out, distance);
    if (i < t->n) consider(&t->record[i], address, out, distance);
    if (out->size && *distance == 0) return true;
    /* A freed one counts where it is nearer than every live one; of two that
     * were at one place the later. */
    uint64_t n = t->n_freed < TABLE_FREED ? t->n_freed : TABLE_FREED;
    for (uint64_t k = 1; k <= n; k++)
        consider(&t->freed[(t->n_freed - k) % TABLE_FREED], address, out,
                 distance);
    return out->size != 0;
}
