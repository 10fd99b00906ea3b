// CUDA C++ as a language: values of variables of every kind, functions through
// pointers, structures by value, recursion, printf, assert, switch.
#include <cassert>
#include <cstdio>

struct Base {
  __device__ virtual int area(int x) const { return x; }
};
struct Square : Base {
  __device__ int area(int x) const override { return x * x; }
};
struct __attribute__((packed)) Packed {
  char tag;
  int *where;
  void (*act)();
  short tail;
};
struct Pair {
  int a[5];
  double d;
};
struct Mixed {
  int *p;
  short s;
  float f;
  int (*fn)(int);
};
enum class Mode : unsigned char { A, B, C };

__device__ int grid[3][4] = {{1, 2, 3}, {4, -5, 6}};
__device__ float floats[4] = {1.5f, -2.f};
__device__ double pi = 3.14159;
__device__ unsigned long long big = ~0ull;
__device__ short shorts[3] = {-1, 2};
__device__ bool flag = true;
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float4 vectors[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ int *inside = &grid[1][2];
__device__ const char *words[] = {"one", "two", "three"};
__managed__ int shared_with_host = 5;
__device__ int counters[1000000];
extern __shared__ int dynamic[];

__device__ __noinline__ int triple(int a) { return a * 3; }
__device__ __noinline__ int plus(int a) { return a + 3; }
__device__ __noinline__ void bump() { grid[1][1]++; }
__device__ Packed packed = {3, &grid[0][2], bump, 4};
__device__ Mixed mixed = {&grid[0][1], 7, 2.f, triple};
__device__ int (*choice[2])(int) = {triple, plus};

__device__ __noinline__ Pair change(Pair p, int k) {
  p.a[k] += 1;
  return p;
}
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

template <int N>
__device__ inline float scaled(float x) { return x * N + table[N]; }

__global__ void everything(Pair p, int *out, unsigned char uc, short sh, char c,
                           bool b, Mode mode, const float *__restrict__ in) {
  __shared__ float tile[64];
  __shared__ double2 pairs[3];
  tile[threadIdx.x] = scaled<3>(p.d) + scaled<5>(in[threadIdx.x]);
  dynamic[threadIdx.x] = p.a[0];
  pairs[0].x = p.d;
  __syncthreads();
  Pair q = change(p, out[2] & 3);
  out[threadIdx.x] = choice[out[0] & 1](out[1]) + q.a[1] + tile[3] +
                     dynamic[4] + pairs[1].y + uc + sh + c + b +
                     shared_with_host + counters[out[3]] + shorts[1] + flag;
  assert(out[1] > 0);
  if (out[5]) printf("values %d %f %s\n", out[5], p.d, words[out[6] % 3]);
  if (mode == Mode::B) packed.act();
  float4 v = vectors[out[7] & 1];
  *reinterpret_cast<float4 *>(out + 32) = make_float4(v.w, v.x, v.z, v.y);
  out[8] = fib(out[9]) + *inside + mixed.fn(4) + (int)pi + (int)big;
}

__global__ void virtual_call(Base **objects, int *out, int n) {
  Square here;
  const Base *b = n > 3 ? objects[threadIdx.x] : &here;
  out[threadIdx.x] = b->area(n);
}

__global__ void __launch_bounds__(128, 2) branches(int *p) {
  int i = threadIdx.x;
  switch (p[i]) {
#define CASE(n)                                                                \
  case n:                                                                      \
    p[n * 3] = p[n * n + 1] * p[n + 4] + n;                                    \
    p[n] /= n + 1;                                                             \
    break;
    CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    CASE(9) CASE(10) CASE(11) CASE(12)
  default: __trap();
  }
  int local[32];
  for (int k = 0; k < 32; k++) local[k] = p[k] ^ i;
  do {
    i = local[i & 31] + p[i];
    if (i % 7 == 0) continue;
    if (i % 11 == 0) return;
  } while (i < 1000);
  p[0] = i;
}

__global__ void assembly(int *q, const __grid_constant__ int p) {
  for (int k = 0; k < 2; k++)
    asm volatile("{ .reg .pred p; .reg .b32 t<3>; mov.u32 t0, %%laneid;\n"
                 "L1: setp.lt.u32 p, t0, 4; add.u32 t0, t0, 5; @p bra L1;\n"
                 "mov.u32 %0, t0; }"
                 : "=r"(q[k]));
  q[3] = p;
}
