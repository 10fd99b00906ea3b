/* Executable graphs updated by a graph of the same shape, and each reason for
 * refusing one. */
#include "graphs.cuh"

static cudaGraphExecUpdateResultInfo update_of(cudaGraph_t from, cudaGraph_t to)
{
    cudaGraphExecUpdateResultInfo info = {};
    cudaGraphExec_t e = instantiate(from);
    cudaError_t r = cudaGraphExecUpdate(e, to, &info);
    EXPECT(r, info.result == cudaGraphExecUpdateSuccess
                  ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
    OK(cudaGraphExecDestroy(e));
    return info;
}

RULE(update, counts_differ, HEADER,
     "another number of nodes: topology changed, and no node is named")
{
    int *p = device_array<int>(1);
    cudaGraph_t a = new_graph(), b = new_graph();
    add_put(a, p, 1);
    add_put(b, p, 1);
    add_put(b, p, 2);
    cudaGraphExecUpdateResultInfo info = update_of(a, b);
    EXPECT(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT((uintptr_t)info.errorNode, 0);
}

RULE(update, edges_differ, HEADER,
     "another number of edges, or another edge: topology changed, with the "
     "node and the dependency that does not match")
{
    int *p = device_array<int>(1);
    cudaGraph_t a = new_graph(), b = new_graph(), c = new_graph();
    cudaGraphNode_t x = add_put(a, p, 1), y = add_put(a, p, 2);
    add_put(a, p, 3, &x, 1);
    x = add_put(b, p, 1);
    cudaGraphNode_t pair[2] = {x, add_put(b, p, 2)};
    cudaGraphNode_t z = add_put(b, p, 3, pair, 2);
    cudaGraphExecUpdateResultInfo info = update_of(a, b);
    EXPECT(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT((uintptr_t)info.errorNode, (uintptr_t)z);
    add_put(c, p, 1);
    y = add_put(c, p, 2);
    z = add_put(c, p, 3, &y, 1);
    info = update_of(a, c);
    EXPECT(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT((uintptr_t)info.errorNode, (uintptr_t)z);
    EXPECT((uintptr_t)info.errorFromNode, (uintptr_t)y);
}

RULE(update, types_differ, REPORT,
     "another type of a node: node type changed, with the node")
{
    int *p = device_array<int>(1);
    cudaGraph_t a = new_graph(), b = new_graph();
    cudaGraphNode_t n;
    add_put(a, p, 1);
    OK(cudaGraphAddEmptyNode(&n, b, nullptr, 0));
    cudaGraphExecUpdateResultInfo info = update_of(a, b);
    EXPECT(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
    EXPECT((uintptr_t)info.errorNode, (uintptr_t)n);
}

RULE(update, direction_differs, REPORT,
     "another direction of a copy: parameters changed, with the node")
{
    int *p = device_array<int>(1), h = 0;
    cudaGraph_t a = new_graph(), b = new_graph(), c = new_graph();
    cudaGraphNode_t n;
    OK(cudaGraphAddMemcpyNode1D(&n, a, nullptr, 0, p, &h, 4,
                                cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNode1D(&n, c, nullptr, 0, p, &h, 4,
                                cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, &h, p, 4,
                                cudaMemcpyDeviceToHost));
    cudaGraphExecUpdateResultInfo info = update_of(a, b);
    EXPECT(info.result, cudaGraphExecUpdateErrorParametersChanged);
    EXPECT((uintptr_t)info.errorNode, (uintptr_t)n);
    EXPECT(update_of(a, c).result, cudaGraphExecUpdateSuccess);
}

RULE(update, plane_differs, HEADER,
     "another shape of a memset of a plane: parameters changed")
{
    int *p = device_array<int>(16);
    cudaGraph_t a = new_graph(), b = new_graph();
    cudaGraphNode_t n;
    cudaMemsetParams m = fill_of(p, 1, 2, 2, 16);
    OK(cudaGraphAddMemsetNode(&n, a, nullptr, 0, &m));
    m.width = 3;
    OK(cudaGraphAddMemsetNode(&n, b, nullptr, 0, &m));
    EXPECT(update_of(a, b).result,
           cudaGraphExecUpdateErrorParametersChanged);
}

RULE(update, memory_nodes, DERIVED,
     "a graph with memory nodes: not supported, with the node")
{
    cudaGraph_t a = new_graph(), b = new_graph();
    cudaGraphNode_t n;
    OK(cudaGraphAddEmptyNode(&n, a, nullptr, 0));
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 64;
    OK(cudaGraphAddMemAllocNode(&n, b, nullptr, 0, &m));
    cudaGraphExecUpdateResultInfo info = update_of(a, b);
    EXPECT(info.result, cudaGraphExecUpdateErrorNotSupported);
    EXPECT((uintptr_t)info.errorNode, (uintptr_t)n);
}

RULE(update, failure_changes_nothing, DERIVED,
     "an update that is refused leaves every node as it was")
{
    int *p = device_array<int>(2);
    cudaGraph_t a = new_graph(), b = new_graph();
    cudaGraphNode_t n;
    cudaGraphExecUpdateResultInfo info;
    add_put(a, p, 1);
    add_put(a, p + 1, 1);
    add_put(b, p, 2);
    OK(cudaGraphAddEmptyNode(&n, b, nullptr, 0));
    cudaGraphExec_t e = instantiate(a);
    EXPECT(cudaGraphExecUpdate(e, b, &info), cudaErrorGraphExecUpdateFailure);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(p), 1);
}

RULE(update, arguments, HEADER,
     "no executable graph, no graph or nowhere to tell the result: 1, and the "
     "result is the general error")
{
    cudaGraph_t g = new_graph();
    cudaGraphExec_t e = instantiate(g);
    cudaGraphExecUpdateResultInfo info = {};
    EXPECT(cudaGraphExecUpdate(nullptr, g, &info), cudaErrorInvalidValue);
    EXPECT(info.result, cudaGraphExecUpdateError);
    EXPECT(cudaGraphExecUpdate(e, nullptr, &info), cudaErrorInvalidValue);
    EXPECT(cudaGraphExecUpdate(e, g, nullptr), cudaErrorInvalidValue);
}
