// Adds two vectors. Exit 0 when every element is right, 2 when the kernel
// could not be launched (its error is printed).
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main()
{
    const int n = 100003;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = 0.5f * i;
        b[i] = 3.0f - i;
    }
    float *da, *db, *dc;
    cudaMalloc(&da, n * sizeof(float));
    cudaMalloc(&db, n * sizeof(float));
    cudaMalloc(&dc, n * sizeof(float));
    cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    if (cudaError_t e = cudaGetLastError()) {
        printf("launch: %s\n", cudaGetErrorName(e));
        return 2;
    }
    cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (c[i] != a[i] + b[i]) {
            printf("c[%d] = %g, expected %g\n", i, c[i], a[i] + b[i]);
            return 1;
        }
    return cudaDeviceSynchronize();
}
