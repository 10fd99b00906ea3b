/* Copies and fills: which arguments are refused, and who waits for whom.
 *
 * The runtime knows every allocation exactly, so a range that leaves its
 * allocation is refused here, where a kernel's access would pass.
 */
#include "cudart/cudart.h"

#include <string.h>

/* Where one end of a copy lies. Managed memory may stand on either side. */
enum side { SIDE_DEVICE, SIDE_PINNED, SIDE_PAGEABLE };

/* CUDA 13.0 header, "API synchronization behavior". What is left to the
 * implementation there (async with pageable memory) is as drivers do it. */
struct waits { bool before, staged, after; };
static const struct waits waits_blocking[3][3] = { /* [source][destination] */
    [SIDE_DEVICE] = {
        [SIDE_DEVICE] = {0},
        [SIDE_PINNED] = {.after = true},
        [SIDE_PAGEABLE] = {.after = true},
    },
    [SIDE_PINNED] = {
        [SIDE_DEVICE] = {.after = true},
        [SIDE_PINNED] = {.after = true},
        [SIDE_PAGEABLE] = {.after = true},
    },
    [SIDE_PAGEABLE] = {
        [SIDE_DEVICE] = {.before = true, .staged = true},
        [SIDE_PINNED] = {.after = true},
        [SIDE_PAGEABLE] = {.after = true},
    },
};
static const struct waits waits_async[3][3] = {
    [SIDE_DEVICE] = {
        [SIDE_DEVICE] = {0},
        [SIDE_PINNED] = {0},
        [SIDE_PAGEABLE] = {.after = true},
    },
    [SIDE_PINNED] = {
        [SIDE_DEVICE] = {0},
        [SIDE_PINNED] = {.after = true},
        [SIDE_PAGEABLE] = {.after = true},
    },
    [SIDE_PAGEABLE] = {
        [SIDE_DEVICE] = {.staged = true},
        [SIDE_PINNED] = {.after = true},
        [SIDE_PAGEABLE] = {.after = true},
    },
};

enum want { WANT_ANY, WANT_HOST, WANT_DEVICE };

/* What the direction says about each end. */
static cudaError_t directions(enum cudaMemcpyKind kind, enum want *src,
                              enum want *dst)
{
    static const struct { enum want src, dst; } table[] = {
        [cudaMemcpyHostToHost] = {WANT_HOST, WANT_HOST},
        [cudaMemcpyHostToDevice] = {WANT_HOST, WANT_DEVICE},
        [cudaMemcpyDeviceToHost] = {WANT_DEVICE, WANT_HOST},
        [cudaMemcpyDeviceToDevice] = {WANT_DEVICE, WANT_DEVICE},
        [cudaMemcpyDefault] = {WANT_ANY, WANT_ANY},
    };
    if ((unsigned)kind >= sizeof table / sizeof *table)
        return cudaErrorInvalidMemcpyDirection;
    *src = table[kind].src;
    *dst = table[kind].dst;
    return cudaSuccess;
}

static cudaError_t classify(const void *p, size_t bytes, enum want want,
                            enum side *side)
{
    struct memory *memory = context()->memory;
    struct allocation a;
    if (!memory_lookup(memory, (uint64_t)p, &a)) {
        *side = SIDE_PAGEABLE;
        return want == WANT_DEVICE ? cudaErrorInvalidValue : cudaSuccess;
    }
    switch (a.kind) {
    case MEMORY_DEVICE:
    case MEMORY_SYMBOL:
        *side = SIDE_DEVICE;
        if (want == WANT_HOST) return cudaErrorInvalidValue;
        break;
    case MEMORY_MANAGED:
        *side = want == WANT_HOST ? SIDE_PINNED : SIDE_DEVICE;
        break;
    case MEMORY_PINNED:
    case MEMORY_REGISTERED:
        *side = want == WANT_DEVICE ? SIDE_DEVICE : SIDE_PINNED;
        break;
    }
    return memory_covers(memory, (uint64_t)p, bytes) ? cudaSuccess
                                                     : cudaErrorInvalidValue;
}

static size_t extent(size_t pitch, size_t width, size_t height)
{
    return (height - 1) * pitch + width;
}

static cudaError_t check_shape(const struct copy_request *r)
{
    size_t product;
    if (r->height > 1 &&
        (r->dst_pitch < r->width || r->src_pitch < r->width))
        return cudaErrorInvalidPitchValue;
    if (__builtin_mul_overflow(r->dst_pitch, r->height, &product) ||
        __builtin_mul_overflow(r->src_pitch, r->height, &product))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t copy_memory(struct rt_stream *s, const struct copy_request *r)
{
    enum want want_src, want_dst;
    enum side src, dst;
    cudaError_t error = directions(r->kind, &want_src, &want_dst);
    if (error == cudaSuccess) error = check_shape(r);
    if (error != cudaSuccess) return error;
    if (!r->width || !r->height) return cudaSuccess;
    if (!r->dst || !r->src) return cudaErrorInvalidValue;
    error = classify(r->src, extent(r->src_pitch, r->width, r->height),
                     want_src, &src);
    if (error == cudaSuccess)
        error = classify(r->dst, extent(r->dst_pitch, r->width, r->height),
                         want_dst, &dst);
    if (error != cudaSuccess) return error;

    struct waits waits = (r->async ? waits_async : waits_blocking)[src][dst];
    if (waits.before) {
        error = synchronize_stream(s);
        if (error != cudaSuccess) return error;
    }
    struct work w = {
        .kind = WORK_COPY,
        .copy = {
            .dst = (uint64_t)r->dst, .src = (uint64_t)r->src,
            .dst_on_device = dst != SIDE_PAGEABLE,
            .src_on_device = src != SIDE_PAGEABLE,
            .width = r->width, .height = r->height,
            .dst_pitch = r->dst_pitch, .src_pitch = r->src_pitch,
            .staged = waits.staged && !s->capture,
        },
    };
    error = submit(s, &w);
    if (error != cudaSuccess || s->capture || !waits.after) return error;
    return synchronize_stream(s);
}

/* A fill of pinned host memory is synchronous, any other is not. */
cudaError_t fill_memory(struct rt_stream *s, void *dst, size_t pitch,
                        int value, size_t width, size_t height, bool async)
{
    enum side side;
    size_t product;
    if (height > 1 && pitch < width) return cudaErrorInvalidPitchValue;
    if (__builtin_mul_overflow(pitch, height, &product))
        return cudaErrorInvalidValue;
    if (!width || !height) return cudaSuccess;
    if (!dst) return cudaErrorInvalidValue;
    cudaError_t error =
        classify(dst, extent(pitch, width, height), WANT_ANY, &side);
    if (error == cudaSuccess && side == SIDE_PAGEABLE)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    struct work w = {.kind = WORK_FILL,
                     .fill = {(uint64_t)dst, pitch, width, height,
                              (uint8_t)value, 1}};
    error = submit(s, &w);
    if (error != cudaSuccess || async || side != SIDE_PINNED) return error;
    return synchronize_stream(s);
}
