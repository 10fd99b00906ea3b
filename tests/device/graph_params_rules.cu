/* What graph nodes do, read and changed: in graphs, in executable graphs,
 * in children of them. Updates by whole graphs: graph_update_rules.cu. */
#include "graphs.cuh"

static void count(void *p) { ++*(int *)p; }

RULE(params, of_a_graph_change, HEADER,
     "kernel, copy, memset and host nodes of a graph can be changed, and tell "
     "what they were given")
{
    int *p = device_array<int>(3), in[2] = {5, 6}, value = 9, calls[2] = {};
    void *args[] = {&p, &value};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t kernel = add_put(g, p, 1), copy, fill, host;
    cudaMemsetParams m = fill_of(p + 1, 3, 1), told_fill;
    cudaHostNodeParams h = {count, &calls[0]}, told_host;
    cudaKernelNodeParams k = one_thread((const void *)put, args), told_kernel;
    cudaMemcpy3DParms told_copy;
    OK(cudaGraphAddMemcpyNode1D(&copy, g, nullptr, 0, p + 2, &in[0],
                                sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &m));
    OK(cudaGraphAddHostNode(&host, g, nullptr, 0, &h));
    OK(cudaGraphKernelNodeSetParams(kernel, &k));
    OK(cudaGraphMemcpyNodeSetParams1D(copy, p + 2, &in[1], sizeof(int),
                                      cudaMemcpyHostToDevice));
    m.value = 4;
    OK(cudaGraphMemsetNodeSetParams(fill, &m));
    h.userData = &calls[1];
    OK(cudaGraphHostNodeSetParams(host, &h));
    OK(cudaGraphKernelNodeGetParams(kernel, &told_kernel));
    EXPECT(*(int *)told_kernel.kernelParams[1], 9);
    OK(cudaGraphMemcpyNodeGetParams(copy, &told_copy));
    EXPECT((uintptr_t)told_copy.srcPtr.ptr, (uintptr_t)&in[1]);
    EXPECT(told_copy.kind, cudaMemcpyHostToDevice);
    OK(cudaGraphMemsetNodeGetParams(fill, &told_fill));
    EXPECT(told_fill.value, 4);
    OK(cudaGraphHostNodeGetParams(host, &told_host));
    EXPECT((uintptr_t)told_host.userData, (uintptr_t)&calls[1]);
    OK(run(g));
    EXPECT(read_int(p), 9);
    EXPECT(read_int(p + 1), 4);
    EXPECT(read_int(p + 2), 6);
    EXPECT(calls[0], 0);
    EXPECT(calls[1], 1);
}

RULE(params, of_an_exec_change, HEADER,
     "the same in an executable graph changes its later launches and not the "
     "graph")
{
    int *p = device_array<int>(3), in[2] = {5, 6}, value = 9, calls[2] = {};
    void *args[] = {&p, &value};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t kernel = add_put(g, p, 1), copy, fill, host;
    cudaMemsetParams m = fill_of(p + 1, 3, 1);
    cudaHostNodeParams h = {count, &calls[0]};
    cudaKernelNodeParams k = one_thread((const void *)put, args);
    OK(cudaGraphAddMemcpyNode1D(&copy, g, nullptr, 0, p + 2, &in[0],
                                sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &m));
    OK(cudaGraphAddHostNode(&host, g, nullptr, 0, &h));
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphExecKernelNodeSetParams(e, kernel, &k));
    OK(cudaGraphExecMemcpyNodeSetParams1D(e, copy, p + 2, &in[1], sizeof(int),
                                          cudaMemcpyHostToDevice));
    m.value = 4;
    OK(cudaGraphExecMemsetNodeSetParams(e, fill, &m));
    h.userData = &calls[1];
    OK(cudaGraphExecHostNodeSetParams(e, host, &h));
    OK(cudaGraphLaunch(e, 0));
    OK(finish());
    EXPECT(read_int(p), 9);
    EXPECT(read_int(p + 1), 4);
    EXPECT(read_int(p + 2), 6);
    EXPECT(calls[1], 1);
    OK(run(g));
    EXPECT(read_int(p), 1);
    EXPECT(read_int(p + 1), 3);
    EXPECT(read_int(p + 2), 5);
    EXPECT(calls[0], 1);
}

RULE(params, in_the_general_form, HEADER,
     "cudaGraphNodeSetParams and cudaGraphExecNodeSetParams take every kind "
     "in one structure; a structure of another type than the node: 1")
{
    int *p = device_array<int>(1), value = 3;
    void *args[] = {&p, &value};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n = add_put(g, p, 1);
    cudaGraphNodeParams k = {}, m = {};
    k.type = cudaGraphNodeTypeKernel;
    k.kernel.func = (void *)put;
    k.kernel.gridDim = k.kernel.blockDim = dim3(1);
    k.kernel.kernelParams = args;
    OK(cudaGraphNodeSetParams(n, &k));
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 3);
    value = 4;
    OK(cudaGraphExecNodeSetParams(e, n, &k));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 4);
    m.type = cudaGraphNodeTypeMemset;
    m.memset.dst = p;
    m.memset.elementSize = 4;
    m.memset.width = m.memset.height = 1;
    EXPECT(cudaGraphNodeSetParams(n, &m), cudaErrorInvalidValue);
    EXPECT(cudaGraphExecNodeSetParams(e, n, &m), cudaErrorInvalidValue);
    EXPECT(cudaGraphNodeSetParams(n, nullptr), cudaErrorInvalidValue);
}

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

RULE(params, not_of_this_exec, REPORT,
     "a node added after the instantiation, of a clone, destroyed, or of a "
     "destroyed graph is none of the executable graph: 1")
{
    int *p = device_array<int>(1);
    unsigned on;
    cudaGraph_t g = new_graph(), copy;
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2, &a, 1), late,
                    cloned;
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphNodeGetEnabled(e, a, &on));
    EXPECT(on, 1);
    late = add_put(g, p, 3, &b, 1);
    EXPECT(cudaGraphNodeGetEnabled(e, late, &on), cudaErrorInvalidValue);
    OK(cudaGraphClone(&copy, g));
    OK(cudaGraphNodeFindInClone(&cloned, a, copy));
    EXPECT(cudaGraphNodeSetEnabled(e, cloned, 0), cudaErrorInvalidValue);
    OK(cudaGraphDestroyNode(a));
    EXPECT(cudaGraphNodeSetEnabled(e, a, 0), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(g));
    EXPECT(cudaGraphNodeGetEnabled(e, b, &on), cudaErrorInvalidValue);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 2);
}

RULE(params, only_some_can_be_off, REPORT,
     "only kernel, copy and memset nodes can be enabled or disabled, or say "
     "whether they are: 1")
{
    int *p = device_array<int>(1), in = 3, calls = 0;
    unsigned on;
    cudaGraph_t g = new_graph(), child = new_graph();
    cudaGraphNode_t copy, fill, not_these[3];
    cudaMemsetParams m = fill_of(p, 3, 1);
    cudaHostNodeParams h = {count, &calls};
    OK(cudaGraphAddMemcpyNode1D(&copy, g, nullptr, 0, p, &in, sizeof in,
                                cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemsetNode(&fill, g, &copy, 1, &m));
    OK(cudaGraphAddHostNode(&not_these[0], g, nullptr, 0, &h));
    OK(cudaGraphAddEmptyNode(&not_these[1], g, nullptr, 0));
    OK(cudaGraphAddChildGraphNode(&not_these[2], g, nullptr, 0, child));
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphNodeSetEnabled(e, copy, 0));
    OK(cudaGraphNodeSetEnabled(e, fill, 7));
    OK(cudaGraphNodeGetEnabled(e, fill, &on));
    EXPECT(on, 1);
    for (cudaGraphNode_t n : not_these) {
        EXPECT(cudaGraphNodeSetEnabled(e, n, 0), cudaErrorInvalidValue);
        EXPECT(cudaGraphNodeGetEnabled(e, n, &on), cudaErrorInvalidValue);
    }
    EXPECT(cudaGraphNodeGetEnabled(e, copy, nullptr), cudaErrorInvalidValue);
    EXPECT(cudaGraphNodeSetEnabled(nullptr, copy, 0), cudaErrorInvalidValue);
}

RULE(params, copy_direction_stays, REPORT,
     "in an executable graph a copy keeps its direction, and only copies of "
     "one line change: 1")
{
    int *p = device_array<int>(8), *q = device_array<int>(8), *h = nullptr;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n, plane;
    OK(cudaMallocHost(&h, 8 * sizeof(int)));
    OK(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, p, h, 16,
                                cudaMemcpyHostToDevice));
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(q, 8, 8, 2);
    box.dstPtr = make_cudaPitchedPtr(p, 8, 8, 2);
    box.extent = make_cudaExtent(4, 2, 1);
    box.kind = cudaMemcpyDeviceToDevice;
    OK(cudaGraphAddMemcpyNode(&plane, g, nullptr, 0, &box));
    cudaGraphExec_t e = instantiate(g);
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(e, n, h, p, 16,
                                              cudaMemcpyDeviceToHost),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(e, n, q, p, 16,
                                              cudaMemcpyDeviceToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphExecMemcpyNodeSetParams(e, plane, &box),
           cudaErrorInvalidValue);
    OK(cudaGraphExecMemcpyNodeSetParams1D(e, n, q, h, 32,
                                          cudaMemcpyHostToDevice));
    OK(cudaGraphMemcpyNodeSetParams1D(n, h, p, 16, cudaMemcpyDeviceToHost));
}

RULE(params, plane_of_a_memset_stays, HEADER,
     "in an executable graph a memset of a plane keeps its dimensions, and "
     "any keeps its kind of memory: 1")
{
    int *p = device_array<int>(16), *h = nullptr;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t plane, line;
    cudaMemsetParams m = fill_of(p, 1, 2, 2, 16), l = fill_of(p, 1, 4);
    OK(cudaMallocHost(&h, 64));
    OK(cudaGraphAddMemsetNode(&plane, g, nullptr, 0, &m));
    OK(cudaGraphAddMemsetNode(&line, g, &plane, 1, &l));
    cudaGraphExec_t e = instantiate(g);
    m.value = 5;
    m.dst = p + 4;
    OK(cudaGraphExecMemsetNodeSetParams(e, plane, &m));
    m.width = 3;
    EXPECT(cudaGraphExecMemsetNodeSetParams(e, plane, &m),
           cudaErrorInvalidValue);
    l.dst = h;
    EXPECT(cudaGraphExecMemsetNodeSetParams(e, line, &l),
           cudaErrorInvalidValue);
    l.dst = p;
    l.width = 3;
    OK(cudaGraphExecMemsetNodeSetParams(e, line, &l));
}

RULE(params, events_of_nodes, REPORT,
     "an event node tells its event and takes another; an event that is none "
     "or a node of another kind: 1")
{
    cudaGraph_t g = new_graph();
    cudaGraphNode_t record, wait;
    cudaEvent_t a = event(), b = event(), told;
    OK(cudaGraphAddEventRecordNode(&record, g, nullptr, 0, a));
    OK(cudaGraphAddEventWaitNode(&wait, g, &record, 1, a));
    OK(cudaGraphEventRecordNodeSetEvent(record, b));
    OK(cudaGraphEventRecordNodeGetEvent(record, &told));
    EXPECT((uintptr_t)told, (uintptr_t)b);
    EXPECT(cudaGraphEventRecordNodeGetEvent(wait, &told),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphEventWaitNodeSetEvent(record, a), cudaErrorInvalidValue);
    EXPECT(cudaGraphEventWaitNodeSetEvent(wait, nullptr),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddEventRecordNode(&record, g, nullptr, 0, nullptr),
           cudaErrorInvalidValue);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphExecEventWaitNodeSetEvent(e, wait, b));
    EXPECT(cudaGraphExecEventRecordNodeSetEvent(e, wait, b),
           cudaErrorInvalidValue);
    OK(cudaGraphLaunch(e, 0));
    OK(cudaEventSynchronize(b));
}

RULE(params, of_a_child, HEADER,
     "cudaGraphExecChildGraphNodeSetParams takes a graph of the child's shape "
     "and changes what its nodes do; another shape: 910")
{
    int *p = device_array<int>(2);
    cudaGraph_t g = new_graph(), child = new_graph(), inner = new_graph(),
                other = new_graph(), small = new_graph();
    cudaGraphNode_t n, in;
    add_put(inner, p + 1, 1);
    add_put(child, p, 2);
    OK(cudaGraphAddChildGraphNode(&in, child, nullptr, 0, inner));
    add_put(g, p, 3);
    OK(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, child));
    cudaGraphNode_t first;
    size_t one = 1;
    OK(cudaGraphGetNodes(g, &first, &one));
    OK(cudaGraphAddDependencies(g, &first, &n, nullptr, 1));
    cudaGraphExec_t e = instantiate(g);
    cudaGraph_t inner2 = new_graph();
    add_put(inner2, p + 1, 10);
    add_put(other, p, 20);
    OK(cudaGraphAddChildGraphNode(&in, other, nullptr, 0, inner2));
    OK(cudaGraphExecChildGraphNodeSetParams(e, n, other));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 20);
    EXPECT(read_int(p + 1), 10);
    add_put(small, p, 30);
    EXPECT(cudaGraphExecChildGraphNodeSetParams(e, n, small),
           cudaErrorGraphExecUpdateFailure);
    EXPECT(cudaGraphExecChildGraphNodeSetParams(e, first, other),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphExecChildGraphNodeSetParams(e, n, nullptr),
           cudaErrorInvalidValue);
}
