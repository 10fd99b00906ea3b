/* faultlag-bench-worker STRATEGY VARIANT | --micro [Google Benchmark options]:
 * what faultlag-bench starts. The only part of the benchmark that links CUDA;
 * its environment decides which device that is, and whether launches block. */
#include <stdio.h>
#include <string.h>

#include "bench/worker.h"
#include "harness/catalogue.h"

int main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "--micro")) {
        argv[1] = argv[0];
        return micro_run(argc - 1, argv + 1);
    }
    const struct fl_strategy *s = argc == 3 ? fl_strategy_named(argv[1]) : NULL;
    enum fl_variant v = argc == 3 ? fl_variant_named(argv[2]) : 0;
    if (!s || !v) {
        fprintf(stderr, "usage: faultlag-bench-worker STRATEGY VARIANT | "
                "--micro [options]; started by faultlag-bench\n");
        return 2;
    }
    return worker_run(s, v);
}
