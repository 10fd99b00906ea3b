/* Priorities of streams, launches and graph nodes: which blocks begin first. */
#include <algorithm>

#include "graphs.cuh"

enum { LOW_BLOCKS = 4000, HIGH_BLOCKS = 1000 };

/* Every block takes a ticket when it begins, then is busy for a while. */
__global__ void tickets(int *next, int *out, volatile int *busy)
{
    out[blockIdx.x] = atomicAdd(next, 1);
    for (int i = 0; i < 300; i++)
        if (*busy) return;
}

struct race {
    int *next = device_array<int>(1), *busy = device_array<int>(1);
    int *low = device_array<int>(LOW_BLOCKS), *high = device_array<int>(HIGH_BLOCKS);
    race()
    {
        OK(cudaMemset(next, 0, sizeof(int)));
        OK(cudaMemset(busy, 0, sizeof(int)));
        OK(finish());
    }

    /* Blocks of low that began while those of high did, without the first
     * and last twentieth of high: a block may be late for other reasons. */
    int between()
    {
        static int l[LOW_BLOCKS], h[HIGH_BLOCKS];
        int n = 0;
        OK(cudaMemcpy(l, low, sizeof l, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(h, high, sizeof h, cudaMemcpyDeviceToHost));
        std::sort(h, h + HIGH_BLOCKS);
        int first = h[HIGH_BLOCKS / 20], last = h[HIGH_BLOCKS * 19 / 20];
        for (int ticket : l) n += ticket > first && ticket < last;
        return n;
    }
};

static cudaStream_t with_priority(int priority)
{
    cudaStream_t s = nullptr;
    OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority));
    return s;
}

static void range(int *least, int *greatest)
{
    OK(cudaDeviceGetStreamPriorityRange(least, greatest));
    if (*least == *greatest) rule_skip("no priorities");
}

static void streams_race()
{
    int least, greatest;
    range(&least, &greatest);
    race r;
    cudaStream_t low = with_priority(least), high = with_priority(greatest);
    tickets<<<LOW_BLOCKS, 1, 0, low>>>(r.next, r.low, r.busy);
    tickets<<<HIGH_BLOCKS, 1, 0, high>>>(r.next, r.high, r.busy);
    OK(finish());
    EXPECT(r.between() < HIGH_BLOCKS / 4, 1);
}

RULE(priority, of_streams, HEADER,
     "blocks of a stream of higher priority begin before those of a lower one "
     "that have not begun")
{
    streams_race();
}

RULE_ENV(priority, of_streams_seeded, HEADER, "SIMGPU_SEED=5",
         "so they do in a seeded run")
{
    streams_race();
}

RULE(priority, of_launches, HEADER,
     "a launch can have another priority than its stream")
{
    int least, greatest;
    range(&least, &greatest);
    race r;
    cudaStream_t a = with_priority(least), b = with_priority(least);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = greatest;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(HIGH_BLOCKS);
    config.blockDim = dim3(1);
    config.stream = b;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void *args[] = {&r.next, &r.high, &r.busy};
    tickets<<<LOW_BLOCKS, 1, 0, a>>>(r.next, r.low, r.busy);
    OK(cudaLaunchKernelExC(&config, (const void *)tickets, args));
    OK(finish());
    EXPECT(r.between() < HIGH_BLOCKS / 4, 1);
}

RULE(priority, of_graph_nodes, HEADER,
     "kernel nodes have their own priorities in a graph instantiated with "
     "cudaGraphInstantiateFlagUseNodePriority")
{
    int least, greatest;
    range(&least, &greatest);
    race r;
    void *low[] = {&r.next, &r.low, &r.busy};
    void *high[] = {&r.next, &r.high, &r.busy};
    cudaKernelNodeParams k = one_thread((const void *)tickets, low);
    cudaLaunchAttributeValue v = {};
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n;
    cudaGraphExec_t e;
    k.gridDim = dim3(LOW_BLOCKS);
    OK(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k));
    k.gridDim = dim3(HIGH_BLOCKS);
    k.kernelParams = high;
    OK(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k));
    v.priority = greatest;
    OK(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePriority, &v));
    OK(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagUseNodePriority));
    OK(cudaGraphLaunch(e, 0));
    OK(finish());
    EXPECT(r.between() < HIGH_BLOCKS / 4, 1);
}

RULE(priority, of_the_stream_of_a_graph, HEADER,
     "without that flag the nodes have the priority of the stream that the "
     "graph is launched in")
{
    int least, greatest;
    range(&least, &greatest);
    race r;
    void *high[] = {&r.next, &r.high, &r.busy};
    cudaKernelNodeParams k = one_thread((const void *)tickets, high);
    cudaGraph_t g = new_graph();
    cudaGraphNode_t n;
    k.gridDim = dim3(HIGH_BLOCKS);
    OK(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k));
    cudaGraphExec_t e = instantiate(g);
    tickets<<<LOW_BLOCKS, 1, 0, with_priority(least)>>>(r.next, r.low, r.busy);
    OK(cudaGraphLaunch(e, with_priority(greatest)));
    OK(finish());
    EXPECT(r.between() < HIGH_BLOCKS / 4, 1);
}

RULE(priority, does_not_starve, DERIVED,
     "a kernel of high priority may wait for one of low priority that is "
     "launched later")
{
    int least, greatest;
    range(&least, &greatest);
    gate w;
    w.keep(with_priority(greatest));
    put<<<1, 1, 0, with_priority(least)>>>(w.device, 1);
    OK(finish());
}

RULE(priority, is_clamped, HEADER,
     "a priority outside the range is brought into it, the default is the "
     "least, and cudaStreamSetAttribute changes it")
{
    int least, greatest, told;
    range(&least, &greatest);
    cudaStream_t s = with_priority(least + 7);
    OK(cudaStreamGetPriority(s, &told));
    EXPECT(told, least);
    s = with_priority(greatest - 7);
    OK(cudaStreamGetPriority(s, &told));
    EXPECT(told, greatest);
    OK(cudaStreamGetPriority(stream(), &told));
    EXPECT(told, 0);
    EXPECT(least, 0);
    cudaLaunchAttributeValue v = {};
    v.priority = least;
    OK(cudaStreamSetAttribute(s, cudaLaunchAttributePriority, &v));
    OK(cudaStreamGetPriority(s, &told));
    EXPECT(told, least);
}
