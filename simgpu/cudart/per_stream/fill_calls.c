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
    for (size_t z = 0; z < e.depth; z++) {
        char *slice = (char *)p.ptr + z * p.pitch * p.ysize;
        cudaError_t error = fill(slice, p.pitch, value, e.width, e.height,
                                 stream, async);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
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
