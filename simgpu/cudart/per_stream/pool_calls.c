/* Stream-ordered allocation. */
#include "cudart/per_stream/per_stream.h"

API(CALL_CONTEXT, cudaMallocAsync,
    (void **out, size_t size, cudaStream_t stream), (out, size, stream))
{
    USE_STREAM(s, stream);
    return pool_alloc(out, size, NULL, s);
}

API(CALL_CONTEXT, cudaMallocFromPoolAsync,
    (void **out, size_t size, cudaMemPool_t pool, cudaStream_t stream),
    (out, size, pool, stream))
{
    USE_STREAM(s, stream);
    if (!pool) return cudaErrorInvalidValue;
    return pool_alloc(out, size, pool, s);
}

API(CALL_CONTEXT, cudaFreeAsync, (void *p, cudaStream_t stream), (p, stream))
{
    USE_STREAM(s, stream);
    if (!p) return cudaErrorInvalidValue;
    return pool_free(p, s);
}
