/* The device and its kernels as they describe themselves. */
#include <cuda.h>

#include "faults.cuh"

RULE(device, count_and_current, HEADER, "there is a device, and it is current")
{
    int n = 0, d = -1;
    OK(cudaGetDeviceCount(&n));
    EXPECT(n > 0, 1);
    OK(cudaGetDevice(&d));
    EXPECT(d, 0);
}

RULE(device, bad_ordinal, HEADER, "a device that does not exist: 101")
{
    int v;
    cudaDeviceProp p;
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT(cudaSetDevice(1000), cudaErrorInvalidDevice);
    EXPECT(cudaGetDeviceProperties(&p, 1000), cudaErrorInvalidDevice);
    EXPECT(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 1000),
           cudaErrorInvalidDevice);
}

RULE_ENV(device, hidden, HEADER, "CUDA_VISIBLE_DEVICES=",
         "with no visible device the count is 0 and calls fail with 100")
{
    int n = -1;
    void *p;
    EXPECT(cudaGetDeviceCount(&n), cudaErrorNoDevice);
    EXPECT(n, 0);
    EXPECT(cudaMalloc(&p, 64), cudaErrorNoDevice);
}

RULE(device, null_arguments, HEADER, "null outputs: 1")
{
    EXPECT(cudaGetDeviceCount((int *)nullptr), cudaErrorInvalidValue);
    EXPECT(cudaGetDevice((int *)nullptr), cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetAttribute((int *)nullptr, cudaDevAttrWarpSize, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaRuntimeGetVersion((int *)nullptr), cudaErrorInvalidValue);
}

RULE(device, unknown_attribute, HEADER, "an unknown attribute: 1")
{
    int v;
    EXPECT(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0),
           cudaErrorInvalidValue);
}

RULE(device, properties_agree_with_attributes, DERIVED,
     "cudaDeviceProp and cudaDeviceGetAttribute say the same")
{
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
#define SAME(attribute, field)                                         \
    {                                                                  \
        int v = -1;                                                    \
        OK(cudaDeviceGetAttribute(&v, attribute, 0));                  \
        EXPECT(v, p.field);                                            \
    }
    SAME(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock)
    SAME(cudaDevAttrMaxBlockDimX, maxThreadsDim[0])
    SAME(cudaDevAttrMaxBlockDimZ, maxThreadsDim[2])
    SAME(cudaDevAttrMaxGridDimX, maxGridSize[0])
    SAME(cudaDevAttrMaxGridDimY, maxGridSize[1])
    SAME(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock)
    SAME(cudaDevAttrMaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    SAME(cudaDevAttrMaxSharedMemoryPerMultiprocessor,
         sharedMemPerMultiprocessor)
    SAME(cudaDevAttrWarpSize, warpSize)
    SAME(cudaDevAttrMaxRegistersPerBlock, regsPerBlock)
    SAME(cudaDevAttrMultiProcessorCount, multiProcessorCount)
    SAME(cudaDevAttrComputeCapabilityMajor, major)
    SAME(cudaDevAttrComputeCapabilityMinor, minor)
    SAME(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    SAME(cudaDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    SAME(cudaDevAttrManagedMemory, managedMemory)
    SAME(cudaDevAttrCooperativeLaunch, cooperativeLaunch)
    SAME(cudaDevAttrUnifiedAddressing, unifiedAddressing)
    SAME(cudaDevAttrTotalConstantMemory, totalConstMem)
#undef SAME
    size_t free_bytes, total;
    OK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(p.totalGlobalMem, total);
}

RULE(device, direct_managed_access, DERIVED,
     "only a device that shares the host's page tables lets the host reach "
     "managed memory without moving it")
{
    int direct = -1, shared = -1;
    OK(cudaDeviceGetAttribute(
        &direct, cudaDevAttrDirectManagedMemAccessFromHost, 0));
    OK(cudaDeviceGetAttribute(
        &shared, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0));
    EXPECT(direct && !shared, 0);
}

RULE(device, versions, HEADER,
     "the runtime's version is the headers', the driver's at least as new")
{
    int runtime = 0, driver = 0;
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    EXPECT(runtime, CUDART_VERSION);
    EXPECT(driver >= runtime, 1);
}

RULE(device, limits, REPORT, "an unknown limit: 215; a null output: 1")
{
    size_t v = 0;
    EXPECT(cudaDeviceSetLimit((cudaLimit)-1, 1024), cudaErrorUnsupportedLimit);
    EXPECT(cudaDeviceGetLimit(&v, (cudaLimit)-1), cudaErrorUnsupportedLimit);
    EXPECT(cudaDeviceGetLimit((size_t *)nullptr, cudaLimitStackSize),
           cudaErrorInvalidValue);
    OK(cudaDeviceGetLimit(&v, cudaLimitPrintfFifoSize));
    EXPECT(v >= 1 << 20, 1);
}

RULE(device, limits_belong_to_the_context, DERIVED,
     "cudaDeviceReset brings limits back to what they were")
{
    size_t before = 0, set = 0, after = 0;
    OK(cudaDeviceGetLimit(&before, cudaLimitPrintfFifoSize));
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 * before));
    OK(cudaDeviceGetLimit(&set, cudaLimitPrintfFifoSize));
    OK(cudaDeviceReset());
    OK(cudaDeviceGetLimit(&after, cudaLimitPrintfFifoSize));
    EXPECT(set >= 2 * before, 1);
    EXPECT(after, before);
}

RULE(device, limits_are_at_least_what_was_set, REPORT,
     "after cudaDeviceSetLimit cudaDeviceGetLimit tells that much or more")
{
    static const cudaLimit all[] = {cudaLimitStackSize,
                                    cudaLimitPrintfFifoSize,
                                    cudaLimitMallocHeapSize};
    for (cudaLimit limit : all) {
        size_t before = 0, after = 0;
        OK(cudaDeviceGetLimit(&before, limit));
        EXPECT(before > 0, 1);
        OK(cudaDeviceSetLimit(limit, before + 8));
        OK(cudaDeviceGetLimit(&after, limit));
        EXPECT(after >= before + 8, 1);
    }
}

/* Kernels that contain what a limit is about, and spin. */
__global__ void chatter(volatile int *gate, int limit)
{
    for (int i = 0; i < limit && *gate == 0; i++)
        if (*gate < 0) printf("never %d\n", i);
}
__global__ void allocate(volatile int *gate, int limit)
{
    for (int i = 0; i < limit && *gate == 0; i++)
        if (*gate < 0) free(malloc(16));
}
static cudaError_t grow(cudaLimit limit)
{
    size_t v = 0;
    OK(cudaDeviceGetLimit(&v, limit));
    return cudaDeviceSetLimit(limit, v + 4096);
}
#define FIXED_BY(what, limit, kernel, functions)                           \
    RULE(device, what##_under_a_kernel, REPORT,                            \
         #limit " cannot change while a kernel that contains " functions   \
         " runs: 1")                                                       \
    {                                                                      \
        gate g;                                                            \
        kernel<<<1, 1>>>(g.device, 1 << 24);                               \
        EXPECT(grow(limit), cudaErrorInvalidValue);                        \
        g.open();                                                          \
        OK(finish());                                                      \
    }                                                                      \
    RULE(device, what##_after_a_kernel, HEADER,                            \
         "nor once one was launched, until cudaDeviceReset")               \
    {                                                                      \
        gate g;                                                            \
        g.open();                                                          \
        kernel<<<1, 1>>>(g.device, 1);                                     \
        OK(finish());                                                      \
        EXPECT(grow(limit), cudaErrorInvalidValue);                        \
        OK(cudaDeviceReset());                                             \
        OK(grow(limit));                                                   \
    }                                                                      \
    RULE(device, what##_beside_other_kernels, DERIVED,                     \
         "other kernels do not fix " #limit)                               \
    {                                                                      \
        nothing<<<1, 1>>>();                                               \
        OK(finish());                                                      \
        OK(grow(limit));                                                   \
    }
FIXED_BY(print_buffer, cudaLimitPrintfFifoSize, chatter, "printf")
FIXED_BY(heap, cudaLimitMallocHeapSize, allocate, "malloc or free")

__global__ void count_lines(int n)
{
    for (int i = 0; i < n; i++) printf("line %06d of many\n", i);
}
static const char *lines_left(size_t buffer, int n)
{
    if (buffer) OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, buffer));
    text_begin(1);
    count_lines<<<1, 1>>>(n);
    cudaError_t error = finish();
    const char *text = text_end();
    OK(error);
    return text;
}
RULE(device, print_buffer_keeps_the_newest, HEADER,
     "what the printf buffer cannot hold is the oldest")
{
    const char *text = lines_left(16 << 10, 50000);
    EXPECT(text_count(text, "line 049999 of many\n"), 1);
    EXPECT(text_count(text, "line 000000 of many\n"), 0);
}
RULE(device, print_buffer_of_another_size, HEADER,
     "a larger cudaLimitPrintfFifoSize holds more")
{
    EXPECT(strlen(lines_left(8 << 20, 100000)),
           100000 * strlen("line 000000 of many\n"));
}

/* How many pieces malloc gives before it says no. */
__global__ void exhaust(size_t piece, int most, int *count)
{
    int n = 0;
    while (n < most && malloc(piece)) n++;
    *count = n;
}
static int pieces(size_t heap, size_t piece, int most)
{
    int *count = device_array<int>(1);
    if (heap) OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap));
    exhaust<<<1, 1>>>(piece, most, count);
    OK(finish());
    return read_int(count);
}
RULE(device, heap_has_an_end, HEADER,
     "malloc in a kernel returns null when the heap is full, and no more")
{
    int n = pieces(0, 64 << 10, 1 << 14);
    EXPECT(n >= 64 && n < 1 << 14, 1);
    OK(cudaGetLastError());
}
RULE(device, heap_of_another_size, HEADER,
     "cudaLimitMallocHeapSize makes room for as much")
{
    EXPECT(pieces(64 << 20, 64 << 10, 512), 512);
}
RULE(device, heap_larger_than_memory, OPEN,
     "a heap that the device's memory cannot hold: 2")
{
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 50),
           cudaErrorMemoryAllocation);
}

__global__ void keep_in_heap(int **slot)
{
    *slot = (int *)malloc(sizeof(int));
    **slot = 77;
}
__global__ void take_from_heap(int **slot, int *out)
{
    *out = **slot;
    free(*slot);
}
RULE(device, heap_outlives_kernels, HEADER,
     "what one kernel allocated another one may use and free")
{
    int **slot = device_array<int *>(1), *out = device_array<int>(1);
    keep_in_heap<<<1, 1>>>(slot);
    take_from_heap<<<1, 1>>>(slot, out);
    OK(finish());
    EXPECT(read_int(out), 77);
}
__global__ void give_away(void **slot) { *slot = malloc(64); }
RULE(device, heap_is_not_the_runtimes, HEADER,
     "cudaFree of memory that malloc in a kernel gave: 1")
{
    void **slot = device_array<void *>(1), *p = nullptr;
    give_away<<<1, 1>>>(slot);
    OK(finish());
    OK(cudaMemcpy(&p, slot, sizeof p, cudaMemcpyDeviceToHost));
    EXPECT(cudaFree(p), cudaErrorInvalidValue);
    OK(finish());
}

RULE(device, stack_too_large, DERIVED,
     "a stack limit above the local memory of a thread, 512 KiB: 1")
{
    EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, (512 << 10) + 1),
           cudaErrorInvalidValue);
}
RULE(device, stacks_beyond_memory, REPORT,
     "a stack limit for which the memory does not hold every resident "
     "thread's: 2")
{
    int processors = 0, threads = 0;
    size_t available, total, stack = 511 << 10;
    OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                              0));
    OK(cudaDeviceGetAttribute(&threads,
                              cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    OK(cudaMemGetInfo(&available, &total));
    if (stack * processors * threads < total) rule_skip("it holds them");
    EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, stack),
           cudaErrorMemoryAllocation);
}

RULE(device, stack_limit, HEADER,
     "cudaLimitStackSize gives recursion the room it asks for")
{
    int *p = device_array<int>(1);
    OK(cudaMemset(p, 0, sizeof(int)));
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 200 << 10));
    recurse<<<1, 1>>>(500, p);
    OK(finish());
}

RULE(device, no_peers, DERIVED, "one device has no peers to enable")
{
    int can = -1, n = 0;
    OK(cudaGetDeviceCount(&n));
    if (n != 1) rule_skip("more than one device");
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(can, 0);
}

RULE(device, bus_id_too_short, REPORT,
     "a buffer too short for the bus id is filled as far as it goes: 1")
{
    char whole[64] = {}, half[64];
    OK(cudaDeviceGetPCIBusId(whole, sizeof whole, 0));
    int length = (int)strlen(whole);
    memset(half, 1, sizeof half);
    EXPECT(cudaDeviceGetPCIBusId(half, length / 2, 0), cudaErrorInvalidValue);
    EXPECT(half[length / 2 - 1], 0);
    EXPECT(half[length / 2], 1);
    EXPECT(cudaDeviceGetPCIBusId(half, 0, 0), cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetPCIBusId((char *)nullptr, 64, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetPCIBusId(whole, sizeof whole, 99),
           cudaErrorInvalidDevice);
}

RULE(device, bus_id_names_the_device, HEADER,
     "the device is found again by its bus id; nonsense is refused")
{
    char id[64] = {};
    int found = -1;
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    OK(cudaDeviceGetByPCIBusId(&found, id));
    EXPECT(found, 0);
    EXPECT(cudaDeviceGetByPCIBusId(&found, "nonsense"),
           cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetByPCIBusId((int *)nullptr, id),
           cudaErrorInvalidValue);
}

RULE(device, cache_preferences, REPORT,
     "a cache preference is remembered, unknown ones are refused: 1; shared "
     "memory banks have four bytes whatever is asked for")
{
    cudaFuncCache cache = cudaFuncCachePreferL1;
    OK(cudaDeviceGetCacheConfig(&cache));
    EXPECT(cache, cudaFuncCachePreferNone);
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    OK(cudaDeviceGetCacheConfig(&cache));
    EXPECT(cache, cudaFuncCachePreferShared);
    EXPECT(cudaDeviceSetCacheConfig((cudaFuncCache)-1),
           cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetCacheConfig((cudaFuncCache *)nullptr),
           cudaErrorInvalidValue);
    EXPECT(cudaFuncSetCacheConfig((const void *)nullptr, cache),
           cudaErrorInvalidDeviceFunction);
    OK(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferL1));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444
    cudaSharedMemConfig banks;
    OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    OK(cudaDeviceGetSharedMemConfig(&banks));
    EXPECT(banks, cudaSharedMemBankSizeFourByte);
#pragma nv_diag_default 1444
#pragma GCC diagnostic pop
}

/* ---- kernels ----------------------------------------------------------------------------- */

__global__ void with_shared(int *out)
{
    __shared__ int buffer[200];
    buffer[threadIdx.x % 200] = (int)threadIdx.x;
    __syncthreads();
    *out = buffer[0];
}

__constant__ char constants[128];
RULE(function, constant_bytes, REPORT,
     "cudaFuncGetAttributes tells the module's constant memory")
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, nothing));
    EXPECT(a.constSizeBytes, sizeof constants);
}

RULE(function, attributes, HEADER,
     "cudaFuncGetAttributes tells shared memory, threads and registers")
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, with_shared));
    EXPECT(a.sharedSizeBytes, 800);
    EXPECT(a.maxThreadsPerBlock, 1024);
    EXPECT(a.numRegs > 0 && a.numRegs < 64, 1);
    EXPECT(a.maxDynamicSharedSizeBytes, 48 * 1024 - 800);
}

RULE(function, attributes_arguments, REPORT,
     "null attributes 1, a null or unknown kernel 98")
{
    cudaFuncAttributes a;
    static int not_a_kernel;
    EXPECT(cudaFuncGetAttributes((cudaFuncAttributes *)nullptr,
                                 (const void *)nothing),
           cudaErrorInvalidValue);
    EXPECT(cudaFuncGetAttributes(&a, (const void *)nullptr),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaFuncGetAttributes(&a, (const void *)&not_a_kernel),
           cudaErrorInvalidDeviceFunction);
}

RULE(function, name, HEADER, "cudaFuncGetName gives the mangled name")
{
    const char *name = nullptr;
    OK(cudaFuncGetName(&name, (const void *)with_shared));
    EXPECT_TEXT(name, "_Z11with_sharedPi");
}

RULE(function, parameters, HEADER,
     "cudaFuncGetParamInfo gives offset and size of each parameter")
{
    size_t offset = 99, size = 99;
    OK(cudaFuncGetParamInfo((const void *)chatter, 1, &offset, &size));
    EXPECT(offset, 8);
    EXPECT(size, 4);
    EXPECT(cudaFuncGetParamInfo((const void *)chatter, 2, &offset, &size),
           cudaErrorInvalidValue);
}

RULE(function, occupancy, HEADER,
     "occupancy falls with threads and shared memory, never above the limits")
{
    int small = 0, large = 0, none = 0, threads = 0, blocks = 0;
    OK(cudaDeviceGetAttribute(&threads,
                              cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    OK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMaxBlocksPerMultiprocessor,
                              0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&small, nothing, 32, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&large, nothing, 1024,
                                                     0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, nothing, 32,
                                                     40 << 10));
    EXPECT(small <= blocks && small > 0, 1);
    EXPECT(large, threads / 1024);
    EXPECT(none < small && none > 0, 1);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, nothing, 0, 0),
           cudaErrorInvalidValue);
    int size = 0, grid = 0;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, nothing));
    EXPECT(size > 0 && grid > 0, 1);
}

/* ---- driver entry points ------------------------------------------------------------------- */

RULE(driver, write_value, HEADER,
     "cuStreamWriteValue32 writes in stream order")
{
    typedef CUresult (*write_fn)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    void *fn = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &fn, 12000,
                                        cudaEnableDefault, &found));
    EXPECT(found, cudaDriverEntryPointSuccess);
    if (!fn) return;
    void *h = nullptr;
    gate g;
    OK(cudaHostAlloc(&h, sizeof(int), cudaHostAllocMapped));
    volatile int *word = (volatile int *)h;
    *word = 0;
    g.keep();
    EXPECT(((write_fn)fn)(0, (CUdeviceptr)h, 77, 0), CUDA_SUCCESS);
    EXPECT(*word, 0);
    g.open();
    OK(finish());
    EXPECT(*word, 77);
}

RULE(driver, wait_value, HEADER,
     "cuStreamWaitValue32 holds the stream until the value is there")
{
    typedef CUresult (*wait_fn)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    void *fn = nullptr;
    OK(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &fn, 12000,
                                        cudaEnableDefault, nullptr));
    if (!fn) return;
    void *h = nullptr;
    OK(cudaHostAlloc(&h, sizeof(int), cudaHostAllocMapped));
    volatile int *word = (volatile int *)h;
    *word = 0;
    EXPECT(((wait_fn)fn)(0, (CUdeviceptr)h, 5, CU_STREAM_WAIT_VALUE_GEQ),
           CUDA_SUCCESS);
    nothing<<<1, 1>>>();
    usleep(20000);
    EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
    *word = 5;
    OK(finish());
}

RULE(driver, unknown_function, HEADER,
     "an unknown driver function is told as such, and is no error")
{
    void *fn = (void *)1;
    cudaDriverEntryPointQueryResult found;
    text_begin(2);
    cudaError_t e = cudaGetDriverEntryPointByVersion(
        "cuNoSuchFunction", &fn, 12000, cudaEnableDefault, &found);
    text_end();
    OK(e);
    EXPECT(found, cudaDriverEntryPointSymbolNotFound);
    EXPECT((uintptr_t)fn, 0);
}
