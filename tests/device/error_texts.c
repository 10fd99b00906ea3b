/* error_texts THEIRS OURS: names and texts of every error number are the same
 * in both runtime libraries. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef const char *(*text_fn)(cudaError_t);

int main(int argc, char **argv)
{
    static const char *const functions[] = {"cudaGetErrorName",
                                            "cudaGetErrorString"};
    int differences = 0, compared = 0;
    if (argc != 3) return 2;
    void *theirs = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *ours = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!theirs || !ours) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (int f = 0; f < 2; f++) {
        text_fn a = (text_fn)dlsym(theirs, functions[f]);
        text_fn b = (text_fn)dlsym(ours, functions[f]);
        if (!a || !b || a == b) return 1;
        for (int code = -1; code <= 10001; code++, compared++) {
            const char *x = a((cudaError_t)code), *y = b((cudaError_t)code);
            if (!strcmp(x, y)) continue;
            printf("%s(%d): \"%s\", ours \"%s\"\n", functions[f], code, x, y);
            differences++;
        }
    }
    printf("%d compared, %d differ\n", compared, differences);
    return differences != 0;
}
