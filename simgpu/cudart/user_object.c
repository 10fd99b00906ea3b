/* User objects: counted references that a graph may hold. */
#include <stdlib.h>

#include "cudart/graph.h"

struct user_object {
    cudaUserObject_t handle;
    cudaHostFn_t destroy;
    void *data;
    _Atomic unsigned count;
};
struct user_ref { struct user_object *object; unsigned n; struct user_ref *next; };

static void drop(struct user_object *o, unsigned n)
{
    if (atomic_fetch_sub(&o->count, n) != n) return;
    handle_take(HANDLE_USER_OBJECT, o->handle);
    o->destroy(o->data);
    free(o);
}

static bool hold(struct user_ref **list, struct user_object *o, unsigned n)
{
    struct user_ref *r = malloc(sizeof *r);
    if (!r) return false;
    *r = (struct user_ref){o, n, *list};
    *list = r;
    return true;
}

void user_refs_release(struct user_ref *list)
{
    while (list) {
        struct user_ref *next = list->next;
        drop(list->object, list->n);
        free(list);
        list = next;
    }
}

struct user_ref *user_refs_copy(struct user_ref *list)
{
    struct user_ref *copy = NULL;
    for (; list; list = list->next)
        if (hold(&copy, list->object, list->n))
            atomic_fetch_add(&list->object->count, list->n);
    return copy;
}

API(CALL_CONTEXT, cudaUserObjectCreate,
    (cudaUserObject_t *out, void *data, cudaHostFn_t destroy, unsigned count,
     unsigned flags), (out, data, destroy, count, flags))
{
    if (!out || !destroy || !count || count > 0x7fffffff ||
        flags != cudaUserObjectNoDestructorSync)
        return cudaErrorInvalidValue;
    struct user_object *o = calloc(1, sizeof *o);
    if (!o) return cudaErrorMemoryAllocation;
    o->destroy = destroy;
    o->data = data;
    o->count = count;
    *out = o->handle = handle_new(HANDLE_USER_OBJECT, o);
    if (*out) return cudaSuccess;
    free(o);
    return cudaErrorMemoryAllocation;
}

static struct user_object *object_get(cudaUserObject_t h, unsigned count)
{
    return count && count <= 0x7fffffff ? handle_get(HANDLE_USER_OBJECT, h)
                                        : NULL;
}

API(CALL_CONTEXT, cudaUserObjectRetain,
    (cudaUserObject_t object, unsigned count), (object, count))
{
    struct user_object *o = object_get(object, count);
    if (!o) return cudaErrorInvalidValue;
    atomic_fetch_add(&o->count, count);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaUserObjectRelease,
    (cudaUserObject_t object, unsigned count), (object, count))
{
    struct user_object *o = object_get(object, count);
    if (!o || atomic_load(&o->count) < count) return cudaErrorInvalidValue;
    drop(o, count);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphRetainUserObject,
    (cudaGraph_t graph, cudaUserObject_t object, unsigned count,
     unsigned flags), (graph, object, count, flags))
{
    struct graph *g = graph_get(graph);
    struct user_object *o = object_get(object, count);
    if (!g || !o || flags & ~(unsigned)cudaGraphUserObjectMove)
        return cudaErrorInvalidValue;
    if (!hold(&g->users, o, count)) return cudaErrorMemoryAllocation;
    if (!(flags & cudaGraphUserObjectMove))
        atomic_fetch_add(&o->count, count);
    return cudaSuccess;
}

API(CALL_CONTEXT, cudaGraphReleaseUserObject,
    (cudaGraph_t graph, cudaUserObject_t object, unsigned count),
    (graph, object, count))
{
    struct graph *g = graph_get(graph);
    struct user_object *o = object_get(object, count);
    if (!g || !o) return cudaErrorInvalidValue;
    for (struct user_ref **r = &g->users; *r; r = &(*r)->next)
        if ((*r)->object == o && (*r)->n >= count) {
            struct user_ref *found = *r;
            found->n -= count;
            if (!found->n) {
                *r = found->next;
                free(found);
            }
            drop(o, count);
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}
