/* cudaMemset and its relatives. */
#include "cudart/per_stream/per_stream.h"

static cudaError_t fill(void *dst, size_t pitch, int value, size_t width,
                        size_t height, cudaStream_t stream, bool async)
{
    USE_STREAM(s, stream);
    return fill_memory(s, dst, pitch, value, width, height, async);
}

API(CALL_CONTEXT, cudaMemset, (void *dst, int value, size_t size),
    (dst, value, size))
{
    return fill(dst, size, value, size, 1, NULL, false);
}

API(CALL_CONTEXT, cudaMemsetAsync,
    (void *dst, int value, size_t size, cudaStream_t stream),
    (dst, value, size, stream))
{
    return fill(dst, size, value, size, 1, stream, true);
}

API(CALL_CONTEXT, cudaMemset2D,
    (void *dst, size_t pitch, int value, size_t width, size_t height),
    (dst, pitch, value, width, height))
{
    return fill(dst, pitch, value, width, height, NULL, false);
}

API(CALL_CONTEXT, cudaMemset2DAsync,
    (void *dst, size_t pitch, int value, size_t width, size_t height,
     cudaStream_t stream), (dst, pitch, value, width, height, stream))
{
    return fill(dst, pitch, value, width, height, stream, true);
}

/* Rows of a box are one plane only when its slices follow each other closely,
 * which is what cudaMalloc3D gives when the box is as high as its memory. */
static cudaError_t fill_box(struct cudaPitchedPtr p, int value,
                            struct cudaExtent e, cudaStream_t stream,
                            bool async)
{
    /* Nothing is filled unless the last slice can be. */
    size_t last;
    struct work w;
    bool pinned;
    if (!e.depth || !e.width || !e.height) return cudaSuccess;
    if (__builtin_mul_overflow(p.pitch, p.ysize, &last) ||
        __builtin_mul_overflow(last, e.depth - 1, &last))
        return cudaErrorInvalidValue;
    cudaError_t error = p.ptr ? fill_plan((char *)p.ptr + last, p.pitch, 0, 1,
                                          e.width, e.height, &w, &pinned)
                              : cudaErrorInvalidValue;
    for (size_t z = 0; z < e.depth && error == cudaSuccess; z++) {
        char *slice = (char *)p.ptr + z * p.pitch * p.ysize;
        error = fill(slice, p.pitch, value, e.width, e.height, stream, async);
    }
    return error;
}

API(CALL_CONTEXT, cudaMemset3D,
    (struct cudaPitchedPtr p, int value, struct cudaExtent extent),
    (p, value, extent))
{
    return fill_box(p, value, extent, NULL, false);
}

API(CALL_CONTEXT, cudaMemset3DAsync,
    (struct cudaPitchedPtr p, int value, struct cudaExtent extent,
     cudaStream_t stream), (p, value, extent, stream))
{
    return fill_box(p, value, extent, stream, true);
}
