#include "two_files.cuh"

__device__ int counter = 5;
__device__ __noinline__ int twice(int x) { return 2 * x; }
