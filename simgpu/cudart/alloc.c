/* Device, host, registered and managed memory. */
#define _GNU_SOURCE /* mincore */
#include "cudart/cudart.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/limits.h"

static cudaError_t allocate(void **out, size_t size, enum memory_kind kind,
                            unsigned flags)
{
    if (!out) return cudaErrorInvalidValue;
    if (!size) {
        *out = NULL;
        return cudaSuccess;
    }
    uint64_t address = memory_alloc(context()->memory, size, kind, flags);
    if (!address) return cudaErrorMemoryAllocation;
    *out = (void *)address;
    return cudaSuccess;
}

/* Freeing waits for the device: nothing in flight may still use it. */
static cudaError_t release(void *p, const enum memory_kind *kinds,
                           unsigned n_kinds)
{
    struct context *c = context();
    if (!p) return cudaSuccess;
    struct allocation a;
    bool found = false;
    if (memory_lookup(c->memory, (uint64_t)p, &a) &&
        a.address == (uint64_t)p)
        for (unsigned i = 0; i < n_kinds; i++) found |= a.kind == kinds[i];
    if (!found || a.flags & ALLOC_FREED) return cudaErrorInvalidValue;
    cudaError_t error = from_status(device_wait(c->device));
    if (error != cudaSuccess) return error;
    if (graph_memory_freed((uint64_t)p)) return cudaSuccess;
    if (!memory_free(c->memory, (uint64_t)p, a.kind))
        return cudaErrorInvalidValue;
    pool_returned(a.flags >> ALLOC_POOL_SHIFT, a.size);
    if (a.kind == MEMORY_MANAGED) managed_forget(a.address);
    return cudaSuccess;
}

/* ---- device memory --------------------------------------------------------------- */

API(CALL_CONTEXT, cudaMalloc, (void **out, size_t size), (out, size))
{
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return allocate(out, size, MEMORY_DEVICE, 0);
}

API(CALL_CONTEXT, cudaFree, (void *p), (p))
{
    static const enum memory_kind kinds[] = {MEMORY_DEVICE, MEMORY_MANAGED};
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return release(p, kinds, 2);
}

static cudaError_t pitched(void **out, size_t *pitch, size_t width,
                           size_t rows)
{
    size_t row, size;
    if (!out || !pitch) return cudaErrorInvalidValue;
    if (width > SIZE_MAX - PITCH_ALIGNMENT) return cudaErrorInvalidValue;
    row = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (__builtin_mul_overflow(row, rows, &size))
        return cudaErrorMemoryAllocation;
    cudaError_t error = allocate(out, size, MEMORY_DEVICE, 0);
    if (error == cudaSuccess) *pitch = row;
    return error;
}

API(CALL_CONTEXT, cudaMallocPitch,
    (void **out, size_t *pitch, size_t width, size_t height),
    (out, pitch, width, height))
{
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return pitched(out, pitch, width, height);
}

API(CALL_CONTEXT, cudaMalloc3D,
    (struct cudaPitchedPtr *out, struct cudaExtent extent), (out, extent))
{
    size_t rows;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return cudaErrorMemoryAllocation;
    out->xsize = extent.width;
    out->ysize = extent.height;
    return pitched(&out->ptr, &out->pitch, extent.width, rows);
}

API(CALL_CONTEXT, cudaMemGetInfo, (size_t *free_bytes, size_t *total),
    (free_bytes, total))
{
    uint64_t f, t;
    if (!free_bytes || !total) return cudaErrorInvalidValue;
    memory_usage(context()->memory, &f, &t);
    *free_bytes = f;
    *total = t;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaMallocManaged, (void **out, size_t size, unsigned flags),
    (out, size, flags))
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return cudaErrorInvalidValue;
    if (!size) return cudaErrorInvalidValue;
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return allocate(out, size, MEMORY_MANAGED, flags);
}

/* ---- host memory ----------------------------------------------------------------- */

enum { HOST_ALLOC_FLAGS = cudaHostAllocPortable | cudaHostAllocMapped |
                          cudaHostAllocWriteCombined };

cudaError_t host_alloc(void **out, size_t size, unsigned flags)
{
    if (flags & ~(unsigned)HOST_ALLOC_FLAGS) return cudaErrorInvalidValue;
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return allocate(out, size, MEMORY_PINNED, flags);
}

API(CALL_CONTEXT, cudaHostAlloc, (void **out, size_t size, unsigned flags),
    (out, size, flags))
{
    return host_alloc(out, size, flags);
}

API(CALL_CONTEXT, cudaMallocHost, (void **out, size_t size), (out, size))
{
    return host_alloc(out, size, cudaHostAllocDefault);
}

API(CALL_CONTEXT, cudaFreeHost, (void *p), (p))
{
    static const enum memory_kind kinds[] = {MEMORY_PINNED};
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return release(p, kinds, 1);
}

/* Does the process have memory at every page of the range? */
static bool mapped(const void *p, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)p & ~(page - 1), end = (uintptr_t)p + size;
    unsigned char resident[256];
    for (size_t step = page * sizeof resident; at < end; at += step)
        if (mincore((void *)at, end - at < step ? end - at : step, resident))
            return false;
    return true;
}

enum { REGISTER_FLAGS = cudaHostRegisterPortable | cudaHostRegisterMapped |
                        cudaHostRegisterIoMemory | cudaHostRegisterReadOnly };

API(CALL_CONTEXT, cudaHostRegister, (void *p, size_t size, unsigned flags),
    (p, size, flags))
{
    if (!p || !size || flags & ~(unsigned)REGISTER_FLAGS)
        return cudaErrorInvalidValue;
    if (size > SIZE_MAX - (uint64_t)p) return cudaErrorInvalidValue;
    if (flags & cudaHostRegisterReadOnly) return cudaErrorNotSupported;
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    struct allocation a;
    if (memory_lookup(context()->memory, (uint64_t)p, &a))
        return cudaErrorHostMemoryAlreadyRegistered;
    if (!mapped(p, size)) return cudaErrorInvalidValue;
    return memory_register(context()->memory, p, size, flags)
               ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
}

API(CALL_CONTEXT, cudaHostUnregister, (void *p), (p))
{
    static const enum memory_kind kinds[] = {MEMORY_REGISTERED};
    struct allocation a;
    if (!p) return cudaErrorInvalidValue;
    if (!memory_lookup(context()->memory, (uint64_t)p, &a))
        return cudaErrorHostMemoryNotRegistered;
    cudaError_t error = capture_unsafe_call();
    if (error != cudaSuccess) return error;
    return release(p, kinds, 1);
}

static bool host_lookup(const void *p, struct allocation *a)
{
    return memory_lookup(context()->memory, (uint64_t)p, a) &&
           (a->kind == MEMORY_PINNED || a->kind == MEMORY_REGISTERED ||
            a->kind == MEMORY_MANAGED);
}

API(CALL_CONTEXT, cudaHostGetDevicePointer,
    (void **out, void *p, unsigned flags), (out, p, flags))
{
    struct allocation a;
    if (!out || flags || !host_lookup(p, &a)) return cudaErrorInvalidValue;
    *out = p; /* unified addressing */
    return cudaSuccess;
}

/* With unified addressing all pinned memory is mapped, asked for or not. */
API(CALL_CONTEXT, cudaHostGetFlags, (unsigned *out, void *p), (out, p))
{
    struct allocation a;
    if (!out || !host_lookup(p, &a) || a.kind == MEMORY_MANAGED)
        return cudaErrorInvalidValue;
    *out = (a.flags & ((1u << ALLOC_POOL_SHIFT) - 1)) | cudaHostAllocMapped;
    return cudaSuccess;
}

/* ---- what a pointer is ------------------------------------------------------------ */

API(CALL_CONTEXT, cudaPointerGetAttributes,
    (struct cudaPointerAttributes *out, const void *p), (out, p))
{
    struct allocation a;
    if (!out) return cudaErrorInvalidValue;
    memset(out, 0, sizeof *out);
    if (!memory_lookup(context()->memory, (uint64_t)p, &a)) {
        out->type = cudaMemoryTypeUnregistered;
        out->device = cudaInvalidDeviceId;
        out->hostPointer = (void *)p;
        return cudaSuccess;
    }
    bool host = a.kind != MEMORY_DEVICE && a.kind != MEMORY_SYMBOL;
    out->type = a.kind == MEMORY_MANAGED ? cudaMemoryTypeManaged
              : host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    out->devicePointer = (void *)p;
    out->hostPointer = host ? (void *)p : NULL;
    return cudaSuccess;
}
