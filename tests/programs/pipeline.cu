// Chunks of work in several streams, ordered by events: copy in, compute,
// copy out, then one kernel in another stream that needs them all.
#include <cstdio>
#include <cstring>

enum { STREAMS = 4, CHUNK = 8192, N = STREAMS * CHUNK };

__global__ void square(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

__global__ void total(const int *in, int n, unsigned long long *sum)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(sum, (unsigned long long)in[i]);
}

int main()
{
    int *in, *out, *din, *dout;
    unsigned long long *sum, got = 0, want = 0;
    cudaStream_t s[STREAMS], last;
    cudaEvent_t done[STREAMS], begin, end;
    cudaMallocHost(&in, N * sizeof(int));
    cudaMallocHost(&out, N * sizeof(int));
    cudaMalloc(&din, N * sizeof(int));
    cudaMalloc(&dout, N * sizeof(int));
    cudaMalloc(&sum, sizeof *sum);
    for (int i = 0; i < N; i++) {
        in[i] = i % 1000;
        want += (unsigned long long)in[i] * in[i];
    }
    cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, last);
    cudaMemsetAsync(sum, 0, sizeof *sum, last);
    for (int k = 0; k < STREAMS; k++) {
        int at = k * CHUNK;
        size_t bytes = CHUNK * sizeof(int);
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming);
        cudaMemcpyAsync(din + at, in + at, bytes, cudaMemcpyHostToDevice,
                        s[k]);
        square<<<CHUNK / 128, 128, 0, s[k]>>>(din + at, dout + at, CHUNK);
        cudaMemcpyAsync(out + at, dout + at, bytes, cudaMemcpyDeviceToHost,
                        s[k]);
        cudaEventRecord(done[k], s[k]);
        cudaStreamWaitEvent(last, done[k], 0);
    }
    total<<<8, 64, 0, last>>>(dout, N, sum);
    cudaMemcpyAsync(&got, sum, sizeof got, cudaMemcpyDeviceToHost, last);
    cudaEventRecord(end, last);
    cudaEventSynchronize(end);
    float ms = -1;
    cudaEventElapsedTime(&ms, begin, end);
    int bad = got != want || ms < 0;
    for (int i = 0; i < N; i++) bad |= out[i] != in[i] * in[i];
    if (bad) printf("sum %llu, expected %llu, %f ms\n", got, want, ms);
    for (int k = 0; k < STREAMS; k++) cudaStreamDestroy(s[k]);
    return bad || cudaDeviceSynchronize();
}
