/* The one call of simgpu that CUDA does not have. Programs look it up with
 * dlsym(RTLD_DEFAULT, "simgpuGetFaultRecord"): on a GPU it is absent. */
#ifndef SIMGPU_H
#define SIMGPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIMGPU_FAULT_RECORD_VERSION 2

struct simgpuFaultRecord {
    uint32_t version;       /* in: what the caller was compiled with */
    int32_t code;           /* cudaError_t, e.g. 700 */
    char kind[48];          /* "illegal memory access" */
    char kernel[256];       /* mangled name */
    char file[256];         /* source file of the access, "" without line info */
    uint32_t line;          /* source line, 0 without line info */
    uint32_t ptx_line;      /* line in the embedded PTX */
    char instruction[64];   /* "ld.global.f32" */
    uint32_t block[3], thread[3];
    uint64_t address;       /* of the access; 0 when the fault is not one */
    uint32_t bytes;         /* of the access */
    uint32_t is_write;
    uint64_t near_address;  /* nearest allocation; 0 when there is none */
    uint64_t near_size;     /* bytes */
    int64_t near_distance;  /* bytes past its end (> 0) or before it (< 0) */
    uint32_t near_freed;    /* 1: that allocation had been freed */
    uint32_t lanes;         /* threads of the warp that did the same */
    uint64_t launch;        /* launch number in the process, from 1 */
    uint64_t time_ns;       /* device clock, comparable to %globaltimer */
    char message[256];      /* assertion text, or "" */

    /* Version 2: which node of which graph, if a graph launched the kernel. */
    uint64_t graph_exec;    /* its cudaGraphExec_t; 0: no graph launched it */
    uint64_t graph_node;    /* cudaGraphNode_t of the graph it was made from */
    uint64_t graph_launch;  /* launch of that executable graph, from 1 */
    uint32_t node_kernel;   /* number among the kernel nodes of its graph */
    uint32_t node_depth;    /* 1: in the graph itself, 2: in a child, ... */
    uint32_t node_path[8];  /* numbers of the nodes on the way, outermost
                               first; nodes count from 1 as they were added */
    uint32_t n_node_calls;  /* host calls that added or captured the node: */
    uint64_t node_calls[8]; /* return addresses, innermost first */
};

/* Copies the first fault of this process into *record. Returns 1 if there was
 * one, 0 if not, -1 if record is NULL or its version is not known. */
int simgpuGetFaultRecord(struct simgpuFaultRecord *record);

/* 1 when a seeded run had to advance by itself because the host waited on
 * device memory without calling the API: that run cannot be replayed. */
int simgpuRunNotRepeatable(void);

#ifdef __cplusplus
}
#endif
#endif
