/* Driver calls that the runtime has no form of its own for: writes of and
 * waits for values in stream order. Programs get them from
 * cudaGetDriverEntryPointByVersion; they are not exported.
 */
#include "cudart/driver.h"

#include <cuda.h>
#include <string.h>

#include "cudart/cudart.h"

/* A driver call is bracketed like a runtime call, but keeps no last error. */
static CUresult finish(struct call *call, cudaError_t error)
{
    if (call && call->tools) tools_leave(call, error);
    return (CUresult)error;
}

static cudaError_t value_target(uint64_t address, unsigned bytes)
{
    if (!address || address % bytes) return cudaErrorInvalidValue;
    return memory_covers(context()->memory, address, bytes)
               ? cudaSuccess : cudaErrorInvalidValue;
}

static CUresult write_value(CUstream stream, CUdeviceptr address,
                            uint64_t value, unsigned bytes, unsigned flags,
                            bool per_thread)
{
    struct call call = {.name = "cuStreamWriteValue", .flags = CALL_CONTEXT};
    struct rt_stream *s;
    cudaError_t error = call_enter(&call);
    if (error == cudaSuccess) error = stream_get(stream, per_thread, &s);
    if (error != cudaSuccess) return finish(&call, error);
    if (flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
        return finish(&call, cudaErrorInvalidValue);
    error = value_target(address, bytes);
    if (error != cudaSuccess) return finish(&call, error);
    struct work w = {.kind = WORK_WRITE_VALUE,
                     .value = {address, value, bytes, 0}};
    return finish(&call, submit(s, &w));
}

static CUresult wait_value(CUstream stream, CUdeviceptr address,
                           uint64_t value, unsigned bytes, unsigned flags,
                           bool per_thread)
{
    struct call call = {.name = "cuStreamWaitValue", .flags = CALL_CONTEXT};
    struct rt_stream *s;
    cudaError_t error = call_enter(&call);
    if (error == cudaSuccess) error = stream_get(stream, per_thread, &s);
    if (error != cudaSuccess) return finish(&call, error);
    if (flags & ~3u) /* no flush of writes */
        return finish(&call, cudaErrorInvalidValue);
    error = value_target(address, bytes);
    if (error != cudaSuccess) return finish(&call, error);
    struct work w = {.kind = WORK_WAIT_VALUE,
                     .value = {address, value, bytes, flags}};
    return finish(&call, submit(s, &w));
}

#define VALUE_CALLS(suffix, per_thread)                                      \
    static CUresult write32##suffix(CUstream s, CUdeviceptr a,               \
                                    cuuint32_t v, unsigned f)                \
    { return write_value(s, a, v, 4, f, per_thread); }                       \
    static CUresult write64##suffix(CUstream s, CUdeviceptr a,               \
                                    cuuint64_t v, unsigned f)                \
    { return write_value(s, a, v, 8, f, per_thread); }                       \
    static CUresult wait32##suffix(CUstream s, CUdeviceptr a, cuuint32_t v,  \
                                   unsigned f)                               \
    { return wait_value(s, a, v, 4, f, per_thread); }                        \
    static CUresult wait64##suffix(CUstream s, CUdeviceptr a, cuuint64_t v,  \
                                   unsigned f)                               \
    { return wait_value(s, a, v, 8, f, per_thread); }
VALUE_CALLS(, false)
VALUE_CALLS(_ptsz, true)
#undef VALUE_CALLS

static CUresult get_error_name(CUresult error, const char **out)
{
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}

static CUresult get_error_string(CUresult error, const char **out)
{
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

static CUresult driver_version(int *out)
{
    return finish(NULL, cudaDriverGetVersion(out));
}

static CUresult init(unsigned flags)
{
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return identity()->devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

typedef void (*entry_fn)(void);
static const struct { const char *name; entry_fn legacy, per_thread; }
    entries[] = {
#define ENTRY(name, fn) {name, (entry_fn)fn, (entry_fn)fn##_ptsz}
        ENTRY("cuStreamWriteValue32", write32),
        ENTRY("cuStreamWriteValue64", write64),
        ENTRY("cuStreamWaitValue32", wait32),
        ENTRY("cuStreamWaitValue64", wait64),
#undef ENTRY
#define ENTRY(name, fn) {name, (entry_fn)fn, (entry_fn)fn}
        ENTRY("cuGetErrorName", get_error_name),
        ENTRY("cuGetErrorString", get_error_string),
        ENTRY("cuDriverGetVersion", driver_version),
        ENTRY("cuInit", init),
#undef ENTRY
};

void *driver_entry(const char *name, bool per_thread)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!strcmp(entries[i].name, name))
            return (void *)(per_thread ? entries[i].per_thread
                                       : entries[i].legacy);
    return NULL;
}
