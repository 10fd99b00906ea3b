/* Logs, and files of rules. Of any bytes the verdict is well-formed JSON, and
 * the same however the bytes are cut; the text for people has no control
 * characters, which a terminal would obey. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "harness/diagnose/decide.h"
#include "harness/diagnose/read.h"
#include "harness/json.h"

const char *const fuzz_words[] = {
    "Traceback (most recent call last):\n", "  File \"a.py\", line 3, in f\n",
    "RuntimeError: CUDA error: device-side assert triggered\n",
    "a.cu:3: k: block: [0,0,0], thread: [1,0,0] Assertion `i < n` failed.\n",
    "Assertion `", "` failed.", "\n", "\r", "\x1b[31m", "\x1b]8;;", "\n    ",
    "========= ", "========= Invalid __global__ read of size 4\n", "<<<(1,1,1)",
    "at k(int*)+0x90 in /a/b.cu:14", "[rank3]: ", "15: ", "Cell In[4], line 1",
    "--> 3 x", "\xe2\x94\x82 ", "\xe2\x9d\xb1 3 \xe2\x94\x82 ", "Stacktrace:\n",
    " [1] f(x) at /a/b.jl:3\n", "\tat a.B.c(D.java:3)\n", "stack traceback:\n",
    "panicked at src/a.rs:3:4:\n", "CUDA_LAUNCH_BLOCKING=1", "$ python a.py\n",
    "CUDA_EXCEPTION_14, Warp", "block (1,2,3), thread (4,5,6)", "tid=[1, 2, 3]",
    "] ctaid=[", "CUBLAS_STATUS_", "THCudaCheck FAIL file=a.c line=3 error=59",
    "F0524 19:24:39.746389 13813 a.hpp:18] Check failed:", "    @  0x7f  a::b()",
    "current device: 0, in function f at a.cu:3\n", "was thrown during kernel",
    "GPU assertion failure message = ", "Exception raised from f at a.cpp:3 (",
    "99999999999999999999", "tensor([[", "(", ")", "<", ">", "::", "operator()",
    "Current thread 0x1 (most recent call first):\n", "simgpu: x (error 700) in kernel k",
    "E       RuntimeError: CUDA error: 700\n", "a.py:3: RuntimeError\n", "#0  ",
    NULL
};

static struct dg_rules rules;
static struct dg_words *words;

static void set_up(void)
{
    if (words)
        return;
    if (!dg_rules_load(&rules, NULL))
        abort();
    words = dg_vocabulary(&rules);
}

/* The verdict as JSON, the log given in two parts. */
static char *diagnose(const uint8_t *data, size_t size, size_t cut,
                      struct fl_text *people)
{
    struct dg d;
    struct dg_verdict v;
    struct fl_text json = { 0 };
    dg_begin(&d, &rules, words);
    dg_feed(&d, (const char *)data, cut);
    dg_feed(&d, (const char *)data + cut, size - cut);
    dg_end(&d);
    dg_decide(d.facts, &rules, &v);
    dg_put_json(&v, d.facts, &json);
    if (people)
        dg_print(&v, d.facts, people);
    dg_verdict_free(&v);
    dg_free(&d);
    return json.s;
}

static bool is_plain(const char *s)
{
    for (; *s; s++)
        if (((unsigned char)*s < 0x20 && *s != '\n') || *s == 0x7f)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[160];
    struct fl_text people = { 0 };
    set_up();
    char *whole = diagnose(data, size, 0, &people);
    char *parts = diagnose(data, size, size ? (size * 7 + 3) % size : 0, NULL);
    struct fl_json *j = fl_json_parse(whole, strlen(whole), error);
    if (!j || strcmp(whole, parts) || !is_plain(people.s))
        abort();
    fl_json_free(j);
    fl_text_free(&people);
    free(whole);
    free(parts);

    struct dg_rules own;
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    dg_rules_parse(&own, text, error);
    dg_rules_free(&own);
    free(text);
    return 0;
}

bool fuzz_seed_is_good(const char *name, const uint8_t *data, size_t size)
{
    set_up();
    char *json = diagnose(data, size, size / 2, NULL);
    bool healthy = strstr(name, "/z") != NULL;
    bool good = !strstr(json, "\"fault\":true") == healthy;
    if (!good)
        fprintf(stderr, "%s: %s\n", name, json);
    free(json);
    return good;
}
