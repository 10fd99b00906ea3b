/* Conditional nodes: if, while, switch, and the values that decide. */
#include "graphs.cuh"

typedef cudaGraphConditionalHandle condition;

__global__ void set_if_odd(condition c, const int *p)
{
    cudaGraphSetConditional(c, *p & 1);
}
__global__ void set_to(condition c, const int *p)
{
    cudaGraphSetConditional(c, *p);
}
/* Counts down, and up; goes on while there is something left. */
__global__ void count_down(condition c, int *left, int *done)
{
    ++*done;
    cudaGraphSetConditional(c, --*left > 0);
}

static cudaGraphNodeParams conditional(condition c,
                                       cudaGraphConditionalNodeType type,
                                       unsigned size)
{
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = c;
    p.conditional.type = type;
    p.conditional.size = size;
    return p;
}

static condition new_condition(cudaGraph_t g, unsigned value = 0,
                               unsigned flags = 0)
{
    condition c = 0;
    OK(cudaGraphConditionalHandleCreate(&c, g, value, flags));
    return c;
}

/* A node behind one that sets the condition by `kernel` from *in. */
static cudaGraph_t *decided(cudaGraph_t g, const void *kernel, const int *in,
                            cudaGraphConditionalNodeType type, unsigned size,
                            cudaGraphNode_t *node = nullptr)
{
    condition c = new_condition(g);
    void *args[] = {&c, &in};
    cudaGraphNode_t setter = add_kernel(g, kernel, args), n;
    cudaGraphNodeParams p = conditional(c, type, size);
    OK(cudaGraphAddNode(&n, g, &setter, nullptr, 1, &p));
    if (node) *node = n;
    return p.conditional.phGraph_out;
}

static void write_int(int *p, int v)
{
    OK(cudaMemcpy(p, &v, sizeof v, cudaMemcpyHostToDevice));
}

RULE(conditional, if_node, HEADER,
     "the body of an if node runs when the value is not zero, the second body "
     "when it is; what depends on the node comes after")
{
    int *in = device_array<int>(1), *out = device_array<int>(2);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n;
    cudaGraph_t *body = decided(g, (const void *)set_if_odd, in,
                                cudaGraphCondTypeIf, 2, &n);
    add_put(body[0], out, 10);
    add_put(body[1], out, 20);
    void *args[] = {&out};
    add_kernel(g, (const void *)add_one, args, &n, 1);
    cudaGraphExec_t e = instantiate(g);
    for (int i = 0; i < 6; i++) {
        write_int(in, i);
        OK(cudaGraphLaunch(e, 0));
        EXPECT(read_int(out), i % 2 ? 11 : 21);
    }
}

RULE(conditional, one_body, HEADER,
     "an if node with one body does nothing when the value is zero")
{
    int *in = device_array<int>(1), *out = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraph_t *body = decided(g, (const void *)set_if_odd, in,
                                cudaGraphCondTypeIf, 1);
    add_put(body[0], out, 5);
    cudaGraphExec_t e = instantiate(g);
    write_int(out, 1);
    write_int(in, 2);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(out), 1);
    write_int(in, 3);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(out), 5);
}

static void check_while()
{
    int *left = device_array<int>(1), *done = device_array<int>(1);
    cudaGraph_t g = new_graph();
    condition c = new_condition(g, 1, cudaGraphCondAssignDefault);
    cudaGraphNodeParams p = conditional(c, cudaGraphCondTypeWhile, 1);
    cudaGraphNode_t n;
    OK(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    void *args[] = {&c, &left, &done};
    add_kernel(p.conditional.phGraph_out[0], (const void *)count_down, args);
    cudaGraphExec_t e = instantiate(g);
    for (int times : {1, 7, 40}) {
        write_int(left, times);
        write_int(done, 0);
        OK(cudaGraphLaunch(e, 0));
        EXPECT(read_int(done), times);
    }
    /* Two launches at once follow each other. */
    write_int(left, 3);
    write_int(done, 0);
    OK(cudaGraphLaunch(e, 0));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(done), 4);
    OK(cudaGraphExecDestroy(e));
}

RULE(conditional, while_node, HEADER,
     "the body of a while node runs as long as the value is not zero; a "
     "default value is set at the start of each launch")
{
    check_while();
}

RULE_ENV(conditional, while_seeded, HEADER, "SIMGPU_SEED=3",
         "so it does in a seeded run")
{
    check_while();
}

RULE_ENV(conditional, while_blocking, HEADER, "CUDA_LAUNCH_BLOCKING=1",
         "so it does with blocking launches")
{
    check_while();
}

RULE(conditional, switch_node, HEADER,
     "a switch node runs the body of that number, and none for a larger one")
{
    int *in = device_array<int>(1), *out = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraph_t *body = decided(g, (const void *)set_to, in,
                                cudaGraphCondTypeSwitch, 3);
    for (int i = 0; i < 3; i++) add_put(body[i], out, 100 + i);
    cudaGraphExec_t e = instantiate(g);
    for (int i = 0; i < 5; i++) {
        write_int(out, -1);
        write_int(in, i);
        OK(cudaGraphLaunch(e, 0));
        EXPECT(read_int(out), i < 3 ? 100 + i : -1);
    }
}

RULE(conditional, nested, HEADER,
     "a body may hold conditional nodes, child graphs and captured work")
{
    int *in = device_array<int>(1), *out = device_array<int>(2),
        *left = device_array<int>(1);
    cudaGraph_t g = new_graph(), child = new_graph(), same;
    cudaGraph_t *body = decided(g, (const void *)set_if_odd, in,
                                cudaGraphCondTypeIf, 1);
    condition c = new_condition(g, 1, cudaGraphCondAssignDefault);
    cudaGraphNodeParams p = conditional(c, cudaGraphCondTypeWhile, 1);
    cudaGraphNode_t loop, n;
    OK(cudaGraphAddNode(&loop, body[0], nullptr, nullptr, 0, &p));
    add_put(child, out + 1, 6);
    OK(cudaGraphAddChildGraphNode(&n, body[0], &loop, 1, child));
    cudaStream_t s = stream();
    OK(cudaStreamBeginCaptureToGraph(s, p.conditional.phGraph_out[0], nullptr,
                                     nullptr, 0,
                                     cudaStreamCaptureModeRelaxed));
    count_down<<<1, 1, 0, s>>>(c, left, out);
    OK(cudaStreamEndCapture(s, &same));
    cudaGraphExec_t e = instantiate(g);
    write_int(in, 1);
    write_int(left, 4);
    OK(cudaMemset(out, 0, 8));
    OK(cudaGraphLaunch(e, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(read_int(out), 4);
    EXPECT(read_int(out + 1), 6);
}

RULE(conditional, refused, HEADER,
     "a handle of no graph, with unknown flags, used twice or unknown, a size "
     "that the type has not: 1; a graph with such nodes cannot be cloned or be "
     "a child: 801")
{
    cudaGraph_t g = new_graph(), other = new_graph(), copy;
    condition c;
    cudaGraphNode_t n;
    EXPECT(cudaGraphConditionalHandleCreate(&c, nullptr, 0, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphConditionalHandleCreate(&c, g, 0, 8),
           cudaErrorInvalidValue);
    c = new_condition(g);
    cudaGraphNodeParams p = conditional(c, cudaGraphCondTypeWhile, 2);
    EXPECT(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p),
           cudaErrorInvalidValue);
    p = conditional(c, cudaGraphCondTypeSwitch, 0);
    EXPECT(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p),
           cudaErrorInvalidValue);
    p = conditional(12345, cudaGraphCondTypeIf, 1);
    EXPECT(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p),
           cudaErrorInvalidValue);
    p = conditional(c, cudaGraphCondTypeIf, 1);
    OK(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
    EXPECT(cudaGraphDestroy(p.conditional.phGraph_out[0]),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p),
           cudaErrorInvalidValue);
    EXPECT(cudaGraphClone(&copy, g), cudaErrorNotSupported);
    EXPECT(cudaGraphAddChildGraphNode(&n, other, nullptr, 0, g),
           cudaErrorNotSupported);
    OK(cudaGraphDestroy(g));
}

RULE(conditional, fault_in_a_body, DERIVED,
     "a fault in a body, or in what decides, is the graph's, and ends it")
{
    int *in = device_array<int>(1);
    cudaGraph_t g = new_graph();
    cudaGraph_t *body = decided(g, (const void *)set_if_odd, in,
                                cudaGraphCondTypeIf, 1);
    add_put(body[0], nullptr, 1);
    write_int(in, 1);
    cudaGraphExec_t e = instantiate(g);
    OK(cudaGraphLaunch(e, 0));
    EXPECT(finish(), cudaErrorIllegalAddress);
    EXPECT(cudaGraphExecDestroy(e), cudaErrorIllegalAddress);
}

RULE(conditional, bodies_change, HEADER,
     "nodes of a body can be changed in the executable graph, and by an "
     "update with a graph of the same bodies; another kind of condition: "
     "parameters changed")
{
    int *in = device_array<int>(1), *out = device_array<int>(1), value = 7;
    cudaGraph_t g = new_graph(), same = new_graph(), other = new_graph();
    cudaGraph_t *body = decided(g, (const void *)set_if_odd, in,
                                cudaGraphCondTypeIf, 1);
    cudaGraphNode_t n = add_put(body[0], out, 5);
    cudaGraphExec_t e = instantiate(g);
    void *args[] = {&out, &value};
    cudaKernelNodeParams k = one_thread((const void *)put, args);
    write_int(in, 1);
    OK(cudaGraphExecKernelNodeSetParams(e, n, &k));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(out), 7);
    body = decided(same, (const void *)set_if_odd, in, cudaGraphCondTypeIf, 1);
    add_put(body[0], out, 8);
    cudaGraphExecUpdateResultInfo info = {};
    OK(cudaGraphExecUpdate(e, same, &info));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphLaunch(e, 0));
    EXPECT(read_int(out), 8);
    decided(other, (const void *)set_if_odd, in, cudaGraphCondTypeSwitch, 1);
    EXPECT(cudaGraphExecUpdate(e, other, &info),
           cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result, cudaGraphExecUpdateErrorParametersChanged);
}
