// A kernel whose PTX has 80 values at once and which ptxas fits into less than
// 64 registers for every target, so that blocks of 1024 threads can run.
#include <cstdio>

enum { LOADS = 80, BLOCK = 1024 };

__global__ void late(const unsigned *in, unsigned *out) {
    unsigned v[LOADS], s = 0;
#pragma unroll
    for (int i = 0; i < LOADS; i++) v[i] = in[i * BLOCK + threadIdx.x];
#pragma unroll
    for (int i = 0; i < LOADS; i++) s = s * 3 + v[i];
    out[threadIdx.x] = s;
}

int main() {
    unsigned *in, *out;
    cudaMallocManaged(&in, LOADS * BLOCK * sizeof *in);
    cudaMallocManaged(&out, BLOCK * sizeof *out);
    for (int i = 0; i < LOADS * BLOCK; i++) in[i] = i;
    late<<<1, BLOCK>>>(in, out);
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(error));
        return 1;
    }
    for (unsigned t = 0; t < BLOCK; t++) {
        unsigned want = 0;
        for (int i = 0; i < LOADS; i++) want = want * 3 + i * BLOCK + t;
        if (out[t] != want) {
            std::printf("thread %u: %u, not %u\n", t, out[t], want);
            return 1;
        }
    }
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, late);
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, late, BLOCK, 0);
    if (a.numRegs > 64 || a.maxThreadsPerBlock != BLOCK || blocks < 1) {
        std::printf("%d registers, %d threads, %d blocks\n", a.numRegs,
                    a.maxThreadsPerBlock, blocks);
        return 1;
    }
    return 0;
}
