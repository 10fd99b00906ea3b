/* A graph as a drawing for Graphviz: a cluster a graph, children inside their
 * nodes' places, what a node does in its label as far as the flags ask.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cudart/graph.h"

static const char *type_name(enum cudaGraphNodeType type)
{
    static const char *const names[] = {
        [cudaGraphNodeTypeKernel] = "KERNEL",
        [cudaGraphNodeTypeMemcpy] = "MEMCPY",
        [cudaGraphNodeTypeMemset] = "MEMSET",
        [cudaGraphNodeTypeHost] = "HOST",
        [cudaGraphNodeTypeGraph] = "GRAPH",
        [cudaGraphNodeTypeEmpty] = "EMPTY",
        [cudaGraphNodeTypeWaitEvent] = "EVENT WAIT",
        [cudaGraphNodeTypeEventRecord] = "EVENT RECORD",
        [cudaGraphNodeTypeMemAlloc] = "MEM ALLOC",
        [cudaGraphNodeTypeMemFree] = "MEM FREE",
        [cudaGraphNodeTypeConditional] = "CONDITIONAL",
    };
    const size_t n = sizeof names / sizeof *names;
    return (size_t)type < n && names[type] ? names[type] : "?";
}

/* Flags that show more of a node of this kind. */
static unsigned detail_flag(enum work_kind kind)
{
    switch (kind) {
    case WORK_LAUNCH: return cudaGraphDebugDotFlagsKernelNodeParams;
    case WORK_COPY: return cudaGraphDebugDotFlagsMemcpyNodeParams;
    case WORK_FILL: return cudaGraphDebugDotFlagsMemsetNodeParams;
    case WORK_HOST: return cudaGraphDebugDotFlagsHostNodeParams;
    case WORK_EVENT_RECORD:
    case WORK_EVENT_WAIT: return cudaGraphDebugDotFlagsEventNodeParams;
    default: return 0;
    }
}

static void details(FILE *f, const struct work *w)
{
    const struct copy_desc *c = &w->copy.plane;
    const dim3 *g = &w->launch.grid, *b = &w->launch.block;
    switch (w->kind) {
    case WORK_LAUNCH:
        fprintf(f, "\\ngrid (%u,%u,%u) block (%u,%u,%u) shared %zu", g->x,
                g->y, g->z, b->x, b->y, b->z, w->launch.shared);
        break;
    case WORK_COPY:
        fprintf(f, "\\n0x%" PRIx64 " to 0x%" PRIx64 ", %zu x %zu x %zu bytes",
                c->src, c->dst, c->width, c->height, w->copy.depth);
        break;
    case WORK_FILL:
        fprintf(f, "\\n0x%" PRIx64 " = %u, %zu x %zu bytes", w->fill.dst,
                w->fill.value, w->fill.width, w->fill.height);
        break;
    case WORK_HOST:
        fprintf(f, "\\n%p(%p)", (void *)w->host.fn, w->host.arg);
        break;
    case WORK_EVENT_RECORD:
    case WORK_EVENT_WAIT:
        fprintf(f, "\\nevent %p", (void *)w->event);
        break;
    default:
        break;
    }
}

static void write_node(FILE *f, const struct node *n, unsigned flags)
{
    bool all = flags & cudaGraphDebugDotFlagsVerbose;
    fprintf(f, "    \"%p\" [shape=box, label=\"%u %s", (void *)n->handle,
            n->place.path[0], type_name(n->type));
    if (n->work.kind == WORK_LAUNCH)
        fprintf(f, "\\n%s", n->work.launch.kernel->name);
    if (all || flags & detail_flag(n->work.kind)) details(f, &n->work);
    if (n->work.kind == WORK_LAUNCH &&
        (all || flags & cudaGraphDebugDotFlagsKernelNodeAttributes))
        fprintf(f, "\\ncooperative %d priority %d",
                n->work.launch.cooperative, n->work.launch.priority);
    if (all || flags & cudaGraphDebugDotFlagsHandles)
        fprintf(f, "\\nhandle %p", (void *)n->handle);
    fprintf(f, "\"];\n");
    for (uint32_t i = 0; i < n->deps.n; i++) {
        cudaGraphEdgeData data = edge_data(n->deps.nodes[i], n);
        fprintf(f, "    \"%p\" -> \"%p\"%s;\n",
                (void *)n->deps.nodes[i]->handle, (void *)n->handle,
                data.type ? " [style=dashed]" : "");
    }
}

static void write_graph(FILE *f, const struct graph *g, unsigned flags)
{
    fprintf(f, "  subgraph \"cluster_%p\" {\n    label=\"graph %p\";\n",
            (void *)g->handle, (void *)g->handle);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct node *n = g->nodes[i];
        write_node(f, n, flags);
        if (n->child) write_graph(f, n->child, flags);
        for (uint32_t b = 0; n->conditional && b < n->conditional->n; b++)
            write_graph(f, n->conditional->bodies[b], flags);
    }
    fprintf(f, "  }\n");
}

API(CALL_CONTEXT, cudaGraphDebugDotPrint,
    (cudaGraph_t graph, const char *path, unsigned flags),
    (graph, path, flags))
{
    struct graph *g = graph_get(graph);
    if (!g || !path) return cudaErrorInvalidValue;
    FILE *f = fopen(path, "w");
    if (!f) return cudaErrorOperatingSystem;
    fprintf(f, "digraph dot {\n");
    write_graph(f, g, flags);
    fprintf(f, "}\n");
    bool bad = ferror(f);
    return fclose(f) || bad ? cudaErrorOperatingSystem : cudaSuccess;
}
