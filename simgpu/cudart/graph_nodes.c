/* What a node is to do, from the parameters that describe it. */
#include "cudart/graph.h"

cudaError_t spec_kernel(const struct cudaKernelNodeParams *p,
                        struct node_spec *out)
{
    struct kernel *k = p ? kernel_find(p->func) : NULL;
    if (!p) return cudaErrorInvalidValue;
    if (!k) return cudaErrorInvalidDeviceFunction;
    if (p->extra) return cudaErrorNotSupported;
    cudaError_t error = launch_check(k, p->gridDim, p->blockDim,
                                     p->sharedMemBytes, false);
    if (error != cudaSuccess) return error;
    if (k->program->n_params && !p->kernelParams) return cudaErrorInvalidValue;
    *out = (struct node_spec){
        .type = cudaGraphNodeTypeKernel,
        .work = {.kind = WORK_LAUNCH,
                 .launch = {.kernel = k, .grid = p->gridDim,
                            .block = p->blockDim,
                            .shared = p->sharedMemBytes,
                            .args = p->kernelParams}}};
    return cudaSuccess;
}

cudaError_t copy_box(const struct cudaMemcpy3DParms *p,
                     struct copy_request *r)
{
    if (!p) return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray) {
        warn_once("copies of CUDA arrays are not supported");
        return cudaErrorNotSupported;
    }
    const struct cudaPitchedPtr *s = &p->srcPtr, *d = &p->dstPtr;
    *r = (struct copy_request){
        .width = p->extent.width, .height = p->extent.height,
        .depth = p->extent.depth, .kind = p->kind, .async = true,
        .src_pitch = s->pitch, .dst_pitch = d->pitch,
        .src_slice = s->pitch * s->ysize, .dst_slice = d->pitch * d->ysize,
    };
    if (!r->depth) r->width = 0; /* nothing to copy */
    if (s->ptr) r->src = (char *)s->ptr + p->srcPos.z * r->src_slice +
                         p->srcPos.y * s->pitch + p->srcPos.x;
    if (d->ptr) r->dst = (char *)d->ptr + p->dstPos.z * r->dst_slice +
                         p->dstPos.y * d->pitch + p->dstPos.x;
    return cudaSuccess;
}

/* Nodes that move nothing are refused (CUDA 13.0 header, "Zero sized
 * operations are not supported"). */
static cudaError_t need_work(const struct node_spec *s)
{
    return s->work.kind == WORK_EMPTY ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t spec_copy(const struct cudaMemcpy3DParms *p,
                      struct node_spec *out)
{
    struct copy_request r;
    struct waits waits;
    cudaError_t error = copy_box(p, &r);
    if (error != cudaSuccess) return error;
    *out = (struct node_spec){.type = cudaGraphNodeTypeMemcpy,
                              .given.copy = *p};
    error = copy_plan(&r, &out->work, &waits);
    return error == cudaSuccess ? need_work(out) : error;
}

/* One line of bytes is a box of height and depth 1. */
cudaError_t spec_line(void *dst, const void *src, size_t size,
                      enum cudaMemcpyKind kind, struct node_spec *out)
{
    struct cudaMemcpy3DParms p = {
        .srcPtr = {(void *)src, size, size, 1},
        .dstPtr = {dst, size, size, 1},
        .extent = {size, 1, 1},
        .kind = kind,
    };
    return spec_copy(&p, out);
}

static cudaError_t symbol_end(const void *symbol, size_t size, size_t offset,
                              void **out)
{
    struct symbol *s;
    cudaError_t error = symbol_load(symbol, &s);
    if (error != cudaSuccess) return error;
    if (offset > s->size || size > s->size - offset)
        return cudaErrorInvalidValue;
    *out = (void *)(s->address + offset);
    return cudaSuccess;
}

cudaError_t spec_to_symbol(const void *symbol, const void *src, size_t size,
                           size_t offset, enum cudaMemcpyKind kind,
                           struct node_spec *out)
{
    void *dst;
    cudaError_t error = symbol_end(symbol, size, offset, &dst);
    return error == cudaSuccess ? spec_line(dst, src, size, kind, out) : error;
}

cudaError_t spec_from_symbol(void *dst, const void *symbol, size_t size,
                             size_t offset, enum cudaMemcpyKind kind,
                             struct node_spec *out)
{
    void *src;
    cudaError_t error = symbol_end(symbol, size, offset, &src);
    return error == cudaSuccess ? spec_line(dst, src, size, kind, out) : error;
}

cudaError_t spec_fill(const struct cudaMemsetParams *p, struct node_spec *out)
{
    bool pinned;
    if (!p || (p->elementSize != 1 && p->elementSize != 2 &&
               p->elementSize != 4))
        return cudaErrorInvalidValue;
    size_t width;
    if (__builtin_mul_overflow(p->width, (size_t)p->elementSize, &width) ||
        (p->height > 1 && p->pitch < width))
        return cudaErrorInvalidValue;
    *out = (struct node_spec){.type = cudaGraphNodeTypeMemset,
                              .given.fill = *p};
    cudaError_t error =
        fill_plan(p->dst, p->height > 1 ? p->pitch : width, p->value,
                  p->elementSize, width, p->height, &out->work, &pinned);
    return error == cudaSuccess ? need_work(out) : error;
}

cudaError_t spec_host(const struct cudaHostNodeParams *p,
                      struct node_spec *out)
{
    if (!p || !p->fn) return cudaErrorInvalidValue;
    *out = (struct node_spec){
        .type = cudaGraphNodeTypeHost,
        .work = {.kind = WORK_HOST, .host = {p->fn, p->userData, false}}};
    return cudaSuccess;
}

/* An event that is none: 1, where the calls about streams say 400. */
cudaError_t spec_event(cudaEvent_t event, bool record, struct node_spec *out)
{
    struct rt_event *e;
    if (event_get(event, &e) != cudaSuccess) return cudaErrorInvalidValue;
    *out = (struct node_spec){
        .type = record ? cudaGraphNodeTypeEventRecord
                       : cudaGraphNodeTypeWaitEvent,
        .work = {.kind = record ? WORK_EVENT_RECORD : WORK_EVENT_WAIT,
                 .event = event}};
    return cudaSuccess;
}

/* The general form of all of them. */
cudaError_t spec_any(const struct cudaGraphNodeParams *p,
                     struct node_spec *out)
{
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return spec_kernel(&(struct cudaKernelNodeParams){
            p->kernel.func, p->kernel.gridDim, p->kernel.blockDim,
            p->kernel.sharedMemBytes, p->kernel.kernelParams,
            p->kernel.extra}, out);
    case cudaGraphNodeTypeMemcpy:
        return spec_copy(&p->memcpy.copyParams, out);
    case cudaGraphNodeTypeMemset:
        return spec_fill(&(struct cudaMemsetParams){
            p->memset.dst, p->memset.pitch, p->memset.value,
            p->memset.elementSize, p->memset.width, p->memset.height}, out);
    case cudaGraphNodeTypeHost:
        return spec_host(&(struct cudaHostNodeParams){
            p->host.fn, p->host.userData}, out);
    case cudaGraphNodeTypeWaitEvent:
        return spec_event(p->eventWait.event, false, out);
    case cudaGraphNodeTypeEventRecord:
        return spec_event(p->eventRecord.event, true, out);
    case cudaGraphNodeTypeEmpty:
        *out = (struct node_spec){.type = cudaGraphNodeTypeEmpty,
                                  .work = {.kind = WORK_EMPTY}};
        return cudaSuccess;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
        warn_once("external semaphores are not supported");
        return cudaErrorNotSupported;
    default:
        return cudaErrorInvalidValue;
    }
}
