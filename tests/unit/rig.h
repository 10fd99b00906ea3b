/* What the tests of the device share: a device from a few words of
 * configuration, kernels from PTX text, launches by name. */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/device.h"
#include "ptx/ast.h"
#include "ptx/exec.h"

#define PTX_HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

static inline struct device *rig_free(unsigned workers) {
    struct device_config c;
    device_config_default(&c);
    c.workers = workers;
    struct device *d = device_open(&c);
    assert_non_null(d);
    return d;
}

static inline struct device *rig_seeded(uint64_t seed, enum schedule schedule) {
    struct device_config c;
    device_config_default(&c);
    c.seeded = true;
    c.seed = seed;
    c.schedule = schedule;
    struct device *d = device_open(&c);
    assert_non_null(d);
    return d;
}

/* Every way to run: free with few workers and many, seeded on all schedules. */
#define RIG_WAYS 9
static inline struct device *rig_way(int way) {
    if (way < 3) return rig_free(1u << way);
    return rig_seeded((uint64_t)way, (enum schedule)(way % 3));
}
#define EACH_WAY(d)                          \
    for (int way = 0; way < RIG_WAYS; way++) \
        for (struct device *d = rig_way(way); d; device_close(d), d = NULL)

static inline struct copy_desc rig_copy(uint64_t dst, uint64_t src, size_t n) {
    return (struct copy_desc){ .dst = dst, .src = src, .dst_on_device = true,
                               .src_on_device = true, .width = n,
                               .height = 1 };
}

static inline uint64_t rig_alloc(struct device *d, uint64_t bytes) {
    uint64_t a = memory_alloc(device_memory(d), bytes, MEMORY_DEVICE, 0);
    assert_int_not_equal(a, 0);
    return a;
}

/* The bytes of device memory, for looking at after a wait. */
static inline void *rig_host(struct device *d, uint64_t address) {
    void *p = memory_host(device_memory(d), address);
    assert_non_null(p);
    return p;
}

static inline void rig_expect(struct device *d, uint64_t at, uint8_t value,
                              size_t n) {
    const uint8_t *p = rig_host(d, at);
    for (size_t i = 0; i < n; i++)
        if (p[i] != value) fail_msg("byte %zu is %d, not %d", i, p[i], value);
}

static inline struct ptx_module *rig_module(const char *text) {
    struct ptx_error err = { .text = "" };
    struct ptx_module *m = ptx_parse(text, strlen(text), "test.ptx", &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

static inline struct program *rig_program(const struct ptx_module *m,
                                          const char *entry) {
    struct ptx_error err = { .text = "" };
    struct program *p = program_decode(m, entry, NULL, NULL, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static inline enum status rig_launch(struct stream *s, const struct program *p,
                                     uint32_t grid, uint32_t block,
                                     void **args) {
    struct launch_desc l = { .program = p, .grid = { grid, 1, 1 },
                             .block = { block, 1, 1 }, .args = args };
    return enqueue_launch(s, &l, NULL);
}
#define RIG_ARGS(...) ((void *[]){ __VA_ARGS__ })

#endif
