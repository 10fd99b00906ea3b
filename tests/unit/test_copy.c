/* Copies and fills: every byte against a loop, what may change while one is on
 * its way, and what is refused. */
#include "tests/unit/rig.h"

#include <stdlib.h>

#define N (1u << 16)

static void staged_source_may_change(void **state) {
    (void)state;
    EACH_WAY(d) {
        for (size_t n = N; n <= 4 * N; n += N / 2) { /* and larger */
            uint64_t x = rig_alloc(d, 4 * N);
            char *host = malloc(n);
            memset(host, 4, n);
            struct copy_desc c = { .dst = x + 4 * N - n,
                                   .src = (uint64_t)host,
                                   .dst_on_device = true, .width = n,
                                   .height = 1, .staged = true };
            assert_int_equal(enqueue_copy(device_legacy_stream(d), &c),
                             STATUS_OK);
            memset(host, 5, n);
            free(host);
            assert_int_equal(device_wait(d), STATUS_OK);
            rig_expect(d, x + 4 * N - n, 4, N);
            rig_expect(d, x + 3 * N, 4, N);
        }
    }
}

/* Of a large staged copy only the end can be missing when it returns. */
static void large_staged_copies_wait(void **state) {
    (void)state;
    struct device *d = rig_seeded(1, SCHEDULE_LAZY);
    uint64_t x = rig_alloc(d, 4 * N);
    char *host = calloc(4, N);
    struct copy_desc c = { .dst = x, .src = (uint64_t)host,
                           .dst_on_device = true, .width = 4 * N,
                           .height = 1, .staged = true };
    memset(rig_host(d, x), 9, 4 * N);
    assert_int_equal(enqueue_copy(device_legacy_stream(d), &c), STATUS_OK);
    rig_expect(d, x, 0, N);
    rig_expect(d, x + 2 * N, 0, N);
    rig_expect(d, x + 3 * N, 9, N);
    assert_int_equal(device_wait(d), STATUS_OK);
    rig_expect(d, x + 3 * N, 0, N);
    free(host);
    device_close(d);
}

/* 2-D copies and fills, against loops. */
static void rows(void **state) {
    (void)state;
    enum { W = 100, H = 37, P = 128, Q = 160 };
    EACH_WAY(d) {
        struct stream *s = stream_create(d, true);
        uint64_t x = rig_alloc(d, P * H), y = rig_alloc(d, Q * H);
        uint8_t *px = rig_host(d, x), *py = rig_host(d, y);
        for (int staged = 0; staged < 2; staged++) {
            for (int i = 0; i < P * H; i++) px[i] = (uint8_t)(i * 7);
            memset(py, 0, Q * H);
            struct copy_desc c = { .dst = y, .src = x, .dst_on_device = true,
                                   .src_on_device = true, .width = W,
                                   .height = H, .dst_pitch = Q,
                                   .src_pitch = P, .staged = staged };
            assert_int_equal(enqueue_copy(s, &c), STATUS_OK);
            assert_int_equal(stream_wait(s), STATUS_OK);
            for (int r = 0; r < H; r++)
                for (int i = 0; i < Q; i++)
                    assert_int_equal(py[r * Q + i],
                                     i < W ? (uint8_t)((r * P + i) * 7) : 0);
        }
        for (unsigned bytes = 1; bytes <= 4; bytes *= 2) {
            uint32_t value = 0x12345678;
            memset(py, 0, Q * H);
            assert_int_equal(enqueue_fill(s, y + 4, Q, value, bytes, W, H),
                             STATUS_OK);
            assert_int_equal(stream_wait(s), STATUS_OK);
            for (int r = 0; r < H; r++)
                for (int i = 0; i < Q; i++) {
                    int j = i - 4;
                    uint8_t want = j >= 0 && j < W
                        ? (uint8_t)(value >> 8 * ((unsigned)j % bytes)) : 0;
                    assert_int_equal(py[r * Q + i], want);
                }
        }
    }
}

static void bad_arguments(void **state) {
    (void)state;
    struct device *d = rig_free(1);
    struct stream *s = device_legacy_stream(d);
    uint64_t x = rig_alloc(d, 64);
    struct copy_desc c = rig_copy(x, 0x1234, 4);
    assert_int_equal(enqueue_copy(s, &c), STATUS_INVALID);
    c = rig_copy(0x1234, x, 4);
    assert_int_equal(enqueue_copy(s, &c), STATUS_INVALID);
    assert_int_equal(enqueue_fill(s, 0, 0, 0, 1, 4, 1), STATUS_INVALID);
    assert_int_equal(enqueue_fill(s, x, 0, 0, 3, 4, 1), STATUS_INVALID);
    assert_int_equal(enqueue_write(s, x + 1, 0, 4), STATUS_INVALID);
    assert_int_equal(enqueue_write(s, x, 0, 2), STATUS_INVALID);
    assert_int_equal(enqueue_wait_value(s, x, 0, 4, 4), STATUS_INVALID);
    assert_int_equal(enqueue_free(s, x + 1), STATUS_INVALID);
    assert_int_equal(device_wait(d), STATUS_OK);
    device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(staged_source_may_change),
        cmocka_unit_test(large_staged_copies_wait),
        cmocka_unit_test(rows),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
