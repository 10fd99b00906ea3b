/* Graphs: nodes that hold work, edges, and what makes them run. */
#ifndef SIMGPU_CUDART_GRAPH_H
#define SIMGPU_CUDART_GRAPH_H

#include "cudart/cudart.h"

bool set_add(struct node_set *s, struct node *n);
bool set_add_all(struct node_set *s, const struct node_set *more);
bool set_has(const struct node_set *s, const struct node *n);
void set_remove(struct node_set *s, const struct node *n);
void set_clear(struct node_set *s);

/* Parameters as given, for those who ask. */
union node_given {
    struct cudaMemcpy3DParms copy;
    struct cudaMemsetParams fill;
    struct cudaMemAllocNodeParams alloc;
};

/* An edge that carries more than order. */
struct edge_data { struct node *from; cudaGraphEdgeData data; };

struct node {
    struct graph *graph;
    cudaGraphNode_t handle;    /* NULL in an executable graph */
    cudaGraphNode_t origin;    /* the node that this is a copy of */
    enum cudaGraphNodeType type;
    struct work work;
    void *storage;             /* parameters of a launch, owned */
    union node_given given;
    struct graph *child;       /* owned */
    struct conditional *conditional; /* owned */
    struct node_set deps;
    cudaLaunchAttribute *attributes; /* set, that have no effect here */
    uint32_t n_attributes;
    struct edge_data *data;    /* of edges from deps that have some */
    uint32_t n_data;
    struct launch_place place; /* what a fault in it says of it */
    bool enabled;
    uint32_t step;             /* place in the order of execution */
    uint32_t mark;             /* scratch of whoever walks the graph */
};

struct graph {
    cudaGraph_t handle;
    struct node **nodes;       /* in order of adding */
    uint32_t n, capacity;
    uint32_t numbered, kernels; /* nodes and kernel nodes ever added */
    bool is_child;             /* lives and dies with a node */
    bool capturing;            /* may not be destroyed, nor lose nodes */
    bool has_memory;           /* holds alloc or free nodes */
    bool has_conditionals;
    uint64_t *conditions;      /* handles that belong to it */
    uint32_t n_conditions;
    uint32_t n_execs;          /* instantiations alive */
    struct user_ref *users;
};

/* Notes who is calling the runtime (graph_place.c). */
void place_note_calls(struct launch_place *p);
/* Puts `outer` around: p is in the child graph of that node. */
void place_nest(struct launch_place *p, const struct launch_place *outer);

struct graph *graph_new(void);
void graph_free(struct graph *g);
/* Same nodes and edges; `handles`: they can be named (a clone). */
struct graph *graph_copy(const struct graph *g, bool handles);
void node_free(struct node *n);
/* Those that are kept for being told (graph_attributes.c). */
cudaError_t node_copy_attributes(struct node *to, const struct node *from);
struct graph *graph_get(cudaGraph_t handle);
struct node *node_get(cudaGraphNode_t handle);
/* A node with copies of w's parameters; NULL: no memory. */
struct node *node_add(struct graph *g, enum cudaGraphNodeType type,
                      const struct work *w);
bool node_set_work(struct node *n, const struct work *w);
/* Gives the node added last its dependencies, or takes it out again. */
cudaError_t node_depend(struct node *n, const cudaGraphNode_t *deps,
                        const cudaGraphEdgeData *data, size_t n_deps);
/* One edge more, or one less; `data` may be NULL. */
cudaError_t edge_add(struct node *from, struct node *to,
                     const cudaGraphEdgeData *data);
cudaError_t edge_remove(struct node *from, struct node *to,
                        const cudaGraphEdgeData *data);
cudaGraphEdgeData edge_data(const struct node *from, const struct node *to);
/* Fills `out` (may be NULL: only count) with those nodes that pass. */
cudaError_t list_nodes(struct node *const *nodes, uint32_t n,
                       bool (*pass)(const struct node *, void *), void *ctx,
                       cudaGraphNode_t *out, size_t *count);
/* Nodes sorted so that each comes after its dependencies; false if there is
 * a cycle. `order` has room for all. */
bool graph_order(const struct graph *g, struct node **order);
/* Are all of `nodes` in `from` or among its ancestors? */
bool graph_reaches(const struct graph *g, const struct node_set *from,
                   const struct node_set *nodes);

/* ---- executable graphs (graph_exec.c) ------------------------------------------------------ */

enum { MAX_LANES = 16 };
struct exec {
    cudaGraphExec_t handle;
    struct graph *graph;     /* copy, children unfolded */
    cudaGraph_t source;
    unsigned long long flags;
    struct node **order;     /* sorted; node->step is its index here */
    struct step *steps;      /* one a node, in that order */
    struct stream *lanes[MAX_LANES]; /* [0] is unused */
    uint32_t n_lanes;
    struct event *begun, *ended;
    uint64_t launches;
    struct exec *top;        /* the one that is launched, or itself */
};
/* Where a launch of it goes. */
struct launch_target { struct stream *core; int priority; uint64_t launch; };
/* From a graph without handles, which it owns from now on, whatever comes. */
cudaError_t exec_make(struct graph *flat, unsigned long long flags,
                      struct exec *top, struct exec **out);
void exec_free(struct exec *e);
/* Queues everything once. */
enum status exec_run(struct exec *e, const struct launch_target *t);
struct exec *exec_get(cudaGraphExec_t handle);
/* Puts the nodes of all children into g itself, in bodies of conditional nodes
 * as well. */
bool graph_unfold(struct graph *g);
bool exec_uses_priorities(const struct exec *e);
cudaError_t exec_launch(cudaGraphExec_t exec, struct rt_stream *s);
cudaError_t exec_instantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                             unsigned long long flags);
/* The node of an executable graph that stands for `node`, or NULL; `node` must
 * still be there. */
struct node *exec_node(cudaGraphExec_t exec, cudaGraphNode_t node);

/* ---- what nodes do (graph_nodes.c) ------------------------------------------------------- */

struct node_spec {
    enum cudaGraphNodeType type;
    struct work work;
    union node_given given;
    bool attributes;           /* says cooperative and priority, too */
    const struct conditional *conditional; /* of a node that is one */
};
cudaError_t spec_kernel(const struct cudaKernelNodeParams *p,
                        struct node_spec *out);
cudaError_t spec_copy(const struct cudaMemcpy3DParms *p,
                      struct node_spec *out);
cudaError_t spec_line(void *dst, const void *src, size_t size,
                      enum cudaMemcpyKind kind, struct node_spec *out);
cudaError_t spec_to_symbol(const void *symbol, const void *src, size_t size,
                           size_t offset, enum cudaMemcpyKind kind,
                           struct node_spec *out);
cudaError_t spec_from_symbol(void *dst, const void *symbol, size_t size,
                             size_t offset, enum cudaMemcpyKind kind,
                             struct node_spec *out);
cudaError_t spec_fill(const struct cudaMemsetParams *p, struct node_spec *out);
cudaError_t spec_host(const struct cudaHostNodeParams *p,
                      struct node_spec *out);
cudaError_t spec_event(cudaEvent_t event, bool record, struct node_spec *out);
/* Children and memory are not among them: 1. */
cudaError_t spec_any(const struct cudaGraphNodeParams *p,
                     struct node_spec *out);
cudaError_t copy_box(const struct cudaMemcpy3DParms *p,
                     struct copy_request *r);

/* ---- changing them (graph_update.c) -------------------------------------------------------- */

cudaError_t node_assign(struct node *n, const struct node_spec *to);
/* Why n, of an executable graph, cannot become that. `priorities`: those of
 * its nodes count. */
enum cudaGraphExecUpdateResult node_refuses(const struct node *n,
                                            const struct node_spec *to,
                                            bool priorities);
/* Is, or would be, a copy of more than one dimension? */
bool node_is_plane(const struct node *n, const struct node_spec *to);
cudaError_t exec_set_child(cudaGraphExec_t exec, cudaGraphNode_t node,
                           cudaGraph_t child);

/* ---- conditional nodes (graph_conditional.c) ------------------------------------------------ */

struct conditional {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    uint32_t n;
    struct graph **bodies;
    cudaGraph_t *handles;      /* of the bodies, as the program sees them */
    /* in an executable graph, where the bodies are owned by these: */
    struct exec **execs;
    struct stream *stream;     /* that the bodies run in */
    uint64_t gate;             /* device address: runs that have ended */
    uint32_t runs;
};
cudaError_t graph_add_conditional(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps,
                                  const cudaGraphEdgeData *data, size_t n_deps,
                                  struct cudaConditionalNodeParams *p);
bool conditional_copy(struct node *to, const struct node *from);
void conditional_free(struct conditional *c);
/* Makes the bodies executable. */
cudaError_t conditional_make(struct node *n, struct exec *e);
enum status conditional_run(struct conditional *c, struct stream *core,
                            const struct launch_target *t);
/* A copy of a graph holds its conditions too; dropped by the last one. */
bool conditions_share(struct graph *to, const struct graph *from);
void conditions_drop(struct graph *g);
/* Those with a default value get it. */
enum status conditions_reset(const struct graph *g, struct stream *core);

/* Memory of alloc nodes (graph_memory.c). */
cudaError_t graph_memory_node(struct graph *g, size_t size,
                              struct node **out);
cudaError_t graph_add_alloc(cudaGraphNode_t *out, cudaGraph_t graph,
                            const cudaGraphNode_t *deps,
                            const cudaGraphEdgeData *data, size_t n_deps,
                            struct cudaMemAllocNodeParamsV2 *p);
cudaError_t graph_add_free(cudaGraphNode_t *out, cudaGraph_t graph,
                           const cudaGraphNode_t *deps,
                           const cudaGraphEdgeData *data, size_t n_deps,
                           void *address);
/* So many more nodes (or fewer) stand for the memory at `address`. */
void graph_memory_share(uint64_t address, int nodes);
void graph_memory_forget(void);
/* Takes note that an allocation of a graph is freed by a call or a node; false
 * if `address` is no graph's. */
bool graph_memory_freed(uint64_t address);
/* What a launch does to its memory; fails if some is still in use. */
cudaError_t graph_memory_launch(struct node *const *nodes, uint32_t n,
                                bool auto_free);

/* Capturing (capture.c). */
cudaError_t capture_begin(struct rt_stream *s, struct graph *into,
                          const cudaGraphNode_t *deps, size_t n_deps,
                          enum cudaStreamCaptureMode mode);
cudaError_t capture_end(struct rt_stream *s, cudaGraph_t *out);
struct capture_view {
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
};
cudaError_t capture_status(struct rt_stream *s, struct capture_view *view);
cudaError_t capture_depend(struct rt_stream *s, const cudaGraphNode_t *deps,
                           size_t n_deps, bool replace);

void user_refs_release(struct user_ref *list);
struct user_ref *user_refs_copy(struct user_ref *list);

#endif
