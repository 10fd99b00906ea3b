/* Handles: kind, generation and index in one number.
 *
 * Looking one up takes no lock. A slot is never given back to the system, so
 * a stale handle reads a slot whose generation has moved on. Using a handle
 * in one thread while another destroys it is the program's own race, as in
 * CUDA.
 */
#include "cudart/cudart.h"

#include <stdlib.h>

#define CHUNK 256
#define MAX_CHUNKS 4096

struct slot {
    void *_Atomic object;    /* NULL: free */
    _Atomic uint32_t stamp;  /* kind << 24 | generation */
    uint32_t next_free;      /* index + 1 */
};

static struct slot *_Atomic chunks[MAX_CHUNKS];
static uint32_t n_slots, first_free;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct slot *slot_of(uint32_t index)
{
    if (index >= CHUNK * MAX_CHUNKS) return NULL;
    struct slot *chunk = atomic_load_explicit(&chunks[index / CHUNK],
                                              memory_order_acquire);
    return chunk ? &chunk[index % CHUNK] : NULL;
}

/* Bits 63..32 stamp, 31..0 index + 1: never 0, 1 or 2, which CUDA gives
 * meanings of their own, since a kind is at least 1. */
static void *pack(uint32_t stamp, uint32_t index)
{
    return (void *)((uint64_t)stamp << 32 | (index + 1));
}

static struct slot *find(enum handle_kind kind, const void *handle)
{
    uint64_t h = (uint64_t)handle;
    if (h >> 56 != (uint64_t)kind) return NULL;
    struct slot *s = slot_of((uint32_t)h - 1);
    return s && atomic_load(&s->stamp) == h >> 32 ? s : NULL;
}

static bool grow(void)
{
    struct slot *chunk;
    if (n_slots / CHUNK >= MAX_CHUNKS ||
        !(chunk = calloc(CHUNK, sizeof *chunk)))
        return false;
    for (uint32_t i = 0; i < CHUNK; i++)
        chunk[i].next_free = i + 1 < CHUNK ? n_slots + i + 2 : 0;
    atomic_store_explicit(&chunks[n_slots / CHUNK], chunk,
                          memory_order_release);
    first_free = n_slots + 1;
    n_slots += CHUNK;
    return true;
}

void *handle_new(enum handle_kind kind, void *object)
{
    void *handle = NULL;
    pthread_mutex_lock(&lock);
    if (first_free || grow()) {
        uint32_t index = first_free - 1;
        struct slot *s = slot_of(index);
        first_free = s->next_free;
        uint32_t generation = (atomic_load(&s->stamp) + 1) & 0xffffff;
        uint32_t stamp = (uint32_t)kind << 24 | generation;
        atomic_store(&s->stamp, stamp);
        atomic_store(&s->object, object);
        handle = pack(stamp, index);
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

void *handle_get(enum handle_kind kind, const void *handle)
{
    struct slot *s = find(kind, handle);
    return s ? atomic_load(&s->object) : NULL;
}

cudaError_t handle_error(enum handle_kind kind, const void *handle)
{
    uint64_t h = (uint64_t)handle;
    struct slot *s = h >> 56 == (uint64_t)kind ? slot_of((uint32_t)h - 1)
                                               : NULL;
    return s && atomic_load(&s->stamp) != h >> 32
               ? cudaErrorContextIsDestroyed : cudaErrorInvalidResourceHandle;
}

static void release(struct slot *s, uint32_t index)
{
    atomic_store(&s->object, NULL);
    atomic_store(&s->stamp, (atomic_load(&s->stamp) + 1) & 0xffffff);
    s->next_free = first_free;
    first_free = index + 1;
}

void *handle_take(enum handle_kind kind, const void *handle)
{
    void *object = NULL;
    pthread_mutex_lock(&lock);
    struct slot *s = find(kind, handle);
    if (s && (object = atomic_load(&s->object)))
        release(s, (uint32_t)(uint64_t)handle - 1);
    pthread_mutex_unlock(&lock);
    return object;
}

void handle_each(enum handle_kind kind, void (*fn)(void *, void *), void *ctx)
{
    for (uint32_t i = 0; i < n_slots; i++) {
        struct slot *s = slot_of(i);
        void *object = atomic_load(&s->object);
        if (object && atomic_load(&s->stamp) >> 24 == (uint32_t)kind)
            fn(object, ctx);
    }
}

void handle_forget_all(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_slots; i++) {
        struct slot *s = slot_of(i);
        if (atomic_load(&s->object)) release(s, i);
    }
    pthread_mutex_unlock(&lock);
}
