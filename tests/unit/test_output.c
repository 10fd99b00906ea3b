/* What leaves the device and when, the kernels' heap, and the settings. */
#include "tests/unit/rig.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- output -------------------------------------------------------------- */

static FILE *captured;
static int saved, captured_fd;

static void capture(int fd) {
    fflush(NULL);
    captured_fd = fd;
    saved = dup(fd);
    captured = tmpfile();
    dup2(fileno(captured), fd);
}

static char *captured_text(void) {
    static char text[1 << 16];
    fflush(NULL);
    dup2(saved, captured_fd);
    close(saved);
    ssize_t n = pread(fileno(captured), text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    fclose(captured);
    return text;
}

static void print(struct device *d, const char *text) {
    device_services(d)->print(d, text, strlen(text));
}

static void printed_only_when_flushed(void **state) {
    (void)state;
    struct device *d = rig_free(1);
    capture(1);
    print(d, "one\n");
    print(d, "two %s\n");
    device_wait(d);
    assert_string_equal(captured_text(), "");
    capture(1);
    device_flush_output(d);
    assert_string_equal(captured_text(), "one\ntwo %s\n");
    capture(1);
    device_flush_output(d);
    assert_string_equal(captured_text(), "");
    print(d, "never seen\n");
    capture(1);
    device_close(d);
    assert_string_equal(captured_text(), "");
}

static void oldest_output_is_overwritten(void **state) {
    (void)state;
    struct device_config c;
    char line[32], want[400] = "";
    device_config_default(&c);
    c.print_buffer_bytes = 100;
    struct device *d = device_open(&c);
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "line %03d\n", i);
        print(d, line);
    }
    print(d, "a text that is longer than the whole of this small buffer and "
             "therefore cannot be kept at all, not even a part of it\n");
    /* 9 bytes and their length: 7 lines fit into 100 bytes. */
    for (int i = 993; i < 1000; i++)
        sprintf(want + strlen(want), "line %03d\n", i);
    capture(1);
    device_flush_output(d);
    assert_string_equal(captured_text(), want);
    device_close(d);
}

/* ---- heap ---------------------------------------------------------------- */

static void heap(void **state) {
    (void)state;
    struct device_config c;
    device_config_default(&c);
    c.heap_bytes = 1 << 16;
    struct device *d = device_open(&c);
    struct exec_services *s = device_services(d);
    uint64_t at[64];
    unsigned n = 0;
    assert_int_equal(s->device_malloc(d, 0), 0);
    assert_int_equal(s->device_malloc(d, UINT64_MAX), 0);
    assert_int_equal(s->device_malloc(d, (1 << 16) + 1), 0);
    while (n < 64 && (at[n] = s->device_malloc(d, 2000))) {
        assert_int_equal(at[n] % 16, 0);
        memset(rig_host(d, at[n]), (int)n, 2000);
        n++;
    }
    assert_int_equal(n, 32); /* 65536 / 2000 */
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(((uint8_t *)rig_host(d, at[i]))[1999], i);
    assert_false(s->device_free(d, at[3] + 16));
    assert_true(s->device_free(d, 0));
    for (unsigned i = 0; i < n; i += 2) assert_true(s->device_free(d, at[i]));
    assert_false(s->device_free(d, at[0]));
    assert_int_equal(s->device_malloc(d, 4000), 0); /* holes of 2000 */
    for (unsigned i = 1; i < n; i += 2) assert_true(s->device_free(d, at[i]));
    assert_int_not_equal(s->device_malloc(d, 1 << 16), 0); /* merged */
    device_close(d);
}

/* Sizes can change until a kernel that depends on them was launched. */
static void sizes_change_until_used(void **state) {
    (void)state;
    struct device *d = rig_free(1);
    struct exec_services *s = device_services(d);
    assert_int_equal(device_set_heap(d, 1 << 10), STATUS_OK);
    assert_int_equal(device_set_heap(d, 1ull << 40), STATUS_NO_MEMORY);
    assert_int_equal(s->device_malloc(d, 2 << 10), 0);
    assert_int_not_equal(s->device_malloc(d, 1 << 9), 0);
    assert_int_equal(device_set_print_buffer(d, 0), STATUS_OK);
    print(d, "no room\n");
    assert_int_equal(device_set_print_buffer(d, 64), STATUS_OK);
    print(d, "some room\n");
    capture(1);
    device_flush_output(d);
    assert_string_equal(captured_text(), "some room\n");
    device_close(d);
}

/* ---- settings ------------------------------------------------------------ */

static void settings(void **state) {
    (void)state;
    struct device_config c;
    device_config_from_env(&c);
    assert_false(c.seeded);
    assert_int_equal(c.memory_bytes, 8ull << 30);
    assert_int_equal(c.fill, 0xcd);
    assert_int_equal(c.print_buffer_bytes, 1 << 20);

    setenv("SIMGPU_SEED", "0xdeadbeefcafef00d", 1);
    setenv("SIMGPU_SCHEDULE", "lazy", 1);
    setenv("SIMGPU_CHECK", "exact", 1);
    setenv("SIMGPU_TIME_LIMIT_MS", "250", 1);
    setenv("SIMGPU_TIMER_PPM", "-12.5", 1);
    setenv("SIMGPU_TIMER_OFFSET_NS", "-5000", 1);
    setenv("SIMGPU_GUARD", "0", 1);
    setenv("SIMGPU_FILL", "-1", 1);
    device_config_from_env(&c);
    assert_true(c.seeded);
    assert_int_equal(c.seed, 0xdeadbeefcafef00d);
    assert_int_equal(c.schedule, SCHEDULE_LAZY);
    assert_int_equal(c.check, MEMORY_CHECK_EXACT);
    assert_int_equal(c.time_limit_ns, 250000000);
    assert_true(c.timer_ppm == -12.5);
    assert_int_equal(c.timer_offset_ns, -5000);
    assert_int_equal(c.guard_bytes, 0);
    assert_int_equal(c.fill, -1);
}

static void bad_settings_are_reported(void **state) {
    (void)state;
    struct device_config c;
    setenv("SIMGPU_SCHEDULE", "sometimes", 1);
    setenv("SIMGPU_MEMORY", "8X", 1);
    setenv("SIMGPU_WORKERS", "-3", 1);
    setenv("SIMGPU_SEED", "", 1); /* empty is unset */
    setenv("SIMGPU_CC", "9.0", 1);
    setenv("SIMGPU_SMS", "0", 1);
    setenv("SIMGPU_REPORT", "maybe", 1);
    setenv("SIMGPU_SPEED", "1", 1);
    capture(2);
    device_config_from_env(&c);
    char *text = captured_text();
    assert_non_null(strstr(text, "SIMGPU_SCHEDULE=sometimes"));
    assert_non_null(strstr(text, "SIMGPU_MEMORY=8X"));
    assert_non_null(strstr(text, "SIMGPU_WORKERS=-3"));
    assert_non_null(strstr(text, "SIMGPU_CC=9.0"));
    assert_non_null(strstr(text, "SIMGPU_SMS=0"));
    assert_non_null(strstr(text, "SIMGPU_REPORT=maybe"));
    assert_non_null(strstr(text, "SIMGPU_SPEED=1: there is no such"));
    assert_null(strstr(text, "SIMGPU_SEED"));
    assert_int_equal(c.capability, 90);
    assert_int_equal(c.multiprocessors, 16);
    assert_int_equal(c.schedule, SCHEDULE_RANDOM);
    assert_int_equal(c.memory_bytes, 8ull << 30);
    assert_false(c.seeded);
}

/* The page's table is settings.def, row by row, and ends with it. */
static void settings_are_documented(void **state) {
    (void)state;
    static char page[1 << 17], table[1 << 14] =
        "| variable | default | meaning |\n| --- | --- | --- |\n";
    FILE *f = fopen(FAULTLAG_SOURCE_DIR "/docs/simgpu.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = 0;
    fclose(f);
    const char *value;
#define SETTING(name, reader, field, text, meaning)                       \
    value = text;                                                         \
    sprintf(table + strlen(table), "| `SIMGPU_%s` | %s | %s |\n", #name,  \
            value ? value : "none", meaning);
#include "core/settings.def"
#undef SETTING
    const char *found = strstr(page, "| variable |");
    assert_non_null(found);
    assert_string_equal(found, table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_only_when_flushed),
        cmocka_unit_test(oldest_output_is_overwritten),
        cmocka_unit_test(heap),
        cmocka_unit_test(sizes_change_until_used),
        cmocka_unit_test(settings),
        cmocka_unit_test(bad_settings_are_reported),
        cmocka_unit_test(settings_are_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
