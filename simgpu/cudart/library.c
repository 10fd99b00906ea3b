/* Device code that the program loads itself: PTX text, a fat binary, or a file
 * that holds either. It is read at once, since the caller may free it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/cudart.h"
#include "cudart/registration.h"

enum { MAGIC_WRAPPER = 0x466243b1 };
static const uint32_t MAGIC_FATBIN = 0xba55ed50, MAGIC_ELF = 0x464c457f;

static bool add_kernels(struct module *m)
{
    for (uint32_t i = 0; i < m->ptx->n_funcs; i++) {
        const struct ptx_func *f = &m->ptx->funcs[i];
        if (f->is_entry && f->has_body &&
            !module_add_kernel(m, NULL, f->name))
            return false;
    }
    return true;
}

static cudaError_t read_code(struct module *m, const void *code)
{
    uint32_t magic;
    memcpy(&magic, code, sizeof magic);
    if (magic == MAGIC_WRAPPER) m->wrapper = code;
    else if (magic == MAGIC_FATBIN) m->fatbin = code;
    else if (magic == MAGIC_ELF) {
        warn_once("a library holds only machine code: load PTX or a fat "
                  "binary with PTX");
        return cudaErrorNoKernelImageForDevice;
    } else {
        m->text = code;
    }
    cudaError_t error = module_parse(m);
    m->wrapper = m->fatbin = NULL;
    m->text = NULL;
    return error;
}

static cudaError_t load(cudaLibrary_t *out, const void *code)
{
    if (!out || !code) return cudaErrorInvalidValue;
    struct module *m = module_new();
    if (!m) return cudaErrorMemoryAllocation;
    cudaError_t error = read_code(m, code);
    if (error != cudaSuccess) return error;
    if (!add_kernels(m)) return cudaErrorMemoryAllocation;
    *out = handle_new(HANDLE_LIBRARY, m);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

API(CALL_CONTEXT, cudaLibraryLoadData,
    (cudaLibrary_t *out, const void *code, enum cudaJitOption *jit,
     void **jit_values, unsigned n_jit, enum cudaLibraryOption *options,
     void **option_values, unsigned n_options),
    (out, code, jit, jit_values, n_jit, options, option_values, n_options))
{
    /* They steer a compiler and where code is kept: neither is here. */
    (void)jit, (void)jit_values, (void)n_jit;
    (void)options, (void)option_values, (void)n_options;
    return load(out, code);
}

static char *whole_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    char *data = NULL;
    if (!f) return NULL;
    if (!fseek(f, 0, SEEK_END)) size = ftell(f);
    rewind(f);
    if (size >= 4 && (data = calloc(1, (size_t)size + 1)) &&
        fread(data, 1, (size_t)size, f) != (size_t)size) {
        free(data);
        data = NULL;
    }
    fclose(f);
    return data;
}

API(CALL_CONTEXT, cudaLibraryLoadFromFile,
    (cudaLibrary_t *out, const char *path, enum cudaJitOption *jit,
     void **jit_values, unsigned n_jit, enum cudaLibraryOption *options,
     void **option_values, unsigned n_options),
    (out, path, jit, jit_values, n_jit, options, option_values, n_options))
{
    (void)jit, (void)jit_values, (void)n_jit;
    (void)options, (void)option_values, (void)n_options;
    if (!path) return cudaErrorInvalidValue;
    char *data = whole_file(path);
    if (!data) return cudaErrorFileNotFound;
    cudaError_t error = load(out, data);
    free(data);
    return error;
}

static struct module *library_get(cudaLibrary_t l)
{
    return handle_get(HANDLE_LIBRARY, l);
}

/* Queued work may still need it, so only its names go. */
API(CALL_CONTEXT, cudaLibraryUnload, (cudaLibrary_t library), (library))
{
    struct module *m = handle_take(HANDLE_LIBRARY, library);
    if (!m) return cudaErrorInvalidResourceHandle;
    module_retire(m);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaLibraryGetKernel,
    (cudaKernel_t *out, cudaLibrary_t library, const char *name),
    (out, library, name))
{
    struct module *m = library_get(library);
    if (!m) return cudaErrorInvalidResourceHandle;
    if (!out || !name) return cudaErrorInvalidValue;
    struct kernel *k = module_kernel(m, name);
    if (!k) return cudaErrorSymbolNotFound;
    *out = (cudaKernel_t)k;
    return cudaSuccess;
}

static cudaError_t variable(void **out, size_t *size, cudaLibrary_t library,
                            const char *name, bool managed)
{
    struct module *m = library_get(library);
    if (!m) return cudaErrorInvalidResourceHandle;
    if (!name || (!out && !size)) return cudaErrorInvalidValue;
    cudaError_t error = module_load(m);
    if (error != cudaSuccess) return error;
    int32_t v = ptx_find_var(m->ptx, name);
    struct symbol *s = module_symbol(m, name);
    if (v < 0 || !s || !s->address || m->ptx->vars[v].is_managed != managed)
        return cudaErrorSymbolNotFound;
    if (out) *out = (void *)s->address;
    if (size) *size = s->size;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaLibraryGetGlobal,
    (void **out, size_t *size, cudaLibrary_t library, const char *name),
    (out, size, library, name))
{
    return variable(out, size, library, name, false);
}

API(CALL_CONTEXT, cudaLibraryGetManaged,
    (void **out, size_t *size, cudaLibrary_t library, const char *name),
    (out, size, library, name))
{
    return variable(out, size, library, name, true);
}

API(CALL_CONTEXT, cudaLibraryGetKernelCount,
    (unsigned *out, cudaLibrary_t library), (out, library))
{
    struct module *m = library_get(library);
    if (!m) return cudaErrorInvalidResourceHandle;
    if (!out) return cudaErrorInvalidValue;
    *out = 0;
    for (struct kernel *k = m->kernels; k; k = k->next) ++*out;
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaLibraryEnumerateKernels,
    (cudaKernel_t *out, unsigned n, cudaLibrary_t library), (out, n, library))
{
    struct module *m = library_get(library);
    if (!m) return cudaErrorInvalidResourceHandle;
    if (n && !out) return cudaErrorInvalidValue;
    unsigned i = 0;
    for (struct kernel *k = m->kernels; k && i < n; k = k->next)
        out[i++] = (cudaKernel_t)k;
    return cudaSuccess;
}
