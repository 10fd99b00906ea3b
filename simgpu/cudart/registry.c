/* What the constructors that nvcc puts into every program register: fat
 * binaries, kernels and variables, each under a host address. Nothing is read
 * or loaded here; that happens at first use (module.c).
 *
 * Names are copied, since a library that registered them may be unloaded
 * while its kernels are still queued.
 */
#include "cudart/cudart.h"
#include "cudart/registration.h"

#include <stdlib.h>
#include <string.h>

/* Host address -> kernel or symbol. Open addressing, grown by doubling; a
 * removed entry leaves TOMBSTONE. */
struct map_entry { const void *key; void *value; };
struct map { struct map_entry *entries; size_t capacity, used; };

static const char tombstone;
static struct map kernel_map, symbol_map;
static struct module *modules;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static size_t hash(const void *key)
{
    return (size_t)(((uint64_t)key >> 3) * 0x9e3779b97f4a7c15u >> 20);
}

static void *map_get(const struct map *m, const void *key)
{
    if (!m->capacity || !key) return NULL;
    for (size_t i = hash(key);; i++) {
        struct map_entry *e = &m->entries[i & (m->capacity - 1)];
        if (!e->key) return NULL;
        if (e->key == key) return e->value;
    }
}

static bool map_put(struct map *m, const void *key, void *value);

static bool map_grow(struct map *m)
{
    struct map bigger = {.capacity = m->capacity ? m->capacity * 2 : 64};
    bigger.entries = calloc(bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries) return false;
    for (size_t i = 0; i < m->capacity; i++)
        if (m->entries[i].key && m->entries[i].key != &tombstone)
            map_put(&bigger, m->entries[i].key, m->entries[i].value);
    free(m->entries);
    *m = bigger;
    return true;
}

static bool map_put(struct map *m, const void *key, void *value)
{
    if (m->used * 2 >= m->capacity && !map_grow(m)) return false;
    for (size_t i = hash(key);; i++) {
        struct map_entry *e = &m->entries[i & (m->capacity - 1)];
        if (e->key && e->key != key) continue;
        if (!e->key) m->used++;
        *e = (struct map_entry){key, value};
        return true;
    }
}

static void map_remove(struct map *m, const void *key)
{
    for (size_t i = hash(key); m->capacity; i++) {
        struct map_entry *e = &m->entries[i & (m->capacity - 1)];
        if (!e->key) return;
        if (e->key == key) {
            e->key = &tombstone;
            return;
        }
    }
}

struct kernel *kernel_find(const void *function)
{
    pthread_rwlock_rdlock(&lock);
    struct kernel *k = map_get(&kernel_map, function);
    pthread_rwlock_unlock(&lock);
    return k;
}

struct symbol *symbol_find(const void *host)
{
    pthread_rwlock_rdlock(&lock);
    struct symbol *s = map_get(&symbol_map, host);
    pthread_rwlock_unlock(&lock);
    return s;
}

struct kernel *module_kernel(struct module *m, const char *name)
{
    struct kernel *k = m->kernels;
    while (k && strcmp(k->name, name)) k = k->next;
    return k;
}

struct symbol *module_symbol(struct module *m, const char *name)
{
    struct symbol *s = m->symbols;
    while (s && strcmp(s->name, name)) s = s->next;
    return s;
}

/* A kernel answers to its host stub and to its own address, which is its
 * cudaKernel_t: calls that take a function pointer accept either. */
struct kernel *module_add_kernel(struct module *m, const void *host,
                                 const char *name)
{
    struct kernel *k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name))) {
        free(k);
        return NULL;
    }
    k->module = m;
    k->host = host;
    k->max_dynamic_shared = -1;
    k->carveout = -1;
    pthread_rwlock_wrlock(&lock);
    k->next = m->kernels;
    m->kernels = k;
    if (host) map_put(&kernel_map, host, k);
    map_put(&kernel_map, k, k);
    pthread_rwlock_unlock(&lock);
    return k;
}

struct symbol *module_add_symbol(struct module *m, const void *host,
                                 const char *name, size_t size)
{
    struct symbol *s = calloc(1, sizeof *s);
    if (!s || !(s->name = strdup(name))) {
        free(s);
        return NULL;
    }
    s->module = m;
    s->host = host;
    s->size = size;
    pthread_rwlock_wrlock(&lock);
    s->next = m->symbols;
    m->symbols = s;
    if (host) map_put(&symbol_map, host, s);
    pthread_rwlock_unlock(&lock);
    return s;
}

struct module *module_new(void)
{
    struct module *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    pthread_rwlock_wrlock(&lock);
    m->next = modules;
    modules = m;
    pthread_rwlock_unlock(&lock);
    return m;
}

/* The library may vanish: forget its addresses. What is loaded stays, for
 * work that is still queued. */
void module_retire(struct module *m)
{
    pthread_rwlock_wrlock(&lock);
    m->wrapper = NULL;
    for (struct kernel *k = m->kernels; k; k = k->next)
        map_remove(&kernel_map, k->host ? k->host : k);
    for (struct symbol *s = m->symbols; s; s = s->next) {
        if (s->host) map_remove(&symbol_map, s->host);
        s->managed = NULL;
    }
    pthread_rwlock_unlock(&lock);
}

void modules_unload(void)
{
    for (struct module *m = modules; m; m = m->next) module_unload(m);
}

/* ---- the protocol, in the order of its calls ------------------------------- */

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper)
{
    struct module *m = module_new();
    if (m) m->wrapper = wrapper;
    return (void **)m;
}

void CUDARTAPI __cudaRegisterFunction(
    void **handle, const char *host, char *device, const char *name,
    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
    int *warp_size)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid;
    (void)block, (void)grid, (void)warp_size; /* always empty since CUDA 7 */
    if (handle) module_add_kernel((struct module *)handle, host, name);
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device,
                                 const char *name, int ext, size_t size,
                                 int constant, int global)
{
    (void)device, (void)ext, (void)global;
    if (!handle) return;
    struct symbol *s =
        module_add_symbol((struct module *)handle, host, name, size);
    if (s) s->constant = constant;
}

void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **slot,
                                        char *device, const char *name,
                                        int ext, size_t size, int constant,
                                        int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    if (!handle) return;
    struct symbol *s =
        module_add_symbol((struct module *)handle, slot, name, size);
    if (s) s->managed = slot;
}

void CUDARTAPI __cudaRegisterHostVar(void **handle, const char *name,
                                     char *host, size_t size)
{
    if (handle) module_add_symbol((struct module *)handle, host, name, size);
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

void CUDARTAPI __cudaUnregisterFatBinary(void **handle)
{
    if (handle) module_retire((struct module *)handle);
}

/* Called before the first host access to a managed variable. */
char CUDARTAPI __cudaInitModule(void **handle)
{
    struct call call = {.name = "__cudaInitModule", .flags = CALL_CONTEXT};
    cudaError_t error = call_enter(&call);
    if (error == cudaSuccess)
        error = handle ? module_load((struct module *)handle)
                       : cudaErrorInvalidValue;
    return call_leave(&call, error) == cudaSuccess;
}

/* ---- <<<grid, block, shared, stream>>> -------------------------------------- */

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                               size_t shared,
                                               struct CUstream_st *stream)
{
    struct thread_state *t = &thread_state;
    if (t->n_pushed == MAX_PUSHED) return 1;
    t->pushed[t->n_pushed++] =
        (struct launch_config){grid, block, shared, stream};
    return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                 size_t *shared, void *stream)
{
    struct thread_state *t = &thread_state;
    if (!t->n_pushed) return t->last = cudaErrorMissingConfiguration;
    const struct launch_config *c = &t->pushed[--t->n_pushed];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

/* Answered from the registration alone: the caller keeps the handle for ever,
 * and whether it can be loaded is the launch's to report, every time. */
API(CALL_PLAIN, __cudaGetKernel, (cudaKernel_t *out, const void *host),
    (out, host))
{
    struct kernel *k = kernel_find(host);
    if (!k) return cudaErrorInvalidDeviceFunction;
    *out = (cudaKernel_t)k;
    return cudaSuccess;
}
