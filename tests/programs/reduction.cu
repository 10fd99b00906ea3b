// Sums in shared memory with barriers, by shuffles, and by atomics: three ways
// to the same number, for several block sizes.
#include <cstdio>
#include <vector>

template <int BLOCK> __global__ void tree(const int *in, int n, int *out)
{
    __shared__ int part[BLOCK];
    int sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n;
         i += gridDim.x * BLOCK)
        sum += in[i];
    part[threadIdx.x] = sum;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

__global__ void shuffles(const int *in, int n, int *out)
{
    extern __shared__ int warps[];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < (int)blockDim.x / 32; w++) sum += warps[w];
        atomicAdd(out, sum);
    }
}

__global__ void atomics(const int *in, int n, int *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(out, in[i]);
}

static int take(int *out)
{
    int v = 0;
    cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
    cudaMemset(out, 0, sizeof v);
    return v;
}

int main()
{
    const int n = 54321;
    std::vector<int> h(n);
    int want = 0, bad = 0, *in, *out;
    for (int i = 0; i < n; i++) want += h[i] = i % 1000 - 300;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(int));
    int got[5];
    tree<32><<<7, 32>>>(in, n, out), got[0] = take(out);
    tree<256><<<9, 256>>>(in, n, out), got[1] = take(out);
    tree<1024><<<2, 1024>>>(in, n, out), got[2] = take(out);
    shuffles<<<5, 160, 5 * sizeof(int)>>>(in, n, out), got[3] = take(out);
    atomics<<<3, 96>>>(in, n, out), got[4] = take(out);
    for (int i = 0; i < 5; i++)
        if (got[i] != want) {
            printf("sum %d is %d, expected %d\n", i, got[i], want);
            bad = 1;
        }
    return bad || cudaDeviceSynchronize();
}
