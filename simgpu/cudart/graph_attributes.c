/* Attributes of kernel nodes. Cooperative launching and the priority are part
 * of what a node does; the others hint at speed, are kept and told, and have no
 * effect here.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/graph.h"

/* Those that a node can have (CUDA 13.0 header, cudaKernelNodeAttribute*). */
static bool of_nodes(cudaLaunchAttributeID id)
{
    switch (id) {
    case cudaKernelNodeAttributeAccessPolicyWindow:
    case cudaKernelNodeAttributeCooperative:
    case cudaKernelNodeAttributePriority:
    case cudaKernelNodeAttributeClusterDimension:
    case cudaKernelNodeAttributeClusterSchedulingPolicyPreference:
    case cudaKernelNodeAttributeMemSyncDomainMap:
    case cudaKernelNodeAttributeMemSyncDomain:
    case cudaKernelNodeAttributePreferredSharedMemoryCarveout:
    case cudaKernelNodeAttributeNvlinkUtilCentricScheduling:
    case cudaKernelNodeAttributeDeviceUpdatableKernelNode:
    case cudaLaunchAttributePreferredClusterDimension:
        return true;
    default:
        return false;
    }
}

static struct node *kernel_node(cudaGraphNode_t node)
{
    struct node *n = node_get(node);
    return n && n->work.kind == WORK_LAUNCH ? n : NULL;
}

static cudaLaunchAttribute *find(const struct node *n,
                                 cudaLaunchAttributeID id)
{
    for (uint32_t i = 0; i < n->n_attributes; i++)
        if (n->attributes[i].id == id) return &n->attributes[i];
    return NULL;
}

static cudaError_t keep(struct node *n, cudaLaunchAttributeID id,
                        const cudaLaunchAttributeValue *value)
{
    cudaLaunchAttribute *a = find(n, id);
    if (!a) {
        size_t size = (n->n_attributes + 1) * sizeof *a;
        if (!(a = realloc(n->attributes, size)))
            return cudaErrorMemoryAllocation;
        n->attributes = a;
        a += n->n_attributes++;
        *a = (cudaLaunchAttribute){.id = id};
    }
    a->val = *value;
    return cudaSuccess;
}

cudaError_t node_copy_attributes(struct node *to, const struct node *from)
{
    for (uint32_t i = 0; i < from->n_attributes; i++) {
        const cudaLaunchAttribute *a = &from->attributes[i];
        cudaError_t error = keep(to, a->id, &a->val);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

/* The device has no cache to set aside, so a window has no bytes. */
static bool window_valid(const struct cudaAccessPolicyWindow *w)
{
    return w->num_bytes == 0 && w->hitRatio >= 0 && w->hitRatio <= 1 &&
           w->missProp != cudaAccessPropertyPersisting;
}

API(CALL_CONTEXT, cudaGraphKernelNodeSetAttribute,
    (cudaGraphNode_t node, cudaLaunchAttributeID id,
     const cudaLaunchAttributeValue *value), (node, id, value))
{
    struct node *n = kernel_node(node);
    if (!n || !value || !of_nodes(id)) return cudaErrorInvalidValue;
    if (id == cudaKernelNodeAttributeAccessPolicyWindow &&
        !window_valid(&value->accessPolicyWindow))
        return cudaErrorInvalidValue;
    struct launch_options o = {n->work.launch.cooperative,
                               n->work.launch.priority};
    cudaError_t error = launch_attribute(id, value, &o);
    if (error == cudaSuccess && o.cooperative)
        error = launch_check(n->work.launch.kernel, n->work.launch.grid,
                             n->work.launch.block, n->work.launch.shared,
                             true);
    if (error != cudaSuccess) return error;
    n->work.launch.cooperative = o.cooperative;
    n->work.launch.priority = o.priority;
    return keep(n, id, value);
}

API(CALL_CONTEXT, cudaGraphKernelNodeGetAttribute,
    (cudaGraphNode_t node, cudaLaunchAttributeID id,
     cudaLaunchAttributeValue *out), (node, id, out))
{
    struct node *n = kernel_node(node);
    if (!n || !out || !of_nodes(id)) return cudaErrorInvalidValue;
    const cudaLaunchAttribute *a = find(n, id);
    memset(out, 0, sizeof *out);
    if (a) *out = a->val;
    if (id == cudaKernelNodeAttributeCooperative)
        out->cooperative = n->work.launch.cooperative;
    if (id == cudaKernelNodeAttributePriority)
        out->priority = n->work.launch.priority;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphKernelNodeCopyAttributes,
    (cudaGraphNode_t to, cudaGraphNode_t from), (to, from))
{
    struct node *d = kernel_node(to), *s = kernel_node(from);
    if (!d || !s) return cudaErrorInvalidValue;
    d->work.launch.cooperative = s->work.launch.cooperative;
    d->work.launch.priority = s->work.launch.priority;
    return node_copy_attributes(d, s);
}
