/* Settings: settings.def, from text to struct device_config. Defaults go
 * through the same readers as the environment, so neither can say what the
 * other cannot. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device.h"

/* An integer in C's notations with K, M or G (1024s) behind it. */
static bool read_integer(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    int64_t v = strtoll(text, &end, 0);
    int shift = 0;
    switch (*end) {
    case 'K': case 'k': shift = 10; break;
    case 'M': case 'm': shift = 20; break;
    case 'G': case 'g': shift = 30; break;
    }
    if (shift) end++;
    if (end == text || *end || errno) return false;
    return !__builtin_mul_overflow(v, (int64_t)1 << shift, out);
}

/* Readers: false when the text is not a value; `field` is then untouched. */
#define READER(name) \
    static bool read_##name(const char *text, struct device_config *c, \
                            void *field)
#define INTEGER_READER(name, type, min, max)                        \
    READER(name) {                                                  \
        int64_t v;                                                  \
        (void)c;                                                    \
        if (!read_integer(text, &v) || v < (min) || v > (max))      \
            return false;                                           \
        *(type *)field = (type)v;                                   \
        return true;                                                \
    }
INTEGER_READER(count, uint64_t, 0, INT64_MAX)
INTEGER_READER(int64, int64_t, INT64_MIN, INT64_MAX)
INTEGER_READER(unsigned, unsigned, 0, INT_MAX)
INTEGER_READER(int, int, INT_MIN, INT_MAX)
INTEGER_READER(capability, unsigned, 50, 129)
INTEGER_READER(multiprocessors, unsigned, 1, 1024)
INTEGER_READER(flag, bool, 0, 1)

READER(milliseconds) {
    uint64_t ms;
    if (!read_count(text, c, &ms) || ms > UINT64_MAX / 1000000) return false;
    *(uint64_t *)field = ms * 1000000;
    return true;
}

READER(seed) { /* any 64 bits; setting it makes the run a seeded one */
    char *end;
    errno = 0;
    uint64_t v = strtoull(text, &end, 0);
    if (end == text || *end || errno) return false;
    *(uint64_t *)field = v;
    return c->seeded = true;
}

READER(double) {
    char *end;
    double v = strtod(text, &end);
    (void)c;
    if (end == text || *end || v != v) return false;
    *(double *)field = v;
    return true;
}

static bool read_word(const char *text, const char *const *words, int *out) {
    for (int i = 0; words[i]; i++)
        if (!strcmp(text, words[i])) return *out = i, true;
    return false;
}

READER(schedule) {
    static const char *const words[] = { [SCHEDULE_RANDOM] = "random",
        [SCHEDULE_EAGER] = "eager", [SCHEDULE_LAZY] = "lazy", NULL };
    int v;
    (void)c;
    if (!read_word(text, words, &v)) return false;
    *(enum schedule *)field = (enum schedule)v;
    return true;
}

READER(check) {
    static const char *const words[] = {
        [MEMORY_CHECK_HARDWARE] = "hardware", [MEMORY_CHECK_EXACT] = "exact",
        NULL };
    int v;
    (void)c;
    if (!read_word(text, words, &v)) return false;
    *(enum memory_check *)field = (enum memory_check)v;
    return true;
}

typedef bool reader(const char *text, struct device_config *c, void *field);

static void set_default(struct device_config *c, void *field, reader *read,
                        const char *text) {
    if (text) read(text, c, field);
}

void device_config_default(struct device_config *c) {
    memset(c, 0, sizeof *c);
#define SETTING(name, reader, field, text, meaning) \
    set_default(c, &c->field, read_##reader, text);
#include "core/settings.def"
#undef SETTING
}

/* `told`: the device may open again, the program need not hear it again. */
static void from_env(const char *name, struct device_config *c, void *field,
                     reader *read, const char *meaning,
                     _Atomic bool *told) {
    const char *text = getenv(name);
    if (text && *text && !read(text, c, field) && !*told) {
        *told = true;
        fprintf(stderr, "simgpu: %s=%s is not understood and ignored (%s)\n",
                name, text, meaning);
    }
}

/* A misspelt setting must not pass for one that has no effect. */
static void report_unknown(void) {
    static const char *const names[] = {
#define SETTING(name, reader, field, text, meaning) "SIMGPU_" #name "=",
#include "core/settings.def"
#undef SETTING
    };
    static _Atomic bool told;
    bool tell = !told;
    for (char **e = environ; tell && e && *e; e++) {
        size_t i = 0, n = sizeof names / sizeof *names;
        if (strncmp(*e, "SIMGPU_", 7)) continue;
        while (i < n && strncmp(*e, names[i], strlen(names[i]))) i++;
        if (i < n) continue;
        fprintf(stderr, "simgpu: %s: there is no such setting\n", *e);
        told = true;
    }
}

void device_config_from_env(struct device_config *c) {
    report_unknown();
    device_config_default(c);
#define SETTING(name, reader, field, text, meaning)                       \
    {                                                                     \
        static _Atomic bool told;                                         \
        from_env("SIMGPU_" #name, c, &c->field, read_##reader, meaning,   \
                 &told);                                                  \
    }
#include "core/settings.def"
#undef SETTING
}
