/* Which node of a graph a fault is in. CUDA does not tell; simgpu's fault record
 * does, and where there is none these rules are skipped. */
#include <dlfcn.h>

#include "graphs.cuh"
#include "simgpu.h"

static simgpuFaultRecord no_fault()
{
    simgpuFaultRecord r = {};
    r.version = SIMGPU_FAULT_RECORD_VERSION;
    return r;
}

typedef int (*get_record)(simgpuFaultRecord *);
static get_record getter()
{
    get_record get = (get_record)dlsym(RTLD_DEFAULT, "simgpuGetFaultRecord");
    if (!get) rule_skip("no fault records on this device");
    return get;
}

/* What is known after a launch of e that must fail. */
static simgpuFaultRecord fault_of(cudaGraphExec_t e)
{
    get_record get = getter();
    simgpuFaultRecord r = no_fault();
    OK(cudaGraphLaunch(e, 0));
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(get(&r), 1);
    EXPECT(r.graph_exec, (uint64_t)e);
    return r;
}

RULE(node, of_a_graph, DERIVED,
     "simgpu: a fault in a graph tells the node, its number, its number among "
     "kernels and the launch of the graph")
{
    int *p = device_array<int>(1), *none = nullptr, value = 1;
    void *args[] = {&none, &value};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t first = add_put(g, p, 1), empty;
    OK(cudaGraphAddEmptyNode(&empty, g, &first, 1));
    cudaGraphNode_t second = add_put(g, p, 2, &empty, 1);
    add_put(g, p, 3, &second, 1);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphLaunch(e, 0));
    OK(cudaGraphLaunch(e, 0));
    OK(finish());
    cudaKernelNodeParams k = one_thread((const void *)put, args);
    OK(cudaGraphExecKernelNodeSetParams(e, second, &k));
    simgpuFaultRecord r = fault_of(e);
    EXPECT(r.graph_node, (uint64_t)second);
    EXPECT(r.graph_launch, 3);
    EXPECT(r.node_depth, 1);
    EXPECT(r.node_path[0], 3);
    EXPECT(r.node_kernel, 2);
    EXPECT(r.launch, 8);
}

RULE(node, of_a_child_graph, DERIVED,
     "simgpu: a fault in a child of a child tells the way through all three "
     "graphs")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), child = new_graph(), inner = new_graph(), in;
    cudaGraphNode_t n, nested, bad[3];
    size_t count = 3;
    add_put(inner, p, 1);
    add_put(inner, p, 2);
    add_put(inner, nullptr, 3);
    add_put(child, p, 4);
    OK(cudaGraphAddChildGraphNode(&n, child, nullptr, 0, inner));
    add_put(g, p, 5);
    add_put(g, p, 6);
    OK(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
    OK(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, child));
    /* The copies that the graph holds. */
    OK(cudaGraphChildGraphNodeGetGraph(n, &in));
    OK(cudaGraphGetNodes(in, bad, &count));
    nested = bad[1];
    OK(cudaGraphChildGraphNodeGetGraph(nested, &in));
    count = 3;
    OK(cudaGraphGetNodes(in, bad, &count));
    simgpuFaultRecord r = fault_of(instantiate(g));
    EXPECT(r.graph_node, (uint64_t)bad[2]);
    EXPECT(r.node_depth, 3);
    EXPECT(r.node_path[0], 4);
    EXPECT(r.node_path[1], 2);
    EXPECT(r.node_path[2], 3);
    EXPECT(r.node_kernel, 3);
}

RULE(node, of_a_clone, DERIVED,
     "simgpu: nodes keep their numbers in a clone, also when some are gone")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), copy;
    cudaGraphNode_t first = add_put(g, p, 1), bad = add_put(g, nullptr, 2),
                    there;
    OK(cudaGraphDestroyNode(first));
    OK(cudaGraphClone(&copy, g));
    OK(cudaGraphNodeFindInClone(&there, bad, copy));
    cudaGraphExec_t e = instantiate(copy);
    OK(cudaGraphDestroy(g));
    simgpuFaultRecord r = fault_of(e);
    EXPECT(r.graph_node, (uint64_t)there);
    EXPECT(r.node_path[0], 2);
    EXPECT(r.node_kernel, 2);
}

RULE(node, of_an_update, DERIVED,
     "simgpu: after cudaGraphExecUpdate a fault names the node of the graph "
     "that was taken")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), other = new_graph();
    cudaGraphExecUpdateResultInfo info;
    add_put(g, p, 1);
    cudaGraphNode_t bad = add_put(other, nullptr, 1);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphExecUpdate(e, other, &info));
    EXPECT(fault_of(e).graph_node, (uint64_t)bad);
}

static const void *after_bad_launch;
__attribute__((noinline)) static void bad_launch(cudaStream_t s)
{
    put<<<1, 1, 0, s>>>(nullptr, 1);
    after_bad_launch = __builtin_return_address(0);
}

RULE(node, of_a_capture, DERIVED,
     "simgpu: a fault in a captured kernel tells the host calls that captured "
     "it")
{
    int *p = device_array<int>(1);
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s);
    OK(cudaMemsetAsync(p, 0, sizeof(int), s));
    put<<<1, 1, 0, s>>>(p, 1);
    bad_launch(s);
    add_one<<<1, 1, 0, s>>>(p);
    OK(cudaStreamEndCapture(s, &g));
    simgpuFaultRecord r = fault_of(instantiate(g));
    EXPECT(r.node_path[0], 3);
    EXPECT(r.node_kernel, 2);
    bool found = false;
    for (uint32_t i = 0; i < r.n_node_calls; i++)
        found |= r.node_calls[i] == (uint64_t)after_bad_launch;
    EXPECT(found, 1);
}

RULE(node, of_a_captured_graph, DERIVED,
     "simgpu: a graph launched in a capture is a child node, and a fault in "
     "it says so")
{
    int *p = device_array<int>(1);
    cudaStream_t s = stream();
    cudaGraph_t inner = new_graph(), outer;
    add_put(inner, p, 1);
    add_put(inner, nullptr, 1);
    cudaGraphExec_t e = instantiate(inner);
    begin(s);
    put<<<1, 1, 0, s>>>(p, 1);
    OK(cudaGraphLaunch(e, s));
    OK(cudaStreamEndCapture(s, &outer));
    simgpuFaultRecord r = fault_of(instantiate(outer));
    EXPECT(r.node_depth, 2);
    EXPECT(r.node_path[0], 2);
    EXPECT(r.node_path[1], 2);
}

RULE(node, of_no_graph, DERIVED,
     "simgpu: a fault of an ordinary launch names no graph")
{
    get_record get = getter();
    simgpuFaultRecord r = no_fault();
    EXPECT(get(&r), 0);
    put<<<1, 1>>>(nullptr, 1);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(get(&r), 1);
    EXPECT(r.graph_exec, 0);
    EXPECT(r.graph_launch, 0);
    EXPECT(r.node_depth, 0);
    r.version = 77;
    EXPECT(get(&r), -1);
}

RULE(node, first_version_of_the_record, DERIVED,
     "simgpu: a caller of the record's first version gets its fields, and no "
     "byte behind them is written")
{
    get_record get = getter();
    simgpuFaultRecord r;
    memset(&r, 0x5a, sizeof r);
    r.version = 1;
    put<<<1, 1>>>(nullptr, 1);
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(get(&r), 1);
    EXPECT(r.version, 1);
    EXPECT(r.code, cudaErrorIllegalAddress);
    EXPECT(r.launch, 1);
    EXPECT(r.graph_exec, 0x5a5a5a5a5a5a5a5aull);
}

RULE_ENV(node, report, DERIVED, "SIMGPU_REPORT=1",
         "simgpu: the report on stderr has a line for the node and one for "
         "each host call that made it")
{
    getter();
    cudaStream_t s = stream();
    cudaGraph_t g;
    begin(s);
    nothing<<<1, 1, 0, s>>>();
    bad_launch(s);
    OK(cudaStreamEndCapture(s, &g));
    cudaGraphExec_t e = instantiate(g);
    text_begin(2);
    cudaGraphLaunch(e, 0);
    cudaError_t code = finish();
    const char *said = text_end();
    EXPECT(code, cudaErrorIllegalAddress);
    EXPECT(text_count(said, "node 2 of a graph, kernel node 2 there, launch 1 "
                            "of the executable graph"), 1);
    EXPECT(text_count(said, "added at "), 1);
    EXPECT(text_count(said, "device-conformance+0x") > 0, 1);
}
