/* Nodes of every kind added to graphs, and parameters that are refused. */
#include "graphs.cuh"

RULE(params, general_adding, REPORT,
     "cudaGraphAddNode makes every kind of node; no parameters or an unknown "
     "type: 1")
{
    int *p = device_array<int>(1), in = 8;
    cudaGraph_t g = new_graph(), child = new_graph();
    cudaGraphNode_t n, a;
    cudaGraphNodeParams q = {};
    q.type = cudaGraphNodeTypeMemAlloc;
    q.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    q.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    q.alloc.bytesize = sizeof(int);
    OK(cudaGraphAddNode(&a, g, nullptr, nullptr, 0, &q));
    int *inside = (int *)q.alloc.dptr;
    q = {};
    q.type = cudaGraphNodeTypeMemcpy;
    q.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(&in, 4, 4, 1);
    q.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(inside, 4, 4, 1);
    q.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
    q.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
    OK(cudaGraphAddNode(&n, g, &a, nullptr, 1, &q));
    OK(cudaGraphAddMemcpyNode1D(&a, g, &n, 1, p, inside, 4,
                                cudaMemcpyDeviceToDevice));
    q = {};
    q.type = cudaGraphNodeTypeMemFree;
    q.free.dptr = inside;
    OK(cudaGraphAddNode(&n, g, &a, nullptr, 1, &q));
    q = {};
    q.type = cudaGraphNodeTypeGraph;
    q.graph.graph = child;
    OK(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &q));
    q = {};
    q.type = cudaGraphNodeTypeEmpty;
    OK(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &q));
    EXPECT(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, nullptr),
           cudaErrorInvalidValue);
    q.type = (cudaGraphNodeType)0x77;
    EXPECT(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &q),
           cudaErrorInvalidValue);
    OK(run(g));
    EXPECT(read_int(p), 8);
}

RULE(params, nothing_to_do, REPORT,
     "copy and memset nodes of no bytes, or of more than is allocated: 1")
{
    int *p = device_array<int>(2), in[4] = {};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n;
    cudaMemsetParams m = fill_of(p, 0, 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, p, in, 0,
                                    cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, p, in, 12,
                                    cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m),
           cudaErrorInvalidValue);
    m = fill_of(p, 0, 1, 0);
    EXPECT(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m),
           cudaErrorInvalidValue);
    m = fill_of(p, 0, 3);
    EXPECT(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m),
           cudaErrorInvalidValue);
    m = fill_of(p, 0, 2, 2, 4); /* pitch below width */
    EXPECT(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m),
           cudaErrorInvalidValue);
    m = fill_of(nullptr, 0, 1);
    EXPECT(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m),
           cudaErrorInvalidValue);
    m = fill_of(p, 0, 1);
    m.elementSize = 3;
    EXPECT(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m),
           cudaErrorInvalidValue);
}

__device__ int a_symbol[2];

RULE(params, symbols, REPORT,
     "a copy node to or from a symbol: no symbol 13, more than it holds 1, a "
     "direction that does not fit 21")
{
    int *p = device_array<int>(1), in = 77;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n, m;
    OK(cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0, a_symbol, &in, 4, 4,
                                      cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&m, g, &n, 1, p, a_symbol, 4, 4,
                                        cudaMemcpyDeviceToDevice));
    OK(run(g));
    EXPECT(read_int(p), 77);
    EXPECT(cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0,
                                          (const void *)nullptr, &in, 4, 0,
                                          cudaMemcpyHostToDevice),
           cudaErrorInvalidSymbol);
    EXPECT(cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0, a_symbol, &in, 8,
                                          4, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddMemcpyNodeToSymbol(&n, g, nullptr, 0, a_symbol, &in, 4,
                                          0, cudaMemcpyDeviceToHost),
           cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGraphMemcpyNodeSetParamsFromSymbol(m, p, a_symbol, 4, 0,
                                                  cudaMemcpyHostToDevice),
           cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGraphMemcpyNodeSetParamsFromSymbol(m, p, a_symbol, 4, 0,
                                                  (cudaMemcpyKind)-1),
           cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGraphMemcpyNodeSetParamsFromSymbol(
               m, (void *)nullptr, a_symbol, 4, 0, cudaMemcpyDefault),
           cudaErrorInvalidValue);
}

RULE(params, boxes, REPORT,
     "a copy node of a box: a pitch below the width 12; a null end, a row that "
     "runs over into the next, or a box that leaves its memory 1; no such "
     "direction 21")
{
    int *p = device_array<int>(64), *q = device_array<int>(64);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n;
    cudaMemcpy3DParms good = {};
    good.srcPtr = make_cudaPitchedPtr(p, 32, 32, 4);
    good.dstPtr = make_cudaPitchedPtr(q, 32, 32, 4);
    good.extent = make_cudaExtent(32, 4, 2);
    good.kind = cudaMemcpyDeviceToDevice;
    OK(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &good));
    for (int i = 0; i < 7; i++) {
        cudaMemcpy3DParms bad = good;
        cudaError_t want = cudaErrorInvalidValue;
        switch (i) {
        case 0: bad.srcPtr.ptr = nullptr; break;
        case 1: bad.dstPtr.ptr = nullptr; break;
        case 2: bad.srcPos.x = 4; break;
        case 3: bad.dstPos.y = 1; break;
        case 4: bad.srcPos.z = 1; break;
        case 5:
            bad.dstPtr.pitch = 31;
            want = cudaErrorInvalidPitchValue;
            break;
        case 6:
            bad.kind = (cudaMemcpyKind)-1;
            want = cudaErrorInvalidMemcpyDirection;
            break;
        }
        EXPECT(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &bad), want);
        EXPECT(cudaGraphMemcpyNodeSetParams(n, &bad), want);
    }
}

RULE(params, missing, REPORT,
     "a kernel node without a function: 98; without parameters that the "
     "kernel takes, a host node without a function, no structure at all: 1")
{
    int *p = device_array<int>(1), value = 1;
    void *args[] = {&p, &value};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n = add_put(g, p, 1), empty;
    OK(cudaGraphAddEmptyNode(&empty, g, nullptr, 0));
    cudaGraphExec_t e = instantiate(g);
    cudaKernelNodeParams none = one_thread(nullptr, args),
                         bare = one_thread((const void *)put, nullptr),
                         good = one_thread((const void *)put, args);
    cudaHostNodeParams h = {};
    EXPECT(cudaGraphAddKernelNode(&empty, g, nullptr, 0, &none),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaGraphAddKernelNode(&empty, g, nullptr, 0, &bare),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeSetParams(n, &none),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaGraphExecKernelNodeSetParams(e, n, &bare),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphExecKernelNodeSetParams(e, n, nullptr),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphExecKernelNodeSetParams(e, empty, &good),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphExecKernelNodeSetParams(nullptr, n, &good),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddHostNode(&empty, g, nullptr, 0, &h),
           cudaErrorInvalidValue);
}
