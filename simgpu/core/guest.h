/* Every load and store of simulated memory goes through here.
 *
 * A kernel's unsynchronised accesses are races by design: they are what is
 * being simulated, so ThreadSanitizer must not see them, while it sees the
 * rest of the device. Without it these are plain loads and stores, inlined;
 * with it they are calls, since GCC does not inline across the attribute.
 *
 * A whole handler that works on rows may carry GUEST_FN instead and access
 * memory itself. Pointers are host addresses; alignment is the caller's check
 * (PTX faults on misaligned addresses), the types only defeat aliasing rules.
 */
#ifndef SIMGPU_CORE_GUEST_H
#define SIMGPU_CORE_GUEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SANITIZE_THREAD__
#define GUEST_FN __attribute__((no_sanitize("thread"), noinline))
#define GUEST_INLINE static __attribute__((no_sanitize("thread"), noinline, \
                                           unused))
#else
#define GUEST_FN
#define GUEST_INLINE static inline __attribute__((always_inline, unused))
#endif

#define GUEST_ACCESS(bits)                                                   \
    typedef uint##bits##_t __attribute__((may_alias)) guest_u##bits;         \
    GUEST_INLINE uint##bits##_t guest_load##bits(const void *p) {            \
        return *(const guest_u##bits *)p;                                    \
    }                                                                        \
    GUEST_INLINE void guest_store##bits(void *p, uint##bits##_t v) {         \
        *(guest_u##bits *)p = v;                                             \
    }
GUEST_ACCESS(8)
GUEST_ACCESS(16)
GUEST_ACCESS(32)
GUEST_ACCESS(64)
#undef GUEST_ACCESS

/* memcpy and memset as the device does them. ThreadSanitizer intercepts the
 * library's, whoever calls them, so under it these are byte loops (kept from
 * being turned back into calls). */
GUEST_INLINE void guest_copy(void *dst, const void *src, size_t n) {
#ifdef __SANITIZE_THREAD__
    volatile guest_u8 *d = dst;
    const volatile guest_u8 *s = src;
    for (size_t i = 0; i < n; i++) d[i] = s[i];
#else
    memcpy(dst, src, n);
#endif
}

GUEST_INLINE void guest_fill(void *dst, uint8_t value, size_t n) {
#ifdef __SANITIZE_THREAD__
    volatile guest_u8 *d = dst;
    for (size_t i = 0; i < n; i++) d[i] = value;
#else
    memset(dst, value, n);
#endif
}

#endif
