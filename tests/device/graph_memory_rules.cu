/* Memory nodes of graphs: allocating, freeing, and what they forbid. */
#include "graphs.cuh"

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
