// Watches itself through CUPTI: callbacks on entry and exit, correlation of
// calls with what the device did, return values, a fault in the middle.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cupti.h>

__global__ void work(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += i;
}

static int failures, enters, exits, kernels, copies, fills, calls, syncs,
    pushed;
static unsigned launch_correlation, kernel_correlation, refused;
static unsigned long long kernel_start, kernel_end, last_end;
static unsigned last_graph;
static unsigned long long last_node;
static char symbol[256], kernel_name[256];

#define CHECK(what)                                                      \
    do {                                                                 \
        if (!(what)) {                                                   \
            printf("line %d: %s\n", __LINE__, #what);                    \
            failures++;                                                  \
        }                                                                \
    } while (0)

struct launch_params { // of __cudaLaunchKernel
    void *kernel;
    dim3 grid, block;
    void **args;
    size_t shared;
    cudaStream_t stream;
};

static void on_call(void *user, CUpti_CallbackDomain domain,
                    CUpti_CallbackId id, const void *data)
{
    const CUpti_CallbackData *d = (const CUpti_CallbackData *)data;
    CHECK(user == &failures && domain == CUPTI_CB_DOMAIN_RUNTIME_API);
    if (d->callbackSite == CUPTI_API_ENTER) {
        enters++;
        *d->correlationData = d->correlationId + 5ull;
        return;
    }
    exits++;
    CHECK(*d->correlationData == d->correlationId + 5ull);
    if (id == CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000) {
        const launch_params *p = (const launch_params *)d->functionParams;
        CHECK(!strcmp(d->functionName, "__cudaLaunchKernel"));
        launch_correlation = d->correlationId;
        snprintf(symbol, sizeof symbol, "%s", d->symbolName);
        CHECK(p->block.x == 64 && p->grid.x == 4);
    }
    if (*(cudaError_t *)d->functionReturnValue == cudaErrorInvalidValue)
        refused++;
}

static void lend(uint8_t **data, size_t *size, size_t *most)
{
    *size = 1 << 16;
    *data = (uint8_t *)aligned_alloc(8, *size);
    *most = 0;
}

static void take(CUcontext, uint32_t, uint8_t *data, size_t, size_t valid)
{
    CUpti_Activity *r = nullptr;
    while (cuptiActivityGetNextRecord(data, valid, &r) == CUPTI_SUCCESS)
        switch (r->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            CUpti_ActivityKernel10 *k = (CUpti_ActivityKernel10 *)r;
            kernels++;
            last_end = k->end;
            last_graph = k->graphId;
            last_node = k->graphNodeId;
            if (kernel_start) break;
            kernel_start = k->start;
            kernel_end = k->end;
            kernel_correlation = k->correlationId;
            snprintf(kernel_name, sizeof kernel_name, "%s", k->name);
            CHECK(k->gridX == 4 && k->blockX == 64);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            CUpti_ActivityMemcpy6 *m = (CUpti_ActivityMemcpy6 *)r;
            copies++;
            CHECK(m->bytes == 1024 && m->end >= m->start);
            CHECK(m->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: fills++; break;
        case CUPTI_ACTIVITY_KIND_RUNTIME: calls++; break;
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: syncs++; break;
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: pushed++; break;
        default: CHECK(!"a record of an unknown kind");
        }
    free(data);
}

// Kernels of graphs tell which node of which executable graph they are.
static void check_graph(int *p)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    int n = 256, before = kernels;
    void *args[] = {&p, &n};
    cudaKernelNodeParams k = {};
    k.func = (void *)work;
    k.gridDim = dim3(4);
    k.blockDim = dim3(64);
    k.kernelParams = args;
    cudaGraphCreate(&graph, 0);
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(last_graph == 0 && last_node == 0);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess);
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    uint32_t graph_id = 0;
    uint64_t node_id = 0;
    CHECK(cuptiGetGraphExecId((CUgraphExec)exec, &graph_id) == CUPTI_SUCCESS);
    CHECK(cuptiGetGraphNodeId((CUgraphNode)node, &node_id) == CUPTI_SUCCESS);
    CHECK(kernels == before + 1);
    CHECK(last_graph == graph_id && last_node == node_id && node_id);
    CHECK(cuptiGetGraphId(nullptr, &graph_id) ==
          CUPTI_ERROR_INVALID_PARAMETER);
}

int main()
{
    CUpti_SubscriberHandle s;
    uint64_t before, after;
    static int host[256];
    int *p;
    if (cuptiSubscribe(&s, on_call, &failures) != CUPTI_SUCCESS) {
        printf("no CUPTI here\n");
        return 77;
    }
    CUpti_SubscriberHandle second;
    CHECK(cuptiSubscribe(&second, on_call, nullptr) ==
          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    CHECK(cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_RUNTIME_API) ==
          CUPTI_SUCCESS);
    CHECK(cuptiActivityRegisterCallbacks(lend, take) == CUPTI_SUCCESS);
    const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
    for (CUpti_ActivityKind k : kinds)
        CHECK(cuptiActivityEnable(k) == CUPTI_SUCCESS);
    CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID) != CUPTI_SUCCESS);

    cudaMalloc(&p, sizeof host);
    cudaMemset(p, 0, sizeof host);
    cudaDeviceSynchronize();
    cuptiGetTimestamp(&before);
    cuptiActivityPushExternalCorrelationId(
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 7);
    work<<<4, 64>>>(p, 256);
    uint64_t id = 0;
    cuptiActivityPopExternalCorrelationId(
        CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
    CHECK(id == 7);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    cuptiGetTimestamp(&after);
    CHECK(cudaMemset(nullptr, 0, 4) == cudaErrorInvalidValue);
    CHECK(cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
    CHECK(host[255] == 255);
    CHECK(enters == exits && enters >= 6);
    CHECK(refused == 1);
    CHECK(kernels == 1 && copies == 1 && fills == 1 && syncs == 1);
    CHECK(calls == exits);
    CHECK(pushed >= 1);
    CHECK(launch_correlation && launch_correlation == kernel_correlation);
    CHECK(!strcmp(symbol, kernel_name) && strstr(symbol, "work"));
    CHECK(before <= kernel_start && kernel_start <= kernel_end &&
          kernel_end <= after);
    check_graph(p);

    work<<<4, 64>>>(nullptr, 256);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) ==
          CUPTI_SUCCESS);
    CHECK(kernels == 3 && !last_end); // cut off by the fault
    const char *text = nullptr;
    CHECK(cuptiGetResultString(CUPTI_ERROR_INVALID_KIND, &text) ==
          CUPTI_SUCCESS);
    CHECK(text && !strcmp(text, "CUPTI_ERROR_INVALID_KIND"));
    CHECK(cuptiUnsubscribe(s) == CUPTI_SUCCESS);
    int seen = exits;
    int n;
    cudaGetDeviceCount(&n);
    CHECK(exits == seen);
    return failures != 0;
}
