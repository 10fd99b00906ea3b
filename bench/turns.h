/* What the benchmark's parent and its workers say to each other.
 *
 * CUDA_LAUNCH_BLOCKING is read once in a process, and a strategy should not
 * inherit another one's history, so every strategy has a process of its own:
 * a worker, which lives as long as the benchmark and does nothing unless it
 * is its turn. So has each kind of defence. The parent gives turns: for one
 * cell (a workload, a kernel length, an amount of host work) each worker in an
 * order drawn anew, so that drift of the machine meets all strategies alike
 * and pairs of turns can be compared. One request, one reply, in fixed structs over the worker's
 * standard input and output; the end of input ends the worker.
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include <stdint.h>

#define TURN_TEXT 160

enum turn_kind {
    TURN_HELLO,     /* text: the device's name; count: runtime version; value:
                       1 when it is simgpu */
    TURN_SPEED,     /* ns a round of the spin kernel costs, in value */
    TURN_KERNEL,    /* value: ns of one spin kernel of `rounds`, back to back */
    TURN_STEPS      /* steps of the cell for `budget_ns`: count steps, ns; no
                       steps where the scenario has no such variant */
};

struct turn_request {
    uint32_t kind;
    uint32_t rounds;            /* length of the spin kernel */
    uint32_t launches;          /* spin kernels a step */
    uint32_t pad;
    uint64_t host_work_ns;      /* the host computes before each launch */
    uint64_t budget_ns;         /* no step starts after it; at least one */
    char workload[TURN_TEXT];   /* "spin", or a scenario */
};

struct turn_reply {
    int32_t ok;                 /* 0: text says why, the worker is of no use */
    uint32_t launches;          /* made in a step */
    uint64_t count;
    double ns, value;
    char text[TURN_TEXT];
};

#endif
