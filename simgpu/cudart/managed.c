/* Hints on managed memory: advice and prefetches. There is one memory, so
 * they move nothing; what was said is remembered page by page, since programs
 * can ask for it (cudaMemRangeGetAttribute). */
#include "cudart/cudart.h"

#include <stdlib.h>

#define PAGE_BYTES 4096u

/* Where a hint can point, and the names CUDA has for it. */
enum place { NOWHERE, ON_DEVICE, ON_HOST, ON_NODE };
static const struct { enum cudaMemLocationType type; int id, ordinal; }
    places[] = {
        [NOWHERE] = {cudaMemLocationTypeInvalid, 0, cudaInvalidDeviceId},
        [ON_DEVICE] = {cudaMemLocationTypeDevice, 0, 0},
        [ON_HOST] = {cudaMemLocationTypeHost, 0, cudaCpuDeviceId},
        [ON_NODE] = {cudaMemLocationTypeHostNuma, 0, cudaCpuDeviceId},
};

struct page { uint8_t read_mostly, preferred, prefetched, accessed_by; };
#define ACCESSED_BY(place) (uint8_t)(1u << (place))

/* Of one allocation, made when it is first asked for. */
struct hints {
    struct hints *next;
    uint64_t address;
    struct page pages[];
};
static struct hints *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct range { struct page *first; size_t n; };

static cudaError_t find(const void *p, size_t size, struct range *out)
{
    struct allocation a;
    struct memory *m = context()->memory;
    if (!size || !memory_covers(m, (uint64_t)p, size) ||
        !memory_lookup(m, (uint64_t)p, &a) || a.kind != MEMORY_MANAGED)
        return cudaErrorInvalidValue;
    struct hints *h = all;
    while (h && h->address != a.address) h = h->next;
    if (!h) {
        size_t n = (a.size + PAGE_BYTES - 1) / PAGE_BYTES;
        h = calloc(1, sizeof *h + n * sizeof h->pages[0]);
        if (!h) return cudaErrorMemoryAllocation;
        h->address = a.address;
        h->next = all;
        all = h;
    }
    uint64_t from = (uint64_t)p - a.address;
    out->first = &h->pages[from / PAGE_BYTES];
    out->n = (from + size - 1) / PAGE_BYTES - from / PAGE_BYTES + 1;
    return cudaSuccess;
}

void managed_forget(uint64_t address)
{
    pthread_mutex_lock(&lock);
    for (struct hints **at = &all, *h; (h = *at);) {
        if (address && h->address != address) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        free(h);
    }
    pthread_mutex_unlock(&lock);
}

static cudaError_t place_of(const struct cudaMemLocation *l, enum place *out)
{
    switch (l->type) {
    case cudaMemLocationTypeDevice:
        *out = ON_DEVICE;
        return l->id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost: /* whatever the id */
        *out = ON_HOST;
        return cudaSuccess;
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
        *out = ON_NODE;
        return l->type == cudaMemLocationTypeHostNuma && l->id
                   ? cudaErrorInvalidValue : cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t managed_prefetch(const void *p, size_t size,
                             const struct cudaMemLocation *l)
{
    struct range r;
    enum place to;
    pthread_mutex_lock(&lock);
    cudaError_t error = find(p, size, &r);
    if (error == cudaSuccess) error = place_of(l, &to);
    for (size_t i = 0; error == cudaSuccess && i < r.n; i++)
        r.first[i].prefetched = (uint8_t)to;
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- advice ------------------------------------------------------------------ */

static void advise(struct page *p, enum cudaMemoryAdvise advice,
                   enum place place)
{
    switch (advice) {
    case cudaMemAdviseSetReadMostly: p->read_mostly = 1; break;
    case cudaMemAdviseUnsetReadMostly: p->read_mostly = 0; break;
    case cudaMemAdviseSetPreferredLocation:
        p->preferred = (uint8_t)place;
        break;
    case cudaMemAdviseUnsetPreferredLocation: p->preferred = NOWHERE; break;
    case cudaMemAdviseSetAccessedBy:
        p->accessed_by |= ACCESSED_BY(place);
        break;
    case cudaMemAdviseUnsetAccessedBy:
        p->accessed_by &= (uint8_t)~ACCESSED_BY(place);
        break;
    }
}

/* To the other advice the location means nothing. */
static bool has_place(enum cudaMemoryAdvise advice)
{
    return advice == cudaMemAdviseSetPreferredLocation ||
           advice == cudaMemAdviseSetAccessedBy ||
           advice == cudaMemAdviseUnsetAccessedBy;
}

API(CALL_CONTEXT, cudaMemAdvise,
    (const void *p, size_t size, enum cudaMemoryAdvise advice,
     struct cudaMemLocation location), (p, size, advice, location))
{
    struct range r;
    enum place place = NOWHERE;
    if (advice < cudaMemAdviseSetReadMostly ||
        advice > cudaMemAdviseUnsetAccessedBy)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    cudaError_t error = find(p, size, &r);
    if (error == cudaSuccess && has_place(advice))
        error = place_of(&location, &place);
    for (size_t i = 0; error == cudaSuccess && i < r.n; i++)
        advise(&r.first[i], advice, place);
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- questions ----------------------------------------------------------------- */

/* What all pages have in common: bits that all have, places where all are. */
static struct page common(struct range r)
{
    struct page c = r.first[0];
    for (size_t i = 1; i < r.n; i++) {
        const struct page *p = &r.first[i];
        c.read_mostly &= p->read_mostly;
        c.accessed_by &= p->accessed_by;
        if (c.preferred != p->preferred) c.preferred = NOWHERE;
        if (c.prefetched != p->prefetched) c.prefetched = NOWHERE;
    }
    return c;
}

static void list_accessors(uint8_t accessed_by, int *out, size_t n)
{
    size_t used = 0;
    for (enum place p = ON_DEVICE; p <= ON_NODE; p++)
        if (accessed_by & ACCESSED_BY(p) && used < n)
            out[used++] = places[p].ordinal;
    while (used < n) out[used++] = cudaInvalidDeviceId;
}

static cudaError_t answer(void *out, size_t size,
                          enum cudaMemRangeAttribute attribute, struct page c)
{
    int value;
    switch (attribute) {
    case cudaMemRangeAttributeAccessedBy:
        if (!size || size % sizeof(int)) return cudaErrorInvalidValue;
        list_accessors(c.accessed_by, out, size / sizeof(int));
        return cudaSuccess;
    case cudaMemRangeAttributeReadMostly: value = c.read_mostly; break;
    case cudaMemRangeAttributePreferredLocation:
        value = places[c.preferred].ordinal;
        break;
    case cudaMemRangeAttributePreferredLocationType:
        value = places[c.preferred].type;
        break;
    case cudaMemRangeAttributePreferredLocationId:
        value = places[c.preferred].id;
        break;
    case cudaMemRangeAttributeLastPrefetchLocation:
        value = places[c.prefetched].ordinal;
        break;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        value = places[c.prefetched].type;
        break;
    case cudaMemRangeAttributeLastPrefetchLocationId:
        value = places[c.prefetched].id;
        break;
    default: return cudaErrorInvalidValue;
    }
    if (size != sizeof value) return cudaErrorInvalidValue;
    *(int *)out = value;
    return cudaSuccess;
}

static cudaError_t ask(void *out, size_t out_size,
                       enum cudaMemRangeAttribute attribute, const void *p,
                       size_t size)
{
    struct range r;
    if (!out) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    cudaError_t error = find(p, size, &r);
    if (error == cudaSuccess)
        error = answer(out, out_size, attribute, common(r));
    pthread_mutex_unlock(&lock);
    return error;
}

API(CALL_CONTEXT, cudaMemRangeGetAttribute,
    (void *out, size_t out_size, enum cudaMemRangeAttribute attribute,
     const void *p, size_t size), (out, out_size, attribute, p, size))
{
    return ask(out, out_size, attribute, p, size);
}

API(CALL_CONTEXT, cudaMemRangeGetAttributes,
    (void **out, size_t *out_sizes, enum cudaMemRangeAttribute *attributes,
     size_t n, const void *p, size_t size),
    (out, out_sizes, attributes, n, p, size))
{
    if (!out || !out_sizes || !attributes || !n) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < n && error == cudaSuccess; i++)
        error = ask(out[i], out_sizes[i], attributes[i], p, size);
    return error;
}
