/* A program that loads the runtime by dlopen, queues work that does not end,
 * closes the library and goes on; then ends. It must not crash or hang.
 *   unload LIBRARY */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

static void take_long(void *entered)
{
    *(volatile int *)entered = 1;
    sleep(60);
}

/* The queued work is a host function, since a kernel would need nvcc and a
 * link to the library. */
static void use(void *library, volatile int *entered)
{
    cudaError_t (*allocate)(void **, size_t);
    cudaError_t (*fill)(void *, int, size_t, cudaStream_t);
    cudaError_t (*host)(cudaStream_t, cudaHostFn_t, void *);
    void *p;
    *(void **)&allocate = dlsym(library, "cudaMalloc");
    *(void **)&fill = dlsym(library, "cudaMemsetAsync");
    *(void **)&host = dlsym(library, "cudaLaunchHostFunc");
    if (!allocate || !fill || !host || allocate(&p, 1 << 20) ||
        fill(p, 1, 1 << 20, 0) || host(0, take_long, (void *)entered) ||
        fill(p, 2, 1 << 20, 0)) {
        fprintf(stderr, "unload: the runtime cannot be used\n");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    volatile int entered = 0;
    alarm(30);
    for (int i = 0; argc == 2 && i < 2; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "unload: %s\n", dlerror());
            return 1;
        }
        use(library, &entered);
        while (!entered) usleep(1000);
        dlclose(library);
        usleep(10000);
    }
    return argc == 2 ? 0 : 2;
}
