/* Launches that are refused, and what a refusal leaves behind. */
#include "kernels.cuh"

static cudaError_t launch(dim3 grid, dim3 block, size_t shared = 0)
{
    return cudaLaunchKernel((const void *)nothing, grid, block, nullptr,
                            shared, 0);
}

static int attribute(cudaDeviceAttr a)
{
    int v = 0;
    OK(cudaDeviceGetAttribute(&v, a, 0));
    return v;
}

#define ZERO(which, grid, block)                                          \
    RULE(launch, zero_##which, REPORT, "a zero " #which " is refused with 9") \
    {                                                                     \
        EXPECT(launch(grid, block), cudaErrorInvalidConfiguration);       \
        OK(finish());                                                       \
        EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);        \
        OK(launch(1, 1));                                                 \
        OK(finish());                                                       \
    }
ZERO(grid_x, dim3(0, 1, 1), 1)
ZERO(grid_y, dim3(1, 0, 1), 1)
ZERO(grid_z, dim3(1, 1, 0), 1)
ZERO(block_x, 1, dim3(0, 1, 1))
ZERO(block_y, 1, dim3(1, 0, 1))
ZERO(block_z, 1, dim3(1, 1, 0))

RULE(launch, block_too_large, REPORT,
     "more threads a block than the device allows: 9, and nothing runs")
{
    int *p = device_array<int>(1), before = 5, value = 77;
    OK(cudaMemcpy(p, &before, sizeof before, cudaMemcpyHostToDevice));
    void *args[] = {&p, &value};
    EXPECT(cudaLaunchKernel((const void *)put, 2, 1500, args, 0, 0),
           cudaErrorInvalidConfiguration);
    OK(finish());
    EXPECT(read_int(p), 5);
}

RULE(launch, block_dimensions_have_limits, HEADER,
     "each dimension of a block has its own limit")
{
    EXPECT(launch(1, dim3(attribute(cudaDevAttrMaxBlockDimX) + 1)),
           cudaErrorInvalidConfiguration);
    EXPECT(launch(1, dim3(1, attribute(cudaDevAttrMaxBlockDimY) + 1)),
           cudaErrorInvalidConfiguration);
    EXPECT(launch(1, dim3(1, 1, attribute(cudaDevAttrMaxBlockDimZ) + 1)),
           cudaErrorInvalidConfiguration);
    OK(launch(1, dim3(1, 1, attribute(cudaDevAttrMaxBlockDimZ))));
    OK(finish());
}

RULE(launch, block_product_has_a_limit, HEADER,
     "dimensions that fit each may still make too many threads")
{
    EXPECT(launch(1, dim3(64, 64)), cudaErrorInvalidConfiguration);
    OK(launch(1, dim3(32, 32)));
    OK(finish());
}

RULE(launch, grid_dimensions_have_limits, HEADER,
     "grid y and z end at 65535")
{
    EXPECT(launch(dim3(1, attribute(cudaDevAttrMaxGridDimY) + 1), 1),
           cudaErrorInvalidConfiguration);
    EXPECT(launch(dim3(1, 1, attribute(cudaDevAttrMaxGridDimZ) + 1), 1),
           cudaErrorInvalidConfiguration);
    OK(launch(dim3(1, attribute(cudaDevAttrMaxGridDimY)), 1));
    OK(finish());
}

RULE(launch, unknown_function, REPORT,
     "a pointer that is no kernel is refused with 98")
{
    static int not_a_kernel;
    EXPECT(cudaLaunchKernel(&not_a_kernel, 1, 1, nullptr, 0, 0),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
    OK(launch(1, 1));
    OK(finish());
}

RULE(launch, null_function, DERIVED, "a null kernel is refused with 98")
{
    EXPECT(cudaLaunchKernel((const void *)nullptr, 1, 1, nullptr, 0, 0),
           cudaErrorInvalidDeviceFunction);
}

RULE(launch, dynamic_shared_over_default, REPORT,
     "more dynamic shared memory than 48 KiB without opting in is refused "
     "with 1")
{
    int limit = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    OK(launch(1, 1, limit));
    EXPECT(launch(1, 1, limit + 1), cudaErrorInvalidValue);
    cudaGetLastError();
    OK(finish());
}

RULE(launch, dynamic_shared_after_opt_in, HEADER,
     "cudaFuncSetAttribute lets a kernel have more dynamic shared memory")
{
    int limit = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (most <= limit) rule_skip("no opt-in shared memory");
    OK(cudaFuncSetAttribute((const void *)nothing,
                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                            most));
    OK(launch(1, 1, most));
    EXPECT(launch(1, 1, most + 1), cudaErrorInvalidValue);
    cudaGetLastError();
    OK(finish());
}

RULE(launch, opt_in_has_a_limit, HEADER,
     "opting in to more shared memory than the device has is refused with 1")
{
    int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    EXPECT(cudaFuncSetAttribute((const void *)nothing,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                most + 1),
           cudaErrorInvalidValue);
}

/* Ninety-six live values a thread. */
__global__ void heavy(const float *in, float *out)
{
    float a[96];
#pragma unroll
    for (int i = 0; i < 96; i++) a[i] = in[i * 1024 + threadIdx.x];
    for (int r = 0; r < 3; r++) {
#pragma unroll
        for (int i = 0; i < 96; i++)
            a[i] = a[i] * a[(i + 41) % 96] + a[(i + 13) % 96];
    }
    float s = 0;
#pragma unroll
    for (int i = 0; i < 96; i++) s += a[i] * (i + 1);
    out[threadIdx.x] = s;
}

RULE(launch, too_many_registers, REPORT,
     "a block that needs more registers than there are: 701, not sticky")
{
    float *in = device_array<float>(96 * 1024), *out = device_array<float>(1024);
    heavy<<<1, 1024>>>(in, out);
    EXPECT(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    heavy<<<1, 64>>>(in, out);
    OK(cudaGetLastError());
    OK(finish());
}

RULE(launch, attributes_agree_with_701, DERIVED,
     "maxThreadsPerBlock of a kernel is what a launch of it accepts")
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, heavy));
    float *in = device_array<float>(96 * 1024), *out = device_array<float>(1024);
    heavy<<<1, a.maxThreadsPerBlock>>>(in, out);
    OK(cudaGetLastError());
    if (a.maxThreadsPerBlock < 1024) {
        heavy<<<1, a.maxThreadsPerBlock + 32>>>(in, out);
        EXPECT(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    }
    OK(finish());
}

/* Eighty values that are all loaded before the first is used, until the
 * assembler moves loads and uses together: 31 registers for sm_90. */
enum { LATE = 80 };
__global__ void late(const unsigned *in, unsigned *out)
{
    unsigned v[LATE], s = 0;
#pragma unroll
    for (int i = 0; i < LATE; i++) v[i] = in[i * 1024 + threadIdx.x];
#pragma unroll
    for (int i = 0; i < LATE; i++) s = s * 3 + v[i];
    out[threadIdx.x] = s;
}

RULE(launch, registers_are_the_assemblers, DERIVED,
     "what counts against a launch is the registers that the assembler gave "
     "the kernel, not the values in its PTX")
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, late));
    EXPECT(a.numRegs <= 64, true);
    EXPECT(a.maxThreadsPerBlock, 1024);
    unsigned *in = device_array<unsigned>(LATE * 1024), want = 0, last = 0;
    unsigned *out = device_array<unsigned>(1024);
    OK(cudaMemset(in, 1, LATE * 1024 * sizeof *in));
    late<<<1, 1024>>>(in, out);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&last, out + 1023, sizeof last, cudaMemcpyDeviceToHost));
    for (int i = 0; i < LATE; i++) want = want * 3 + 0x01010101u;
    EXPECT(last, want);
}

__global__ void __launch_bounds__(64) bounded(int *p) { *p = blockDim.x; }

RULE(launch, over_launch_bounds, REPORT,
     "a block larger than the kernel's launch bounds: 1")
{
    int *p = device_array<int>(1);
    bounded<<<1, 64>>>(p);
    OK(cudaGetLastError());
    bounded<<<1, 65>>>(p);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    OK(finish());
    EXPECT(read_int(p), 64);
}

RULE(launch, refused_launch_is_not_sticky, HEADER,
     "after a refused launch everything still works")
{
    int *p = device_array<int>(1);
    put<<<0, 1>>>(p, 1);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    put<<<1, 1>>>(p, 2);
    OK(cudaGetLastError());
    EXPECT(read_int(p), 2);
}

RULE(launch, stub_discards_the_code, REPORT,
     "<<<>>> throws the launch's code away: only the slot has it")
{
    nothing<<<1, 2048>>>();
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
}

RULE(launch, kernel_launch_returns_the_code, DERIVED,
     "cudaLaunchKernel returns the code and latches it")
{
    EXPECT(launch(1, 2048), cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

RULE(launch, missing_parameters, REPORT,
     "a launch without a value for each parameter of its kernel: 1")
{
    int *p = device_array<int>(1);
    void *args[] = {&p, nullptr};
    EXPECT(cudaLaunchKernel((const void *)put, 1, 1, nullptr, 0, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaLaunchKernel((const void *)put, 1, 1, args, 0, 0),
           cudaErrorInvalidValue);
    OK(cudaLaunchKernel((const void *)nothing, 1, 1, nullptr, 0, 0));
    OK(finish());
}

RULE(launch, not_a_kernel, REPORT,
     "launching null or what is no kernel: 98")
{
    static int word;
    EXPECT(cudaLaunchKernel((const void *)nullptr, 1, 1, nullptr, 0, 0),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaLaunchKernel((const void *)&word, 1, 1, nullptr, 0, 0),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaLaunchCooperativeKernel((const void *)nullptr, 1, 1, nullptr,
                                       0, 0), cudaErrorInvalidDeviceFunction);
    OK(finish());
}

/* ---- cooperative launches ------------------------------------------------------ */

static cudaError_t cooperative(dim3 grid, dim3 block, size_t shared = 0)
{
    return cudaLaunchCooperativeKernel((const void *)nothing, grid, block,
                                       nullptr, shared, 0);
}

RULE(launch, cooperative_grid_too_large, REPORT,
     "a cooperative grid that cannot be resident at once: 720")
{
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1, 0));
    int most = blocks * attribute(cudaDevAttrMultiProcessorCount);
    OK(cooperative(most, 1));
    OK(finish());
    EXPECT(cooperative(most + 1, 1), cudaErrorCooperativeLaunchTooLarge);
    OK(finish());
}

RULE(launch, cooperative_shared_too_large, REPORT,
     "a cooperative launch with too much shared memory: 720")
{
    int limit = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    EXPECT(cooperative(1, 1, limit + 1), cudaErrorCooperativeLaunchTooLarge);
}

RULE(launch, cooperative_zero, REPORT,
     "zero dimensions of a cooperative launch: 9, like any other")
{
    EXPECT(cooperative(0, 1), cudaErrorInvalidConfiguration);
    EXPECT(cooperative(1, 0), cudaErrorInvalidConfiguration);
    EXPECT(cooperative(1, 1025), cudaErrorInvalidConfiguration);
}

RULE(launch, config_form, HEADER,
     "cudaLaunchKernelExC checks and runs like cudaLaunchKernel")
{
    int *p = device_array<int>(1), value = 31;
    void *args[] = {&p, &value};
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = 1;
    OK(cudaLaunchKernelExC(&c, (const void *)put, args));
    EXPECT(read_int(p), 31);
    c.blockDim = 4096;
    EXPECT(cudaLaunchKernelExC(&c, (const void *)put, args),
           cudaErrorInvalidConfiguration);
    EXPECT(cudaLaunchKernelExC(nullptr, (const void *)put, args),
           cudaErrorInvalidValue);
}

RULE(launch, config_cooperative, HEADER,
     "the cooperative attribute makes cudaLaunchKernelExC a cooperative "
     "launch")
{
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = 1 << 20;
    c.blockDim = 1;
    c.attrs = &a;
    c.numAttrs = 1;
    EXPECT(cudaLaunchKernelExC(&c, (const void *)nothing, nullptr),
           cudaErrorCooperativeLaunchTooLarge);
    c.gridDim = 1;
    OK(cudaLaunchKernelExC(&c, (const void *)nothing, nullptr));
    OK(finish());
}

struct parcel { char c; double d; short s; int v[5]; };
__global__ void unpack(parcel a, char c, double d, short s, long long *out)
{
    out[0] = a.c + a.s + (long long)a.d + a.v[0] + a.v[4];
    out[1] = c;
    out[2] = (long long)d;
    out[3] = s;
}

RULE(launch, parameters_by_value, HEADER,
     "parameters of every size arrive, structures by value")
{
    long long *out = device_array<long long>(4), h[4] = {};
    parcel a = {1, 20.0, 300, {4000, 0, 0, 0, 50000}};
    unpack<<<1, 1>>>(a, 'x', -2.5e9, -7, out);
    OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0], 54321);
    EXPECT(h[1], 'x');
    EXPECT(h[2], -2500000000ll);
    EXPECT(h[3], -7);
}
