/* What kernels print: text, and when it leaves the device. */
#include <assert.h>
#include <string>
#include <stdlib.h>

#include "kernels.cuh"

__global__ void hello(int *p)
{
    printf("hello from the device\n");
    if (p) *p = 1;
}
static const char HELLO[] = "hello from the device\n";

RULE(print, flushed_by_device_synchronize, HEADER,
     "device printf appears at cudaDeviceSynchronize")
{
    OK(cudaFree(0));
    text_begin(1);
    hello<<<1, 2>>>(nullptr);
    cudaError_t e = finish();
    OK(e);
    EXPECT(text_count(text_end(), HELLO), 2);
}

static int scratch[1];

#define FLUSHED_BY(what, text, call)                                   \
    RULE(print, flushed_by_##what, HEADER, text)                       \
    {                                                                  \
        int *p = device_array<int>(1);                                 \
        cudaEvent_t e;                                                 \
        OK(cudaEventCreate(&e));                                       \
        text_begin(1);                                                 \
        hello<<<1, 1>>>(p);                                            \
        cudaEventRecord(e);                                            \
        cudaError_t error = call;                                      \
        int n = text_count(text_end(), HELLO);                         \
        OK(error);                                                     \
        EXPECT(n, 1);                                                  \
    }
FLUSHED_BY(stream_synchronize, "and at cudaStreamSynchronize",
           cudaStreamSynchronize(0))
FLUSHED_BY(event_synchronize, "and at cudaEventSynchronize",
           cudaEventSynchronize(e))
FLUSHED_BY(blocking_copy, "and at a blocking copy",
           cudaMemcpy(scratch, p, sizeof(int), cudaMemcpyDeviceToHost))
FLUSHED_BY(reset, "and when the context is destroyed", cudaDeviceReset())

RULE(print, not_at_the_launch, DERIVED,
     "nothing appears before some call lets it out")
{
    OK(cudaFree(0));
    text_begin(1);
    hello<<<1, 1>>>(nullptr);
    usleep(100000);
    size_t n = text_size();
    OK(finish());
    text_end();
    EXPECT(n, 0);
}

RULE(print, flushed_by_the_next_launch, HEADER,
     "the start of a launch lets out what earlier kernels printed")
{
    OK(cudaFree(0));
    text_begin(1);
    hello<<<1, 1>>>(nullptr);
    for (int i = 0; i < 200 && cudaStreamQuery(0) == cudaErrorNotReady; i++)
        usleep(1000);
    nothing<<<1, 1>>>();
    size_t n = text_size();
    text_end();
    EXPECT(n, strlen(HELLO));
}

RULE_ENV(print, flushed_by_a_blocking_launch, HEADER,
         "CUDA_LAUNCH_BLOCKING=1",
         "a launch that blocks lets its output out at its end")
{
    OK(cudaFree(0));
    text_begin(1);
    hello<<<1, 1>>>(nullptr);
    size_t n = text_size();
    text_end();
    EXPECT(n, strlen(HELLO));
}

RULE(print, lost_at_exit, HEADER, "process exit does not let output out")
{
    const char *self = "/proc/self/exe";
    std::string command = std::string(self) + " --only print.exits_silently";
    char path[4096] = {};
    if (readlink(self, path, sizeof path - 1) <= 0) rule_skip("no /proc");
    command = std::string(path) + " --only print.exits_silently";
    FILE *f = popen(command.c_str(), "r");
    char line[256];
    int n = 0;
    while (fgets(line, sizeof line, f)) n += text_count(line, "hello");
    pclose(f);
    EXPECT(n, 0);
}
RULE(print, exits_silently, HEADER,
     "(the program that print.lost_at_exit looks at)")
{
    hello<<<1, 1>>>(nullptr);
}

/* Prints one line on the device and on the host; both must be equal. */
#define PRINTS(what, ...)                                              \
    __global__ void print_##what() { printf(__VA_ARGS__); }            \
    RULE(print, what, HEADER, "prints as the host does: " #__VA_ARGS__) \
    {                                                                  \
        char want[512];                                                \
        snprintf(want, sizeof want, __VA_ARGS__);                      \
        OK(cudaFree(0));                                               \
        text_begin(1);                                                 \
        print_##what<<<1, 1>>>();                                      \
        cudaError_t error = finish();                                  \
        const char *got = text_end();                                  \
        OK(error);                                                     \
        EXPECT_TEXT(got, want);                                        \
    }
PRINTS(integers, "%d %i %u %x %X %o", -42, 7, 42u, 42, 42, 42)
PRINTS(long_integers, "%ld %lld %llu %lx", -42l, -(1ll << 40), 1ull << 63, 255l)
PRINTS(short_integers, "%hd %hhd", (short)-42, (signed char)-3)
PRINTS(widths, "[%5d] [%-5d] [%05d] [%+d] [% d]", 42, 42, 42, 42, 42)
PRINTS(floats, "%f %.8f %10.3f", 3.14159, 3.14159, -2.5)
PRINTS(exponents, "%e %E %g %G", -123.456, 123.456, 123.456, -123.456)
PRINTS(hexadecimal_floats, "%a %A", 123.456, -123.456)
PRINTS(strings, "%s [%8.5s] [%-8s]", "hello", "hello world", "abc")
PRINTS(characters, "%c%c%c", 's', 'e', 'p')
PRINTS(percent, "100%% %%s %s", "x")
PRINTS(nothing_to_convert, "plain text")

__global__ void print_null_string()
{
    const char *n = nullptr;
    printf("%s", n);
}
RULE(print, null_string, REPORT, "a null %s prints (null)")
{
    OK(cudaFree(0));
    text_begin(1);
    print_null_string<<<1, 1>>>();
    cudaError_t error = finish();
    const char *got = text_end();
    OK(error);
    EXPECT_TEXT(got, "(null)");
}

__global__ void print_pointers()
{
    printf("%p %p", (void *)0, (void *)0xf01dab1eca55e77e);
}
RULE(print, pointers, REPORT, "%p prints (nil) or 0x and the digits")
{
    OK(cudaFree(0));
    text_begin(1);
    print_pointers<<<1, 1>>>();
    cudaError_t error = finish();
    const char *got = text_end();
    OK(error);
    EXPECT_TEXT(got, "(nil) 0xf01dab1eca55e77e");
}

__global__ void print_much()
{
    printf("line %04d of thread %04d........................................"
           ".....\n", (int)blockIdx.x, (int)threadIdx.x);
}
RULE(print, buffer_is_circular, HEADER,
     "more output than the buffer holds overwrites the oldest")
{
    OK(cudaFree(0));
    text_begin(1);
    print_much<<<64, 1024>>>();
    cudaError_t error = finish();
    const char *got = text_end();
    size_t n = strlen(got);
    OK(error);
    EXPECT(n > 100000 && n < 64u * 1024 * 70, 1);
}

/* ---- assert ---------------------------------------------------------------------------- */

__global__ void odd_only(int *p)
{
    int g = (int)(threadIdx.x + blockIdx.x * blockDim.x);
    if (p) *p = g;
    assert(g % 2 == 1);
}

RULE(assertion, a_line_per_thread, REPORT,
     "every failing thread of every block reports on stderr; the host lives")
{
    OK(cudaFree(0));
    text_begin(2);
    odd_only<<<2, 16>>>(nullptr);
    cudaError_t e = finish();
    const char *t = text_end();
    EXPECT(e, cudaErrorAssert);
    EXPECT(text_count(t, "Assertion `g % 2 == 1` failed."), 16);
    EXPECT(text_count(t, "block: [0,0,0]"), 8);
    EXPECT(text_count(t, "block: [1,0,0], thread: [14,0,0]"), 1);
}

__global__ void checked(int index, int size)
{
    assert(index >= 0 && index < size && "index out of bounds");
}
RULE(assertion, exact_line, HEADER,
     "FILE:LINE: FUNCTION: block: [x,y,z], thread: [x,y,z] Assertion `EXPR` "
     "failed.")
{
    char want[1024];
    snprintf(want, sizeof want,
             "%s:%d: void checked(int, int): block: [0,0,0], thread: [0,0,0] "
             "Assertion `index >= 0 && index < size && \"index out of "
             "bounds\"` failed.\n", __FILE__, __LINE__ - 10);
    OK(cudaFree(0));
    text_begin(2);
    checked<<<1, 1>>>(10, 10);
    cudaError_t e = finish();
    const char *got = text_end();
    EXPECT(e, cudaErrorAssert);
    EXPECT_TEXT(got, want);
}

RULE(assertion, silent_until_synchronised, HEADER,
     "assertion text appears when the host synchronises")
{
    OK(cudaFree(0));
    text_begin(2);
    odd_only<<<1, 2>>>(nullptr);
    usleep(100000);
    size_t before = text_size();
    cudaError_t e = finish();
    size_t after = text_size();
    text_end();
    EXPECT(e, cudaErrorAssert);
    EXPECT(before, 0);
    EXPECT(after > 0, 1);
}

RULE(assertion, other_threads_go_on, DERIVED,
     "threads whose assertion holds finish their work")
{
    void *h = nullptr;
    OK(cudaHostAlloc(&h, sizeof(int), cudaHostAllocMapped));
    *(volatile int *)h = -1;
    text_begin(2);
    odd_only<<<1, 2>>>((int *)h);
    cudaError_t e = finish();
    text_end();
    EXPECT(e, cudaErrorAssert);
    EXPECT(*(volatile int *)h >= 0, 1);
}

RULE(assertion, thousands_of_threads, REPORT,
     "thousands of failing threads are reported without harm")
{
    OK(cudaFree(0));
    text_begin(2);
    odd_only<<<64, 256>>>(nullptr);
    cudaError_t e = finish();
    int n = text_count(text_end(), "failed.\n");
    EXPECT(e, cudaErrorAssert);
    EXPECT(n > 1000 && n <= 64 * 128, 1);
}

RULE(assertion, holding_is_free, HEADER, "an assertion that holds says nothing")
{
    OK(cudaFree(0));
    text_begin(2);
    checked<<<1, 1>>>(3, 10);
    cudaError_t e = finish();
    size_t n = text_size();
    text_end();
    OK(e);
    EXPECT(n, 0);
}
