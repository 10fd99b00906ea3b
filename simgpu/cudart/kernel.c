/* What can be asked about a kernel and set on it, and how many of its blocks
 * a multiprocessor holds. */
#include "cudart/cudart.h"

#include <string.h>

#include "cudart/limits.h"

static unsigned round_up(unsigned n, unsigned unit)
{
    return (n + unit - 1) / unit * unit;
}

static unsigned registers(const struct kernel *k)
{
    unsigned r = k->program->regs_per_thread;
    if (r < 4) r = 4;
    return r > 255 ? 255 : r;
}

unsigned kernel_max_threads(const struct kernel *k)
{
    unsigned each = round_up(registers(k), REGISTER_UNIT);
    unsigned fit = REGISTERS_PER_BLOCK / (each * WARP_SIZE) * WARP_SIZE;
    unsigned bound = k->program->maxntid ? k->program->maxntid : MAX_THREADS;
    unsigned n = fit < bound ? fit : bound;
    return n < MAX_THREADS ? n : MAX_THREADS;
}

/* Without cudaFuncSetAttribute static and dynamic together get 48 KiB. */
int kernel_dynamic_limit(const struct kernel *k)
{
    if (k->max_dynamic_shared >= 0) return k->max_dynamic_shared;
    int rest = SHARED_PER_BLOCK - (int)k->program->shared_static;
    return rest > 0 ? rest : 0;
}

int occupancy(const struct kernel *k, unsigned threads, size_t dynamic_shared)
{
    if (!threads || threads > kernel_max_threads(k)) return 0;
    unsigned warps = round_up(threads, WARP_SIZE) / WARP_SIZE;
    unsigned regs = round_up(registers(k), REGISTER_UNIT) * WARP_SIZE * warps;
    size_t shared = k->program->shared_static + dynamic_shared;
    if (shared > SHARED_PER_BLOCK_OPTIN) return 0;
    unsigned n = BLOCKS_PER_SM;
    unsigned by_warps = THREADS_PER_SM / WARP_SIZE / warps;
    unsigned by_regs = REGISTERS_PER_SM / regs;
    unsigned by_shared =
        (unsigned)(SHARED_PER_SM / (shared + SHARED_RESERVED));
    if (by_warps < n) n = by_warps;
    if (by_regs < n) n = by_regs;
    if (by_shared < n) n = by_shared;
    return (int)n;
}

static cudaError_t use(const void *function, struct kernel **out)
{
    *out = kernel_find(function);
    return *out ? kernel_load(*out) : cudaErrorInvalidDeviceFunction;
}

/* What the module's __constant__ variables take, used by k or not. */
static size_t constant_bytes(const struct ptx_module *m)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < m->n_vars; i++) {
        const struct ptx_var *v = &m->vars[i];
        if (v->space != PTX_SPACE_CONST || v->is_extern) continue;
        size_t align = v->align ? v->align : 1;
        bytes = (bytes + align - 1) / align * align + v->size;
    }
    return bytes;
}

/* ---- attributes ---------------------------------------------------------------- */

API(CALL_CONTEXT, cudaFuncGetAttributes,
    (struct cudaFuncAttributes *out, const void *function), (out, function))
{
    struct kernel *k;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = use(function, &k);
    if (error != cudaSuccess) return error;
    const struct program *p = k->program;
    memset(out, 0, sizeof *out);
    out->sharedSizeBytes = p->shared_static;
    out->constSizeBytes = constant_bytes(p->module);
    out->localSizeBytes = p->local_bytes;
    out->maxThreadsPerBlock = (int)kernel_max_threads(k);
    out->numRegs = (int)registers(k);
    out->ptxVersion = (int)p->module->sm;
    out->binaryVersion = identity()->major * 10 + identity()->minor;
    out->maxDynamicSharedSizeBytes = kernel_dynamic_limit(k);
    out->preferredShmemCarveout = k->carveout;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaFuncSetAttribute,
    (const void *function, enum cudaFuncAttribute attribute, int value),
    (function, attribute, value))
{
    struct kernel *k;
    cudaError_t error = use(function, &k);
    if (error != cudaSuccess) return error;
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || value > SHARED_PER_BLOCK_OPTIN -
                                     (int)k->program->shared_static)
            return cudaErrorInvalidValue;
        k->max_dynamic_shared = value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        k->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

API(CALL_CONTEXT, cudaKernelSetAttributeForDevice,
    (cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value,
     int device), (kernel, attribute, value, device))
{
    if (device != 0) return cudaErrorInvalidDevice;
    return body_cudaFuncSetAttribute(kernel, attribute, value);
}

API(CALL_CONTEXT, cudaFuncGetName, (const char **name, const void *function),
    (name, function))
{
    struct kernel *k = kernel_find(function);
    if (!name) return cudaErrorInvalidValue;
    if (!k) return cudaErrorInvalidDeviceFunction;
    *name = k->name;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaFuncGetParamInfo,
    (const void *function, size_t index, size_t *offset, size_t *size),
    (function, index, offset, size))
{
    struct kernel *k;
    cudaError_t error = use(function, &k);
    if (error != cudaSuccess) return error;
    if (!offset || index >= k->program->n_params) return cudaErrorInvalidValue;
    *offset = k->program->params[index].offset;
    if (size) *size = k->program->params[index].size;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGetFuncBySymbol,
    (cudaFunction_t *out, const void *function), (out, function))
{
    struct kernel *k = kernel_find(function);
    if (!out) return cudaErrorInvalidValue;
    if (!k) return cudaErrorInvalidDeviceFunction;
    *out = (cudaFunction_t)k;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGetKernel, (cudaKernel_t *out, const void *function),
    (out, function))
{
    struct kernel *k = kernel_find(function);
    if (!out) return cudaErrorInvalidValue;
    if (!k) return cudaErrorInvalidDeviceFunction;
    *out = (cudaKernel_t)k;
    return cudaSuccess;
}

/* Caches are not simulated: preferences are checked and have no effect. */
static cudaError_t set_cache(enum cudaFuncCache config)
{
    return (int)config < 0 || config > cudaFuncCachePreferEqual
               ? cudaErrorInvalidValue : cudaSuccess;
}

API(CALL_CONTEXT, cudaFuncSetCacheConfig,
    (const void *function, enum cudaFuncCache config), (function, config))
{
    if (!kernel_find(function)) return cudaErrorInvalidDeviceFunction;
    return set_cache(config);
}

API(CALL_CONTEXT, cudaDeviceSetCacheConfig, (enum cudaFuncCache config),
    (config))
{
    cudaError_t error = set_cache(config);
    if (error == cudaSuccess) context()->cache = config;
    return error;
}

API(CALL_CONTEXT, cudaDeviceGetCacheConfig, (enum cudaFuncCache *config),
    (config))
{
    if (!config) return cudaErrorInvalidValue;
    *config = context()->cache;
    return cudaSuccess;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
API(CALL_CONTEXT, cudaFuncSetSharedMemConfig,
    (const void *function, enum cudaSharedMemConfig config),
    (function, config))
{
    if (!kernel_find(function)) return cudaErrorInvalidDeviceFunction;
    return (int)config < 0 || config > cudaSharedMemBankSizeEightByte
               ? cudaErrorInvalidValue : cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceSetSharedMemConfig,
    (enum cudaSharedMemConfig config), (config))
{
    if ((int)config < 0 || config > cudaSharedMemBankSizeEightByte)
        return cudaErrorInvalidValue;
    return cudaSuccess; /* since compute capability 5.0 banks are fixed */
}

API(CALL_CONTEXT, cudaDeviceGetSharedMemConfig,
    (enum cudaSharedMemConfig *config), (config))
{
    if (!config) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

/* ---- occupancy ------------------------------------------------------------------- */

static cudaError_t max_blocks(int *out, const void *function, int threads,
                              size_t shared, unsigned flags)
{
    struct kernel *k;
    if (!out || threads <= 0 ||
        flags & ~(unsigned)cudaOccupancyDisableCachingOverride)
        return cudaErrorInvalidValue;
    cudaError_t error = use(function, &k);
    if (error == cudaSuccess) *out = occupancy(k, (unsigned)threads, shared);
    return error;
}

API(CALL_CONTEXT, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *out, const void *function, int threads, size_t shared),
    (out, function, threads, shared))
{
    return max_blocks(out, function, threads, shared, 0);
}

API(CALL_CONTEXT, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (int *out, const void *function, int threads, size_t shared,
     unsigned flags), (out, function, threads, shared, flags))
{
    return max_blocks(out, function, threads, shared, flags);
}

API(CALL_CONTEXT, cudaOccupancyAvailableDynamicSMemPerBlock,
    (size_t *out, const void *function, int blocks, int threads),
    (out, function, blocks, threads))
{
    struct kernel *k;
    if (!out || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    cudaError_t error = use(function, &k);
    if (error != cudaSuccess) return error;
    if (blocks > occupancy(k, (unsigned)threads, 0))
        return cudaErrorInvalidValue;
    long room = SHARED_PER_SM / blocks - SHARED_RESERVED -
                (long)k->program->shared_static;
    long most = SHARED_PER_BLOCK_OPTIN - (long)k->program->shared_static;
    *out = (size_t)(room < 0 ? 0 : room < most ? room : most);
    return cudaSuccess;
}
