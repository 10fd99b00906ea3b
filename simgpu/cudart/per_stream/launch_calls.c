/* Everything that launches a kernel or a host function. */
#include "cudart/per_stream/per_stream.h"

/* Declared here as in the toolkit's headers for C++. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid,
                                         dim3 block, void **args,
                                         size_t shared, cudaStream_t stream);

static cudaError_t launch(const void *function, dim3 grid, dim3 block,
                          void **args, size_t shared, cudaStream_t stream,
                          bool cooperative)
{
    struct kernel *k = kernel_find(function);
    if (!k) return cudaErrorInvalidDeviceFunction;
    USE_STREAM(s, stream);
    return launch_kernel(k, grid, block, args, shared, s, cooperative);
}

API(CALL_CONTEXT, __cudaLaunchKernel,
    (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
     cudaStream_t stream), (kernel, grid, block, args, shared, stream))
{
    return launch(kernel, grid, block, args, shared, stream, false);
}

API(CALL_CONTEXT, cudaLaunchKernel,
    (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
     cudaStream_t stream), (function, grid, block, args, shared, stream))
{
    return launch(function, grid, block, args, shared, stream, false);
}

API(CALL_CONTEXT, cudaLaunchCooperativeKernel,
    (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
     cudaStream_t stream), (function, grid, block, args, shared, stream))
{
    return launch(function, grid, block, args, shared, stream, true);
}

API(CALL_CONTEXT, cudaLaunchKernelExC,
    (const cudaLaunchConfig_t *config, const void *function, void **args),
    (config, function, args))
{
    struct kernel *k = kernel_find(function);
    if (!config) return cudaErrorInvalidValue;
    if (!k) return cudaErrorInvalidDeviceFunction;
    USE_STREAM(s, config->stream);
    return launch_config(config, k, args, s);
}

API(CALL_CONTEXT, cudaLaunchHostFunc,
    (cudaStream_t stream, cudaHostFn_t fn, void *arg), (stream, fn, arg))
{
    USE_STREAM(s, stream);
    return launch_host(s, fn, arg);
}

API(CALL_CONTEXT, cudaStreamAddCallback,
    (cudaStream_t stream, cudaStreamCallback_t fn, void *arg, unsigned flags),
    (stream, fn, arg, flags))
{
    USE_STREAM(s, stream);
    if (flags) return cudaErrorInvalidValue;
    return launch_callback(s, fn, arg);
}
