// Integers of 128 bits: the device has none, so nvcc writes long code for them,
// with carries from one 32-bit word to the next and back. The host has them.
#include <cstdio>

enum { N = 2048, BLOCK = 128, RESULTS = 8 };
typedef __int128 wide;
typedef unsigned __int128 uwide;

// What the device and the host are to make of a and b, which is not 0.
__host__ __device__ static void all(uwide a, uwide b, uwide *y) {
    unsigned n = (unsigned)b % 128;
    y[0] = a + b;
    y[1] = a - b;
    y[2] = a * b;
    y[3] = a / b;
    y[4] = a % b;
    y[5] = a << n;
    y[6] = (wide)a >> n;
    y[7] = (wide)a / (wide)b * 3 + (wide)a % (wide)b + ((wide)a < (wide)b);
}

__global__ void results(const uwide *a, const uwide *b, uwide *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    all(a[i], b[i], y + i * RESULTS);
}

static unsigned long long word(void) {
    static unsigned long long x = 1;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

// Of every length, and with long runs of ones and zeroes.
static uwide any(unsigned i) {
    uwide x = (uwide)word() << 64 | word();
    x >>= word() % 128;
    return i % 4 ? x : i % 8 ? (uwide)1 << word() % 128 : ~(x & word());
}

int main() {
    uwide *a, *b, *y;
    cudaMallocManaged(&a, N * sizeof *a);
    cudaMallocManaged(&b, N * sizeof *b);
    cudaMallocManaged(&y, N * RESULTS * sizeof *y);
    for (unsigned i = 0; i < N; i++) {
        a[i] = any(i), b[i] = any(i + 1);
        if (!b[i]) b[i] = 1;
        if ((wide)b[i] == -1) b[i] = 2; // the smallest by -1 has no result
    }
    results<<<N / BLOCK, BLOCK>>>(a, b, y);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    int wrong = 0;
    for (unsigned i = 0; i < N; i++) {
        uwide want[RESULTS];
        all(a[i], b[i], want);
        for (int k = 0; k < RESULTS; k++)
            if (y[i * RESULTS + k] != want[k] && wrong++ < 20)
                std::printf("result %d of pair %u is wrong\n", k, i);
    }
    return wrong != 0;
}
