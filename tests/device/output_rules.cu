/* What kernels print: text, and when it leaves the device. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
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

static const char *printed(void (*kernel)())
{
    OK(cudaFree(0));
    text_begin(1);
    kernel<<<1, 1>>>();
    cudaError_t error = finish();
    const char *text = text_end();
    OK(error);
    return text;
}

/* Prints one line on the device and on the host; both must be equal. */
#define PRINTS(what, ...)                                              \
    __global__ void print_##what() { printf(__VA_ARGS__); }            \
    RULE(print, what, HEADER, "prints as the host does: " #__VA_ARGS__) \
    {                                                                  \
        char want[512];                                                \
        snprintf(want, sizeof want, __VA_ARGS__);                      \
        EXPECT_TEXT(printed(print_##what), want);                      \
    }
PRINTS(integers, "%d %i %u %x %X %o", -42, 7, 42u, 42, 42, 42)
PRINTS(long_integers, "%ld %lld %llu %lx", -42l, -(1ll << 40), 1ull << 63, 255l)
PRINTS(short_integers, "%hd %hhd", (short)-42, (signed char)-3)
PRINTS(widths, "[%5d] [%-5d] [%05d] [%+d] [% d]", 42, 42, 42, 42, 42)
PRINTS(floats, "%f %.8f %10.3f", 3.14159, 3.14159, -2.5)
PRINTS(exponents, "%e %E %g %G", -123.456, 123.456, 123.456, -123.456)
PRINTS(hexadecimal_floats, "%a %A", 123.456, -123.456)
PRINTS(alternate_integers, "%#o %#x %#X %#08x %#.8x [%#16.8x] [%-#16.8x] %#o",
       042, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0)
PRINTS(alternate_floats, "%#f %#F %#e %#E %#g %#G %#a %#A %#.0f", -123.456,
       123.456, 123.456, -123.456, -123.456, 123.456, 123.456, -123.456, 3.)
PRINTS(zero_padding, "%08d %08i %08u %08g %0+8d %+08d", 42, -42, 42u,
       123.456, 42, 42)
PRINTS(signs, "%+d % i % i %+f % e", -42, -42, 42, 1.5, 1.5)
PRINTS(precisions, "%.8d [%16.5d] %.8x %.8o [%.0d] [%.d] [%5.0d]", 42, -42,
       0x42, 042, 0, 0, 0)
PRINTS(float_precisions, "%16.8e %16.8f %16.8g %8.4e %8.4f %8.4g %4.2f %.1f "
       "%.0f %.20g", 12345.67891, -12345.67891, 12345.67891, -12345.67891,
       12345.67891, 12345.67891, 12345.67891, 12345.67891, 2.5, 0.1)
PRINTS(special_floats, "%f %F %e [%8g] [%08f] %+f %f", INFINITY, -INFINITY,
       NAN, INFINITY, INFINITY, INFINITY, -0.)
PRINTS(stars, "[%*d] [%.*d] [%*.*d] [%*.*f] %s * %.*s", 16, 42, 8, 42, -16, 8,
       42, 16, 8, 123.456, "hello", 5, "worldxyz")
PRINTS(negative_stars, "[%.*d] [%*s] [%-*d] [%0*d]", -3, 42, -8, "left", 6, 7,
       5, 7)
PRINTS(lengths, "%hd %hi %ld %li %lld %lli %hu %ho %lu %lo %llu %llo %hx %hX "
       "%lx %lX %llx %llX", (short)-42, (short)-42, -42l, -42l, -42ll, -42ll,
       (unsigned short)42, (unsigned short)42, 42ul, 42ul, 42ull, 42ull,
       (unsigned short)42, (unsigned short)42, 42ul, 42ul, 42ull, 42ull)
PRINTS(lengths_of_others, "%lf %lc %jd %zu %td %hhu", 123.456, L'x',
       (intmax_t)-1, (size_t)42, (ptrdiff_t)-2, (unsigned char)200)
PRINTS(lengths_cut, "%hd %hhd %hu %hhu %hx %hho", 0x12345, 0x1ff, 0x12345,
       0x1ff, -1, -1)
PRINTS(mixed_sizes, "%d %lld %c %f %d %s %hhd", 1, 1ll << 40, 'c', 2.5, -1,
       "text", -3)
PRINTS(string_precisions, "[%.0s] [%.3s] [%10.3s] [%-10.3s] [%s] [%3s]",
       "abcdef", "abcdef", "abcdef", "abcdef", "", "abcdef")
PRINTS(wide_characters, "[%5c] [%-5c]", 'a', 'b')
PRINTS(float_argument, "%f %g", 1.25f, 0.1f)
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
    EXPECT_TEXT(printed(print_null_string), "(null)");
}
__global__ void print_null_strings()
{
    const char *n = nullptr;
    printf("[%10s] [%-10s]", n, n);
}
RULE(print, null_string_in_a_field, DERIVED,
     "and is padded and cut like any other")
{
    EXPECT_TEXT(printed(print_null_strings), "[    (null)] [(null)    ]");
}

__global__ void print_pointers()
{
    printf("%p %p", (void *)0, (void *)0xf01dab1eca55e77e);
}
RULE(print, pointers, REPORT, "%p prints (nil) or 0x and the digits")
{
    EXPECT_TEXT(printed(print_pointers), "(nil) 0xf01dab1eca55e77e");
}

__global__ void print_33()
{
    printf("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d"
           "|%d|", 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0,
           1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3);
}
RULE(print, thirty_two_arguments, REPORT,
     "32 arguments are taken; the 33rd conversion is printed as it stands")
{
    EXPECT_TEXT(printed(print_33), "12345678901234567890123456789012|%d|");
}

__global__ void print_twice()
{
    printf("a %d, ", 1);
    printf("b %d\n", 2);
}
RULE(print, texts_of_a_thread_in_order, HEADER,
     "what one thread prints comes out in its order")
{
    EXPECT_TEXT(printed(print_twice), "a 1, b 2\n");
}

__global__ void print_and_count(int *out)
{
    const char *none = nullptr;
    out[0] = printf("plain\n");
    out[1] = printf("%d %s %f\n", 1, "two", 3.);
    out[2] = printf("100%%\n");
    out[3] = printf(none);
}
RULE(print, returns_the_arguments, HEADER,
     "printf returns the number of arguments, not of characters; -1 without "
     "a format")
{
    int *out = device_array<int>(4), got[4] = {};
    text_begin(1);
    print_and_count<<<1, 1>>>(out);
    cudaError_t error = finish();
    text_end();
    OK(error);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got[0], 0);
    EXPECT(got[1], 3);
    EXPECT(got[2], 0);
    EXPECT(got[3], -1);
}

__global__ void print_from_all() { printf("thread %d\n", (int)threadIdx.x); }
RULE(print, a_text_a_thread, HEADER, "every thread prints its own text")
{
    OK(cudaFree(0));
    text_begin(1);
    print_from_all<<<3, 100>>>();
    cudaError_t error = finish();
    const char *text = text_end();
    OK(error);
    EXPECT(text_count(text, "thread "), 300);
    EXPECT(text_count(text, "thread 99\n"), 3);
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

template <typename T> struct vault {
    static __device__ void guard(T x) { assert(x != T(7) || !"seven"); }
};
__global__ void deep(int x)
{
    if (blockIdx.y == 1 && threadIdx.z == 3) vault<int>::guard(x);
}
RULE(assertion, places_in_three_dimensions, HEADER,
     "block and thread are named with all three coordinates")
{
    OK(cudaFree(0));
    text_begin(2);
    deep<<<dim3(1, 2, 3), dim3(2, 1, 4)>>>(7);
    cudaError_t e = finish();
    const char *t = text_end();
    EXPECT(e, cudaErrorAssert);
    EXPECT(text_count(t, "Assertion `x != T(7) || !\"seven\"` failed."), 6);
    EXPECT(text_count(t, "block: [0,1,2], thread: [1,0,3]"), 1);
    EXPECT(text_count(t, "block: [0,0,"), 0);
}

__global__ void two_checks(int x)
{
    assert(x > 0 && "first");
    assert(x > 1 && "second");
}
RULE(assertion, one_a_thread, HEADER,
     "a thread whose assertion failed does not get to the next one")
{
    OK(cudaFree(0));
    text_begin(2);
    two_checks<<<1, 1>>>(0);
    cudaError_t e = finish();
    const char *t = text_end();
    EXPECT(e, cudaErrorAssert);
    EXPECT(text_count(t, "first"), 1);
    EXPECT(text_count(t, "second"), 0);
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
