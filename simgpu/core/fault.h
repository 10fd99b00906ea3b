/* What is known of a fault. The lane that commits it fills one record; the
 * device keeps the first and is lost; the API reports it for ever after. */
#ifndef SIMGPU_CORE_FAULT_H
#define SIMGPU_CORE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds and the code CUDA gives each (fault_kinds.def). */
enum fault_kind {
#define FAULT_KIND(name, code, text) FAULT_##name,
#include "core/fault_kinds.def"
#undef FAULT_KIND
    FAULT_KIND_COUNT
};

#define FAULT_MAX_INLINE 8

struct fault_frame { char function[128], file[256]; uint32_t line; };

/* Which node of a graph a launch is, for launches that a graph makes. Handles
 * and addresses are the runtime's; the device only hands them on. */
#define PLACE_DEPTH 8
#define PLACE_CALLS 8
struct launch_place {
    uint64_t exec, node;         /* handles */
    uint64_t launch;             /* of the executable graph, from 1; 0: none */
    uint32_t depth;              /* 1 in the graph itself, 2 in a child, ... */
    uint32_t path[PLACE_DEPTH];  /* numbers of nodes from 1, outermost first */
    uint32_t kernel;             /* number among the graph's kernel nodes */
    uint32_t n_calls;            /* who made the node: return addresses, */
    uint64_t calls[PLACE_CALLS]; /* innermost first */
};

struct fault {
    enum fault_kind kind;
    char kernel[256];            /* mangled name */
    uint32_t pc;                 /* instruction index in the program */
    uint32_t ptx_line;           /* line in the PTX text */
    char instruction[64];        /* "ld.global.f32" */
    struct fault_frame frames[FAULT_MAX_INLINE]; /* innermost first */
    uint32_t n_frames;           /* 0 without -lineinfo */
    uint32_t block[3], thread[3];
    uint64_t address;            /* generic, as the thread computed it */
    uint32_t bytes;              /* of the access; 0 when it is not one */
    bool is_write;
    uint64_t near_address, near_size; /* nearest allocation, 0/0 if none */
    uint64_t near_serial;
    int64_t near_distance;       /* bytes past the end (> 0), before (< 0) */
    bool near_freed;
    uint64_t launch;             /* launch number, from 1 */
    struct launch_place place;
    uint64_t time_ns;            /* device clock (%globaltimer) */
    uint32_t lanes;              /* how many lanes of the warp did the same */
    char message[256];           /* assertion text, or "" */
};

/* "illegal memory access" and the like; CUDA's number (700, 710, ...). */
const char *fault_kind_text(enum fault_kind k);
int fault_kind_code(enum fault_kind k);

#endif
