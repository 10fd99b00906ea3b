/* Code that the program loads itself; the log of errors. */
#include <stdlib.h>

#include "kernels.cuh"

static const char PTX[] =
    ".version 8.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 setting = 7;\n"
    ".visible .entry put_setting(.param .u64 out)\n"
    "{\n"
    "    .reg .b64 %rd<3>;\n"
    "    .reg .b32 %r<2>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    ld.global.u32 %r1, [setting];\n"
    "    st.global.u32 [%rd2], %r1;\n"
    "    ret;\n"
    "}\n";

static cudaLibrary_t library()
{
    cudaLibrary_t l = nullptr;
    OK(cudaLibraryLoadData(&l, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
    return l;
}

RULE(library, from_text, HEADER,
     "a kernel of PTX text can be loaded, found by name and launched")
{
    cudaKernel_t k = nullptr;
    int *p = device_array<int>(1);
    void *args[] = {&p};
    OK(cudaLibraryGetKernel(&k, library(), "put_setting"));
    OK(cudaLaunchKernel((const void *)k, 1, 1, args, 0, 0));
    EXPECT(read_int(p), 7);
}

RULE(library, variables, HEADER, "its variables have addresses and sizes")
{
    cudaLibrary_t l = library();
    cudaKernel_t k = nullptr;
    void *address = nullptr;
    size_t size = 0;
    int *p = device_array<int>(1), v = 12;
    void *args[] = {&p};
    OK(cudaLibraryGetGlobal(&address, &size, l, "setting"));
    EXPECT(size, 4);
    OK(cudaMemcpy(address, &v, sizeof v, cudaMemcpyHostToDevice));
    OK(cudaLibraryGetKernel(&k, l, "put_setting"));
    OK(cudaLaunchKernel((const void *)k, 1, 1, args, 0, 0));
    EXPECT(read_int(p), 12);
}

RULE(library, unknown_name, HEADER, "a name it does not have: 500")
{
    cudaKernel_t k;
    void *p;
    cudaLibrary_t l = library();
    EXPECT(cudaLibraryGetKernel(&k, l, "nobody"), cudaErrorSymbolNotFound);
    EXPECT(cudaLibraryGetGlobal(&p, (size_t *)nullptr, l, "nobody"),
           cudaErrorSymbolNotFound);
}

RULE(library, counts_its_kernels, HEADER, "its kernels can be enumerated")
{
    unsigned n = 0;
    cudaKernel_t k = nullptr;
    cudaLibrary_t l = library();
    OK(cudaLibraryGetKernelCount(&n, l));
    EXPECT(n, 1);
    OK(cudaLibraryEnumerateKernels(&k, 1, l));
    EXPECT(k != nullptr, 1);
    OK(cudaLibraryUnload(l));
}

RULE(library, bad_text, HEADER, "text that is no PTX: 218 or 200")
{
    cudaLibrary_t l;
    text_begin(2);
    cudaError_t e = cudaLibraryLoadData(&l, ".version 8.0\nnonsense\n", nullptr,
                                        nullptr, 0, nullptr, nullptr, 0);
    text_end();
    EXPECT_EITHER(e, cudaErrorInvalidPtx, cudaErrorInvalidKernelImage);
}

RULE(library, missing_file, HEADER, "a file that is not there: 301")
{
    cudaLibrary_t l;
    EXPECT(cudaLibraryLoadFromFile(&l, "/nowhere/at/all.ptx", nullptr,
                                   nullptr, 0, nullptr, nullptr, 0),
           cudaErrorFileNotFound);
}

/* ---- the log ----------------------------------------------------------------------------- */

RULE(log, names_the_call, HEADER,
     "a call that fails leaves a line in the log, one that succeeds does not")
{
    char text[4096];
    size_t size = sizeof text;
    cudaLogIterator at = 0;
    OK(cudaFree(0));
    OK(cudaLogsCurrent(&at, 0));
    OK(cudaMemset(nullptr, 0, 0));
    OK(cudaLogsDumpToMemory(&at, text, &size, 0));
    EXPECT(size, 0);
    EXPECT(cudaMalloc((void **)nullptr, 64), cudaErrorInvalidValue);
    size = sizeof text;
    OK(cudaLogsDumpToMemory(&at, text, &size, 0));
    EXPECT(size > 0 && size == strlen(text), 1);
    size = sizeof text;
    OK(cudaLogsDumpToMemory(&at, text, &size, 0)); /* the iterator moved on */
    EXPECT(size, 0);
}

static void on_log(void *data, cudaLogLevel level, char *message,
                   size_t length)
{
    int *seen = (int *)data;
    seen[0]++;
    seen[1] = level == cudaLogLevelError && strlen(message) == length;
}

RULE(log, callback, HEADER, "a registered callback gets each line")
{
    int seen[2] = {0, 0};
    cudaLogsCallbackHandle h;
    OK(cudaLogsRegisterCallback(on_log, seen, &h));
    EXPECT(cudaMalloc((void **)nullptr, 64), cudaErrorInvalidValue);
    EXPECT(seen[0] > 0, 1);
    EXPECT(seen[1], 1);
    OK(cudaLogsUnregisterCallback(h));
    EXPECT(cudaLogsUnregisterCallback(h), cudaErrorInvalidValue);
}

RULE_ENV(log, to_a_stream, HEADER, "CUDA_LOG_FILE=stderr",
         "CUDA_LOG_FILE sends the lines to stdout, stderr or a file")
{
    text_begin(2);
    cudaMalloc((void **)nullptr, 64);
    size_t n = text_size();
    text_end();
    EXPECT(n > 0, 1);
}

RULE(log, arguments, HEADER, "null places and flags: 1")
{
    size_t size = 0;
    EXPECT(cudaLogsCurrent((cudaLogIterator *)nullptr, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaLogsDumpToMemory(nullptr, (char *)nullptr, &size, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaLogsRegisterCallback((cudaLogsCallback_t) nullptr, nullptr,
                                    (cudaLogsCallbackHandle *)nullptr),
           cudaErrorInvalidValue);
}
