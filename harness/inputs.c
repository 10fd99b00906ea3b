/* See inputs.h. */
#include "harness/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"
#include "harness/memory.h"
#include "kernels/kernels.h"

#define MOST ((size_t)1 << 20)  /* elements looked at of one input */

enum type { FLOAT32, INT64, INT32, INT8, UINT8 };
static const struct { const char *name; size_t bytes; } types[] = {
    { "float32", 4 }, { "int64", 8 }, { "int32", 4 }, { "int8", 1 },
    { "uint8", 1 },
};

static struct {
    const struct fl_trial *trial;       /* NULL: nobody asked */
    struct fl_text out;
    bool over;                          /* the device answers no more */
} inputs;

void fl_inputs_watch(const struct fl_trial *t)
{
    inputs.trial = t;
}

/* ---- one input ---- */

static double element(const void *data, enum type type, size_t i)
{
    return type == FLOAT32 ? ((const float *)data)[i]
        : type == INT64 ? (double)((const int64_t *)data)[i]
        : type == INT32 ? ((const int32_t *)data)[i]
        : type == INT8 ? ((const int8_t *)data)[i]
        : ((const uint8_t *)data)[i];
}

/* JSON has no word for infinity. */
static void put_number(const char *key, double x, enum type type)
{
    char *s = fl_format(type == FLOAT32 ? "%.6g" : "%.0f", x);
    if (isfinite(x))
        fl_json_put_raw(&inputs.out, key, s);
    else
        fl_json_put_string(&inputs.out, key, s);
    free(s);
}

static void put_range(const void *data, enum type type, size_t n)
{
    double low = INFINITY, high = -INFINITY;
    long long nans = 0;
    for (size_t i = 0; i < n; i++) {
        double x = element(data, type, i);
        nans += isnan(x);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    if (low <= high) {
        put_number("min", low, type);
        put_number("max", high, type);
    }
    if (nans)
        fl_json_put_integer(&inputs.out, "nan", nans);
}

/* Through the operator's own stream: it waits for what the operator would
 * have waited for, and for nothing else. */
static void look(cudaStream_t s, const void *p, enum type type, size_t n)
{
    size_t bytes = n * types[type].bytes;
    void *data = fl_alloc(bytes);
    cudaError_t code = cudaMemcpyAsync(data, p, bytes, cudaMemcpyDeviceToHost,
                                       s);
    if (!code)
        code = cudaStreamSynchronize(s);
    if (code) {
        fl_json_put_string(&inputs.out, "unreadable", cudaGetErrorName(code));
        inputs.over = true;
    } else {
        put_range(data, type, n);
    }
    free(data);
}

static void input(cudaStream_t s, const char *name, enum type type,
                  const void *p, const long long *shape, int dimensions)
{
    struct fl_text *out = &inputs.out;
    size_t n = 1, there = fl_memory_extent(p) / types[type].bytes;
    if (inputs.over || !p)              /* NULL: an input left out */
        return;
    fl_json_open(out, NULL, '{');
    fl_json_put_string(out, "name", name);
    fl_json_put_string(out, "type", types[type].name);
    fl_json_open(out, "shape", '[');
    for (int i = 0; i < dimensions; i++) {
        fl_json_put_integer(out, NULL, shape[i]);
        n *= shape[i] > 0 ? (size_t)shape[i] : 0;
    }
    fl_json_close(out, ']');
    if (n > there)
        fl_json_put_integer(out, "allocated", (long long)there);
    n = n < there ? n : there;
    n = n < MOST ? n : MOST;
    if (n)
        look(s, p, type, n);
    fl_json_close(out, '}');
}

/* ---- one operator ---- */

static bool begin(cudaStream_t s, const char *name)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const struct fl_trial *t = inputs.trial;
    if (!t || inputs.over || !t->site)
        return false;
    /* In a graph nothing runs yet that could be looked at. */
    if (cudaStreamIsCapturing(s, &status)
        || status != cudaStreamCaptureStatusNone)
        return false;
    fl_json_open(&inputs.out, NULL, '{');
    fl_json_put_integer(&inputs.out, "launch", t->launches);
    fl_json_put_string(&inputs.out, "name", name);
    fl_json_put_string(&inputs.out, "function", t->site->function);
    fl_json_put_string(&inputs.out, "file", fl_source_path(t->site->file));
    fl_json_put_integer(&inputs.out, "line", t->site->line);
    fl_json_open(&inputs.out, "inputs", '[');
    return true;
}

static void end(void)
{
    fl_json_close(&inputs.out, ']');
    fl_json_close(&inputs.out, '}');
}

#define INPUT(type, name, p, ...) \
    input(s, name, type, p, (const long long[]){ __VA_ARGS__ }, \
          (int)(sizeof (const long long[]){ __VA_ARGS__ } / sizeof(long long)))
#define F32(p, ...) INPUT(FLOAT32, #p, p, __VA_ARGS__)
#define I64(p, ...) INPUT(INT64, #p, p, __VA_ARGS__)
#define I32(p, ...) INPUT(INT32, #p, p, __VA_ARGS__)
#define I8(p, ...) INPUT(INT8, #p, p, __VA_ARGS__)
#define U8(p, ...) INPUT(UINT8, #p, p, __VA_ARGS__)
#define NOTHING ((void)0)
#define OPERATOR(name, parameters, arguments, ...) \
    void __real_##name parameters; \
    void __wrap_##name parameters; \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), \
                                                __typeof__(__real_##name)), \
                   #name " is declared otherwise in kernels.h"); \
    void __wrap_##name parameters \
    { \
        if (begin(s, #name)) { \
            __VA_ARGS__; \
            end(); \
        } \
        __real_##name arguments; \
    }
#include "harness/operators.def"
#undef OPERATOR

/* ---- telling ---- */

static bool described(const char *text)
{
    static const char *const names[] = {
#define OPERATOR(name, ...) #name,
#include "harness/operators.def"
#undef OPERATOR
    };
    size_t n = strcspn(text, "( ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], text, n))
            return true;
    return false;
}

/* Each once: the first launch from that text stands for all. */
static void put_undescribed(struct fl_text *out)
{
    const struct fl_trial *t = inputs.trial;
    fl_json_open(out, "not_described", '[');
    for (size_t i = 0; i < t->n_events; i++) {
        const char *text = t->events[i].site->text;
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= t->events[k].site->text == text;
        if (again || !t->events[i].is_launch || described(text))
            continue;
        char *name = fl_format("%.*s", (int)strcspn(text, "( "), text);
        fl_json_put_string(out, NULL, name);
        free(name);
    }
    fl_json_close(out, ']');
}

void fl_inputs_json(struct fl_text *out)
{
    fl_json_put_raw(out, "operators", "[");
    fl_text_puts(out, fl_text_str(&inputs.out));
    fl_text_puts(out, "]");
    put_undescribed(out);
}
