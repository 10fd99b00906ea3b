// The device's mathematical library, which is long PTX that nvcc links in, run
// on many arguments and compared with the host's. The bounds are those of the
// CUDA guide's tables (units in the last place), and one more for the host's
// own error in double precision.
#include <cmath>
#include <cstdio>
#include <cstdlib>

enum { N = 4096, BLOCK = 128 };

#define FLOATS(X)                                                            \
    X(sin, 2) X(cos, 2) X(tan, 4) X(exp, 2) X(exp2, 2) X(log, 1) X(log2, 1)  \
    X(log1p, 1) X(expm1, 1) X(erf, 2) X(tgamma, 5) X(cbrt, 1) X(atan, 2)     \
    X(asin, 2) X(sinh, 3) X(tanh, 2) X(rint, 0) X(ceil, 0) X(floor, 0)       \
    X(round, 0) X(trunc, 0) X(sqrt, 0)
#define DOUBLES(X)                                                           \
    X(sin, 2) X(cos, 2) X(tan, 2) X(exp, 1) X(log, 1) X(log10, 1) X(erf, 2)  \
    X(tgamma, 10) X(cbrt, 1) X(atan, 2) X(sinh, 2) X(tanh, 1) X(rint, 0)     \
    X(floor, 0) X(round, 0) X(sqrt, 0) X(log1p, 1) X(expm1, 1)

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL_F(n, ulp)                                                     \
    __global__ void n##_float(const float *x, float *y) {                    \
        y[INDEX] = n##f(x[INDEX]);                                           \
    }
#define KERNEL_D(f, ulp)                                                     \
    __global__ void f##_double(const double *x, double *y) {                 \
        y[INDEX] = f(x[INDEX]);                                              \
    }
FLOATS(KERNEL_F)
DOUBLES(KERNEL_D)

static int wrong;

// Distance in units in the last place of a number with `bits` of precision.
static double units(double got, double want, int bits, int least) {
    if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
    if (std::isnan(got) || std::isnan(want)) return INFINITY;
    int e = want == 0 ? least : std::max(std::ilogb(want), least);
    return std::fabs(got - want) / std::ldexp(1.0, e - bits + 1);
}

static void check(const char *name, double x, double got, double want, int bits,
                  int least, double most) {
    if (bits == 24 && std::fabs(want) > 3.4028235e38 && std::isinf(got)) return;
    if (units(got, want, bits, least) <= most) return;
    if (wrong++ < 20)
        std::printf("%s(%a) is %a, expected %a\n", name, x, got, want);
}

static int finished(const char *name) {
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) std::printf("%s: %s\n", name, cudaGetErrorString(e));
    return e == cudaSuccess;
}

int main() {
    float *x, *y;
    double *dx, *dy;
    cudaMallocManaged(&x, N * sizeof *x);
    cudaMallocManaged(&y, N * sizeof *y);
    cudaMallocManaged(&dx, N * sizeof *dx);
    cudaMallocManaged(&dy, N * sizeof *dy);
    std::srand(1);
    for (int i = 0; i < N; i++) { // large, middling and small, of both signs
        static const int scale[] = {6, 0, -10};
        double r = std::rand() / (double)RAND_MAX;
        x[i] = (float)std::ldexp(i % 2 ? r : -r, scale[i % 3]);
    }
    x[0] = 0, x[1] = 1, x[2] = -0.0f, x[3] = INFINITY, x[4] = -INFINITY;
    x[5] = NAN, x[6] = 1e-40f, x[7] = 3e38f;
    for (int i = 0; i < N; i++) dx[i] = x[i];
#define RUN_F(f, ulp)                                                        \
    f##_float<<<N / BLOCK, BLOCK>>>(x, y);                                   \
    if (!finished(#f "f")) return 1;                                         \
    for (int i = 0; i < N; i++)                                              \
        check(#f "f", x[i], y[i], std::f((double)x[i]), 24, -126, ulp + 0.5);
#define RUN_D(f, ulp)                                                        \
    f##_double<<<N / BLOCK, BLOCK>>>(dx, dy);                                \
    if (!finished(#f)) return 1;                                             \
    for (int i = 0; i < N; i++)                                              \
        check(#f, dx[i], dy[i], std::f(dx[i]), 53, -1022, ulp ? ulp + 1 : 0);
    FLOATS(RUN_F)
    DOUBLES(RUN_D)
    return wrong != 0;
}
