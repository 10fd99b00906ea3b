// What threads do together: shuffles, votes, reductions, barriers, atomics of
// every type and scope, fences, timers, cooperative groups, copies in flight.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

__global__ void lanes(int *out, float *f, unsigned long long *u) {
  unsigned all = 0xffffffff, lane = threadIdx.x & 31;
  out[0] = __shfl_sync(all, out[lane], 3);
  out[1] = __shfl_up_sync(all, out[lane], 1, 16);
  out[2] = __shfl_xor_sync(all, out[lane], 8);
  f[3] = __shfl_down_sync(all, f[lane], 4);
  u[0] = __shfl_sync(all, u[lane], 1);
  out[4] = __ballot_sync(all, out[lane] > 3) + __any_sync(all, out[5]) +
           __all_sync(all, out[6]) + __activemask();
  out[7] = __match_any_sync(all, out[lane]);
  int pred;
  out[8] = __match_all_sync(all, u[lane], &pred) + pred;
#if __CUDA_ARCH__ >= 800
  out[9] = __reduce_add_sync(all, out[lane]) + __reduce_max_sync(all, lane) +
           __reduce_xor_sync(all, lane);
#endif
  __syncwarp(all >> 1);
  out[10] = __popc(lane) + __clz(lane) + __ffs(lane) + __brev(lane) +
            __byte_perm(lane, out[1], 0x1234) + __funnelshift_l(lane, 5, 3);
  out[11] = __syncthreads_count(out[3]) + __syncthreads_and(out[4]) +
            __syncthreads_or(out[5]);
}

__global__ void atomics(int *i, unsigned *u, float *f, double *d,
                        unsigned long long *l, short *s) {
  __shared__ int tile[32];
  atomicAdd(i, 1); atomicSub(i, 2); atomicMin(i, 3); atomicMax(u, 4u);
  atomicExch(f, 1.f); atomicInc(u, 7u); atomicDec(u, 8u); atomicAnd(i, 3);
  atomicOr(u, 3u); atomicXor(l, 5ull); atomicAdd(f, 2.f); atomicAdd(d, 3.0);
  atomicAdd(l, 1ull); atomicAdd(&tile[3], i[4]); atomicAdd_block(i, 4);
  atomicAdd_system(i, 5);
  i[1] = atomicCAS(i, 2, 3) + atomicCAS(&tile[1], 3, 4);
  l[1] = atomicCAS(l, 2ull, 3ull) + atomicMax(l, 6ull);
  s[1] = atomicCAS((unsigned short *)s, 1, 2);
  __threadfence(); __threadfence_block(); __threadfence_system();
  cuda::atomic_ref<int, cuda::thread_scope_device> a(i[5]);
  a.store(a.load(cuda::memory_order_acquire) + a.fetch_add(2),
          cuda::memory_order_release);
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> b(u[5]);
  while (b.exchange(1, cuda::memory_order_acq_rel)) __nanosleep(100);
  b.store(0, cuda::memory_order_seq_cst);
  volatile int *v = i;
  v[6] = v[7] + __ldg(&i[8]) + __ldcg(&i[9]);
  __stcs(&i[10], 4);
}

__global__ void groups(int *out, const int *in, int n) {
  __shared__ int tile[256];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  cg::wait(block);
  auto warp = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(warp);
  int v = tile[block.thread_rank()];
  for (int d = warp.size() / 2; d; d /= 2) v += warp.shfl_down(v, d);
  v += quad.any(v) + quad.ballot(v > n);
  cg::coalesced_group active = cg::coalesced_threads();
  if (active.thread_rank() == 0) atomicAdd(out, v);
  block.sync();
  cg::this_grid().sync();
  out[1] = out[0];
}

__global__ void clocks(long long *t) {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  t[0] = clock64() + clock() + ns;
  unsigned sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  t[1] = sm + warp + blockIdx.x * gridDim.x + threadIdx.y * blockDim.z;
}
