/* Progress: kernels that wait for other blocks, other streams, or the host;
 * and that a launch runs every block exactly once. */
#include "tests/unit/rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static const char text[] = PTX_HEAD
    /* counts[ctaid]++, one thread a block */
    ".visible .entry count(.param .u64 counts) {\n"
    ".reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [counts]; mov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "mov.u32 %r2, 1; red.global.add.u32 [%rd3], %r2;\n"
    "ret; }\n"
    /* waits until *flag >= ctaid's successor has come, the last block first:
       block i waits for *flag == n - 1 - i, then adds one */
    ".visible .entry chain(.param .u64 flag) {\n"
    ".reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [flag];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;\n"
    "sub.s32 %r3, %r2, %r1; sub.s32 %r3, %r3, 1;\n"
    "$L: ld.volatile.global.u32 %r4, [%rd1];\n"
    "setp.ne.s32 %p1, %r4, %r3; @%p1 bra $L;\n"
    "mov.u32 %r5, 1; red.global.add.u32 [%rd1], %r5;\n"
    "ret; }\n"
    ".visible .entry await(.param .u64 p, .param .u32 value) {\n"
    ".reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r2, [value];\n"
    "$L: ld.volatile.global.u32 %r1, [%rd1];\n"
    "setp.ne.s32 %p1, %r1, %r2; @%p1 bra $L;\n"
    "ret; }\n"
    ".visible .entry set(.param .u64 p, .param .u32 value) {\n"
    ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [value];\n"
    "st.volatile.global.u32 [%rd1], %r1;\n"
    "ret; }\n"
    /* until %globaltimer has moved by ns */
    ".visible .entry pause(.param .u64 ns) {\n"
    ".reg .b64 %rd<5>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [ns]; mov.u64 %rd2, %globaltimer;\n"
    "$L: mov.u64 %rd3, %globaltimer; sub.s64 %rd4, %rd3, %rd2;\n"
    "setp.lt.u64 %p1, %rd4, %rd1; @%p1 bra $L;\n"
    "ret; }\n"
    ".visible .entry empty() { ret; }\n";

static struct ptx_module *module;
static struct program *count, *chain, *await, *set, *pause_ns, *empty;

static int set_up(void **state) {
    (void)state;
    module = rig_module(text);
    count = rig_program(module, "count");
    chain = rig_program(module, "chain");
    await = rig_program(module, "await");
    set = rig_program(module, "set");
    pause_ns = rig_program(module, "pause");
    empty = rig_program(module, "empty");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    program_free(count);
    program_free(chain);
    program_free(await);
    program_free(set);
    program_free(pause_ns);
    program_free(empty);
    ptx_module_free(module);
    return 0;
}

static uint64_t zeroed(struct device *d, size_t bytes) {
    uint64_t a = rig_alloc(d, bytes);
    memset(rig_host(d, a), 0, bytes);
    return a;
}

static uint32_t peek(struct device *d, uint64_t a) {
    return __atomic_load_n((uint32_t *)rig_host(d, a), __ATOMIC_ACQUIRE);
}

static void every_block_once(void **state) {
    (void)state;
    static const uint32_t grids[] = { 1, 2, 3, 64, 65, 1000, 5000 };
    EACH_WAY(d) {
        struct stream *s[2] = { stream_create(d, false),
                                stream_create(d, false) };
        for (unsigned g = 0; g < sizeof grids / sizeof *grids; g++) {
            uint64_t counts = zeroed(d, grids[g] * 4);
            for (int i = 0; i < 4; i++) {
                device_host_call(d);
                assert_int_equal(rig_launch(s[i % 2], count, grids[g], 1,
                                            RIG_ARGS(&counts)), STATUS_OK);
            }
            assert_int_equal(device_wait(d), STATUS_OK);
            for (uint32_t i = 0; i < grids[g]; i++)
                assert_int_equal(peek(d, counts + 4 * i), 4);
        }
    }
}

/* Three-dimensional grids: each ctaid once. Linear numbers come from x only
 * here, so each of the y*z planes adds one. */
static void three_dimensions(void **state) {
    (void)state;
    EACH_WAY(d) {
        uint64_t counts = zeroed(d, 7 * 4);
        struct launch_desc l = { .program = count, .grid = { 7, 5, 3 },
                                 .block = { 1, 1, 1 },
                                 .args = RIG_ARGS(&counts) };
        assert_int_equal(enqueue_launch(device_legacy_stream(d), &l, NULL),
                         STATUS_OK);
        assert_int_equal(device_wait(d), STATUS_OK);
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(peek(d, counts + 4 * i), 15);
        l.grid[1] = 0;
        assert_int_equal(enqueue_launch(device_legacy_stream(d), &l, NULL),
                         STATUS_INVALID);
    }
}

/* Every block waits for the one behind it. */
static void blocks_wait_for_later_ones(void **state) {
    (void)state;
    EACH_WAY(d) {
        uint64_t flag = zeroed(d, 4);
        rig_launch(device_legacy_stream(d), chain, 24, 1, RIG_ARGS(&flag));
        assert_int_equal(device_wait(d), STATUS_OK);
        assert_int_equal(peek(d, flag), 24);
    }
}

static void cooperative_blocks_are_all_resident(void **state) {
    (void)state;
    EACH_WAY(d) {
        uint64_t flag = zeroed(d, 4), before, after, total;
        memory_usage(device_memory(d), &before, &total);
        struct launch_desc l = { .program = chain, .grid = { 40, 1, 1 },
                                 .block = { 1, 1, 1 },
                                 .args = RIG_ARGS(&flag),
                                 .cooperative = true };
        assert_int_equal(enqueue_launch(device_legacy_stream(d), &l, NULL),
                         STATUS_OK);
        assert_int_equal(device_wait(d), STATUS_OK);
        assert_int_equal(peek(d, flag), 40);
        memory_usage(device_memory(d), &after, &total);
        assert_int_equal(before, after);
    }
}

/* A kernel waits for one that a later call puts into another stream. */
static void kernels_wait_for_other_streams(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct stream *a = stream_create(d, false);
        struct stream *b = stream_create(d, false);
        uint64_t p = zeroed(d, 8), q = p + 4;
        uint32_t one = 1;
        device_host_call(d);
        rig_launch(a, await, 4, 32, RIG_ARGS(&p, &one));
        rig_launch(a, set, 1, 1, RIG_ARGS(&q, &one));
        device_host_call(d);
        rig_launch(b, set, 1, 1, RIG_ARGS(&p, &one));
        rig_launch(b, await, 4, 32, RIG_ARGS(&q, &one));
        assert_int_equal(device_wait(d), STATUS_OK);
        assert_false(device_unrepeatable(d));
    }
}

static void device_time_passes_in_a_kernel(void **state) {
    (void)state;
    EACH_WAY(d) {
        struct event *e = event_create(d, true), *f = event_create(d, true);
        uint64_t ns = 300000;
        float ms = 0;
        event_record(e, device_legacy_stream(d));
        rig_launch(device_legacy_stream(d), pause_ns, 1, 1, RIG_ARGS(&ns));
        event_record(f, device_legacy_stream(d));
        assert_int_equal(event_wait(f), STATUS_OK);
        assert_int_equal(event_elapsed(e, f, &ms), STATUS_OK);
        assert_true(ms >= 0.299f); /* the timer has steps of 32 ns */
        event_destroy(e);
        event_destroy(f);
    }
}

static void timer_distortion(void **state) {
    (void)state;
    struct device_config c;
    device_config_default(&c);
    c.seeded = true;
    c.timer_offset_ns = -123456;
    c.timer_ppm = 1000;
    c.timer_granularity_ns = 1024;
    struct device *d = device_open(&c);
    struct exec_services *s = device_services(d);
    uint64_t start = device_time_ns(d);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = device_time_ns(d), t = s->globaltimer(s->ctx);
        int64_t want = (int64_t)now - 123456 + (int64_t)(now - start) / 1000;
        assert_int_equal(t % 1024, 0);
        assert_true(want - (int64_t)t >= 0 && want - (int64_t)t <= 1024 + 1);
    }
    device_close(d);
}

/* ---- the host waits without calling -------------------------------------- */

/* Free: the device goes on anyway. Seeded: after a pause, and says so. */
static void host_spins_on_mapped_memory(void **state) {
    (void)state;
    for (int seeded = 0; seeded < 2; seeded++) {
        struct device_config c;
        device_config_default(&c);
        c.seeded = seeded;
        c.schedule = SCHEDULE_LAZY;
        c.pause_ms = 20;
        struct device *d = device_open(&c);
        uint64_t p = memory_alloc(device_memory(d), 4, MEMORY_PINNED, 0);
        uint32_t one = 1;
        rig_launch(device_legacy_stream(d), set, 1, 1, RIG_ARGS(&p, &one));
        while (__atomic_load_n((uint32_t *)p, __ATOMIC_ACQUIRE) != 1)
            ;
        assert_int_equal(device_wait(d), STATUS_OK);
        assert_int_equal(device_unrepeatable(d), seeded);
        device_close(d);
    }
}

/* Where the host can see nothing, it may take its time. */
static void slow_hosts_stay_repeatable(void **state) {
    (void)state;
    struct device_config c;
    device_config_default(&c);
    c.seeded = true;
    c.schedule = SCHEDULE_LAZY;
    c.pause_ms = 1;
    struct device *d = device_open(&c);
    uint64_t p = zeroed(d, 4);
    uint32_t one = 1;
    rig_launch(device_legacy_stream(d), set, 1, 1, RIG_ARGS(&p, &one));
    usleep(100000);
    assert_int_equal(peek(d, p), 0);
    assert_int_equal(device_wait(d), STATUS_OK);
    assert_int_equal(peek(d, p), 1);
    assert_false(device_unrepeatable(d));
    device_close(d);
}

/* ---- threads ------------------------------------------------------------- */

struct user { struct device *d; uint64_t counts; bool ok; };

static void *use(void *arg) {
    struct user *u = arg;
    struct stream *s = stream_create(u->d, true);
    u->ok = true;
    for (int i = 0; i < 50; i++) {
        device_host_call(u->d);
        u->ok &= rig_launch(s, count, 20, 1, RIG_ARGS(&u->counts)) ==
                 STATUS_OK;
        u->ok &= rig_launch(i % 7 ? s : device_legacy_stream(u->d), empty, 3,
                            64, NULL) == STATUS_OK;
        if (i % 5 == 0) u->ok &= stream_wait(s) == STATUS_OK;
    }
    u->ok &= stream_wait(s) == STATUS_OK;
    stream_destroy(s);
    return NULL;
}

static void many_host_threads(void **state) {
    (void)state;
    enum { THREADS = 5 };
    EACH_WAY(d) {
        struct user u[THREADS];
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++) {
            u[i] = (struct user){ d, zeroed(d, 20 * 4), false };
            pthread_create(&t[i], NULL, use, &u[i]);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(t[i], NULL);
            assert_true(u[i].ok);
            for (uint32_t b = 0; b < 20; b++)
                assert_int_equal(peek(d, u[i].counts + 4 * b), 50);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_once),
        cmocka_unit_test(three_dimensions),
        cmocka_unit_test(blocks_wait_for_later_ones),
        cmocka_unit_test(cooperative_blocks_are_all_resident),
        cmocka_unit_test(kernels_wait_for_other_streams),
        cmocka_unit_test(device_time_passes_in_a_kernel),
        cmocka_unit_test(timer_distortion),
        cmocka_unit_test(host_spins_on_mapped_memory),
        cmocka_unit_test(slow_hosts_stay_repeatable),
        cmocka_unit_test(many_host_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
