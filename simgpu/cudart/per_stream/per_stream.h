/* Calls whose NULL stream means one thing or another.
 *
 * Every file of this folder is compiled twice: as it is, and with
 * CUDA_API_PER_THREAD_DEFAULT_STREAM, under which the toolkit's header renames
 * each of these functions to its _ptsz or _ptds form, and NULL becomes the
 * calling thread's own default stream. So these files hold nothing but such
 * functions and static helpers.
 */
#ifndef SIMGPU_CUDART_PER_STREAM_H
#define SIMGPU_CUDART_PER_STREAM_H

#include "cudart/cudart.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
enum { PER_THREAD = 1 };
#undef CALL_PER_THREAD
#define CALL_PER_THREAD 1
#else
enum { PER_THREAD = 0 };
#endif

/* Declares s, or returns from the body with the reason why not. */
#define USE_STREAM(s, handle)                                           \
    struct rt_stream *s;                                                \
    do {                                                                \
        cudaError_t stream_error = stream_get(handle, PER_THREAD, &s);  \
        if (stream_error != cudaSuccess) return stream_error;           \
    } while (0)

#endif
