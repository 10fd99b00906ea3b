/* Stream-ordered allocation and memory pools. */
#include "kernels.cuh"

RULE(pool, usable_in_order, HEADER,
     "memory of cudaMallocAsync is usable by later work of the stream")
{
    cudaStream_t s;
    int *p = nullptr, v = 0;
    OK(cudaStreamCreate(&s));
    OK(cudaMallocAsync((void **)&p, sizeof(int), s));
    put<<<1, 1, 0, s>>>(p, 6);
    OK(cudaMemcpyAsync(&v, p, sizeof v, cudaMemcpyDeviceToHost, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(v, 6);
}

RULE(pool, free_null, REPORT, "cudaFreeAsync of null: 1")
{
    EXPECT(cudaFreeAsync(nullptr, 0), cudaErrorInvalidValue);
}

RULE(pool, either_free, HEADER,
     "cudaFree frees pool memory, cudaFreeAsync frees that of cudaMalloc")
{
    void *p;
    OK(cudaMallocAsync(&p, 64, 0));
    OK(cudaStreamSynchronize(0));
    OK(cudaFree(p));
    OK(cudaMalloc(&p, 64));
    OK(cudaFreeAsync(p, 0));
    OK(finish());
}

static cudaMemPool_t pool_of(size_t max)
{
    cudaMemPoolProps props = {};
    cudaMemPool_t pool = nullptr;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.maxSize = max;
    OK(cudaMemPoolCreate(&pool, &props));
    return pool;
}

RULE(pool, has_a_maximum, REPORT,
     "a pool's maximum, rounded up to 32 MiB, is kept: 2 and a null pointer")
{
    cudaMemPool_t pool = pool_of(1 << 20);
    void *p = nullptr;
    OK(cudaMallocFromPoolAsync(&p, 42, pool, 0));
    OK(cudaFreeAsync(p, 0));
    p = nullptr;
    EXPECT(cudaMallocFromPoolAsync(&p, 33u << 20, pool, 0),
           cudaErrorMemoryAllocation);
    EXPECT((uintptr_t)p, 0);
}

RULE(pool, counts_use, HEADER, "a pool tells how much of it is in use")
{
    cudaMemPool_t pool = pool_of(0);
    uint64_t used = 0, high = 0;
    void *p;
    OK(cudaMallocFromPoolAsync(&p, 1 << 20, pool, 0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used >= 1u << 20, 1);
    OK(cudaFreeAsync(p, 0));
    OK(finish());
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    EXPECT(used, 0);
    EXPECT(high >= 1u << 20, 1);
    OK(cudaMemPoolDestroy(pool));
}

RULE(pool, properties_checked, HEADER,
     "a pool must be of pinned type and lie on a device that exists")
{
    cudaMemPoolProps props = {};
    cudaMemPool_t pool;
    EXPECT(cudaMemPoolCreate(&pool, &props), cudaErrorInvalidValue);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    EXPECT(cudaMemPoolCreate((cudaMemPool_t *)nullptr, &props),
           cudaErrorInvalidValue);
    EXPECT(cudaMemPoolCreate(&pool, (cudaMemPoolProps *)nullptr),
           cudaErrorInvalidValue);
}

RULE(pool, default_one, HEADER,
     "the default pool is the current one and cannot be destroyed")
{
    cudaMemPool_t a, b;
    OK(cudaDeviceGetDefaultMemPool(&a, 0));
    OK(cudaDeviceGetMemPool(&b, 0));
    EXPECT((uintptr_t)a, (uintptr_t)b);
    EXPECT(cudaMemPoolDestroy(a), cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetDefaultMemPool(&a, 99), cudaErrorInvalidDevice);
}

RULE(pool, current_arguments, REPORT,
     "cudaDeviceGetMemPool and cudaDeviceSetMemPool: no pool, nowhere to tell "
     "it or a device that does not exist: 1")
{
    cudaMemPool_t pool;
    OK(cudaDeviceGetMemPool(&pool, 0));
    OK(cudaDeviceSetMemPool(0, pool));
    EXPECT(cudaDeviceGetMemPool(nullptr, 0), cudaErrorInvalidValue);
    EXPECT(cudaDeviceSetMemPool(0, nullptr), cudaErrorInvalidValue);
    for (int device : {-1, 99}) {
        EXPECT(cudaDeviceGetMemPool(&pool, device), cudaErrorInvalidValue);
        EXPECT(cudaDeviceSetMemPool(device, pool), cudaErrorInvalidValue);
    }
}

RULE(pool, create_arguments, REPORT,
     "cudaMemPoolCreate: null arguments, an unknown type, place or device: 1")
{
    cudaMemPoolProps props = {}, other;
    cudaMemPool_t pool;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    EXPECT(cudaMemPoolCreate(nullptr, &props), cudaErrorInvalidValue);
    EXPECT(cudaMemPoolCreate(&pool, nullptr), cudaErrorInvalidValue);
    other = props, other.allocType = cudaMemAllocationTypeInvalid;
    EXPECT(cudaMemPoolCreate(&pool, &other), cudaErrorInvalidValue);
    other = props, other.location.type = cudaMemLocationTypeInvalid;
    EXPECT(cudaMemPoolCreate(&pool, &other), cudaErrorInvalidValue);
    other = props, other.location.id = 99;
    EXPECT(cudaMemPoolCreate(&pool, &other), cudaErrorInvalidValue);
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemPoolDestroy(pool));
    EXPECT(cudaMemPoolDestroy(nullptr), cudaErrorInvalidValue);
}

RULE(pool, access_arguments, REPORT,
     "cudaMemPoolSetAccess: null pool, unknown place or flags 1; another "
     "device, or taking the own device's access away, 101")
{
    cudaMemPool_t pool;
    cudaMemAccessFlags flags;
    cudaMemAccessDesc good = {}, bad;
    cudaMemLocation nowhere = {};
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    good.location.type = cudaMemLocationTypeDevice;
    good.flags = cudaMemAccessFlagsProtReadWrite;
    OK(cudaMemPoolSetAccess(pool, &good, 1));
    EXPECT(cudaMemPoolSetAccess(nullptr, &good, 1), cudaErrorInvalidValue);
    bad = good, bad.location.type = cudaMemLocationTypeInvalid;
    EXPECT(cudaMemPoolSetAccess(pool, &bad, 1), cudaErrorInvalidValue);
    bad = good, bad.flags = (cudaMemAccessFlags)99;
    EXPECT(cudaMemPoolSetAccess(pool, &bad, 1), cudaErrorInvalidValue);
    bad = good, bad.location.id = 99;
    EXPECT(cudaMemPoolSetAccess(pool, &bad, 1), cudaErrorInvalidDevice);
    bad = good, bad.flags = cudaMemAccessFlagsProtNone;
    EXPECT(cudaMemPoolSetAccess(pool, &bad, 1), cudaErrorInvalidDevice);
    OK(cudaMemPoolGetAccess(&flags, pool, &good.location));
    EXPECT(flags, cudaMemAccessFlagsProtReadWrite);
    EXPECT(cudaMemPoolGetAccess(&flags, nullptr, &good.location),
           cudaErrorInvalidValue);
    EXPECT(cudaMemPoolGetAccess(&flags, pool, &nowhere),
           cudaErrorInvalidValue);
}

RULE(pool, attribute_arguments, REPORT,
     "pool attributes: null pool, unknown attribute, high marks set to "
     "anything but 0: 1")
{
    cudaMemPool_t pool;
    unsigned long long one = 1, zero = 0, value = 99;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    EXPECT(cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold,
                                   &one), cudaErrorInvalidValue);
    EXPECT(cudaMemPoolSetAttribute(pool, (cudaMemPoolAttr)99, &one),
           cudaErrorInvalidValue);
    EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh,
                                   &one), cudaErrorInvalidValue);
    EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one),
           cudaErrorInvalidValue);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    EXPECT(cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrUsedMemHigh,
                                   &value), cudaErrorInvalidValue);
    EXPECT(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)99, &value),
           cudaErrorInvalidValue);
    EXPECT(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, nullptr),
           cudaErrorInvalidValue);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    EXPECT(value, 0);
    EXPECT(cudaMemPoolTrimTo(nullptr, 0), cudaErrorInvalidValue);
}

RULE(pool, free_twice, REPORT,
     "freeing again what cudaFreeAsync freed: 1, before and after the stream "
     "gets there")
{
    gate g;
    void *p, *q;
    OK(cudaMallocAsync(&p, 4096, 0));
    g.keep();
    OK(cudaFreeAsync(p, 0));
    EXPECT(cudaFreeAsync(p, 0), cudaErrorInvalidValue);
    EXPECT(cudaFree(p), cudaErrorInvalidValue);
    g.open();
    OK(finish());
    EXPECT(cudaFreeAsync(p, 0), cudaErrorInvalidValue);
    OK(cudaMallocAsync(&q, 4096, 0));
    OK(cudaFreeAsync(q, 0));
    OK(finish());
}

RULE(pool, free_arguments, REPORT,
     "cudaFreeAsync and cudaMallocAsync: null pointers, foreign memory 1, "
     "more than there is 2")
{
    void *p;
    static char foreign[64];
    EXPECT(cudaFreeAsync(nullptr, 0), cudaErrorInvalidValue);
    EXPECT(cudaFreeAsync(foreign, 0), cudaErrorInvalidValue);
    EXPECT(cudaMallocAsync((void **)nullptr, 64, 0), cudaErrorInvalidValue);
    EXPECT(cudaMallocAsync(&p, SIZE_MAX, 0), cudaErrorMemoryAllocation);
    EXPECT(cudaMallocFromPoolAsync(&p, 64, (cudaMemPool_t) nullptr, 0),
           cudaErrorInvalidValue);
    OK(finish());
}
