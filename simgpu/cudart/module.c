/* From a registered fat binary to programs that can run.
 *
 *   parse   once a process: pick the PTX for the device, build its tree
 *   load    once a context: variables get device memory and their values
 *   decode  once a context and kernel, at its first use: operands become
 *           slots, so an instruction that is not supported hurts only the
 *           kernel that holds it
 *
 * Each failure keeps its code and its message; the message goes to stderr
 * when it happens, the code is returned by every later use.
 */
#include "cudart/cudart.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/registration.h"
#include "fatbin/cubin.h"
#include "fatbin/fatbin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t fail(cudaError_t *error, char **why, cudaError_t code,
                        const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    warn_once("%s", text);
    free(*why);
    *why = strdup(text);
    return *error = code;
}

/* ---- parse ------------------------------------------------------------------ */

static cudaError_t fatbin_error(enum fatbin_status s)
{
    switch (s) {
    case FATBIN_OK: return cudaSuccess;
    case FATBIN_MALFORMED: return cudaErrorInvalidKernelImage;
    case FATBIN_NO_PTX:
    case FATBIN_TOO_NEW: return cudaErrorNoKernelImageForDevice;
    case FATBIN_COMPRESSION: return cudaErrorNotSupported;
    case FATBIN_NO_MEMORY: return cudaErrorMemoryAllocation;
    }
    return cudaErrorInvalidKernelImage;
}

static cudaError_t parse_text(struct module *m, const char *text, size_t len,
                              const char *label)
{
    struct ptx_error err = {0};
    struct ptx_module *ptx = ptx_parse(text, len, label, &err);
    if (!ptx)
        return fail(&m->error, &m->why, cudaErrorInvalidPtx, "%s", err.text);
    if (!m->ptx) {
        m->ptx = ptx;
        m->label = strdup(label);
        return cudaSuccess;
    }
    return ptx_link(m->ptx, ptx) ? cudaSuccess
                                 : (m->error = cudaErrorMemoryAllocation);
}

static unsigned device_sm(void)
{
    return (unsigned)(identity()->major * 10 + identity()->minor);
}

static cudaError_t parse_fatbin(struct module *m, const void *fatbin,
                                bool optional)
{
    struct fatbin_text text;
    char why[512] = "";
    enum fatbin_status s =
        fatbin_pick_ptx(fatbin, fatbin_size(fatbin), device_sm(), &text, why,
                        sizeof why);
    if (s != FATBIN_OK && optional) return cudaSuccess;
    if (s != FATBIN_OK)
        return fail(&m->error, &m->why, fatbin_error(s), "%s", why);
    cudaError_t error = parse_text(m, text.text, text.len,
                                   text.name[0] ? text.name : "embedded PTX");
    fatbin_text_free(&text);
    return error;
}

/* A device-linked program lists several fat binaries, the device runtime
 * library's among them: there, one that does not fit is passed over. */
static cudaError_t parse(struct module *m)
{
    const void *images[FATBIN_MAX_IMAGES];
    size_t n = 1;
    if (m->text)
        return parse_text(m, m->text, strlen(m->text), "loaded PTX");
    if (m->fatbin) images[0] = m->fatbin;
    else n = m->wrapper ? fatbin_images(m->wrapper, images) : 0;
    if (!n)
        return fail(&m->error, &m->why, cudaErrorInvalidKernelImage,
                    "a registered fat binary has an unknown layout");
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < n && error == cudaSuccess; i++)
        error = parse_fatbin(m, images[i], i > 0);
    const void *linked = m->fatbin ? m->fatbin : fatbin_linked(m->wrapper);
    if (error == cudaSuccess && linked)
        fatbin_pick_cubin(linked, fatbin_size(linked), device_sm(), &m->cubin);
    return error;
}

/* ---- load ------------------------------------------------------------------- */

static bool is_memory(const struct ptx_var *v)
{
    return !v->is_extern && v->size &&
           (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST);
}

static cudaError_t place(struct module *m, const struct ptx_var *v)
{
    struct memory *memory = context()->memory;
    struct symbol *s = module_symbol(m, v->name);
    if (!s && !(s = module_add_symbol(m, NULL, v->name, v->size)))
        return cudaErrorMemoryAllocation;
    if (s->address) return cudaSuccess; /* weak: the first definition stays */
    s->address = memory_alloc(memory, v->size, v->is_managed
                              ? MEMORY_MANAGED : MEMORY_SYMBOL,
                              v->space == PTX_SPACE_CONST
                              ? MEMORY_READONLY : 0);
    if (!s->address) return cudaErrorMemoryAllocation;
    void *bytes = memory_host(memory, s->address);
    if (v->init) memcpy(bytes, v->init, v->size);
    else memset(bytes, 0, v->size);
    if (s->managed) *s->managed = (void *)s->address;
    return cudaSuccess;
}

/* Gives the decoder, and initialisers, the address of a variable. */
static bool find_address(void *ctx, const char *name, uint64_t *address)
{
    struct symbol *s = module_symbol(ctx, name);
    if (!s || !s->address) return false;
    *address = s->address;
    return true;
}

static cudaError_t fix_up(struct module *m, int32_t var)
{
    const struct ptx_var *v = &m->ptx->vars[var];
    if (ptx_find_var(m->ptx, v->name) != var) return cudaSuccess;
    struct symbol *s = module_symbol(m, v->name);
    uint8_t *bytes = memory_host(context()->memory, s->address);
    for (uint32_t i = 0; i < v->n_fixups; i++) {
        const struct ptx_fixup *f = &v->fixups[i];
        uint64_t address;
        int32_t func = ptx_find_func(m->ptx, f->symbol);
        if (func >= 0) address = exec_func_address(func);
        else if (!find_address(m, f->symbol, &address))
            return fail(&m->error, &m->why, cudaErrorInvalidPtx,
                        "%s: initial value of %s names %s, which has no "
                        "address", m->label, v->name, f->symbol);
        address += (uint64_t)f->addend;
        memcpy(bytes + f->offset, &address, f->bytes);
    }
    return cudaSuccess;
}

static cudaError_t load(struct module *m)
{
    cudaError_t error = cudaSuccess;
    for (uint32_t v = 0; v < m->ptx->n_vars && error == cudaSuccess; v++)
        if (is_memory(&m->ptx->vars[v])) error = place(m, &m->ptx->vars[v]);
    for (uint32_t v = 0; v < m->ptx->n_vars && error == cudaSuccess; v++)
        if (is_memory(&m->ptx->vars[v])) error = fix_up(m, (int32_t)v);
    m->loaded = error == cudaSuccess;
    return error;
}

static cudaError_t parse_once(struct module *m)
{
    if (!m->parsed) {
        m->parsed = true;
        m->error = parse(m);
    }
    return m->error;
}

cudaError_t module_parse(struct module *m)
{
    pthread_mutex_lock(&lock);
    cudaError_t error = parse_once(m);
    pthread_mutex_unlock(&lock);
    return error;
}

static cudaError_t load_locked(struct module *m)
{
    cudaError_t error = parse_once(m);
    if (error != cudaSuccess) return error;
    return m->loaded ? cudaSuccess : load(m);
}

cudaError_t module_load(struct module *m)
{
    pthread_mutex_lock(&lock);
    cudaError_t error = load_locked(m);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t symbol_load(const void *host, struct symbol **out)
{
    struct symbol *s = symbol_find(host);
    if (!s) return cudaErrorInvalidSymbol;
    cudaError_t error = module_load(s->module);
    if (error != cudaSuccess) return error;
    *out = s;
    return s->address ? cudaSuccess : cudaErrorInvalidSymbol;
}

/* ---- decode ----------------------------------------------------------------- */

static cudaError_t decode(struct kernel *k)
{
    cudaError_t error = load_locked(k->module);
    if (error != cudaSuccess) return error;
    if (k->error != cudaSuccess) return k->error;
    const struct ptx_module *ptx = k->module->ptx;
    int32_t func = ptx_find_func(ptx, k->name);
    if (func < 0 || !ptx->funcs[func].has_body)
        return fail(&k->error, &k->why, cudaErrorInvalidDeviceFunction,
                    "kernel %s is registered but not in the embedded PTX",
                    k->name);
    struct ptx_error err = {0};
    k->program = program_decode(ptx, k->name, find_address, k->module, &err);
    if (!k->program)
        return fail(&k->error, &k->why, cudaErrorNotSupported, "%s", err.text);
    const struct fatbin_code *cubin = &k->module->cubin;
    unsigned registers = cubin_registers(cubin->bytes, cubin->len, k->name);
    if (registers) k->program->regs_per_thread = registers;
    return cudaSuccess;
}

cudaError_t kernel_load(struct kernel *k)
{
    if (__atomic_load_n(&k->program, __ATOMIC_ACQUIRE)) return cudaSuccess;
    pthread_mutex_lock(&lock);
    cudaError_t error = k->program ? cudaSuccess : decode(k);
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- unload ----------------------------------------------------------------- */

/* Programs hold addresses of variables, so they go with the context; the
 * memory itself goes with the device. Runs when nothing is in flight. */
void module_unload(struct module *m)
{
    pthread_mutex_lock(&lock);
    for (struct kernel *k = m->kernels; k; k = k->next) {
        if (k->program) program_free(k->program);
        k->program = NULL;
        k->max_dynamic_shared = k->carveout = -1;
    }
    for (struct symbol *s = m->symbols; s; s = s->next) {
        if (s->managed && s->address) *s->managed = NULL;
        s->address = 0;
    }
    m->loaded = false;
    pthread_mutex_unlock(&lock);
}
