/* Attributes of kernel nodes, and what a captured launch makes of them. */
#include "graphs.cuh"

static int priority_of(cudaGraphNode_t n)
{
    cudaLaunchAttributeValue v = {};
    OK(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributePriority, &v));
    return v.priority;
}

RULE(attribute, set_and_told, HEADER,
     "an attribute of a kernel node can be set and asked for, and a clone has "
     "it too")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), copy;
    cudaGraphNode_t n = add_put(g, p, 1), there;
    cudaLaunchAttributeValue v = {}, told = {};
    OK(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeCooperative,
                                       &told));
    EXPECT(told.cooperative, 0);
    v.cooperative = 1;
    OK(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v));
    v = {};
    v.priority = -2;
    OK(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePriority, &v));
    OK(cudaGraphClone(&copy, g));
    OK(cudaGraphNodeFindInClone(&there, n, copy));
    for (cudaGraphNode_t node : {n, there}) {
        OK(cudaGraphKernelNodeGetAttribute(
            node, cudaLaunchAttributeCooperative, &told));
        EXPECT(told.cooperative, 1);
        EXPECT(priority_of(node), -2);
    }
    OK(run(copy));
    EXPECT(read_int(p), 1);
}

RULE(attribute, refused, REPORT,
     "no node, one that is no kernel, an attribute that nodes do not have or "
     "an impossible access window: 1")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n = add_put(g, p, 1), empty;
    cudaLaunchAttributeValue v = {};
    cudaLaunchAttributeID priority = cudaLaunchAttributePriority;
    OK(cudaGraphAddEmptyNode(&empty, g, nullptr, 0));
    EXPECT(cudaGraphKernelNodeGetAttribute(nullptr, priority, &v),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeGetAttribute(empty, priority, &v),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeGetAttribute(n, (cudaLaunchAttributeID)-1, &v),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeSetAttribute(empty, priority, &v),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeSetAttribute(n, (cudaLaunchAttributeID)-1, &v),
           cudaErrorInvalidValue);
    v.accessPolicyWindow.hitRatio = 1.5f;
    EXPECT(cudaGraphKernelNodeSetAttribute(
               n, cudaLaunchAttributeAccessPolicyWindow, &v),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeCopyAttributes(n, empty), cudaErrorInvalidValue);
    EXPECT(cudaGraphKernelNodeCopyAttributes(nullptr, n),
           cudaErrorInvalidValue);
}

RULE(attribute, copied, HEADER,
     "cudaGraphKernelNodeCopyAttributes gives one node the other's")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t a = add_put(g, p, 1), b = add_put(g, p, 1);
    cudaLaunchAttributeValue v = {};
    v.priority = -3;
    OK(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &v));
    OK(cudaGraphKernelNodeCopyAttributes(b, a));
    EXPECT(priority_of(b), -3);
}

RULE(attribute, of_a_capture, HEADER,
     "a captured kernel has the priority of its stream, or the one that its "
     "launch asks for")
{
    int *p = device_array<int>(1), value = 1, least, greatest;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphNode_t n[2];
    size_t count = 2;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    if (greatest == least) rule_skip("no priorities");
    OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest));
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributePriority;
    a.val.priority = least;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = s;
    config.attrs = &a;
    config.numAttrs = 1;
    void *args[] = {&p, &value};
    begin(s);
    put<<<1, 1, 0, s>>>(p, 1);
    OK(cudaLaunchKernelExC(&config, (const void *)put, args));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetNodes(g, n, &count));
    EXPECT(priority_of(n[0]), greatest);
    EXPECT(priority_of(n[1]), least);
}

RULE(attribute, cooperative_stays, HEADER,
     "a cooperative node cannot become one that is not: attributes changed")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), other = new_graph();
    cudaGraphNode_t n = add_put(g, p, 1), m = add_put(other, p, 2);
    cudaLaunchAttributeValue v = {};
    cudaGraphExecUpdateResultInfo info = {};
    v.cooperative = 1;
    OK(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v));
    cudaGraphExec_t e = instantiate(g);
    EXPECT(cudaGraphExecUpdate(e, other, &info),
           cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result, cudaGraphExecUpdateErrorAttributesChanged);
    EXPECT((uintptr_t)info.errorNode, (uintptr_t)m);
    OK(cudaGraphKernelNodeSetAttribute(m, cudaLaunchAttributeCooperative, &v));
    OK(cudaGraphExecUpdate(e, other, &info));
}

RULE(attribute, priority_stays_where_it_counts, HEADER,
     "a node's priority cannot change in an executable graph that uses them: "
     "attributes changed; in another it may")
{
    int *p = device_array<int>(1);
    cudaGraph_t g = new_graph(), other = new_graph();
    cudaGraphExec_t uses, ignores;
    cudaLaunchAttributeValue v = {};
    cudaGraphExecUpdateResultInfo info = {};
    add_put(g, p, 1);
    cudaGraphNode_t m = add_put(other, p, 2);
    v.priority = -1;
    OK(cudaGraphKernelNodeSetAttribute(m, cudaLaunchAttributePriority, &v));
    OK(cudaGraphInstantiate(&uses, g, cudaGraphInstantiateFlagUseNodePriority));
    OK(cudaGraphInstantiate(&ignores, g, 0));
    EXPECT(cudaGraphExecUpdate(uses, other, &info),
           cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result, cudaGraphExecUpdateErrorAttributesChanged);
    OK(cudaGraphExecUpdate(ignores, other, &info));
}
