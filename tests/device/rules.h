/* Rules of the CUDA runtime, each held by one named check.
 *
 * The checks use the CUDA runtime API only, so the same binary runs on a GPU
 * and on simgpu. Every rule runs in a process of its own, since many ruin
 * theirs. A rule says what it rests on:
 *   header    NVIDIA's headers or documentation say so
 *   report    seen on hardware, in a public thread or test suite
 *   derived   follows from the two above
 *   open      sources disagree or say nothing: simgpu's choice
 *   hardware  a GPU has shown it to us
 * On a GPU an `open` rule that comes out otherwise is an answer, not a
 * failure.
 */
#ifndef FAULTLAG_DEVICE_RULES_H
#define FAULTLAG_DEVICE_RULES_H

#ifdef __cplusplus
#include <cuda_runtime.h>
#else
#include <cuda_runtime_api.h>
#endif
#include <stddef.h>

enum basis { HEADER, REPORT, DERIVED, OPEN, HARDWARE };

struct rule {
    const char *name;       /* group.what-is-claimed */
    enum basis basis;
    const char *text;       /* the rule, one sentence */
    const char *env;        /* "NAME=value" for its process, or NULL */
    void (*check)(void);
    const char *file;
    int line;
    struct rule *next;
};

#ifdef __cplusplus
extern "C" {
#endif
int rule_add(struct rule *r);
void rule_expect(const char *file, int line, const char *what, long long got,
                 long long want);
void rule_expect_either(const char *file, int line, const char *what,
                        long long got, long long a, long long b);
void rule_expect_text(const char *file, int line, const char *what,
                      const char *got, const char *want);
/* The device lacks what the rule is about: the rule is skipped. */
void rule_skip(const char *why) __attribute__((noreturn));

/* Redirects a file descriptor into memory; text_end gives what was written
 * since, text_size how much so far. */
void text_begin(int fd);
size_t text_size(void);
const char *text_end(void);
int text_count(const char *text, const char *part);
#ifdef __cplusplus
}
#endif

#define RULE_ENV(group, what, basis, env, text)                            \
    static void check_##group##_##what(void);                              \
    static struct rule rule_##group##_##what = {                           \
        #group "." #what, basis, text, env, check_##group##_##what,        \
        __FILE__, __LINE__, NULL};                                         \
    static int added_##group##_##what = rule_add(&rule_##group##_##what);  \
    static void check_##group##_##what(void)
#define RULE(group, what, basis, text) \
    RULE_ENV(group, what, basis, NULL, text)

#define EXPECT(got, want) \
    rule_expect(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
#define EXPECT_EITHER(got, a, b)                                      \
    rule_expect_either(__FILE__, __LINE__, #got, (long long)(got),    \
                       (long long)(a), (long long)(b))
#define EXPECT_TEXT(got, want) \
    rule_expect_text(__FILE__, __LINE__, #got, got, want)
#define OK(call) EXPECT(call, cudaSuccess)

#endif
