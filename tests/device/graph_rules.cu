/* Graphs: nodes and edges, instantiation, launches, updates, memory. */
#include "graphs.cuh"

RULE(graph, runs_in_order_of_edges, HEADER,
     "a node runs after the nodes it depends on, in whatever order it was "
     "added")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t last = add_put(g, p, 3), middle = add_put(g, p, 2),
                    first = add_put(g, p, 1);
    OK(cudaGraphAddDependencies(g, &first, &middle, nullptr, 1));
    OK(cudaGraphAddDependencies(g, &middle, &last, nullptr, 1));
    cudaGraphExec_t e = instantiate(g);
    for (int i = 0; i < 20; i++) {
        OK(cudaGraphLaunch(e, 0));
        EXPECT(read_int(p), 3);
    }
    OK(cudaGraphExecDestroy(e));
    OK(cudaGraphDestroy(g));
}

RULE(graph, parameters_are_copied, HEADER,
     "a kernel node keeps the values its parameters had when it was added")
{
    int *p = device_array<int>(1), value = 5;
    void *args[] = {&p, &value};
    cudaGraph_t g = new_graph();
    add_kernel(g, (const void *)put, args);
    value = 6;
    OK(cudaGraphLaunch(instantiate(g), 0));
    EXPECT(read_int(p), 5);
}

RULE(graph, cycle_is_refused, HEADER, "a graph with a cycle: 1 at instantiation")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphExec_t e;
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2, &a, 1);
    if (cudaGraphAddDependencies(g, &b, &a, nullptr, 1) != cudaSuccess) return;
    EXPECT(cudaGraphInstantiate(&e, g, 0), cudaErrorInvalidValue);
}

RULE(graph, branches_overlap, HEADER,
     "nodes without a path between them may run at the same time")
{
    gate w;
    int limit = 1 << 24, one = 1;
    void *args[] = {&w.device, &limit}, *open_args[] = {&w.device, &one};
    cudaGraph_t g = new_graph();
    add_kernel(g, (const void *)hold, args);
    add_kernel(g, (const void *)put, open_args); /* opens the gate */
    OK(cudaGraphLaunch(instantiate(g), 0));
    OK(finish());
}

static void count(void *p) { ++*(int *)p; }

RULE(graph, every_kind_of_node, HEADER,
     "memset, copy, kernel, host, child and empty nodes do their work")
{
    int *p = device_array<int>(4), in = 40, out[4] = {}, calls = 0;
    cudaGraph_t g = new_graph(), child = new_graph();
    cudaGraphNode_t n[6];
    cudaMemsetParams m = {};
    m.dst = p;
    m.value = 7;
    m.elementSize = 4;
    m.width = 4;
    m.height = 1;
    OK(cudaGraphAddMemsetNode(&n[0], g, nullptr, 0, &m));
    OK(cudaGraphAddMemcpyNode1D(&n[1], g, &n[0], 1, p, &in, sizeof in,
                                cudaMemcpyHostToDevice));
    add_put(child, p + 1, 11);
    OK(cudaGraphAddChildGraphNode(&n[2], g, &n[1], 1, child));
    cudaHostNodeParams h = {count, &calls};
    OK(cudaGraphAddHostNode(&n[3], g, &n[2], 1, &h));
    OK(cudaGraphAddEmptyNode(&n[4], g, &n[3], 1));
    OK(cudaGraphAddMemcpyNode1D(&n[5], g, &n[4], 1, out, p, sizeof out,
                                cudaMemcpyDeviceToHost));
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphLaunch(e, 0));
    OK(cudaGraphLaunch(e, 0));
    OK(finish());
    EXPECT(out[0], 40);
    EXPECT(out[1], 11);
    EXPECT(out[2], 7);
    EXPECT(calls, 2);
}

RULE(graph, tells_its_structure, HEADER,
     "nodes, roots, edges and types can be asked for")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2, &a, 1), from[4],
                    to[4];
    size_t n = 0;
    cudaGraphNodeType type;
    OK(cudaGraphGetNodes(g, nullptr, &n));
    EXPECT(n, 2);
    n = 4;
    OK(cudaGraphGetRootNodes(g, from, &n));
    EXPECT(n, 1);
    EXPECT((uintptr_t)from[0], (uintptr_t)a);
    n = 4;
    OK(cudaGraphGetEdges(g, from, to, nullptr, &n));
    EXPECT(n, 1);
    EXPECT((uintptr_t)to[0], (uintptr_t)b);
    OK(cudaGraphNodeGetType(b, &type));
    EXPECT(type, cudaGraphNodeTypeKernel);
}

RULE(graph, null_arguments, HEADER, "null graphs, nodes and outputs: 1")
{
    cudaGraphNode_t n;
    cudaGraphExec_t e;
    cudaGraph_t g = new_graph();
    EXPECT(cudaGraphCreate((cudaGraph_t *)nullptr, 0), cudaErrorInvalidValue);
    EXPECT(cudaGraphCreate(&g, 1), cudaErrorInvalidValue);
    EXPECT(cudaGraphAddEmptyNode(&n, (cudaGraph_t) nullptr, nullptr, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddEmptyNode((cudaGraphNode_t *)nullptr, g, nullptr, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddEmptyNode(&n, g, nullptr, 1), cudaErrorInvalidValue);
    EXPECT(cudaGraphInstantiate(&e, (cudaGraph_t) nullptr, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphLaunch((cudaGraphExec_t) nullptr, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroy((cudaGraph_t) nullptr), cudaErrorInvalidValue);
}

RULE(graph, kernel_nodes_are_checked, DERIVED,
     "a kernel node of an impossible size or an unknown kernel is refused "
     "when it is added")
{
    cudaKernelNodeParams k = {};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n;
    static int not_a_kernel;
    k.func = (void *)&not_a_kernel;
    k.gridDim = k.blockDim = dim3(1);
    EXPECT(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k),
           cudaErrorInvalidDeviceFunction);
    k.func = (void *)nothing;
    k.blockDim = dim3(4096);
    EXPECT(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k) != cudaSuccess, 1);
}

RULE(graph, exec_is_independent, HEADER,
     "an executable graph works after its graph is destroyed or changed")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    add_put(g, p, 4);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphDestroy(g));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 4);
}

RULE(graph, exec_parameters_change, HEADER,
     "a kernel node's parameters can be changed in the executable graph")
{
    int *p = device_array<int>(1), value = 9;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n = add_put(g, p, 4);
    cudaGraphExec_t e = instantiate(g);
    cudaKernelNodeParams k = {};
    OK(cudaGraphKernelNodeGetParams(n, &k));
    EXPECT((uintptr_t)k.func, (uintptr_t)put);
    void *args[] = {&p, &value};
    k.kernelParams = args;
    OK(cudaGraphExecKernelNodeSetParams(e, n, &k));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 9);
    OK(cudaGraphLaunch(instantiate(g), 0));
    EXPECT(read_int(p), 4);
}

RULE(graph, update, HEADER,
     "cudaGraphExecUpdate takes a graph of the same shape and refuses another")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), same = new_graph(), other = new_graph();
    add_put(g, p, 1);
    add_put(same, p, 2);
    cudaGraphNode_t a = add_put(other, p, 3);
    add_put(other, p, 4, &a, 1);
    cudaGraphExec_t e = instantiate(g);
    cudaGraphExecUpdateResultInfo info = {};
    OK(cudaGraphExecUpdate(e, same, &info));
    EXPECT(info.result, cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 2);
    EXPECT(cudaGraphExecUpdate(e, other, &info),
           cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    cudaGetLastError();
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 2);
}

RULE(graph, node_disabled, HEADER, "a disabled node does nothing")
{
    int *p = device_array<int>(1);
    unsigned on = 9;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2, &a, 1);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphNodeSetEnabled(e, b, 0));
    OK(cudaGraphNodeGetEnabled(e, b, &on));
    EXPECT(on, 0);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 1);
}

RULE(graph, clone, HEADER, "a clone has the same nodes and its own life")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), copy;
    cudaGraphNode_t n = add_put(g, p, 8), m = nullptr;
    OK(cudaGraphClone(&copy, g));
    OK(cudaGraphNodeFindInClone(&m, n, copy));
    EXPECT(m != nullptr && m != n, 1);
    OK(cudaGraphDestroy(g));
    OK(cudaGraphLaunch(instantiate(copy), 0));
    EXPECT(read_int(p), 8);
}

/* Loses counts when two run at once. */
__global__ void slow_add(volatile int *p)
{
    int v = *p;
    for (int i = 0; i < 3000; i++)
        if (*p < 0) return;
    *p = v + 1;
}

RULE(graph, launches_follow_each_other, HEADER,
     "two launches of one executable graph do not overlap, in whichever "
     "streams")
{
    int *p = device_array<int>(1);
    cudaStream_t s, t;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaMemset(p, 0, sizeof(int)));
    OK(finish());
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < 4; i++) slow_add<<<1, 1, 0, s>>>(p);
    cudaGraph_t g;
    OK(cudaStreamEndCapture(s, &g));
    cudaGraphExec_t e = instantiate(g);
    for (int i = 0; i < 25; i++) OK(cudaGraphLaunch(e, i % 2 ? s : t));
    OK(finish());
    EXPECT(read_int(p), 100);
}

RULE(graph, fault_inside, DERIVED,
     "a fault inside a graph is reported by the next synchronising call")
{
    cudaGraph_t g = new_graph();
    add_put(g, nullptr, 1);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(cudaGraphLaunch(e, 0), cudaErrorIllegalAddress);
}

RULE_ENV(graph, launch_blocking, OPEN, "CUDA_LAUNCH_BLOCKING=1",
         "a blocking graph launch reports what its nodes did")
{
    cudaGraph_t g = new_graph();
    add_put(g, nullptr, 1);
    EXPECT(cudaGraphLaunch(instantiate(g), 0), cudaErrorIllegalAddress);
}

/* ---- memory nodes ---------------------------------------------------------------------- */

static cudaGraphNode_t add_alloc(cudaGraph_t g, size_t size, void **p)
{
    cudaMemAllocNodeParams a = {};
    cudaGraphNode_t n = nullptr;
    a.poolProps.allocType = cudaMemAllocationTypePinned;
    a.poolProps.location.type = cudaMemLocationTypeDevice;
    a.bytesize = size;
    OK(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &a));
    *p = a.dptr;
    return n;
}

RULE(graph, memory_too_large, REPORT, "an alloc node of all memory: 2")
{
    cudaMemAllocNodeParams a = {};
    cudaGraphNode_t n;
    a.poolProps.allocType = cudaMemAllocationTypePinned;
    a.poolProps.location.type = cudaMemLocationTypeDevice;
    a.bytesize = SIZE_MAX;
    EXPECT(cudaGraphAddMemAllocNode(&n, new_graph(), nullptr, 0, &a),
           cudaErrorMemoryAllocation);
}

RULE(graph, memory_bounds_the_graph, REPORT,
     "a graph with memory nodes cannot be cloned or instantiated twice: 801")
{
    void *p;
    cudaGraph_t g = new_graph(), copy;
    cudaGraphExec_t a, b;
    add_alloc(g, 1024, &p);
    EXPECT(cudaGraphClone(&copy, g), cudaErrorNotSupported);
    OK(cudaGraphInstantiate(&a, g, 0));
    EXPECT(cudaGraphInstantiate(&b, g, 0), cudaErrorNotSupported);
    OK(cudaGraphExecDestroy(a));
    OK(cudaGraphInstantiate(&b, g, 0));
}

RULE(graph, memory_is_usable, HEADER,
     "nodes behind an alloc node use its memory, also after the launch")
{
    void *p;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_alloc(g, sizeof(int), &p);
    add_put(g, (int *)p, 21, &a, 1);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int((int *)p), 21);
    EXPECT(cudaGraphLaunch(e, 0), cudaErrorInvalidValue); /* not freed */
    cudaGetLastError();
    OK(cudaFree(p));
    OK(cudaGraphLaunch(e, 0));
    OK(cudaFreeAsync(p, 0));
    OK(finish());
}

RULE(graph, memory_freed_by_a_node, HEADER,
     "with a free node the graph can be launched again and again")
{
    void *p;
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_alloc(g, 64, &p), n = add_put(g, (int *)p, 1, &a, 1),
                    f;
    OK(cudaGraphAddMemFreeNode(&f, g, &n, 1, p));
    EXPECT(cudaGraphAddMemFreeNode(&f, g, &n, 1, p), cudaErrorInvalidValue);
    cudaGraphExec_t e = instantiate(g);
    for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(e, 0));
    OK(finish());
}

/* ---- drawing --------------------------------------------------------------------------- */

RULE(graph, drawing, HEADER,
     "cudaGraphDebugDotPrint writes every node and edge, also of children; "
     "no graph or no path: 1; a path that cannot be written: 304")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), child = new_graph();
    cudaGraphNode_t n = add_put(g, p, 1), c;
    char path[] = "/tmp/graphXXXXXX", line[1024];
    add_put(child, p, 2);
    OK(cudaGraphAddChildGraphNode(&c, g, &n, 1, child));
    int fd = mkstemp(path), kernels = 0, edges = 0;
    OK(cudaGraphDebugDotPrint(g, path, cudaGraphDebugDotFlagsVerbose));
    FILE *f = fdopen(fd, "r");
    while (f && fgets(line, sizeof line, f)) {
        kernels += text_count(line, "3putEPii") > 0;
        edges += text_count(line, "->") > 0 && !strchr(line, '[');
    }
    unlink(path);
    EXPECT(kernels >= 2, 1);
    EXPECT(edges, 1);
    EXPECT(cudaGraphDebugDotPrint(nullptr, path, 0), cudaErrorInvalidValue);
    EXPECT(cudaGraphDebugDotPrint(g, nullptr, 0), cudaErrorInvalidValue);
    EXPECT(cudaGraphDebugDotPrint(g, "", 0), cudaErrorOperatingSystem);
}
