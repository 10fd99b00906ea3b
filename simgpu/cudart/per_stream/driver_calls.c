/* Driver functions by name. */
#include "cudart/driver.h"
#include "cudart/per_stream/per_stream.h"

static cudaError_t look_up(const char *name, void **out, unsigned version,
                           unsigned long long flags,
                           enum cudaDriverEntryPointQueryResult *status)
{
    if (!name || !*name || !out ||
        flags > cudaEnablePerThreadDefaultStream)
        return cudaErrorInvalidValue;
    bool per_thread = flags == cudaEnableDefault
                          ? PER_THREAD
                          : flags == cudaEnablePerThreadDefaultStream;
    *out = driver_entry(name, per_thread);
    enum cudaDriverEntryPointQueryResult result =
        !*out ? cudaDriverEntryPointSymbolNotFound
        : version < 12000 ? cudaDriverEntryPointVersionNotSufficent
                          : cudaDriverEntryPointSuccess;
    if (result == cudaDriverEntryPointVersionNotSufficent) *out = NULL;
    if (status) *status = result;
    if (result == cudaDriverEntryPointSymbolNotFound)
        warn_once("driver function %s is not supported", name);
    return *out || status ? cudaSuccess : cudaErrorSymbolNotFound;
}

API(CALL_PLAIN, cudaGetDriverEntryPointByVersion,
    (const char *name, void **out, unsigned version, unsigned long long flags,
     enum cudaDriverEntryPointQueryResult *status),
    (name, out, version, flags, status))
{
    return look_up(name, out, version, flags, status);
}

API(CALL_PLAIN, cudaGetDriverEntryPoint,
    (const char *name, void **out, unsigned long long flags,
     enum cudaDriverEntryPointQueryResult *status),
    (name, out, flags, status))
{
    return look_up(name, out, CUDART_VERSION, flags, status);
}
