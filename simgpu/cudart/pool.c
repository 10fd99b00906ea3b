/* Memory pools: whose allocation it is, how much a pool may hold, and how
 * much it holds. Memory itself comes from the device like any other; pools
 * keep nothing back. */
#include "cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_POOLS = 1024 };
static const size_t SIZE_UNIT = 32u << 20; /* maxSize is rounded up to it */

struct pool {
    unsigned number;         /* 1...: kept in allocations' flags */
    cudaMemPool_t handle;
    size_t max;              /* 0: none */
    uint64_t used, used_high, threshold;
    int reuse[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *pools[MAX_POOLS]; /* by number; 1 is the default pool */
static cudaMemPool_t current;         /* cudaDeviceSetMemPool */

static struct pool *make(size_t max)
{
    struct pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->max = max;
    for (int i = 0; i < 3; i++) p->reuse[i] = 1;
    for (unsigned n = 1; n < MAX_POOLS && !p->number; n++)
        if (!pools[n]) {
            pools[n] = p;
            p->number = n;
        }
    if (p->number && (p->handle = handle_new(HANDLE_POOL, p))) return p;
    if (p->number) pools[p->number] = NULL;
    free(p);
    return NULL;
}

static struct pool *default_pool(void)
{
    pthread_mutex_lock(&lock);
    struct pool *p = pools[1] ? pools[1] : make(0);
    pthread_mutex_unlock(&lock);
    return p;
}

void pools_reset(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned n = 1; n < MAX_POOLS; n++) {
        free(pools[n]);
        pools[n] = NULL;
    }
    current = NULL;
    pthread_mutex_unlock(&lock);
}

static struct pool *pool_get(cudaMemPool_t handle)
{
    return handle_get(HANDLE_POOL, handle);
}

static struct pool *current_pool(void)
{
    struct pool *p = current ? pool_get(current) : NULL;
    return p ? p : default_pool();
}

/* ---- allocation ---------------------------------------------------------------------- */

static bool take(struct pool *p, size_t size)
{
    pthread_mutex_lock(&lock);
    bool fits = !p->max || (size <= p->max && p->used <= p->max - size);
    if (fits) {
        p->used += size;
        if (p->used > p->used_high) p->used_high = p->used;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

void pool_returned(unsigned number, uint64_t size)
{
    if (!number) return;
    pthread_mutex_lock(&lock);
    struct pool *p = number < MAX_POOLS ? pools[number] : NULL;
    if (p) p->used = p->used > size ? p->used - size : 0;
    pthread_mutex_unlock(&lock);
}

/* The address is good at once; using it before the stream gets here is the
 * program's error, as in CUDA. */
cudaError_t pool_alloc(void **out, size_t size, cudaMemPool_t handle,
                       struct rt_stream *s)
{
    if (!out) return cudaErrorInvalidValue;
    struct pool *p = handle ? pool_get(handle) : current_pool();
    if (!p) return handle ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
    if (!size) {
        *out = NULL;
        return cudaSuccess;
    }
    if (s->capture) return capture_alloc(s, out, size);
    if (!take(p, size)) return cudaErrorMemoryAllocation;
    uint64_t address = memory_alloc(context()->memory, size, MEMORY_DEVICE,
                                    p->number << ALLOC_POOL_SHIFT);
    if (!address) {
        pool_returned(p->number, size);
        return cudaErrorMemoryAllocation;
    }
    *out = (void *)address;
    return cudaSuccess;
}

cudaError_t pool_free(void *address, struct rt_stream *s)
{
    struct allocation a;
    struct memory *m = context()->memory;
    struct work w = {.kind = WORK_FREE, .memory = {(uint64_t)address, 0}};
    if (s->capture) return submit(s, &w);
    if (!memory_lookup(m, (uint64_t)address, &a) ||
        a.address != (uint64_t)address || a.kind != MEMORY_DEVICE)
        return cudaErrorInvalidValue;
    if (graph_memory_freed((uint64_t)address)) return cudaSuccess;
    if (!memory_mark(m, a.address, ALLOC_FREED)) return cudaErrorInvalidValue;
    cudaError_t error = submit(s, &w);
    if (error == cudaSuccess)
        pool_returned(a.flags >> ALLOC_POOL_SHIFT, a.size);
    return error;
}

/* ---- pools ---------------------------------------------------------------------------- */

static bool on_device(const struct cudaMemLocation *l)
{
    return l && l->type == cudaMemLocationTypeDevice && l->id == 0;
}

API(CALL_CONTEXT, cudaMemPoolCreate,
    (cudaMemPool_t *out, const struct cudaMemPoolProps *props), (out, props))
{
    if (!out || !props || props->allocType != cudaMemAllocationTypePinned ||
        props->win32SecurityAttributes)
        return cudaErrorInvalidValue;
    if (props->location.type == cudaMemLocationTypeInvalid ||
        (props->location.type == cudaMemLocationTypeDevice &&
         props->location.id != 0))
        return cudaErrorInvalidValue;
    if (!on_device(&props->location)) return cudaErrorNotSupported;
    if (props->handleTypes != cudaMemHandleTypeNone)
        return cudaErrorNotSupported;
    size_t max = props->maxSize;
    if (max) max = (max + SIZE_UNIT - 1) / SIZE_UNIT * SIZE_UNIT;
    if (!default_pool()) return cudaErrorMemoryAllocation; /* takes number 1 */
    pthread_mutex_lock(&lock);
    struct pool *p = make(max);
    pthread_mutex_unlock(&lock);
    if (!p) return cudaErrorMemoryAllocation;
    *out = p->handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaMemPoolDestroy, (cudaMemPool_t handle), (handle))
{
    struct pool *p = pool_get(handle);
    if (!p || p->number == 1) return cudaErrorInvalidValue;
    handle_take(HANDLE_POOL, handle);
    pthread_mutex_lock(&lock);
    pools[p->number] = NULL;
    if (current == handle) current = NULL;
    pthread_mutex_unlock(&lock);
    free(p);
    return cudaSuccess;
}

static cudaError_t tell(cudaMemPool_t *out, struct pool *p)
{
    if (!p) return cudaErrorMemoryAllocation;
    *out = p->handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceGetDefaultMemPool,
    (cudaMemPool_t *out, int device), (out, device))
{
    if (!out) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    return tell(out, default_pool());
}

/* Unlike the default pool's, a device that does not exist is a value here:
 * the header names no other code for it, and hip-tests asks for it. */
API(CALL_CONTEXT, cudaDeviceGetMemPool, (cudaMemPool_t *out, int device),
    (out, device))
{
    if (!out || device != 0) return cudaErrorInvalidValue;
    return tell(out, current_pool());
}

API(CALL_CONTEXT, cudaDeviceSetMemPool, (int device, cudaMemPool_t handle),
    (device, handle))
{
    if (device != 0 || !pool_get(handle)) return cudaErrorInvalidValue;
    current = handle;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaMemGetDefaultMemPool,
    (cudaMemPool_t *out, struct cudaMemLocation *location,
     enum cudaMemAllocationType type), (out, location, type))
{
    if (!out || type != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    return on_device(location) ? tell(out, default_pool())
                               : cudaErrorNotSupported;
}

API(CALL_CONTEXT, cudaMemGetMemPool,
    (cudaMemPool_t *out, struct cudaMemLocation *location,
     enum cudaMemAllocationType type), (out, location, type))
{
    if (!out || type != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    return on_device(location) ? tell(out, current_pool())
                               : cudaErrorNotSupported;
}

API(CALL_CONTEXT, cudaMemPoolTrimTo, (cudaMemPool_t handle, size_t keep),
    (handle, keep))
{
    (void)keep; /* nothing is kept */
    return pool_get(handle) ? cudaSuccess : cudaErrorInvalidValue;
}

API(CALL_CONTEXT, cudaMemPoolSetAccess,
    (cudaMemPool_t handle, const struct cudaMemAccessDesc *list, size_t n),
    (handle, list, n))
{
    if (!pool_get(handle) || (n && !list)) return cudaErrorInvalidValue;
    if (n > 1) return cudaErrorInvalidDevice; /* there is only one to name */
    for (size_t i = 0; i < n; i++) {
        if (list[i].location.type != cudaMemLocationTypeDevice)
            return cudaErrorInvalidValue;
        if (list[i].location.id != 0) return cudaErrorInvalidDevice;
        if (list[i].flags == cudaMemAccessFlagsProtNone)
            return cudaErrorInvalidDevice; /* its own device keeps access */
        if (list[i].flags != cudaMemAccessFlagsProtReadWrite)
            return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaMemPoolGetAccess,
    (enum cudaMemAccessFlags *out, cudaMemPool_t handle,
     struct cudaMemLocation *location), (out, handle, location))
{
    if (!out || !pool_get(handle) || !on_device(location))
        return cudaErrorInvalidValue;
    *out = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}

/* ---- attributes -------------------------------------------------------------------------- */

API(CALL_CONTEXT, cudaMemPoolGetAttribute,
    (cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value),
    (handle, attribute, value))
{
    struct pool *p = pool_get(handle);
    if (!p || !value) return cudaErrorInvalidValue;
    uint64_t *wide = value;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = p->reuse[attribute - 1];
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: *wide = p->threshold; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: *wide = p->used; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: *wide = p->used_high; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaMemPoolSetAttribute,
    (cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value),
    (handle, attribute, value))
{
    struct pool *p = pool_get(handle);
    if (!p || !value) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        p->reuse[attribute - 1] = *(int *)value != 0;
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        p->threshold = *(uint64_t *)value;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: /* can only be reset to zero */
        if (*(uint64_t *)value) return cudaErrorInvalidValue;
        p->used_high = p->used;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}
