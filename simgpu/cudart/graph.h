/* Graphs: nodes that hold work, edges, and what makes them run. */
#ifndef SIMGPU_CUDART_GRAPH_H
#define SIMGPU_CUDART_GRAPH_H

#include "cudart/cudart.h"

bool set_add(struct node_set *s, struct node *n);
bool set_add_all(struct node_set *s, const struct node_set *more);
bool set_has(const struct node_set *s, const struct node *n);
void set_remove(struct node_set *s, const struct node *n);
void set_clear(struct node_set *s);

struct node {
    struct graph *graph;
    cudaGraphNode_t handle;    /* NULL in an executable graph */
    cudaGraphNode_t origin;    /* the node that this is a copy of */
    enum cudaGraphNodeType type;
    struct work work;
    void *storage;             /* parameters of a launch, owned */
    union {                    /* as given, for those who ask */
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaMemAllocNodeParams alloc;
    } given;
    struct graph *child;       /* owned */
    struct node_set deps;
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
    bool has_memory;           /* holds alloc or free nodes */
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
struct graph *graph_get(cudaGraph_t handle);
struct node *node_get(cudaGraphNode_t handle);
/* A node with copies of w's parameters; NULL: no memory. */
struct node *node_add(struct graph *g, enum cudaGraphNodeType type,
                      const struct work *w);
bool node_set_work(struct node *n, const struct work *w);
/* Gives the node added last its dependencies, or takes it out again. */
cudaError_t node_depend(struct node *n, const cudaGraphNode_t *deps,
                        size_t n_deps);
/* Nodes sorted so that each comes after its dependencies; false if there is
 * a cycle. `order` has room for all. */
bool graph_order(const struct graph *g, struct node **order);
/* Are all of `nodes` in `from` or among its ancestors? */
bool graph_reaches(const struct graph *g, const struct node_set *from,
                   const struct node_set *nodes);

cudaError_t exec_launch(cudaGraphExec_t exec, struct rt_stream *s);
cudaError_t exec_instantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                             unsigned long long flags);
/* The node of an executable graph that stands for `node`, or NULL. */
struct node *exec_node(cudaGraphExec_t exec, cudaGraphNode_t node);

/* Work from node parameters (graph_nodes.c). */
cudaError_t work_from_kernel(const struct cudaKernelNodeParams *p,
                             struct work *w);
cudaError_t work_from_copy(const struct cudaMemcpy3DParms *p, struct work *w);
cudaError_t copy_box(const struct cudaMemcpy3DParms *p,
                     struct copy_request *r);
cudaError_t work_from_host(const struct cudaHostNodeParams *p,
                           struct work *w);
struct cudaMemcpy3DParms copy_line(void *dst, const void *src, size_t size,
                                   enum cudaMemcpyKind kind);
cudaError_t symbol_end(const void *symbol, size_t size, size_t offset,
                       void **out);
cudaError_t work_from_fill(const struct cudaMemsetParams *p, struct work *w);

/* Memory of alloc nodes (graph_memory.c). */
cudaError_t graph_memory_node(struct graph *g, size_t size,
                              struct node **out);
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
