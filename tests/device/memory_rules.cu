/* Allocating, freeing, registering, asking what a pointer is. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "kernels.cuh"

RULE(memory, null_out, HEADER, "cudaMalloc into a null pointer: 1")
{
    EXPECT(cudaMalloc((void **)nullptr, 4096), cudaErrorInvalidValue);
}

RULE(memory, zero_size, REPORT,
     "zero bytes succeed and give a null pointer")
{
    void *p = (void *)1;
    OK(cudaMalloc(&p, 0));
    EXPECT((uintptr_t)p, 0);
    p = (void *)1;
    OK(cudaMallocHost(&p, 0));
    EXPECT((uintptr_t)p, 0);
}

RULE(memory, too_much, REPORT, "more than there is: 2")
{
    void *p;
    EXPECT(cudaMalloc(&p, SIZE_MAX), cudaErrorMemoryAllocation);
    EXPECT(cudaMallocManaged(&p, SIZE_MAX), cudaErrorMemoryAllocation);
    EXPECT(cudaMallocHost(&p, SIZE_MAX), cudaErrorMemoryAllocation);
}

RULE(memory, all_of_it, DERIVED,
     "allocating until nothing is left gives 2, and freeing makes room again")
{
    size_t free_bytes, total;
    void *p[64];
    int n = 0;
    OK(cudaMemGetInfo(&free_bytes, &total));
    size_t step = total / 32;
    cudaError_t e = cudaSuccess;
    while (n < 64 && (e = cudaMalloc(&p[n], step)) == cudaSuccess) n++;
    EXPECT(e, cudaErrorMemoryAllocation);
    cudaGetLastError();
    if (n) OK(cudaFree(p[--n]));
    OK(cudaMalloc(&p[n], step));
}

RULE(memory, aligned, HEADER, "cudaMalloc aligns to at least 256 bytes")
{
    for (size_t size = 1; size < 5000; size = size * 2 + 1) {
        void *p;
        OK(cudaMalloc(&p, size));
        EXPECT((uintptr_t)p % 256, 0);
    }
}

RULE(memory, info_counts, DERIVED,
     "cudaMemGetInfo: free goes down by at least what was allocated")
{
    size_t before, after, total;
    OK(cudaFree(0));
    OK(cudaMemGetInfo(&before, &total));
    EXPECT(before <= total, 1);
    void *p;
    OK(cudaMalloc(&p, 64 << 20));
    OK(cudaMemGetInfo(&after, &total));
    EXPECT(before - after >= 64u << 20, 1);
    OK(cudaFree(p));
}

RULE(memory, free_null, REPORT, "cudaFree and cudaFreeHost of null succeed")
{
    OK(cudaFree(nullptr));
    OK(cudaFreeHost(nullptr));
}

RULE(memory, free_foreign, REPORT, "freeing what was never allocated: 1")
{
    char local = 0;
    EXPECT(cudaFree(&local), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(&local), cudaErrorInvalidValue);
}

RULE(memory, free_twice, REPORT, "freeing twice: 1, and nothing is ruined")
{
    void *p, *h;
    OK(cudaMalloc(&p, 1024));
    OK(cudaFree(p));
    EXPECT(cudaFree(p), cudaErrorInvalidValue);
    OK(cudaMallocHost(&h, 1024));
    OK(cudaFreeHost(h));
    EXPECT(cudaFreeHost(h), cudaErrorInvalidValue);
    OK(cudaMalloc(&p, 1024));
}

RULE(memory, free_interior, DERIVED, "freeing the middle of an allocation: 1")
{
    char *p = device_array<char>(1024);
    EXPECT(cudaFree(p + 256), cudaErrorInvalidValue);
    OK(cudaFree(p));
}

RULE(memory, free_by_the_wrong_call, DERIVED,
     "cudaFree of pinned memory and cudaFreeHost of device memory: 1")
{
    void *p, *h;
    OK(cudaMalloc(&p, 1024));
    OK(cudaMallocHost(&h, 1024));
    EXPECT(cudaFreeHost(p), cudaErrorInvalidValue);
    EXPECT(cudaFree(h), cudaErrorInvalidValue);
    OK(cudaFree(p));
    OK(cudaFreeHost(h));
}

RULE(memory, free_waits, DERIVED,
     "cudaFree waits for kernels that may still use the memory")
{
    gate g;
    int *p = device_array<int>(1);
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    hold<<<1, 1>>>(g.device, 1 << 18);
    OK(cudaEventRecord(e));
    OK(cudaFree(p));
    OK(cudaEventQuery(e));
}

RULE(memory, pitch_arguments, REPORT,
     "cudaMallocPitch: null outputs 1, impossible width 1, too many rows 2")
{
    void *p;
    size_t pitch;
    EXPECT(cudaMallocPitch(&p, (size_t *)nullptr, 1, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaMallocPitch((void **)nullptr, &pitch, 1, 1),
           cudaErrorInvalidValue);
    EXPECT(cudaMallocPitch(&p, &pitch, SIZE_MAX, 1), cudaErrorInvalidValue);
    EXPECT(cudaMallocPitch(&p, &pitch, 1, SIZE_MAX),
           cudaErrorMemoryAllocation);
}

RULE(memory, pitch_holds_rows, HEADER,
     "a pitch is at least the width and keeps rows aligned")
{
    void *p;
    size_t pitch;
    OK(cudaMallocPitch(&p, &pitch, 100, 8));
    EXPECT(pitch >= 100, 1);
    EXPECT(pitch % 32, 0);
    OK(cudaMemset2D(p, pitch, 1, 100, 8));
    OK(finish());
}

RULE(memory, device_pointer_on_the_host, REPORT,
     "the host dies of SIGSEGV when it reads device memory")
{
    pid_t child = fork(); /* before any CUDA call */
    if (child == 0) {
        int *p = nullptr;
        signal(SIGSEGV, SIG_DFL);
        if (cudaMalloc(&p, 4096) != cudaSuccess) _exit(1);
        _exit(*(volatile int *)p == 12345 ? 2 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGSEGV);
}

/* ---- host memory ---------------------------------------------------------------- */

RULE(memory, pinned_is_mapped, REPORT,
     "pinned memory is mapped whether asked for or not")
{
    void *p, *d;
    unsigned flags = 0;
    OK(cudaHostAlloc(&p, 4096, cudaHostAllocDefault));
    OK(cudaHostGetFlags(&flags, p));
    EXPECT(flags & cudaHostAllocMapped, cudaHostAllocMapped);
    OK(cudaHostGetDevicePointer(&d, p, 0));
    put<<<1, 1>>>((int *)d, 8);
    OK(finish());
    EXPECT(*(int *)p, 8);
}

RULE(memory, host_alloc_flags, HEADER, "unknown cudaHostAlloc flags: 1")
{
    void *p;
    EXPECT(cudaHostAlloc(&p, 64, 0x100), cudaErrorInvalidValue);
    EXPECT(cudaHostAlloc((void **)nullptr, 64, 0), cudaErrorInvalidValue);
}

RULE(memory, host_device_pointer_arguments, DERIVED,
     "cudaHostGetDevicePointer: flags or memory that is not pinned: 1")
{
    void *p, *d;
    static char pageable[64];
    OK(cudaMallocHost(&p, 64));
    EXPECT(cudaHostGetDevicePointer(&d, p, 1), cudaErrorInvalidValue);
    EXPECT(cudaHostGetDevicePointer(&d, pageable, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostGetDevicePointer((void **)nullptr, p, 0),
           cudaErrorInvalidValue);
}

static char *page_memory(size_t n)
{
    return (char *)aligned_alloc(4096, n);
}

RULE(memory, register_overlap, REPORT, "registering what overlaps: 712")
{
    char *b = page_memory(16384);
    OK(cudaHostRegister(b, 8192, cudaHostRegisterMapped));
    EXPECT(cudaHostRegister(b + 4096, 8192, cudaHostRegisterMapped),
           cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(b));
}

RULE(memory, unregister_interior, REPORT,
     "unregistering from the middle: 1")
{
    char *b = page_memory(8192);
    OK(cudaHostRegister(b, 8192, 0));
    EXPECT(cudaHostUnregister(b + 4096), cudaErrorInvalidValue);
    OK(cudaHostUnregister(b));
}

RULE(memory, unregister_twice, REPORT,
     "unregistering what is not registered: 713")
{
    char *b = page_memory(4096), foreign[64];
    OK(cudaHostRegister(b, 4096, 0));
    OK(cudaHostUnregister(b));
    EXPECT(cudaHostUnregister(b), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaHostUnregister(foreign), cudaErrorHostMemoryNotRegistered);
}

RULE(memory, register_arguments, REPORT,
     "registering null or nothing, unregistering null or pinned memory: 1")
{
    char *b = page_memory(4096);
    void *pinned;
    OK(cudaMallocHost(&pinned, 4096));
    EXPECT(cudaHostRegister(nullptr, 1, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(b, 0, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostUnregister(nullptr), cudaErrorInvalidValue);
    EXPECT(cudaHostUnregister(pinned), cudaErrorInvalidValue);
}

RULE(memory, register_what_is_not_there, DERIVED,
     "registering addresses where the process has no memory: 1")
{
    EXPECT(cudaHostRegister((void *)4096, 4096, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister((void *)64, SIZE_MAX, 0), cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(page_memory(4096), 4096, 0x20),
           cudaErrorInvalidValue);
}

RULE(memory, register_pinned, DERIVED,
     "registering what cudaMallocHost gave: 712")
{
    void *p;
    OK(cudaMallocHost(&p, 4096));
    EXPECT(cudaHostRegister(p, 4096, 0), cudaErrorHostMemoryAlreadyRegistered);
}

RULE(memory, register_read_only, HEADER,
     "read-only registration fails with 801 where the device does not have it")
{
    int supported = 1;
    OK(cudaDeviceGetAttribute(
        &supported, cudaDevAttrHostRegisterReadOnlySupported, 0));
    if (supported) rule_skip("the device has it");
    EXPECT(cudaHostRegister(page_memory(4096), 4096,
                            cudaHostRegisterReadOnly),
           cudaErrorNotSupported);
}

RULE(memory, registered_is_usable, HEADER,
     "kernels write registered memory, until it is unregistered")
{
    int *b = (int *)page_memory(4096);
    int *d = nullptr;
    b[0] = 0;
    OK(cudaHostRegister(b, 4096, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer((void **)&d, b, 0));
    put<<<1, 1>>>(d, 9);
    OK(finish());
    EXPECT(b[0], 9);
    OK(cudaHostUnregister(b));
    EXPECT(cudaHostGetDevicePointer((void **)&d, b, 0),
           cudaErrorInvalidValue);
}

/* ---- managed memory -------------------------------------------------------------- */

RULE(memory, managed_both_sides, HEADER,
     "managed memory has one address that host and kernels use")
{
    int *p = nullptr;
    OK(cudaMallocManaged(&p, sizeof(int)));
    *p = 1;
    add_one<<<1, 1>>>(p);
    OK(finish());
    EXPECT(*p, 2);
    OK(cudaFree(p));
}

RULE(memory, managed_arguments, HEADER,
     "cudaMallocManaged: no bytes or unknown flags: 1")
{
    void *p;
    EXPECT(cudaMallocManaged(&p, 0), cudaErrorInvalidValue);
    EXPECT(cudaMallocManaged(&p, 64, 0x77), cudaErrorInvalidValue);
    EXPECT(cudaMallocManaged((void **)nullptr, 64), cudaErrorInvalidValue);
}

__managed__ int managed_word = 17;
RULE(memory, managed_variable, HEADER,
     "a __managed__ variable starts with its value on both sides")
{
    EXPECT(managed_word, 17);
    add_one<<<1, 1>>>(&managed_word);
    OK(finish());
    EXPECT(managed_word, 18);
}

static cudaMemLocation place(cudaMemLocationType type, int id)
{
    cudaMemLocation l = {};
    l.type = type;
    l.id = id;
    return l;
}
RULE(memory, prefetch_arguments, HEADER,
     "cudaMemPrefetchAsync: a device that does not exist 101; flags, other "
     "memory, no bytes, too many: 1")
{
    char *m = nullptr, *d = device_array<char>(4096);
    cudaMemLocation here = place(cudaMemLocationTypeDevice, 0);
    OK(cudaMallocManaged(&m, 4096));
    OK(cudaMemPrefetchAsync(m, 4096, here, 0, 0));
    OK(cudaMemPrefetchAsync(m, 4096, place(cudaMemLocationTypeHost, 7), 0, 0));
    EXPECT(cudaMemPrefetchAsync(m, 4096, place(cudaMemLocationTypeDevice, 99),
                                0, 0), cudaErrorInvalidDevice);
    EXPECT(cudaMemPrefetchAsync(m, 4096, here, 1, 0), cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync(d, 4096, here, 0, 0), cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync(nullptr, 4096, here, 0, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync(m, 0, here, 0, 0), cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync(m, 1 << 20, here, 0, 0),
           cudaErrorInvalidValue);
    OK(finish());
}

RULE(memory, advice_arguments, HEADER,
     "cudaMemAdvise: unknown advice or other memory 1, a device that does not "
     "exist 101")
{
    char *m = nullptr, *d = device_array<char>(4096);
    cudaMemLocation here = place(cudaMemLocationTypeDevice, 0);
    OK(cudaMallocManaged(&m, 4096));
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, here));
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation, here));
    EXPECT(cudaMemAdvise(m, 4096, (cudaMemoryAdvise)99, here),
           cudaErrorInvalidValue);
    EXPECT(cudaMemAdvise(d, 4096, cudaMemAdviseSetReadMostly, here),
           cudaErrorInvalidValue);
    EXPECT(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation,
                         place(cudaMemLocationTypeDevice, 99)),
           cudaErrorInvalidDevice);
}

static int hint(const void *p, size_t size, cudaMemRangeAttribute attribute)
{
    int value = -99;
    OK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, p, size));
    return value;
}
static char *managed_pages(int n)
{
    char *m = nullptr;
    OK(cudaMallocManaged(&m, n * 4096));
    return m;
}

RULE(memory, hints_are_remembered, HEADER,
     "cudaMemRangeGetAttribute tells what was advised and prefetched, and "
     "where nothing was, cudaInvalidDeviceId")
{
    char *m = managed_pages(2);
    int by[3] = {7, 7, 7};
    cudaMemLocation device = place(cudaMemLocationTypeDevice, 0),
                    host = place(cudaMemLocationTypeHost, 0);
    EXPECT(hint(m, 4096, cudaMemRangeAttributeReadMostly), 0);
    EXPECT(hint(m, 4096, cudaMemRangeAttributePreferredLocation),
           cudaInvalidDeviceId);
    EXPECT(hint(m, 4096, cudaMemRangeAttributeLastPrefetchLocation),
           cudaInvalidDeviceId);
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, device));
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation, host));
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseSetAccessedBy, device));
    OK(cudaMemPrefetchAsync(m, 4096, device, 0, 0));
    EXPECT(hint(m, 4096, cudaMemRangeAttributeReadMostly), 1);
    EXPECT(hint(m, 4096, cudaMemRangeAttributePreferredLocation),
           cudaCpuDeviceId);
    EXPECT(hint(m, 4096, cudaMemRangeAttributePreferredLocationType),
           cudaMemLocationTypeHost);
    EXPECT(hint(m, 4096, cudaMemRangeAttributeLastPrefetchLocation), 0);
    OK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy,
                                m, 4096));
    EXPECT(by[0], 0);
    EXPECT(by[1], cudaInvalidDeviceId);
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseUnsetReadMostly, device));
    EXPECT(hint(m, 4096, cudaMemRangeAttributeReadMostly), 0);
    OK(finish());
    OK(cudaFree(m));
}

RULE(memory, hints_of_a_part, REPORT,
     "an attribute holds for a range only if it holds for all its pages")
{
    char *m = managed_pages(64);
    cudaMemLocation device = place(cudaMemLocationTypeDevice, 0);
    OK(cudaMemAdvise(m, 32 * 4096, cudaMemAdviseSetReadMostly, device));
    OK(cudaMemAdvise(m, 32 * 4096, cudaMemAdviseSetPreferredLocation, device));
    EXPECT(hint(m, 32 * 4096, cudaMemRangeAttributeReadMostly), 1);
    EXPECT(hint(m, 64 * 4096, cudaMemRangeAttributeReadMostly), 0);
    EXPECT(hint(m, 32 * 4096, cudaMemRangeAttributePreferredLocation), 0);
    EXPECT(hint(m, 64 * 4096, cudaMemRangeAttributePreferredLocation),
           cudaInvalidDeviceId);
}

RULE(memory, hint_arguments, REPORT,
     "cudaMemRangeGetAttribute: null or wrongly sized output, unknown "
     "attribute, other memory, no bytes: 1")
{
    char *m = managed_pages(1), *d = device_array<char>(4096);
    int data[4];
    const cudaMemRangeAttribute mostly = cudaMemRangeAttributeReadMostly;
    EXPECT(cudaMemRangeGetAttribute(nullptr, 4, mostly, m, 4096),
           cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 0, mostly, m, 4096),
           cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 8, mostly, m, 4096),
           cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 10, cudaMemRangeAttributeAccessedBy,
                                    m, 4096), cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 4, (cudaMemRangeAttribute)999, m,
                                    4096), cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 4, mostly, nullptr, 4096),
           cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 4, mostly, d, 4096),
           cudaErrorInvalidValue);
    EXPECT(cudaMemRangeGetAttribute(data, 4, mostly, m, 0),
           cudaErrorInvalidValue);
}

RULE(memory, attach_arguments, HEADER,
     "cudaStreamAttachMemAsync: singly to the null stream, a part of an "
     "allocation, other memory, unknown flags: 1")
{
    char *m = nullptr, *d = device_array<char>(4096);
    cudaStream_t s;
    OK(cudaMallocManaged(&m, 4096));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachSingle));
    OK(cudaStreamAttachMemAsync(s, m, 4096, cudaMemAttachGlobal));
    OK(cudaStreamAttachMemAsync(0, m, 0, cudaMemAttachGlobal));
    EXPECT(cudaStreamAttachMemAsync(0, m, 0, cudaMemAttachSingle),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamAttachMemAsync(s, m, 100, cudaMemAttachSingle),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamAttachMemAsync(s, d, 0, cudaMemAttachSingle),
           cudaErrorInvalidValue);
    EXPECT(cudaStreamAttachMemAsync(s, m, 0, 9), cudaErrorInvalidValue);
    OK(finish());
}

/* ---- what a pointer is ------------------------------------------------------------ */

RULE(memory, attributes_device, HEADER, "attributes of a device pointer")
{
    cudaPointerAttributes a;
    char *p = device_array<char>(256);
    OK(cudaPointerGetAttributes(&a, p + 10));
    EXPECT(a.type, cudaMemoryTypeDevice);
    EXPECT(a.device, 0);
    EXPECT((uintptr_t)a.devicePointer, (uintptr_t)(p + 10));
    EXPECT((uintptr_t)a.hostPointer, 0);
}

RULE(memory, attributes_pinned, HEADER, "attributes of pinned memory")
{
    cudaPointerAttributes a;
    void *p;
    OK(cudaMallocHost(&p, 256));
    OK(cudaPointerGetAttributes(&a, p));
    EXPECT(a.type, cudaMemoryTypeHost);
    EXPECT((uintptr_t)a.hostPointer, (uintptr_t)p);
}

RULE(memory, attributes_managed, HEADER, "attributes of managed memory")
{
    cudaPointerAttributes a;
    void *p;
    OK(cudaMallocManaged(&p, 256));
    OK(cudaPointerGetAttributes(&a, p));
    EXPECT(a.type, cudaMemoryTypeManaged);
}

RULE(memory, attributes_unregistered, HEADER,
     "a pageable pointer is no error but of type unregistered")
{
    cudaPointerAttributes a;
    int local = 0;
    OK(cudaPointerGetAttributes(&a, &local));
    EXPECT(a.type, cudaMemoryTypeUnregistered);
    EXPECT((uintptr_t)a.devicePointer, 0);
    EXPECT(cudaPointerGetAttributes((cudaPointerAttributes *)nullptr, &local),
           cudaErrorInvalidValue);
}
