/* Copies and fills: which arguments are refused, and who waits for whom.
 *
 * The runtime knows every allocation exactly, so a range that leaves its
 * allocation is refused here, where a kernel's access would pass.
 */
#include "cudart/cudart.h"

#include <string.h>

#include "cudart/limits.h"

/* Where one end of a copy lies. Managed memory may stand on either side. */
enum side { SIDE_DEVICE, SIDE_PINNED, SIDE_PAGEABLE };

/* CUDA 13.0 header, "API synchronization behavior". What is left to the
 * implementation there (async with pageable memory) is as drivers do it. */
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

static size_t extent(const struct copy_request *r, size_t pitch, size_t slice)
{
    return (r->depth ? (r->depth - 1) * slice : 0) + (r->height - 1) * pitch +
           r->width;
}

static bool product_fits(size_t pitch, size_t height, size_t slice,
                         size_t depth)
{
    size_t product;
    return !__builtin_mul_overflow(pitch, height, &product) &&
           !__builtin_mul_overflow(slice, depth, &product);
}

static cudaError_t check_shape(const struct copy_request *r)
{
    if (r->height > 1 &&
        (r->dst_pitch < r->width || r->src_pitch < r->width))
        return cudaErrorInvalidPitchValue;
    if (!product_fits(r->dst_pitch, r->height, r->dst_slice, r->depth) ||
        !product_fits(r->src_pitch, r->height, r->src_slice, r->depth))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t copy_plan(const struct copy_request *r, struct work *w,
                      struct waits *waits)
{
    enum want want_src, want_dst;
    enum side src, dst;
    *w = (struct work){.kind = WORK_EMPTY};
    *waits = (struct waits){0};
    cudaError_t error = directions(r->kind, &want_src, &want_dst);
    if (error == cudaSuccess) error = check_shape(r);
    if (error != cudaSuccess || !r->width || !r->height) return error;
    if (!r->dst || !r->src) return cudaErrorInvalidValue;
    error = classify(r->src, extent(r, r->src_pitch, r->src_slice), want_src,
                     &src);
    if (error == cudaSuccess)
        error = classify(r->dst, extent(r, r->dst_pitch, r->dst_slice),
                         want_dst, &dst);
    if (error != cudaSuccess) return error;
    *waits = (r->async ? waits_async : waits_blocking)[src][dst];
    w->kind = WORK_COPY;
    w->copy.depth = r->depth ? r->depth : 1;
    w->copy.dst_slice = r->dst_slice;
    w->copy.src_slice = r->src_slice;
    w->copy.kind = r->kind;
    w->copy.plane = (struct copy_desc){
        .dst = (uint64_t)r->dst, .src = (uint64_t)r->src,
        .dst_on_device = dst != SIDE_PAGEABLE,
        .src_on_device = src != SIDE_PAGEABLE,
        .width = r->width, .height = r->height,
        .dst_pitch = r->dst_pitch, .src_pitch = r->src_pitch,
    };
    return cudaSuccess;
}

cudaError_t copy_memory(struct rt_stream *s, const struct copy_request *r)
{
    struct work w;
    struct waits waits;
    cudaError_t error = copy_plan(r, &w, &waits);
    if (error == cudaSuccess && !r->async) error = capture_stream_check(s);
    if (error != cudaSuccess || w.kind == WORK_EMPTY) return error;
    if (s->capture) return submit(s, &w);
    if (waits.before) {
        error = synchronize_stream(s);
        if (error != cudaSuccess) return error;
    }
    w.copy.plane.staged = waits.staged;
    error = submit(s, &w);
    if (error != cudaSuccess || !waits.after) return error;
    return synchronize_stream(s);
}

cudaError_t fill_plan(void *dst, size_t pitch, uint32_t value,
                      unsigned bytes, size_t width, size_t height,
                      struct work *w, bool *pinned)
{
    struct copy_request shape = {.width = width, .height = height};
    enum side side;
    *w = (struct work){.kind = WORK_EMPTY};
    *pinned = false;
    if (height > 1 && (pitch < width || pitch > MAX_PITCH))
        return cudaErrorInvalidValue; /* unlike copies: header, hip-tests */
    if (!product_fits(pitch, height, 0, 0)) return cudaErrorInvalidValue;
    if (!width || !height) return cudaSuccess;
    if (!dst || (uint64_t)dst % bytes) return cudaErrorInvalidValue;
    cudaError_t error =
        classify(dst, extent(&shape, pitch, 0), WANT_ANY, &side);
    if (error != cudaSuccess) return error;
    if (side == SIDE_PAGEABLE) return cudaErrorInvalidValue;
    *pinned = side == SIDE_PINNED;
    w->kind = WORK_FILL;
    w->fill.dst = (uint64_t)dst;
    w->fill.pitch = pitch;
    w->fill.width = width;
    w->fill.height = height;
    w->fill.value = value;
    w->fill.bytes = bytes;
    return cudaSuccess;
}

/* A fill of pinned host memory is synchronous, any other is not. */
cudaError_t fill_memory(struct rt_stream *s, void *dst, size_t pitch,
                        int value, size_t width, size_t height, bool async)
{
    struct work w;
    bool pinned;
    cudaError_t error = fill_plan(dst, pitch, (uint8_t)value, 1, width, height,
                                  &w, &pinned);
    if (error != cudaSuccess || w.kind == WORK_EMPTY) return error;
    error = submit(s, &w);
    if (error != cudaSuccess || async || !pinned || s->capture) return error;
    return synchronize_stream(s);
}
