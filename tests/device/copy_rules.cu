/* Copies and fills: refused arguments, what arrives, who waits. */
#include <stdlib.h>
#include <vector>

#include "kernels.cuh"

RULE(copy, bad_direction, HEADER, "an unknown direction: 21")
{
    int *p = device_array<int>(1), v = 0;
    EXPECT(cudaMemcpy(p, &v, sizeof v, (cudaMemcpyKind)-1),
           cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpyAsync(p, &v, sizeof v, (cudaMemcpyKind)5),
           cudaErrorInvalidMemcpyDirection);
}

RULE(copy, wrong_side, REPORT,
     "device to host from a host source: 1; by default direction it copies")
{
    int src[5] = {0, 10, 20, 30, 40}, dst[5] = {};
    OK(cudaFree(0));
    EXPECT(cudaMemcpyAsync(dst, src, sizeof src, cudaMemcpyDeviceToHost, 0),
           cudaErrorInvalidValue);
    EXPECT(dst[3], 0);
    OK(cudaMemcpyAsync(dst, src, sizeof src, cudaMemcpyDefault, 0));
    OK(finish());
    EXPECT(dst[3], 30);
}

RULE(copy, host_to_device_into_the_host, OPEN,
     "host to device into pageable memory: 1")
{
    int src = 4, dst = 0;
    OK(cudaFree(0));
    EXPECT(cudaMemcpy(&dst, &src, sizeof src, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
}

RULE(copy, device_as_host, OPEN,
     "a device pointer on the host's side of a direction: 1")
{
    int *p = device_array<int>(1), *q = device_array<int>(1);
    EXPECT(cudaMemcpy(p, q, sizeof *p, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(p, q, sizeof *p, cudaMemcpyDeviceToHost),
           cudaErrorInvalidValue);
}

RULE(copy, null_pointers, HEADER, "null source or destination: 1")
{
    int *p = device_array<int>(1), v = 0;
    EXPECT(cudaMemcpy(nullptr, &v, sizeof v, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(&v, nullptr, sizeof v, cudaMemcpyDeviceToHost),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(p, nullptr, sizeof v, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
}

RULE(copy, nothing_to_do, DERIVED, "zero bytes succeed")
{
    int *p = device_array<int>(1), v = 0;
    OK(cudaMemcpy(p, &v, 0, cudaMemcpyHostToDevice));
    OK(cudaMemset(p, 0, 0));
    OK(cudaMemcpy2D(p, 4, &v, 4, 0, 0, cudaMemcpyHostToDevice));
}

RULE(copy, past_the_end, REPORT,
     "a copy that leaves its device allocation: 1, and nothing is copied")
{
    std::vector<char> h(1 << 20, 'x');
    char *p = device_array<char>(256), v = 0;
    OK(cudaMemset(p, 'a', 256));
    EXPECT(cudaMemcpy(p, h.data(), 257, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(h.data(), p, 1 << 20, cudaMemcpyDeviceToHost),
           cudaErrorInvalidValue);
    OK(cudaMemcpy(&v, p, 1, cudaMemcpyDeviceToHost));
    EXPECT(v, 'a');
}

RULE(copy, round_trip, HEADER, "what is copied in comes back out")
{
    std::vector<int> a(100000), b(100000);
    for (size_t i = 0; i < a.size(); i++) a[i] = (int)(i * 2654435761u);
    int *p = device_array<int>(a.size()), *q = device_array<int>(a.size());
    size_t n = a.size() * sizeof(int);
    OK(cudaMemcpy(p, a.data(), n, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(q, p, n, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(b.data(), q, n, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(a.data(), b.data(), n), 0);
}

RULE(copy, default_direction, HEADER,
     "cudaMemcpyDefault finds the direction from the pointers")
{
    int in = 12, out = 0, *p = device_array<int>(1);
    OK(cudaMemcpy(p, &in, sizeof in, cudaMemcpyDefault));
    OK(cudaMemcpy(&out, p, sizeof out, cudaMemcpyDefault));
    EXPECT(out, 12);
}

/* ---- two dimensions -------------------------------------------------------------- */

RULE(copy, pitch_below_width, REPORT, "a pitch below the width: 12")
{
    static char h[512 * 8];
    char *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 100, 8));
    EXPECT(cudaMemcpy2D(p, 99, h, 512, 100, 8, cudaMemcpyHostToDevice),
           cudaErrorInvalidPitchValue);
    EXPECT(cudaMemcpy2D(p, pitch, h, 99, 100, 8, cudaMemcpyHostToDevice),
           cudaErrorInvalidPitchValue);
}

RULE(copy, two_dimensional_arguments, REPORT,
     "null pointers 1, unknown direction 21")
{
    static char h[512 * 8];
    char *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 100, 8));
    EXPECT(cudaMemcpy2D(nullptr, pitch, h, 512, 100, 8,
                        cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(p, pitch, nullptr, 512, 100, 8,
                        cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(p, pitch, h, 512, 100, 8, (cudaMemcpyKind)-1),
           cudaErrorInvalidMemcpyDirection);
}

RULE(copy, largest_pitch, REPORT,
     "a pitch above cudaDevAttrMaxPitch: 1")
{
    static char host[256];
    char *p = device_array<char>(256);
    int most = 0;
    OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPitch, 0));
    size_t pitch = (size_t)most + 1;
    EXPECT(cudaMemcpy2D(p, pitch, host, 16, 16, 2, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(p, 16, host, pitch, 16, 2, cudaMemcpyHostToDevice),
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(host, 16, p, pitch, 16, 1, cudaMemcpyDeviceToHost),
           cudaErrorInvalidValue);
}

/* A copy of a whole box, with one thing changed. */
static cudaError_t copy_box(cudaPitchedPtr dst, cudaPos to, cudaPitchedPtr src,
                            cudaPos from, cudaExtent extent, int kind)
{
    cudaMemcpy3DParms p = {};
    p.dstPtr = dst, p.dstPos = to, p.srcPtr = src, p.srcPos = from;
    p.extent = extent, p.kind = (cudaMemcpyKind)kind;
    return cudaMemcpy3D(&p);
}
RULE(copy, box_arguments, REPORT,
     "cudaMemcpy3D: a pitch below the width 12, an unknown direction 21, null "
     "pointers and boxes that leave their memory: 1; empty boxes succeed")
{
    const cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;
    cudaExtent extent = make_cudaExtent(512, 128, 8);
    cudaPitchedPtr dst, src, other;
    cudaPos zero = {}, pos;
    OK(cudaMalloc3D(&dst, extent));
    OK(cudaMalloc3D(&src, extent));
    OK(copy_box(dst, zero, src, zero, extent, kind));
    other = dst, other.ptr = nullptr;
    EXPECT(copy_box(other, zero, src, zero, extent, kind),
           cudaErrorInvalidValue);
    EXPECT(copy_box(dst, zero, other, zero, extent, kind),
           cudaErrorInvalidValue);
    other = dst, other.pitch = extent.width - 1;
    EXPECT(copy_box(other, zero, src, zero, extent, kind),
           cudaErrorInvalidPitchValue);
    EXPECT(copy_box(src, zero, other, zero, extent, kind),
           cudaErrorInvalidPitchValue);
    EXPECT(copy_box(dst, zero, src, zero, extent, -1),
           cudaErrorInvalidMemcpyDirection);
    const cudaPos beyond[] = {
        make_cudaPos(dst.pitch - extent.width + 1, 0, 0),
        make_cudaPos(0, 1, 0), make_cudaPos(0, 0, 1)};
    for (cudaPos p : beyond) {
        pos = p;
        EXPECT(copy_box(dst, pos, src, zero, extent, kind),
               cudaErrorInvalidValue);
        EXPECT(copy_box(dst, zero, src, pos, extent, kind),
               cudaErrorInvalidValue);
    }
    OK(copy_box(dst, zero, src, zero, make_cudaExtent(0, 128, 8), kind));
    OK(copy_box(dst, zero, src, zero, make_cudaExtent(512, 0, 8), kind));
    OK(copy_box(dst, zero, src, zero, make_cudaExtent(512, 128, 0), kind));
    EXPECT(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
    OK(finish());
}

RULE(copy, two_dimensional_rows, HEADER,
     "rows of one pitch arrive in rows of another, gaps untouched")
{
    unsigned char in[4][10], out[4][16];
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 10; x++) in[y][x] = (unsigned char)(y * 16 + x);
    memset(out, 0xee, sizeof out);
    char *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 10, 4));
    OK(cudaMemcpy2D(p, pitch, in, 10, 10, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(out, 16, p, pitch, 10, 4, cudaMemcpyDeviceToHost));
    EXPECT(out[3][9], 3 * 16 + 9);
    EXPECT(out[0][10], 0xee);
}

/* ---- fills ------------------------------------------------------------------------ */

RULE(fill, exact_bound, REPORT,
     "cudaMemset knows the exact size: one byte too many is refused with 1")
{
    char *p = device_array<char>(184);
    OK(cudaMemset(p, 0x42, 184));
    EXPECT(cudaMemset(p, 0x42, 185), cudaErrorInvalidValue);
    EXPECT(cudaMemsetAsync(p, 0x42, 185, 0), cudaErrorInvalidValue);
    EXPECT(cudaMemset(p + 185, 0x42, 184), cudaErrorInvalidValue);
    OK(cudaMemset(p + 183, 0x42, 1));
}

RULE(fill, host_or_null, REPORT, "filling null or pageable memory: 1")
{
    char *h = (char *)malloc(184);
    OK(cudaFree(0));
    EXPECT(cudaMemset(nullptr, 0, 184), cudaErrorInvalidValue);
    EXPECT(cudaMemset(h, 0, 184), cudaErrorInvalidValue);
}

RULE(fill, takes_the_low_byte, HEADER, "only the low byte of the value counts")
{
    int *p = device_array<int>(2);
    OK(cudaMemset(p, 0x1234, 8));
    EXPECT(read_int(p + 1), 0x34343434);
}

RULE(fill, two_dimensional, HEADER, "cudaMemset2D leaves the gaps alone")
{
    unsigned char *p = device_array<unsigned char>(64), h[64];
    OK(cudaMemset(p, 1, 64));
    OK(cudaMemset2D(p, 16, 7, 5, 4));
    OK(cudaMemcpy(h, p, 64, cudaMemcpyDeviceToHost));
    EXPECT(h[4], 7);
    EXPECT(h[5], 1);
    EXPECT(h[48 + 4], 7);
}

RULE(fill, two_dimensional_arguments, REPORT,
     "cudaMemset2D: a pitch below the width or above the largest, a row too "
     "many, null or pageable memory: 1")
{
    static char pageable[64];
    void *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 184, 57));
    EXPECT(cudaMemset2D(p, 1, 7, 184, 57), cudaErrorInvalidValue);
    EXPECT(cudaMemset2D(p, pitch, 7, pitch + 1, 57), cudaErrorInvalidValue);
    EXPECT(cudaMemset2D(p, (size_t)1 << 31, 7, 184, 2),
           cudaErrorInvalidValue);
    EXPECT(cudaMemset2D(p, pitch, 7, pitch, 58), cudaErrorInvalidValue);
    EXPECT(cudaMemset2D(nullptr, pitch, 7, 184, 57), cudaErrorInvalidValue);
    EXPECT(cudaMemset2D(pageable, 8, 7, 8, 8), cudaErrorInvalidValue);
    EXPECT(cudaMemset2DAsync(p, 1, 7, 184, 57, 0), cudaErrorInvalidValue);
    OK(cudaMemset2D(p, pitch, 7, 184, 57));
    OK(cudaMemset2D(p, pitch, 7, 0, 57));
    OK(finish());
}

RULE(fill, box_arguments, REPORT,
     "cudaMemset3D: a box that leaves its memory: 1, and nothing is filled; "
     "an empty one succeeds wherever it is")
{
    cudaExtent extent = make_cudaExtent(184, 57, 16), e;
    cudaPitchedPtr p, other;
    unsigned char first = 0;
    OK(cudaMalloc3D(&p, extent));
    OK(cudaMemset3D(p, 1, extent));
    e = extent, e.width = p.pitch + 1;
    EXPECT(cudaMemset3D(p, 2, e), cudaErrorInvalidValue);
    e = extent, e.height++;
    EXPECT(cudaMemset3D(p, 2, e), cudaErrorInvalidValue);
    e = extent, e.depth++;
    EXPECT(cudaMemset3D(p, 2, e), cudaErrorInvalidValue);
    e = extent, e.height = SIZE_MAX;
    EXPECT(cudaMemset3D(p, 2, e), cudaErrorInvalidValue);
    other = p, other.pitch = 1;
    EXPECT(cudaMemset3D(other, 2, extent), cudaErrorInvalidValue);
    other = p, other.ptr = nullptr;
    EXPECT(cudaMemset3D(other, 2, extent), cudaErrorInvalidValue);
    other.ptr = (char *)p.ptr + p.pitch * 57 * 16 + 1;
    EXPECT(cudaMemset3D(other, 2, extent), cudaErrorInvalidValue);
    OK(cudaMemset3D(other, 2, make_cudaExtent(0, 0, 0)));
    OK(cudaMemcpy(&first, p.ptr, 1, cudaMemcpyDeviceToHost));
    EXPECT(first, 1);
}

/* ---- who waits ---------------------------------------------------------------------- */

/* A kernel holds the stream; does the call return before it ends? A limit
 * opens it in the end, so a call that waits still returns; where the call
 * should not wait the limit can be far away. */
static bool returned_early(cudaError_t (*call)(void *, void *), void *dst,
                           void *src, int limit)
{
    gate g;
    cudaEvent_t e;
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    hold<<<1, 1>>>(g.device, limit);
    OK(cudaEventRecord(e));
    OK(call(dst, src));
    bool early = cudaEventQuery(e) == cudaErrorNotReady;
    g.open();
    OK(finish());
    return early;
}
static const size_t SIZE = 4096;
static cudaError_t copy(void *dst, void *src)
{
    return cudaMemcpy(dst, src, SIZE, cudaMemcpyDefault);
}
static cudaError_t copy_async(void *dst, void *src)
{
    return cudaMemcpyAsync(dst, src, SIZE, cudaMemcpyDefault, 0);
}
static cudaError_t set(void *dst, void *) { return cudaMemset(dst, 1, SIZE); }
static cudaError_t set_async(void *dst, void *)
{
    return cudaMemsetAsync(dst, 1, SIZE, 0);
}
static void *device() { return device_array<char>(SIZE); }
static void *pageable() { return calloc(1, SIZE); }
static void *pinned()
{
    void *p;
    OK(cudaMallocHost(&p, SIZE));
    return p;
}

#define WAITS(what, basis, text, call, dst, src)              \
    RULE(wait, what, basis, text)                           \
    {                                                         \
        EXPECT(returned_early(call, dst, src, 1 << 20), 0);            \
    }
#define RETURNS(what, basis, text, call, dst, src)            \
    RULE(wait, what, basis, text)                           \
    {                                                         \
        EXPECT(returned_early(call, dst, src, 1 << 25), 1);            \
    }
WAITS(copy_pageable_in, HEADER,
      "cudaMemcpy from pageable memory waits for earlier work of the stream",
      copy, device(), pageable())
WAITS(copy_pinned_in, HEADER, "cudaMemcpy from pinned memory is synchronous",
      copy, device(), pinned())
WAITS(copy_out_pageable, HEADER,
      "cudaMemcpy to pageable memory returns when the copy is complete", copy,
      pageable(), device())
WAITS(copy_out_pinned, HEADER,
      "cudaMemcpy to pinned memory returns when the copy is complete", copy,
      pinned(), device())
RETURNS(copy_within, HEADER,
        "cudaMemcpy from device to device does not wait on the host", copy,
        device(), device())
WAITS(copy_on_host, HEADER, "cudaMemcpy from host to host is synchronous",
      copy, pinned(), pinned())
RETURNS(copy_async_in, HEADER,
        "cudaMemcpyAsync from pinned memory does not wait", copy_async,
        device(), pinned())
RETURNS(copy_async_out, HEADER,
        "cudaMemcpyAsync to pinned memory does not wait", copy_async,
        pinned(), device())
RETURNS(copy_async_within, HEADER,
        "cudaMemcpyAsync from device to device does not wait", copy_async,
        device(), device())
WAITS(copy_async_on_host, HEADER,
      "cudaMemcpyAsync from host to host is synchronous", copy_async,
      pinned(), pinned())
WAITS(copy_async_out_pageable, OPEN,
      "cudaMemcpyAsync to pageable memory returns when the copy is complete",
      copy_async, pageable(), device())
RETURNS(copy_async_in_pageable, OPEN,
        "cudaMemcpyAsync of a few pages of pageable memory returns once they "
        "are staged", copy_async, device(), pageable())
RETURNS(fill_device, HEADER, "cudaMemset of device memory does not wait", set,
        device(), nullptr)
WAITS(fill_pinned, HEADER, "cudaMemset of pinned memory is synchronous", set,
      pinned(), nullptr)
RETURNS(fill_async_pinned, HEADER,
        "cudaMemsetAsync of pinned memory does not wait", set_async, pinned(),
        nullptr)

RULE(wait, staged_source_may_change, HEADER,
     "the host may overwrite a pageable source once the call has returned")
{
    std::vector<int> h(1 << 16, 1);
    int *p = device_array<int>(h.size());
    gate g;
    g.keep();
    OK(cudaMemcpyAsync(p, h.data(), 4096, cudaMemcpyHostToDevice, 0));
    h[7] = 99;
    g.open();
    OK(finish());
    EXPECT(read_int(p + 7), 1);
}
