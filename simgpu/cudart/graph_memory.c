/* Memory of graphs: an alloc node has its address from the moment it is
 * added, and keeps it as long as its graph lives. Whether it is in use is
 * noted by the host when launches and frees are queued.
 */
#include <stdlib.h>

#include "cudart/graph.h"

/* All alloc nodes of all graphs, by address. */
struct graph_block {
    uint64_t address, size;
    unsigned nodes;          /* that stand for it, copies included */
    bool in_use;
    struct graph_block *next;
};
static struct graph_block *blocks;
static uint64_t used, used_high, reserved, reserved_high;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct graph_block *find(uint64_t address)
{
    struct graph_block *b = blocks;
    while (b && b->address != address) b = b->next;
    return b;
}

static void set_use(struct graph_block *b, bool in_use)
{
    if (b->in_use == in_use) return;
    b->in_use = in_use;
    used = in_use ? used + b->size : used - b->size;
    if (used > used_high) used_high = used;
}

cudaError_t graph_memory_node(struct graph *g, size_t size, struct node **out)
{
    struct graph_block *b = calloc(1, sizeof *b);
    if (!b) return cudaErrorMemoryAllocation;
    struct work w = {.kind = WORK_ALLOC};
    w.memory.size = size;
    w.memory.address =
        memory_alloc(context()->memory, size, MEMORY_DEVICE, 0);
    *out = w.memory.address
               ? node_add(g, cudaGraphNodeTypeMemAlloc, &w) : NULL;
    if (!*out) {
        if (w.memory.address)
            memory_free(context()->memory, w.memory.address, MEMORY_DEVICE);
        free(b);
        return cudaErrorMemoryAllocation;
    }
    g->has_memory = true;
    b->address = w.memory.address;
    b->size = size;
    b->nodes = 1;
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    reserved += size;
    if (reserved > reserved_high) reserved_high = reserved;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* The memory goes with the last node, unless somebody still uses it. */
static void drop_unused(struct graph_block *b)
{
    if (b->nodes || b->in_use) return;
    struct graph_block **at = &blocks;
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    reserved -= b->size;
    if (context()) memory_free(context()->memory, b->address, MEMORY_DEVICE);
    free(b);
}

void graph_memory_share(uint64_t address, int nodes)
{
    pthread_mutex_lock(&lock);
    struct graph_block *b = find(address);
    if (b) {
        b->nodes += (unsigned)nodes;
        drop_unused(b);
    }
    pthread_mutex_unlock(&lock);
}

bool graph_memory_freed(uint64_t address)
{
    pthread_mutex_lock(&lock);
    struct graph_block *b = find(address);
    bool known = b != NULL;
    if (b) {
        set_use(b, false);
        drop_unused(b);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void graph_memory_forget(void)
{
    pthread_mutex_lock(&lock);
    while (blocks) {
        struct graph_block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
    used = used_high = reserved = reserved_high = 0;
    pthread_mutex_unlock(&lock);
}

cudaError_t graph_memory_launch(struct node *const *nodes, uint32_t n,
                                bool auto_free)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n && error == cudaSuccess; i++) {
        struct graph_block *b = nodes[i]->work.kind == WORK_ALLOC
                                    ? find(nodes[i]->work.memory.address)
                                    : NULL;
        if (b && b->in_use && !auto_free) error = cudaErrorInvalidValue;
    }
    for (uint32_t i = 0; i < n && error == cudaSuccess; i++) {
        enum work_kind kind = nodes[i]->work.kind;
        if (kind != WORK_ALLOC && kind != WORK_FREE) continue;
        struct graph_block *b = find(nodes[i]->work.memory.address);
        if (b) set_use(b, kind == WORK_ALLOC);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- calls --------------------------------------------------------------------------- */

static bool placed_here(const struct cudaMemAllocNodeParamsV2 *p)
{
    const struct cudaMemPoolProps *props = &p->poolProps;
    if (p->accessDescCount > 1 || (p->accessDescCount && !p->accessDescs))
        return false;
    if (p->accessDescCount &&
        (p->accessDescs->location.type != cudaMemLocationTypeDevice ||
         p->accessDescs->location.id != 0))
        return false;
    return props->allocType == cudaMemAllocationTypePinned &&
           props->location.type == cudaMemLocationTypeDevice &&
           props->location.id == 0 &&
           props->handleTypes == cudaMemHandleTypeNone;
}

cudaError_t graph_add_alloc(cudaGraphNode_t *out, cudaGraph_t graph,
                            const cudaGraphNode_t *deps,
                            const cudaGraphEdgeData *data, size_t n_deps,
                            struct cudaMemAllocNodeParamsV2 *p)
{
    struct graph *g = graph_get(graph);
    struct node *n;
    if (!out || !g || !p->bytesize || !placed_here(p))
        return cudaErrorInvalidValue;
    cudaError_t error = graph_memory_node(g, p->bytesize, &n);
    if (error == cudaSuccess) error = node_depend(n, deps, data, n_deps);
    if (error != cudaSuccess) return error;
    p->dptr = (void *)n->work.memory.address;
    n->given.alloc = (struct cudaMemAllocNodeParams){
        p->poolProps, p->accessDescs, p->accessDescCount, p->bytesize,
        p->dptr};
    *out = n->handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddMemAllocNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, struct cudaMemAllocNodeParams *p),
    (out, graph, deps, n_deps, p))
{
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemAllocNodeParamsV2 v2 = {
        p->poolProps, p->accessDescs, p->accessDescCount, p->bytesize, NULL};
    cudaError_t error = graph_add_alloc(out, graph, deps, NULL, n_deps, &v2);
    if (error == cudaSuccess) p->dptr = v2.dptr;
    return error;
}

API(CALL_CONTEXT, cudaGraphMemAllocNodeGetParams,
    (cudaGraphNode_t node, struct cudaMemAllocNodeParams *out), (node, out))
{
    struct node *n = node_get(node);
    if (!n || !out || n->work.kind != WORK_ALLOC) return cudaErrorInvalidValue;
    *out = n->given.alloc;
    return cudaSuccess;
}

cudaError_t graph_add_free(cudaGraphNode_t *out, cudaGraph_t graph,
                           const cudaGraphNode_t *deps,
                           const cudaGraphEdgeData *data, size_t n_deps,
                           void *address)
{
    struct graph *g = graph_get(graph);
    struct work w = {.kind = WORK_FREE, .memory = {(uint64_t)address, 0}};
    if (!out || !g) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    bool known = find((uint64_t)address) != NULL;
    pthread_mutex_unlock(&lock);
    if (!known) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < g->n; i++) /* twice in one graph */
        if (g->nodes[i]->work.kind == WORK_FREE &&
            g->nodes[i]->work.memory.address == (uint64_t)address)
            return cudaErrorInvalidValue;
    struct node *n = node_add(g, cudaGraphNodeTypeMemFree, &w);
    if (!n) return cudaErrorMemoryAllocation;
    cudaError_t error = node_depend(n, deps, data, n_deps);
    if (error != cudaSuccess) return error;
    g->has_memory = true;
    *out = n->handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphAddMemFreeNode,
    (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
     size_t n_deps, void *address), (out, graph, deps, n_deps, address))
{
    return graph_add_free(out, graph, deps, NULL, n_deps, address);
}

API(CALL_CONTEXT, cudaGraphMemFreeNodeGetParams,
    (cudaGraphNode_t node, void *out), (node, out))
{
    struct node *n = node_get(node);
    if (!n || !out || n->work.kind != WORK_FREE) return cudaErrorInvalidValue;
    *(void **)out = (void *)n->work.memory.address;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceGetGraphMemAttribute,
    (int device, enum cudaGraphMemAttributeType attribute, void *value),
    (device, attribute, value))
{
    uint64_t *out = value;
    if (device != 0) return cudaErrorInvalidDevice;
    if (!value) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent: *out = used; break;
    case cudaGraphMemAttrUsedMemHigh: *out = used_high; break;
    case cudaGraphMemAttrReservedMemCurrent: *out = reserved; break;
    case cudaGraphMemAttrReservedMemHigh: *out = reserved_high; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceSetGraphMemAttribute,
    (int device, enum cudaGraphMemAttributeType attribute, void *value),
    (device, attribute, value))
{
    if (device != 0) return cudaErrorInvalidDevice;
    if (!value || *(uint64_t *)value) return cudaErrorInvalidValue;
    switch (attribute) { /* high marks can be set back, nothing else */
    case cudaGraphMemAttrUsedMemHigh: used_high = used; break;
    case cudaGraphMemAttrReservedMemHigh: reserved_high = reserved; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceGraphMemTrim, (int device), (device))
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
