/* What the device is: properties, attributes, limits, versions, peers. */
#include "cudart/cudart.h"

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/limits.h"

static int has_time_limit(void) { return setting_flag("SIMGPU_TIME_LIMIT_MS"); }

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
    struct device_config config = {0};
    device_config_from_env(&config);
    return config.memory_bytes;
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
    if (error == cudaSuccess) snprintf(out, (size_t)size, "%s", bus_id);
    return error;
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

/* What the device was opened with; values set by the program are checked and
 * remembered, and rounded as CUDA documents, but sizes stay those of
 * SIMGPU_PRINT_BUFFER and SIMGPU_HEAP, which are fixed when the device
 * opens. */
static size_t limits[] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 0,
};
enum { N_LIMITS = sizeof limits / sizeof *limits };

uint32_t stack_limit(void) { return (uint32_t)limits[cudaLimitStackSize]; }

/* Nested launches are not simulated, so neither are their limits. */
static bool limit_known(enum cudaLimit limit)
{
    return (unsigned)limit < N_LIMITS && limit != cudaLimitDevRuntimeSyncDepth;
}

API(CALL_CONTEXT, cudaDeviceGetLimit, (size_t *out, enum cudaLimit limit),
    (out, limit))
{
    if (!limit_known(limit)) return cudaErrorUnsupportedLimit;
    if (!out) return cudaErrorInvalidValue;
    *out = limits[limit];
    return cudaSuccess;
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

/* The printf buffer and the heap cannot change under a kernel that may use
 * them. */
static cudaError_t check_limit(enum cudaLimit limit, size_t value)
{
    switch (limit) {
    case cudaLimitPrintfFifoSize:
    case cudaLimitMallocHeapSize:
        return idle() ? cudaSuccess : cudaErrorInvalidValue;
    case cudaLimitStackSize:
        return value > 512 << 10 ? cudaErrorInvalidValue : cudaSuccess;
    case cudaLimitMaxL2FetchGranularity:
        return value > 128 ? cudaErrorInvalidValue : cudaSuccess;
    default:
        return cudaSuccess;
    }
}

API(CALL_CONTEXT, cudaDeviceSetLimit, (enum cudaLimit limit, size_t value),
    (limit, value))
{
    if (!limit_known(limit)) return cudaErrorUnsupportedLimit;
    cudaError_t error = check_limit(limit, value);
    if (error == cudaSuccess) limits[limit] = value;
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
