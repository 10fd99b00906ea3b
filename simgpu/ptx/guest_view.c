/* Reading guest memory for the host's own purposes. */
#include <string.h>

#include "core/guest.h"
#include "ptx/guest_view.h"

/* The offset of an access in a window or any other piece, or false. */
static bool inside(uint64_t address, uint64_t start, uint64_t size,
                   uint32_t bytes) {
    return address >= start && size >= bytes &&
           address - start <= size - bytes;
}

const void *guest_view(struct warp *w, uint32_t lane, uint64_t address,
                       uint32_t bytes) {
    const struct block *b = w->block;
    struct memory *m = b->launch->services->memory;
    uint64_t local = memory_local_window(m), shared = memory_shared_window(m);
    uint64_t params = memory_param_window(m);
    struct span s = w->cache;
    if (inside(address, local, w->local_stride, bytes))
        return w->local + (size_t)lane * w->local_stride + (address - local);
    if (inside(address, shared, b->shared_bytes, bytes))
        return b->shared + (address - shared);
    if (inside(address, params, b->launch->program->param_bytes, bytes))
        return b->launch->params + (address - params);
    bool known = s.epoch == memory_epoch(m) && address >= s.lo &&
                 address < s.hi;
    if (!known) {
        if (!memory_find(m, address, &s)) return NULL;
        w->cache = s;
    }
    if (s.hi - address < bytes) return NULL;
    return (const void *)(uintptr_t)(address + (uint64_t)s.delta);
}

bool guest_string(struct warp *w, uint32_t lane, uint64_t address, char *to,
                  size_t n) {
    for (size_t i = 0; i < n; i++) {
        const void *at = guest_view(w, lane, address + i, 1);
        if (!at) return false;
        to[i] = (char)guest_load8(at);
        if (!to[i]) return true;
    }
    to[n - 1] = 0;
    return true;
}
