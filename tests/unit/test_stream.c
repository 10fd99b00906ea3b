/* Streams, events and commands: what is ordered behind what, under every way
 * to run. */
#include "tests/unit/rig.h"

#include <pthread.h>
#include <unistd.h>

#define N (1u << 16)

static void fill(struct device *d, struct stream *s, uint64_t dst,
                 uint8_t value) {
    device_host_call(d);
    assert_int_equal(enqueue_fill(s, dst, 0, value, 1, N, 1), STATUS_OK);
}

static void copy(struct device *d, struct stream *s, uint64_t dst,
                 uint64_t src) {
    struct copy_desc c = rig_copy(dst, src, N);
    device_host_call(d);
    assert_int_equal(enqueue_copy(s, &c), STATUS_OK);
}

static void in_order(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *s = stream_create(d, true);
        uint64_t x = rig_alloc(d, N), y = rig_alloc(d, N), z = rig_alloc(d, N);
        fill(d, s, x, 1);
        copy(d, s, y, x);
        fill(d, s, x, 2);
        copy(d, s, z, x);
        assert_int_equal(stream_wait(s), STATUS_OK);
        assert_int_equal(stream_query(s), STATUS_OK);
        rig_expect(d, y, 1, N);
        rig_expect(d, z, 2, N);
    }
}

/* Legacy default stream: behind every blocking stream's work and before their
 * later work; another blocking stream only through it. */
static void legacy_orders_blocking_streams(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *a = stream_create(d, true);
        struct stream *b = stream_create(d, true);
        struct stream *legacy = device_legacy_stream(d);
        uint64_t x = rig_alloc(d, N), y = rig_alloc(d, N), z = rig_alloc(d, N);
        for (uint8_t round = 0; round < 20; round++) {
            fill(d, a, x, round);
            copy(d, legacy, y, x);
            copy(d, b, z, y);
            fill(d, legacy, y, 99);
            assert_int_equal(device_wait(d), STATUS_OK);
            rig_expect(d, z, round, N);
            rig_expect(d, y, 99, N);
        }
    }
}

static void legacy_wait_includes_blocking_streams(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *a = stream_create(d, true);
        uint64_t x = rig_alloc(d, N);
        fill(d, a, x, 5);
        assert_int_equal(stream_wait(device_legacy_stream(d)), STATUS_OK);
        assert_int_equal(stream_query(a), STATUS_OK);
        rig_expect(d, x, 5, N);
    }
}

/* A lazy device shows that nothing orders a non-blocking stream. */
static void legacy_leaves_others_alone(void **state) {
    (void)state;
    struct device *d = rig_seeded(1, SCHEDULE_LAZY);
    struct stream *free_one = stream_create(d, false);
    struct event *e = event_create(d, false);
    uint64_t x = rig_alloc(d, N);
    /* A legacy command that cannot run yet: behind a value nobody wrote. */
    uint64_t flag = memory_alloc(device_memory(d), 8, MEMORY_PINNED, 0);
    enqueue_wait_value(device_legacy_stream(d), flag, 1, 8, 1);
    fill(d, device_legacy_stream(d), x, 1);
    fill(d, free_one, x, 2);
    event_record(e, free_one);
    assert_int_equal(event_wait(e), STATUS_OK);
    rig_expect(d, x, 2, N);
    assert_int_equal(stream_query(device_legacy_stream(d)), STATUS_NOT_READY);
    *(volatile uint64_t *)flag = 1;
    assert_int_equal(device_wait(d), STATUS_OK);
    rig_expect(d, x, 1, N);
    event_destroy(e);
    device_close(d);
}

static void events_order_streams(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *a = stream_create(d, false);
        struct stream *b = stream_create(d, false);
        struct event *e = event_create(d, true), *f = event_create(d, true);
        uint64_t x = rig_alloc(d, N), y = rig_alloc(d, N);
        float ms = -1;
        assert_int_equal(event_query(e), STATUS_OK); /* never recorded */
        assert_int_equal(event_wait(e), STATUS_OK);
        assert_int_equal(event_elapsed(e, f, &ms), STATUS_INVALID);
        assert_int_equal(stream_wait_event(a, e), STATUS_OK);
        for (uint8_t round = 0; round < 20; round++) {
            fill(d, a, x, round);
            assert_int_equal(event_record(e, a), STATUS_OK);
            assert_int_equal(stream_wait_event(b, e), STATUS_OK);
            copy(d, b, y, x);
            assert_int_equal(event_record(f, b), STATUS_OK);
            assert_int_equal(stream_wait_event(a, f), STATUS_OK);
        }
        assert_int_equal(event_wait(f), STATUS_OK);
        assert_int_equal(event_query(e), STATUS_OK);
        rig_expect(d, y, 19, N);
        assert_int_equal(event_elapsed(e, f, &ms), STATUS_OK);
        assert_true(ms >= 0);
        event_destroy(e);
        event_destroy(f);
    }
}

/* An event that is recorded again or destroyed keeps what was waited for. */
static void event_waits_survive_the_event(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *a = stream_create(d, false);
        struct stream *b = stream_create(d, false);
        struct event *e = event_create(d, false);
        uint64_t x = rig_alloc(d, N), y = rig_alloc(d, N);
        float ms;
        fill(d, a, x, 7);
        event_record(e, a);
        stream_wait_event(b, e);
        event_record(e, b);
        assert_int_equal(event_elapsed(e, e, &ms), STATUS_INVALID);
        event_destroy(e);
        copy(d, b, y, x);
        assert_int_equal(stream_wait(b), STATUS_OK);
        rig_expect(d, y, 7, N);
    }
}

static void destroyed_stream_finishes(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *s = stream_create(d, true);
        uint64_t x = rig_alloc(d, N);
        fill(d, s, x, 1);
        fill(d, s, x, 3);
        stream_destroy(s);
        assert_int_equal(device_wait(d), STATUS_OK);
        rig_expect(d, x, 3, N);
        stream_destroy(stream_create(d, false));
    }
}

static void values(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *a = stream_create(d, false);
        struct stream *b = stream_create(d, false);
        uint64_t flag = rig_alloc(d, 8), x = rig_alloc(d, N);
        memset(rig_host(d, flag), 0, 8);
        static const struct { unsigned bytes, op; uint64_t write, want; }
            cases[] = {
                { 4, 0, 5, 5 }, { 4, 0, 9, 7 },
                { 8, 1, 1ull << 40, 1ull << 40 }, { 4, 2, 12, 4 },
                { 4, 3, 0x0f, 0xf0 },
                { 4, 0, 3, 0xfffffffe }, /* counters wrap */
            };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint64_t never = cases[i].op == 3 ? UINT64_MAX
                           : cases[i].op == 0 ? cases[i].want - 1 : 0;
            *(volatile uint64_t *)rig_host(d, flag) = never;
            assert_int_equal(enqueue_wait_value(b, flag, cases[i].want,
                                                cases[i].bytes, cases[i].op),
                             STATUS_OK);
            fill(d, b, x, (uint8_t)(i + 1));
            assert_int_equal(stream_query(b), STATUS_NOT_READY);
            assert_int_equal(enqueue_write(a, flag, cases[i].write,
                                           cases[i].bytes), STATUS_OK);
            assert_int_equal(stream_wait(b), STATUS_OK);
            rig_expect(d, x, (uint8_t)(i + 1), N);
        }
    }
}

static void stream_ordered_free(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *s = stream_create(d, false);
        uint64_t x = rig_alloc(d, N), flag = rig_alloc(d, 4);
        struct allocation a;
        memset(rig_host(d, flag), 0, 4);
        enqueue_wait_value(s, flag, 1, 4, 1);
        assert_int_equal(enqueue_free(s, x), STATUS_OK);
        assert_true(memory_lookup(device_memory(d), x, &a));
        enqueue_write(device_legacy_stream(d), flag, 1, 4);
        assert_int_equal(stream_wait(s), STATUS_OK);
        assert_false(memory_lookup(device_memory(d), x, &a));
    }
}

/* ---- host functions ------------------------------------------------------ */

static pthread_t host_thread;
static void add_one(void *arg) {
    host_thread = pthread_self();
    ++*(unsigned *)arg;
}

static void host_functions_in_order(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *s = stream_create(d, true);
        unsigned count = 0;
        for (int i = 0; i < 50; i++) {
            device_host_call(d);
            assert_int_equal(enqueue_host(s, add_one, &count, false),
                             STATUS_OK);
        }
        assert_int_equal(stream_wait(s), STATUS_OK);
        assert_int_equal(count, 50);
        assert_false(pthread_equal(host_thread, pthread_self()));
        assert_false(device_unrepeatable(d));
    }
}

/* A host function that wants a lock which the caller holds must not deadlock
 * a seeded run, where the call runs the function. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void take_lock(void *arg) {
    pthread_mutex_lock(&held);
    *(bool *)arg = true;
    pthread_mutex_unlock(&held);
}

static void host_function_wants_callers_lock(void **state) {
    (void)state;
    struct device *d = rig_seeded(1, SCHEDULE_EAGER);
    bool ran = false;
    pthread_mutex_lock(&held);
    enqueue_host(device_legacy_stream(d), take_lock, &ran, false);
    pthread_mutex_unlock(&held);
    assert_int_equal(device_wait(d), STATUS_OK);
    assert_true(ran);
    assert_true(device_unrepeatable(d));
    device_close(d);
}

/* ---- queue depth --------------------------------------------------------- */

static void *open_the_gate(void *arg) {
    usleep(50000);
    __atomic_store_n((uint64_t *)arg, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void full_queue_makes_the_call_wait(void **state) {
    (void)state;
    struct device_config c;
    device_config_default(&c);
    c.queue_depth = 8;
    struct device *d = device_open(&c);
    struct stream *s = stream_create(d, false);
    uint64_t x = rig_alloc(d, N);
    uint64_t gate = memory_alloc(device_memory(d), 8, MEMORY_PINNED, 0);
    pthread_t t;
    enqueue_wait_value(s, gate, 1, 8, 1);
    for (int i = 0; i < 7; i++) fill(d, s, x, 1);
    assert_int_equal(stream_query(s), STATUS_NOT_READY);
    pthread_create(&t, NULL, open_the_gate, (void *)gate);
    fill(d, s, x, 2); /* only once the gate is open */
    assert_int_equal(__atomic_load_n((uint64_t *)gate, __ATOMIC_ACQUIRE), 1);
    assert_int_equal(stream_wait(s), STATUS_OK);
    pthread_join(t, NULL);
    device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),
        cmocka_unit_test(legacy_orders_blocking_streams),
        cmocka_unit_test(legacy_wait_includes_blocking_streams),
        cmocka_unit_test(legacy_leaves_others_alone),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(event_waits_survive_the_event),
        cmocka_unit_test(destroyed_stream_finishes),
        cmocka_unit_test(values),
        cmocka_unit_test(stream_ordered_free),
        cmocka_unit_test(host_functions_in_order),
        cmocka_unit_test(host_function_wants_callers_lock),
        cmocka_unit_test(full_queue_makes_the_call_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
