/* Edges of graphs: adding, removing, asking, and the data they may carry. */
#include "graphs.cuh"

RULE(edge, refused, REPORT,
     "an edge that is there, to the node itself, to another graph or to "
     "nothing: 1; so is removing one that is not there")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), other = new_graph();
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2),
                    c = add_put(other, p, 3), none = nullptr;
    OK(cudaGraphAddDependencies(g, &a, &b, nullptr, 1));
    EXPECT(cudaGraphAddDependencies(g, &a, &b, nullptr, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddDependencies(g, &a, &a, nullptr, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddDependencies(g, &a, &c, nullptr, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddDependencies(g, &a, &none, nullptr, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddDependencies(g, &a, nullptr, nullptr, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddDependencies(nullptr, &a, &b, nullptr, 1),
           cudaErrorInvalidValue);
    OK(cudaGraphAddDependencies(g, nullptr, nullptr, nullptr, 0));
    EXPECT(cudaGraphRemoveDependencies(g, &b, &a, nullptr, 1),
           cudaErrorInvalidValue);
    OK(cudaGraphRemoveDependencies(g, &a, &b, nullptr, 1));
    EXPECT(cudaGraphRemoveDependencies(g, &a, &b, nullptr, 1),
           cudaErrorInvalidValue);
}

RULE(edge, lists, REPORT,
     "asking for fewer edges or nodes fills so many; for more: the rest is "
     "null and the number is told")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2, &a, 1),
                    c = add_put(g, p, 3, &a, 1), from[4], to[4];
    (void)b;
    size_t n = 1;
    from[1] = a;
    OK(cudaGraphGetEdges(g, from, to, nullptr, &n));
    EXPECT(n, 1);
    EXPECT((uintptr_t)from[1], (uintptr_t)a);
    n = 4;
    OK(cudaGraphGetEdges(g, from, to, nullptr, &n));
    EXPECT(n, 2);
    EXPECT((uintptr_t)from[2], 0);
    EXPECT((uintptr_t)to[3], 0);
    n = 4;
    OK(cudaGraphNodeGetDependentNodes(a, to, nullptr, &n));
    EXPECT(n, 2);
    EXPECT((uintptr_t)to[2], 0);
    n = 4;
    OK(cudaGraphNodeGetDependencies(c, from, nullptr, &n));
    EXPECT(n, 1);
    EXPECT(cudaGraphGetEdges(g, from, nullptr, nullptr, &n),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphGetEdges(g, from, to, nullptr, nullptr),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphNodeGetDependencies(c, from, nullptr, nullptr),
           cudaErrorInvalidValue);
}

static cudaGraphEdgeData programmatic()
{
    cudaGraphEdgeData d = {};
    d.from_port = cudaGraphKernelNodePortProgrammatic;
    d.type = cudaGraphDependencyTypeProgrammatic;
    return d;
}

RULE(edge, data_are_kept, HEADER,
     "data of an edge are told, also by a clone; asking for edges without "
     "them then is a lossy query: 402")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), copy;
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2), from[2], to[2];
    cudaGraphEdgeData d = programmatic(), told[2];
    size_t n = 2;
    OK(cudaGraphAddDependencies(g, &a, &b, &d, 1));
    OK(cudaGraphClone(&copy, g));
    for (cudaGraph_t which : {g, copy}) {
        n = 2;
        OK(cudaGraphGetEdges(which, from, to, told, &n));
        EXPECT(n, 1);
        EXPECT(told[0].from_port, cudaGraphKernelNodePortProgrammatic);
        EXPECT(told[0].type, cudaGraphDependencyTypeProgrammatic);
        EXPECT(cudaGraphGetEdges(which, from, to, nullptr, &n),
               cudaErrorLossyQuery);
    }
    n = 2;
    OK(cudaGraphNodeGetDependencies(b, from, told, &n));
    EXPECT(told[0].type, cudaGraphDependencyTypeProgrammatic);
    EXPECT(cudaGraphNodeGetDependentNodes(a, to, nullptr, &n),
           cudaErrorLossyQuery);
    OK(cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &n));
    EXPECT(n, 1);
    EXPECT(cudaGraphRemoveDependencies(g, &a, &b, nullptr, 1),
           cudaErrorInvalidValue);
    OK(cudaGraphRemoveDependencies(g, &a, &b, &d, 1));
    OK(run(copy));
    EXPECT(read_int(p), 2);
}

RULE(edge, data_are_checked, HEADER,
     "ports that a node has not, an unknown type, bytes that must be zero, "
     "a programmatic edge that does not join kernels: 1")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 2), empty;
    OK(cudaGraphAddEmptyNode(&empty, g, nullptr, 0));
    cudaGraphEdgeData bad[5] = {};
    bad[0].to_port = 1;
    bad[1].from_port = 9;
    bad[2].type = 5;
    bad[3].reserved[4] = 1;
    bad[4].type = cudaGraphDependencyTypeProgrammatic; /* needs a port */
    for (cudaGraphEdgeData &d : bad)
        EXPECT(cudaGraphAddDependencies(g, &a, &b, &d, 1),
               cudaErrorInvalidValue);
    cudaGraphEdgeData d = programmatic();
    EXPECT(cudaGraphAddDependencies(g, &a, &empty, &d, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddDependencies(g, &empty, &b, &d, 1),
           cudaErrorInvalidValue);
    d = {};
    OK(cudaGraphAddDependencies(g, &a, &b, &d, 1));
}

RULE(edge, of_memory_graphs_stay, REPORT,
     "a graph with memory nodes does not lose edges or nodes, and cannot be a "
     "child unless it is moved: 801")
{
    cudaGraph_t g = new_graph(), parent = new_graph();
    cudaGraphNode_t a, n, child;
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 64;
    OK(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    OK(cudaGraphAddEmptyNode(&n, g, &a, 1));
    EXPECT(cudaGraphRemoveDependencies(g, &a, &n, nullptr, 1),
           cudaErrorNotSupported);
    EXPECT(cudaGraphDestroyNode(n), cudaErrorNotSupported);
    EXPECT(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, g),
           cudaErrorNotSupported);
    OK(cudaGraphAddMemFreeNode(&n, g, &n, 1, m.dptr));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = g;
    p.graph.ownership = cudaGraphChildGraphOwnershipMove;
    OK(cudaGraphAddNode(&child, parent, nullptr, nullptr, 0, &p));
    EXPECT(cudaGraphDestroy(g), cudaErrorInvalidValue);
    OK(run(parent));
}
