// Arithmetic of every width: conversions with every rounding, intrinsics,
// library functions, halves, the 64-bit and saturating forms.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void reals(float *f, double *d, int n) {
  float x = f[0], y = f[1];
  f[2] = sinf(x) + cosf(y) + expf(x) + logf(y) + powf(x, y) + sqrtf(x) +
         rsqrtf(y) + tanhf(x) + erff(y) + floorf(x) + truncf(y) + rintf(x) +
         fmodf(x, y) + atan2f(x, y) + cbrtf(x) + ldexpf(x, n) + lgammaf(y);
  f[3] = __sinf(x) + __expf(y) + __logf(x) + __fdividef(x, y) + __frcp_rn(x) +
         __fsqrt_rz(y) + __fmaf_ru(x, y, x) + __fadd_rd(x, y) + x / y +
         fminf(x, y) + fmaxf(x, y) + fabsf(x) + copysignf(x, y) +
         __saturatef(x) + fmaf(x, y, x);
  d[2] = sin(d[0]) + exp(d[1]) + pow(d[0], d[1]) + sqrt(d[0]) + d[0] / d[1] +
         fma(d[0], d[1], d[0]) + floor(d[0]) + log(d[1]) + __dadd_ru(d[0], 1);
  f[4] = isnan(x) + isinf(y) + signbit(x) + isfinite(d[0]);
}

__global__ void conversions(float *f, double *d, int *i, long long *l,
                            signed char *c, unsigned short *s) {
  i[0] = __float2int_rn(f[0]) + __float2int_ru(f[1]) + (int)f[2] + (int)d[0];
  l[0] = __float2ll_rd(f[0]) + (long long)d[1] + i[1] + c[0] + s[0];
  f[3] = (float)l[1] + (float)d[2] + __int2float_rz(i[2]) + (float)s[1] + c[1];
  d[3] = (double)l[2] + (double)(unsigned)i[3] + (double)f[4];
  c[2] = (signed char)f[5]; s[2] = (unsigned short)d[4];
  i[4] = __float_as_int(f[6]) + __double2hiint(d[5]) + __double2loint(d[6]);
  l[3] = __double_as_longlong(d[7]) + (unsigned)l[4];
  d[8] = __hiloint2double(i[5], i[6]);
}

__global__ void integers(int *i, unsigned *u, long long *l,
                         unsigned long long *q) {
  i[0] = i[1] / i[2] + i[3] % i[4] + i[5] * i[6] + (i[7] >> i[8]) +
         (i[9] << 3) + abs(i[10]) + min(i[11], i[12]) + __mulhi(i[13], i[14]) +
         __mul24(i[15], 3) + __sad(i[16], i[17], u[0]) + __hadd(i[18], i[19]);
  u[0] = u[1] / u[2] + u[3] % u[4] + (u[5] >> 3) + max(u[6], u[7]) +
         __umulhi(u[8], u[9]) + (u[10] & 0xff00) + (u[11] | u[12]) + ~u[13] +
         (u[14] ^ (u[15] & u[16])) + (u[17] >> 8 & 0x3f);
  l[0] = l[1] / l[2] + l[3] * l[4] + (l[5] >> 7) + __mul64hi(l[6], l[7]) +
         llabs(l[8]) + (long long)i[20] * i[21];
  q[0] = q[1] / q[2] + q[3] % q[4] + __umul64hi(q[5], q[6]) + __popcll(q[7]) +
         __clzll(q[8]) + __brevll(q[9]) + (unsigned long long)u[18] * u[19];
  u[20] = __dp4a(u[21], u[22], u[23]) + __vabsdiffu4(u[24], u[25]) +
          __viaddmax_s32(i[1], i[2], i[3]);
}

__global__ void halves(__half *h, __half2 *h2, __nv_bfloat16 *b, float *f) {
  h[0] = __hadd(h[1], h[2]) * h[3] - h[4] / h[5] + __float2half(f[0]);
  h2[0] = __hfma2(h2[1], h2[2], __hmul2(h2[3], h2[4]));
  f[1] = __half2float(h[6]) + __low2float(h2[5]) + (float)(h[7] > h[8]);
  h[9] = hsqrt(h[10]) + hexp(h[11]) + __hmax(h[12], h[13]);
  b[0] = __float2bfloat16(f[2] + __bfloat162float(b[1]));
#if __CUDA_ARCH__ >= 800
  b[2] = __hfma(b[3], b[4], b[5]);
#endif
  atomicAdd(h2, h2[1]);
}
