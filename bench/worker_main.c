/* faultlag-bench-worker STRATEGY | --micro [Google Benchmark options]: what
 * faultlag-bench starts. The only part of the benchmark that links CUDA; its
 * environment decides which device that is, and whether launches block. */
#include <stdio.h>
#include <string.h>

#include "bench/worker.h"

int main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "--micro")) {
        argv[1] = argv[0];
        return micro_run(argc - 1, argv + 1);
    }
    const struct fl_strategy *s = argc == 2 ? fl_strategy_named(argv[1]) : NULL;
    if (!s) {
        fprintf(stderr, "usage: faultlag-bench-worker STRATEGY | --micro "
                "[options]; started by faultlag-bench\n");
        return 2;
    }
    return worker_run(s);
}
