/* What the files about stream capture share; all of it under capture_lock. */
#ifndef SIMGPU_CUDART_CAPTURE_PARTS_H
#define SIMGPU_CUDART_CAPTURE_PARTS_H

#include "cudart/graph.h"

struct capture {
    struct graph *graph;
    bool borrowed;             /* the graph is the program's own */
    enum cudaStreamCaptureMode mode;
    unsigned long long id;
    pthread_t thread;
    struct rt_stream *origin;
    struct rt_stream *streams; /* that take part, linked by capture_next */
    struct node_set orphans;   /* last nodes of streams that were destroyed */
    bool broken;
    struct capture *next;
};

extern pthread_mutex_t capture_lock __attribute__((visibility("hidden")));
extern struct capture *captures __attribute__((visibility("hidden")));

/* Nobody captures; read without the lock. */
bool capture_none(void);
struct capture *capture_by_id(unsigned long long id);
void capture_join(struct capture *c, struct rt_stream *s);
/* Leaves c (may be NULL) invalid; returns the code. */
cudaError_t capture_break(struct capture *c, cudaError_t code);

/* Is a blocking stream being captured? Breaks such captures if asked to. */
bool capture_implicit(bool break_it);
/* Work in s, were it to become part of a capture by implicit order. */
cudaError_t capture_legacy(struct rt_stream *s);

#endif
