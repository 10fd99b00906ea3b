/* Where a launch of a graph comes from: the node's number on its way through
 * child graphs, and the host calls that made the node. A fault tells both,
 * since the launch of the graph says nothing about which kernel it was.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

#include "cudart/graph.h"

/* Frames of this library at most, above those that are told. */
enum { OWN_FRAMES = 16 };

static bool is_own(const void *address)
{
    static const char here;
    Dl_info own, at;
    return dladdr(&here, &own) && dladdr(address, &at) &&
           at.dli_fbase == own.dli_fbase;
}

/* Above the library's own may be frames of a sanitizer. */
void place_note_calls(struct launch_place *p)
{
    void *frames[OWN_FRAMES + PLACE_CALLS];
    int n = backtrace(frames, OWN_FRAMES + PLACE_CALLS), first = 0;
    while (first < n && !is_own(frames[first])) first++;
    while (first < n && is_own(frames[first])) first++;
    for (p->n_calls = 0; first < n && p->n_calls < PLACE_CALLS; first++)
        p->calls[p->n_calls++] = (uint64_t)frames[first];
}

/* Deeper than PLACE_DEPTH the innermost numbers are left out. */
void place_nest(struct launch_place *p, const struct launch_place *outer)
{
    struct launch_place inner = *p;
    uint32_t room = PLACE_DEPTH - outer->depth;
    uint32_t kept = inner.depth < room ? inner.depth : room;
    memcpy(p->path, outer->path, outer->depth * sizeof *p->path);
    memcpy(p->path + outer->depth, inner.path, kept * sizeof *p->path);
    p->depth = outer->depth + kept;
}
