/* cudaMemcpy and its one- and two-dimensional relatives; symbols. */
#include "cudart/limits.h"
#include "cudart/per_stream/per_stream.h"

static cudaError_t linear(void *dst, const void *src, size_t size,
                          enum cudaMemcpyKind kind, cudaStream_t stream,
                          bool async)
{
    USE_STREAM(s, stream);
    struct copy_request r = {dst, src, size, size, size, 1, kind, async,
                             0, 0, 0};
    return copy_memory(s, &r);
}

API(CALL_CONTEXT, cudaMemcpy,
    (void *dst, const void *src, size_t size, enum cudaMemcpyKind kind),
    (dst, src, size, kind))
{
    return linear(dst, src, size, kind, NULL, false);
}

API(CALL_CONTEXT, cudaMemcpyAsync,
    (void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
     cudaStream_t stream), (dst, src, size, kind, stream))
{
    return linear(dst, src, size, kind, stream, true);
}

static cudaError_t plane(void *dst, size_t dpitch, const void *src,
                         size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind, cudaStream_t stream,
                         bool async)
{
    USE_STREAM(s, stream);
    if (dpitch < width || spitch < width) return cudaErrorInvalidPitchValue;
    if (dpitch > MAX_PITCH || spitch > MAX_PITCH) return cudaErrorInvalidValue;
    struct copy_request r = {dst, src, dpitch, spitch, width, height, kind,
                             async, 0, 0, 0};
    return copy_memory(s, &r);
}

API(CALL_CONTEXT, cudaMemcpy2D,
    (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
     size_t height, enum cudaMemcpyKind kind),
    (dst, dpitch, src, spitch, width, height, kind))
{
    return plane(dst, dpitch, src, spitch, width, height, kind, NULL, false);
}

API(CALL_CONTEXT, cudaMemcpy2DAsync,
    (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
    (dst, dpitch, src, spitch, width, height, kind, stream))
{
    return plane(dst, dpitch, src, spitch, width, height, kind, stream, true);
}

/* ---- symbols -------------------------------------------------------------------- */

/* Both directions: the symbol's end is device memory of known size. */
static cudaError_t symbol_part(const void *host, size_t size, size_t offset,
                               void **out)
{
    struct symbol *s;
    cudaError_t error = symbol_load(host, &s);
    if (error != cudaSuccess) return error;
    if (offset > s->size || size > s->size - offset)
        return cudaErrorInvalidValue;
    *out = (void *)(s->address + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t size,
                             size_t offset, enum cudaMemcpyKind kind,
                             cudaStream_t stream, bool async)
{
    void *dst;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = symbol_part(symbol, size, offset, &dst);
    if (error != cudaSuccess) return error;
    return linear(dst, src, size, kind, stream, async);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t size,
                               size_t offset, enum cudaMemcpyKind kind,
                               cudaStream_t stream, bool async)
{
    void *src;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = symbol_part(symbol, size, offset, &src);
    if (error != cudaSuccess) return error;
    return linear(dst, src, size, kind, stream, async);
}

API(CALL_CONTEXT, cudaMemcpyToSymbol,
    (const void *symbol, const void *src, size_t size, size_t offset,
     enum cudaMemcpyKind kind), (symbol, src, size, offset, kind))
{
    return to_symbol(symbol, src, size, offset, kind, NULL, false);
}

API(CALL_CONTEXT, cudaMemcpyToSymbolAsync,
    (const void *symbol, const void *src, size_t size, size_t offset,
     enum cudaMemcpyKind kind, cudaStream_t stream),
    (symbol, src, size, offset, kind, stream))
{
    return to_symbol(symbol, src, size, offset, kind, stream, true);
}

API(CALL_CONTEXT, cudaMemcpyFromSymbol,
    (void *dst, const void *symbol, size_t size, size_t offset,
     enum cudaMemcpyKind kind), (dst, symbol, size, offset, kind))
{
    return from_symbol(dst, symbol, size, offset, kind, NULL, false);
}

API(CALL_CONTEXT, cudaMemcpyFromSymbolAsync,
    (void *dst, const void *symbol, size_t size, size_t offset,
     enum cudaMemcpyKind kind, cudaStream_t stream),
    (dst, symbol, size, offset, kind, stream))
{
    return from_symbol(dst, symbol, size, offset, kind, stream, true);
}
