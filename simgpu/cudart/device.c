/* What the device is: properties, attributes, limits, versions, peers. */
#include "cudart/cudart.h"

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/limits.h"

static int has_time_limit(void) { return settings().time_limit_ns != 0; }

static cudaError_t check_device(int device)
{
    if (!identity()->devices) return cudaErrorNoDevice;
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

API(CALL_PLAIN, cudaDeviceGetAttribute,
    (int *out, enum cudaDeviceAttr attribute, int device),
    (out, attribute, device))
{
    const struct device_identity *who = identity();
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = check_device(device);
    if (error != cudaSuccess) return error;
    switch ((int)attribute) {
#define ATTRIBUTE(id, value, field) case id: *out = value; return cudaSuccess;
#define ATTRIBUTE_ONLY(id, value) case id: *out = value; return cudaSuccess;
#include "cudart/attributes.def"
#undef ATTRIBUTE
#undef ATTRIBUTE_ONLY
    default: return cudaErrorInvalidValue;
    }
}

/* How much memory the device has can be asked before there is a device. */
static uint64_t total_memory(void)
{
    struct context *c = context();
    uint64_t unused, total;
    if (c) {
        memory_usage(c->memory, &unused, &total);
        return total;
    }
    return settings().memory_bytes;
}

API(CALL_PLAIN, cudaGetDeviceProperties,
    (struct cudaDeviceProp *out, int device), (out, device))
{
    const struct device_identity *who = identity();
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = check_device(device);
    if (error != cudaSuccess) return error;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "simgpu (software device)");
    memcpy(out->uuid.bytes, "simgpu-device-00", sizeof out->uuid.bytes);
    out->totalGlobalMem = total_memory();
#define ATTRIBUTE(id, value, field) out->field = value;
#define ATTRIBUTE_ONLY(id, value)
#include "cudart/attributes.def"
#undef ATTRIBUTE
#undef ATTRIBUTE_ONLY
    return cudaSuccess;
}

API(CALL_PLAIN, cudaChooseDevice,
    (int *out, const struct cudaDeviceProp *wanted), (out, wanted))
{
    if (!out || !wanted) return cudaErrorInvalidValue;
    *out = 0;
    return check_device(0);
}

/* ---- bus and peers ---------------------------------------------------------------- */

static const char bus_id[] = "0000:01:00.0";

API(CALL_PLAIN, cudaDeviceGetPCIBusId, (char *out, int size, int device),
    (out, size, device))
{
    if (!out || size <= 0) return cudaErrorInvalidValue;
    cudaError_t error = check_device(device);
    if (error != cudaSuccess) return error;
    return snprintf(out, (size_t)size, "%s", bus_id) < size
               ? cudaSuccess : cudaErrorInvalidValue;
}

API(CALL_PLAIN, cudaDeviceGetByPCIBusId, (int *out, const char *id),
    (out, id))
{
    unsigned domain = 0, bus, slot, function = 0;
    if (!out || !id) return cudaErrorInvalidValue;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
            return cudaErrorInvalidValue;
    }
    if (domain || bus != 1 || slot || function) return cudaErrorInvalidDevice;
    *out = 0;
    return check_device(0);
}

/* One device has no peers. */
API(CALL_PLAIN, cudaDeviceCanAccessPeer, (int *out, int device, int peer),
    (out, device, peer))
{
    if (!out) return cudaErrorInvalidValue;
    if (check_device(device) != cudaSuccess ||
        check_device(peer) != cudaSuccess)
        return cudaErrorInvalidDevice;
    *out = 0;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaDeviceEnablePeerAccess, (int peer, unsigned flags),
    (peer, flags))
{
    if (flags) return cudaErrorInvalidValue;
    (void)peer;
    return cudaErrorInvalidDevice;
}

API(CALL_CONTEXT, cudaDeviceDisablePeerAccess, (int peer), (peer))
{
    return check_device(peer) == cudaSuccess ? cudaErrorPeerAccessNotEnabled
                                             : cudaErrorInvalidDevice;
}

API(CALL_PLAIN, cudaDeviceGetP2PAttribute,
    (int *out, enum cudaDeviceP2PAttr attribute, int src, int dst),
    (out, attribute, src, dst))
{
    (void)src, (void)dst; /* must differ, and there is only one device */
    if (!out || attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
        return cudaErrorInvalidValue;
    return cudaErrorInvalidDevice;
}

/* ---- limits ------------------------------------------------------------------------ */

/* They belong to the context. Hints and limits of what is not simulated are
 * only remembered. */
void limits_start(struct context *c)
{
    c->limits[cudaLimitStackSize] = 1024;
    c->limits[cudaLimitPrintfFifoSize] = c->config.print_buffer_bytes;
    c->limits[cudaLimitMallocHeapSize] = c->config.heap_bytes;
    c->limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
    c->limits[cudaLimitMaxL2FetchGranularity] = 64;
}

/* The depth exists below compute capability 9.0 only (CUDA 13.0 header), and
 * nested launches are not simulated. */
static bool limit_known(enum cudaLimit limit)
{
    return (unsigned)limit < N_LIMITS && limit != cudaLimitDevRuntimeSyncDepth;
}

API(CALL_CONTEXT, cudaDeviceGetLimit, (size_t *out, enum cudaLimit limit),
    (out, limit))
{
    if (!limit_known(limit)) return cudaErrorUnsupportedLimit;
    if (!out) return cudaErrorInvalidValue;
    *out = context()->limits[limit];
    return cudaSuccess;
}

/* Drivers set stacks aside for every thread that can be resident, so a limit
 * may be too large for the device's memory (nvptx-tools #8). */
static cudaError_t check_stack(size_t bytes)
{
    if (bytes > LOCAL_PER_THREAD) return cudaErrorInvalidValue;
    uint64_t threads = (uint64_t)identity()->multiprocessors * THREADS_PER_SM;
    return bytes * threads > total_memory() ? cudaErrorMemoryAllocation
                                            : cudaSuccess;
}

static void look_if_busy(void *stream, void *busy)
{
    struct rt_stream *s = stream;
    if (stream_query(s->core) == STATUS_NOT_READY) *(bool *)busy = true;
}

/* Is nothing queued or running? Blocking streams answer through the legacy
 * stream. */
static bool idle(void)
{
    bool busy = false;
    look_if_busy(context()->legacy, &busy);
    handle_each(HANDLE_STREAM, look_if_busy, &busy);
    return !busy;
}

/* The header binds the printf buffer and the heap to kernels that use them;
 * dbcsr #776 (H100) saw 1 where the printf of every kernel was masked out, so
 * any running kernel is taken to be in the way. */
static cudaError_t resize(enum cudaLimit limit, size_t value)
{
    struct device *d = context()->device;
    if (!idle()) return cudaErrorInvalidValue;
    return from_status(limit == cudaLimitPrintfFifoSize
                           ? device_set_print_buffer(d, value)
                           : device_set_heap(d, value));
}

API(CALL_CONTEXT, cudaDeviceSetLimit, (enum cudaLimit limit, size_t value),
    (limit, value))
{
    struct context *c = context();
    cudaError_t error = cudaSuccess;
    if (!limit_known(limit)) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitPrintfFifoSize || limit == cudaLimitMallocHeapSize)
        error = resize(limit, value);
    else if (limit == cudaLimitStackSize)
        error = check_stack(value);
    else if (limit == cudaLimitMaxL2FetchGranularity && value > 128)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) c->limits[limit] = value;
    return error;
}

/* ---- versions, profiler --------------------------------------------------------------- */

API(CALL_PLAIN, cudaRuntimeGetVersion, (int *out), (out))
{
    if (!out) return cudaErrorInvalidValue;
    *out = CUDART_VERSION;
    return cudaSuccess;
}

API(CALL_PLAIN, cudaDriverGetVersion, (int *out), (out))
{
    if (!out) return cudaErrorInvalidValue;
    *out = CUDART_VERSION;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaProfilerStart, (void), ()) { return cudaSuccess; }
API(CALL_CONTEXT, cudaProfilerStop, (void), ()) { return cudaSuccess; }

API(CALL_PLAIN, cudaDeviceFlushGPUDirectRDMAWrites,
    (enum cudaFlushGPUDirectRDMAWritesTarget target,
     enum cudaFlushGPUDirectRDMAWritesScope scope), (target, scope))
{
    (void)target, (void)scope;
    return cudaErrorNotSupported;
}

API(CALL_PLAIN, cudaThreadExchangeStreamCaptureMode,
    (enum cudaStreamCaptureMode *mode), (mode))
{
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    enum cudaStreamCaptureMode before = thread_state.capture_mode;
    thread_state.capture_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(
    int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
