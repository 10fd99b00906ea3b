/* Device variables, reached by their host names. */
#include "kernels.cuh"

__device__ int word;
__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int constant = 5;
__global__ void use_symbols(int *out)
{
    out[0] = word + constant;
    out[1] = table[7];
}

RULE(symbol, round_trip, HEADER,
     "cudaMemcpyToSymbol and FromSymbol reach what kernels see")
{
    int v = 30, c = 12, *out = device_array<int>(2);
    OK(cudaMemcpyToSymbol(word, &v, sizeof v));
    OK(cudaMemcpyToSymbol(constant, &c, sizeof c));
    use_symbols<<<1, 1>>>(out);
    EXPECT(read_int(out), 42);
    EXPECT(read_int(out + 1), 8);
    v = 0;
    OK(cudaMemcpyFromSymbol(&v, table, sizeof v, 3 * sizeof v));
    EXPECT(v, 4);
}

RULE(symbol, arguments, REPORT,
     "no such symbol 13, null memory 1, out of range 1, wrong direction 21")
{
    int v = 9;
    EXPECT(cudaMemcpyToSymbol((const void *)nullptr, &v, sizeof v),
           cudaErrorInvalidSymbol);
    EXPECT(cudaMemcpyFromSymbol(&v, (const void *)&v, sizeof v),
           cudaErrorInvalidSymbol);
    EXPECT(cudaMemcpyFromSymbol(nullptr, word, sizeof v),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(word, &v, sizeof v * 100),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpyFromSymbol(&v, word, sizeof v, 300),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(word, &v, sizeof v, 0, cudaMemcpyDeviceToHost),
           cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpyFromSymbol(&v, word, sizeof v, 0,
                                cudaMemcpyHostToDevice),
           cudaErrorInvalidMemcpyDirection);
}

RULE(symbol, address_and_size, HEADER,
     "cudaGetSymbolAddress gives a device pointer, cudaGetSymbolSize its size")
{
    void *p = nullptr;
    size_t n = 0;
    OK(cudaGetSymbolAddress(&p, table));
    OK(cudaGetSymbolSize(&n, table));
    EXPECT(n, sizeof table);
    EXPECT(read_int((int *)p + 2), 3);
    EXPECT(cudaGetSymbolAddress(&p, (const void *)&n), cudaErrorInvalidSymbol);
    EXPECT(cudaGetSymbolSize(&n, (const void *)&n), cudaErrorInvalidSymbol);
}
