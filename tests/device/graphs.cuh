/* Set-ups that rules about graphs and captures share. */
#ifndef FAULTLAG_DEVICE_GRAPHS_CUH
#define FAULTLAG_DEVICE_GRAPHS_CUH

#include "kernels.cuh"

namespace {

inline cudaStream_t stream(unsigned flags = cudaStreamNonBlocking)
{
    cudaStream_t s = nullptr;
    OK(cudaStreamCreateWithFlags(&s, flags));
    return s;
}

inline cudaEvent_t event()
{
    cudaEvent_t e = nullptr;
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    return e;
}

inline cudaGraph_t new_graph()
{
    cudaGraph_t g = nullptr;
    OK(cudaGraphCreate(&g, 0));
    return g;
}

inline cudaKernelNodeParams one_thread(const void *kernel, void **args)
{
    cudaKernelNodeParams k = {};
    k.func = (void *)kernel;
    k.gridDim = k.blockDim = dim3(1);
    k.kernelParams = args;
    return k;
}

inline cudaGraphNode_t add_kernel(cudaGraph_t g, const void *kernel,
                                  void **args,
                                  const cudaGraphNode_t *deps = nullptr,
                                  size_t n = 0)
{
    cudaKernelNodeParams k = one_thread(kernel, args);
    cudaGraphNode_t node = nullptr;
    OK(cudaGraphAddKernelNode(&node, g, deps, n, &k));
    return node;
}

inline cudaGraphNode_t add_put(cudaGraph_t g, int *p, int value,
                               const cudaGraphNode_t *deps = nullptr,
                               size_t n = 0)
{
    void *args[] = {&p, &value};
    return add_kernel(g, (const void *)put, args, deps, n);
}

inline cudaMemsetParams fill_of(void *dst, unsigned value, size_t width,
                                size_t height = 1, size_t pitch = 0)
{
    cudaMemsetParams m = {};
    m.dst = dst;
    m.value = value;
    m.elementSize = 4;
    m.width = width;
    m.height = height;
    m.pitch = pitch;
    return m;
}

inline cudaGraphExec_t instantiate(cudaGraph_t g)
{
    cudaGraphExec_t e = nullptr;
    OK(cudaGraphInstantiate(&e, g, 0));
    return e;
}

/* Once, to its end. */
inline cudaError_t run(cudaGraph_t g)
{
    cudaGraphExec_t e;
    cudaError_t r = cudaGraphInstantiate(&e, g, 0);
    if (r == cudaSuccess) r = cudaGraphLaunch(e, 0);
    return r == cudaSuccess ? finish() : r;
}

inline void begin(cudaStream_t s,
                  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed)
{
    OK(cudaStreamBeginCapture(s, mode));
}

} // namespace

#endif
