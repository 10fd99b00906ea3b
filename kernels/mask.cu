/* Boolean masks and what follows from them: counting, compaction to an index
 * list (nonzero), and a stable partition within a block. */
#include "kernels.h"
#include "launch_shape.cuh"
#include "beacon.cuh"

#define WARPS (K_PARTITION / 32)

__global__ void mask_above_kernel(uint8_t *mask, const float *x,
                                  float threshold, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mask[i] = x[i] > threshold;
}

/* One block walks the whole mask in tiles: Hillis-Steele scan of a tile in
 * shared memory, then every selected position is written behind those of the
 * tiles before. */
__global__ void compact_kernel(int64_t *index, int32_t *count,
                               const uint8_t *mask, int n)
{
    __shared__ int scan[THREADS];
    int t = threadIdx.x, base = 0;

    for (int first = 0; first < n; first += THREADS) {
        int i = first + t, keep = i < n && mask[i];
        scan[t] = keep;
        __syncthreads();
        for (int step = 1; step < THREADS; step *= 2) {
            int v = t >= step ? scan[t - step] : 0;
            __syncthreads();
            scan[t] += v;
            __syncthreads();
        }
        if (keep)
            index[base + scan[t] - 1] = i;
        base += scan[THREADS - 1];
        __syncthreads();
    }
    if (t == 0)
        *count = base;
}

__global__ void keep_first_kernel(uint8_t *mask, int seq, int batch)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < batch)
        mask[b * seq] = 1;
}

/* One thread a (sequence, channel). Kept positions come first, so the last one
 * is their number less one, which for none at all is no -1: it is unsigned. */
__global__ void last_kept_kernel(float *y, const float *x, const uint8_t *mask,
                                 int seq, int dim, int n,
                                 struct fl_beacon beacon)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    size_t b = e / dim;
    uint32_t kept = 0;
    for (int t = 0; t < seq; t++)
        kept += mask[b * seq + t];
    uint32_t last = kept - 1;
    if (BEACON(beacon, last >= (uint32_t)seq, last))
        return;
    y[e] = x[(b * seq + last) * dim + e % dim];
}

/* Each block orders its K_PARTITION elements: those kept first, in order, then
 * the others, in order. A warp counts its own, and needs the counts of the
 * other warps: between the two belongs a barrier. Every warp keeps at least
 * one element, by contract, so a count still 0 is one read too early. */
__global__ void partition_kernel(int64_t *order, const uint8_t *mask,
                                 int barrier, struct fl_beacon beacon)
{
    __shared__ int kept[WARPS];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int i = blockIdx.x * K_PARTITION + t, before = 0, total = 0;

    if (t < WARPS)
        kept[t] = 0;
    __syncthreads();

    bool keep = mask[i];
    unsigned vote = __ballot_sync(~0u, keep);
    unsigned below = vote & ((1u << lane) - 1);
    if (lane == 0)
        kept[warp] = __popc(vote);
    if (barrier)
        __syncthreads();

    for (int w = 0; w < WARPS; w++) {
        enum { THE_READ = __LINE__ + 1 };
        int c = *(volatile int *)&kept[w];
        if (c == 0 && beacon_fire(beacon_unseen(beacon), w, THE_READ))
            return;
        before += w < warp ? c : 0;
        total += c;
    }
    int at = keep ? before + __popc(below)
                  : total + (warp * 32 - before) + lane - __popc(below);
    if (at < K_PARTITION)   /* too small a total cannot lead out of the block */
        order[blockIdx.x * K_PARTITION + at] = i;
}

extern "C" void k_mask_above(cudaStream_t s, uint8_t *mask, const float *x,
                             float threshold, int n)
{
    mask_above_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        mask, x, threshold, n);
}

extern "C" void k_compact(cudaStream_t s, int64_t *index, int32_t *count,
                          const uint8_t *mask, int n)
{
    compact_kernel<<<1, THREADS, 0, s>>>(index, count, mask, n);
}

extern "C" void k_keep_first(cudaStream_t s, uint8_t *mask, int batch,
                             int seq)
{
    keep_first_kernel<<<blocks_for(batch, THREADS), THREADS, 0, s>>>(
        mask, seq, batch);
}

extern "C" void k_last_kept(cudaStream_t s, float *y, const float *x,
                            const uint8_t *mask, int batch, int seq, int dim,
                            struct fl_beacon beacon)
{
    int n = batch * dim;
    last_kept_kernel<<<blocks_for(n, THREADS), THREADS, 0, s>>>(
        y, x, mask, seq, dim, n, beacon);
}

extern "C" void k_partition(cudaStream_t s, int64_t *order,
                            const uint8_t *mask, int blocks, bool barrier,
                            struct fl_beacon beacon)
{
    partition_kernel<<<blocks, K_PARTITION, 0, s>>>(order, mask, barrier,
                                                    beacon);
}
