/* Variables of device code, by the address of their host shadow. */
#include "cudart/cudart.h"

API(CALL_CONTEXT, cudaGetSymbolAddress, (void **out, const void *host),
    (out, host))
{
    struct symbol *s;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = symbol_load(host, &s);
    if (error == cudaSuccess) *out = (void *)s->address;
    return error;
}

API(CALL_CONTEXT, cudaGetSymbolSize, (size_t *out, const void *host),
    (out, host))
{
    struct symbol *s;
    if (!out) return cudaErrorInvalidValue;
    cudaError_t error = symbol_load(host, &s);
    if (error == cudaSuccess) *out = s->size;
    return error;
}
