/* Copies between devices: there is one, so they are copies within it. */
#include "cudart/cudart.h"

static cudaError_t peer(void *dst, int dst_device, const void *src,
                        int src_device, size_t size, cudaStream_t stream)
{
    struct rt_stream *s;
    if (dst_device != 0 || src_device != 0) return cudaErrorInvalidDevice;
    cudaError_t error = stream_get(stream, false, &s);
    if (error != cudaSuccess) return error;
    struct copy_request r = {dst, src, size, size, size, 1,
                             cudaMemcpyDeviceToDevice, true, 0, 0, 0};
    return copy_memory(s, &r);
}

API(CALL_CONTEXT, cudaMemcpyPeer,
    (void *dst, int dst_device, const void *src, int src_device, size_t size),
    (dst, dst_device, src, src_device, size))
{
    return peer(dst, dst_device, src, src_device, size, NULL);
}

API(CALL_CONTEXT, cudaMemcpyPeerAsync,
    (void *dst, int dst_device, const void *src, int src_device, size_t size,
     cudaStream_t stream), (dst, dst_device, src, src_device, size, stream))
{
    return peer(dst, dst_device, src, src_device, size, stream);
}
