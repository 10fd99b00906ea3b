/* The entry points that only nvcc's generated code calls. Their declarations
 * are in the toolkit's C++-only host_runtime.h; these are the same for C. */
#ifndef SIMGPU_CUDART_REGISTRATION_H
#define SIMGPU_CUDART_REGISTRATION_H

#include "cudart/cudart.h"

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper);
void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle);
void CUDARTAPI __cudaUnregisterFatBinary(void **handle);
void CUDARTAPI __cudaRegisterFunction(
    void **handle, const char *host, char *device, const char *name,
    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
    int *warp_size);
void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device,
                                 const char *name, int ext, size_t size,
                                 int constant, int global);
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **slot,
                                        char *device, const char *name,
                                        int ext, size_t size, int constant,
                                        int global);
void CUDARTAPI __cudaRegisterHostVar(void **handle, const char *name,
                                     char *host, size_t size);
char CUDARTAPI __cudaInitModule(void **handle);
unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                               size_t shared,
                                               struct CUstream_st *stream);
cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                 size_t *shared, void *stream);
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid,
                                         dim3 block, void **args,
                                         size_t shared, cudaStream_t stream);
cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid,
                                              dim3 block, void **args,
                                              size_t shared,
                                              cudaStream_t stream);

/* Frees what depends on the context. */
void module_unload(struct module *m);

#endif
