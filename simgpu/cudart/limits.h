/* The size of the simulated GPU, in one place: what launches are checked
 * against and what properties and attributes report. The figures are those
 * that NVIDIA publishes for compute capability 9.0. */
#ifndef SIMGPU_CUDART_LIMITS_H
#define SIMGPU_CUDART_LIMITS_H

enum {
    MAX_THREADS = 1024,                 /* a block */
    MAX_BLOCK_XY = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_X = 0x7fffffff,
    MAX_GRID_YZ = 65535,
    WARP_SIZE = 32,
    REGISTERS_PER_BLOCK = 65536,
    REGISTERS_PER_SM = 65536,
    REGISTER_UNIT = 8,                  /* a thread's are rounded up to this */
    SHARED_PER_BLOCK = 48 << 10,
    SHARED_PER_BLOCK_OPTIN = 227 << 10,
    SHARED_PER_SM = 228 << 10,
    SHARED_RESERVED = 1 << 10,          /* a block */
    THREADS_PER_SM = 2048,
    BLOCKS_PER_SM = 32,
    LOCAL_PER_THREAD = 512 << 10,
    CONSTANT_BYTES = 64 << 10,
    MAX_PITCH = 0x7fffffff,             /* of copies and fills in rows */
    PARAM_BYTES = 32764,
    TEXTURE_ALIGNMENT = 512,
    PITCH_ALIGNMENT = 512,              /* of cudaMallocPitch rows */
};

struct kernel;
/* Threads a block of k may have: launch bounds and registers. */
unsigned kernel_max_threads(const struct kernel *k);

#endif
