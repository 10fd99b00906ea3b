/* Being lost: who records the fault, who reports it, what stops, and what a
 * process can still do: close, exit, fork. */
#include "tests/unit/rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char text[] = PTX_HEAD
    /* p[offset + ctaid] = 1 */
    ".visible .entry poke(.param .u64 p, .param .u64 offset) {\n"
    ".reg .b32 %r<3>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [offset];\n"
    "mov.u32 %r1, %ctaid.x; cvt.u64.u32 %rd3, %r1;\n"
    "add.s64 %rd4, %rd1, %rd2; add.s64 %rd5, %rd4, %rd3;\n"
    "mov.u32 %r2, 1; st.global.u8 [%rd5], %r2;\n"
    "ret; }\n"
    ".visible .entry forever() {\n"
    "$L: bra $L;\n"
    "}\n"
    /* spins until *p is not 0 */
    ".visible .entry await(.param .u64 p) {\n"
    ".reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [p];\n"
    "$L: ld.volatile.global.u32 %r1, [%rd1];\n"
    "setp.eq.s32 %p1, %r1, 0; @%p1 bra $L;\n"
    "ret; }\n";

static struct device *open_way(int way, uint64_t limit_ms) {
    struct device_config c;
    device_config_default(&c);
    c.seeded = way > 0;
    c.seed = (uint64_t)way;
    c.schedule = (enum schedule)(way % 3);
    c.time_limit_ns = limit_ms * 1000000;
    struct device *d = device_open(&c);
    assert_non_null(d);
    return d;
}
#define WAYS 4

static struct ptx_module *module;
static struct program *poke, *forever, *await;

static int set_up(void **state) {
    (void)state;
    module = rig_module(text);
    poke = rig_program(module, "poke");
    forever = rig_program(module, "forever");
    await = rig_program(module, "await");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    program_free(poke);
    program_free(forever);
    program_free(await);
    ptx_module_free(module);
    return 0;
}

static void count_call(void *arg) { ++*(_Atomic unsigned *)arg; }

static void first_fault_wins(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct device *d = open_way(way, 0);
        struct stream *s = stream_create(d, true);
        struct stream *other = stream_create(d, false);
        struct event *before = event_create(d, true);
        struct event *after = event_create(d, true);
        uint64_t p = rig_alloc(d, 64), far = 1ull << 30, zero = 0, n = 0;
        _Atomic unsigned calls = 0;
        struct fault f;
        rig_launch(s, poke, 4, 1, RIG_ARGS(&p, &zero));
        event_record(before, s);
        assert_int_equal(event_wait(before), STATUS_OK);
        assert_false(device_lost(d));
        assert_false(device_fault(d, &f));

        struct launch_desc l = { .program = poke, .grid = { 1, 1, 1 },
                                 .block = { 1, 1, 1 },
                                 .args = RIG_ARGS(&p, &far) };
        assert_int_equal(enqueue_launch(s, &l, &n), STATUS_OK);
        assert_int_equal(n, 2);
        enqueue_host(s, count_call, (void *)&calls, false);
        enqueue_host(s, count_call, (void *)&calls, true);
        event_record(after, s);
        far *= 2;
        rig_launch(s, poke, 1, 1, RIG_ARGS(&p, &far));

        assert_int_equal(device_wait(d), STATUS_LOST);
        assert_true(device_lost(d));
        assert_true(device_fault(d, &f));
        assert_int_equal(f.kind, FAULT_ILLEGAL_ADDRESS);
        assert_int_equal(fault_kind_code(f.kind), 700);
        assert_string_equal(f.kernel, "poke");
        assert_int_equal(f.launch, 2);
        assert_int_equal(f.address, p + (1ull << 30));
        assert_int_equal(f.bytes, 1);
        assert_true(f.is_write);
        assert_int_equal(f.near_address, p);
        assert_int_equal(f.near_size, 64);
        assert_int_equal(f.near_distance, (1ll << 30) - 64 + 1);
        assert_false(f.near_freed);
        assert_int_not_equal(f.time_ns, 0);

        /* For ever after, on every stream and event. */
        assert_int_equal(stream_wait(other), STATUS_LOST);
        assert_int_equal(stream_query(other), STATUS_LOST);
        assert_int_equal(event_query(before), STATUS_LOST);
        assert_int_equal(event_wait(after), STATUS_LOST);
        assert_int_equal(event_record(after, other), STATUS_LOST);
        assert_int_equal(stream_wait_event(other, after), STATUS_LOST);
        assert_int_equal(rig_launch(other, poke, 1, 1, RIG_ARGS(&p, &zero)),
                         STATUS_LOST);
        assert_int_equal(enqueue_fill(other, p, 0, 0, 1, 4, 1), STATUS_LOST);
        assert_int_equal(enqueue_host(s, count_call, (void *)&calls, true),
                         STATUS_LOST);
        struct fault again;
        assert_true(device_fault(d, &again));
        assert_memory_equal(&f, &again, sizeof f);
        /* Only the function that asked for it ran, and only if queued. */
        assert_true(calls <= 1);
        event_destroy(before);
        event_destroy(after);
        device_close(d);
    }
}

/* What the kernel wrote before is there; what was queued behind is not. */
static void queued_work_is_discarded(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct device *d = open_way(way, 0);
        struct stream *s = stream_create(d, true);
        uint64_t far = 1ull << 30;
        uint64_t flag = memory_alloc(device_memory(d), 64, MEMORY_PINNED, 0);
        uint64_t *crumb = (uint64_t *)flag;
        enqueue_write(s, flag, 1, 8);
        rig_launch(s, poke, 1, 1, RIG_ARGS(&flag, &far));
        enqueue_write(s, flag, 2, 8);
        assert_int_equal(device_wait(d), STATUS_LOST);
        assert_int_equal(__atomic_load_n(crumb, __ATOMIC_ACQUIRE), 1);
        device_close(d);
    }
}

/* Another stream's endless kernel stops when the device is lost. */
static void running_kernels_stop(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct device *d = open_way(way, 0);
        struct stream *s = stream_create(d, false);
        struct stream *t = stream_create(d, false);
        uint64_t p = rig_alloc(d, 64), far = 1ull << 30;
        device_host_call(d);
        rig_launch(s, forever, 8, 64, NULL);
        device_host_call(d);
        rig_launch(t, poke, 1, 1, RIG_ARGS(&p, &far));
        assert_int_equal(device_wait(d), STATUS_LOST);
        assert_int_equal(stream_wait(s), STATUS_LOST);
        device_close(d);
    }
}

static void use_after_free_is_named(void **state) {
    (void)state;
    struct device *d = open_way(0, 0);
    uint64_t p = rig_alloc(d, 8 << 20), offset = 100;
    struct fault f;
    memory_free(device_memory(d), p, MEMORY_DEVICE);
    rig_launch(device_legacy_stream(d), poke, 1, 1, RIG_ARGS(&p, &offset));
    assert_int_equal(device_wait(d), STATUS_LOST);
    assert_true(device_fault(d, &f));
    assert_int_equal(f.near_address, p);
    assert_int_equal(f.near_distance, 0);
    assert_true(f.near_freed);
    device_close(d);
}

static void time_limit(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct device *d = open_way(way, 20);
        struct fault f;
        rig_launch(device_legacy_stream(d), forever, 2, 32, NULL);
        assert_int_equal(device_wait(d), STATUS_LOST);
        assert_true(device_fault(d, &f));
        assert_int_equal(f.kind, FAULT_TIMEOUT);
        assert_string_equal(f.kernel, "forever");
        assert_int_equal(f.launch, 1);
        device_close(d);
    }
}

/* Blocking: the launch returns after its kernel, and returns OK. */
static void launch_blocking(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct device_config c;
        device_config_default(&c);
        c.launch_blocking = true;
        c.seeded = way > 0;
        c.schedule = (enum schedule)(way % 3);
        struct device *d = device_open(&c);
        struct stream *s = device_legacy_stream(d);
        uint64_t p = rig_alloc(d, 64), zero = 0, far = 1ull << 30;
        assert_int_equal(rig_launch(s, poke, 1, 1, RIG_ARGS(&p, &zero)),
                         STATUS_OK);
        assert_int_equal(*(uint8_t *)rig_host(d, p), 1);
        assert_int_equal(rig_launch(s, poke, 1, 1, RIG_ARGS(&p, &far)),
                         STATUS_OK);
        assert_true(device_lost(d));
        assert_int_equal(rig_launch(s, poke, 1, 1, RIG_ARGS(&p, &zero)),
                         STATUS_LOST);
        device_close(d);
    }
}

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Nothing asks an endless kernel before the device closes. */
static void close_stops_endless_kernel(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct device *d = open_way(way, 0);
        rig_launch(device_legacy_stream(d), forever, 4, 64, NULL);
        device_host_call(d);
        uint64_t start = now_ms();
        device_close(d);
        assert_true(now_ms() - start < 10000);
    }
}

static int wait_for(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* What `test_fault endless` does: leave with a kernel running, through atexit
 * and destructors. */
static int leave_endless_kernel(void) {
    set_up(NULL);
    struct device *d = open_way(0, 0);
    rig_launch(device_legacy_stream(d), forever, 4, 64, NULL);
    usleep(20000);
    return 7;
}

static void exit_does_not_wait(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        execl("/proc/self/exe", "test_fault", "endless", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(wait_for(child), 7);
}

/* ThreadSanitizer forbids threads in the child of a process with threads. */
#ifndef __SANITIZE_THREAD__
static void use_inherited(struct device *d) {
    alarm(20);
    struct fault f;
    uint64_t p = 4096, zero = 0;
    if (!device_forked(d) || !device_lost(d) || device_fault(d, &f)) _exit(1);
    if (device_wait(d) != STATUS_LOST) _exit(2);
    if (stream_wait(device_legacy_stream(d)) != STATUS_LOST) _exit(3);
    if (rig_launch(device_legacy_stream(d), poke, 1, 1,
                   RIG_ARGS(&p, &zero)) != STATUS_LOST) _exit(4);
    device_flush_output(d);
    device_close(d);
    struct device *own = open_way(0, 0);
    p = rig_alloc(own, 64);
    rig_launch(device_legacy_stream(own), poke, 1, 1, RIG_ARGS(&p, &zero));
    if (device_wait(own) != STATUS_OK) _exit(5);
    device_close(own);
}

static void forked_child_does_not_hang(void **state) {
    (void)state;
    struct device *d = open_way(0, 0);
    uint64_t p = rig_alloc(d, 64);
    memset(rig_host(d, p), 0, 64);
    rig_launch(device_legacy_stream(d), await, 1, 32, RIG_ARGS(&p));
    pid_t child = fork();
    if (child == 0) {
        use_inherited(d);
        exit(7);
    }
    assert_int_equal(wait_for(child), 7);
    __atomic_store_n((uint32_t *)rig_host(d, p), 1, __ATOMIC_RELEASE);
    assert_int_equal(device_wait(d), STATUS_OK);
    device_close(d);
}
#endif

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "endless")) return leave_endless_kernel();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_fault_wins),
        cmocka_unit_test(queued_work_is_discarded),
        cmocka_unit_test(running_kernels_stop),
        cmocka_unit_test(use_after_free_is_named),
        cmocka_unit_test(time_limit),
        cmocka_unit_test(launch_blocking),
        cmocka_unit_test(close_stops_endless_kernel),
        cmocka_unit_test(exit_does_not_wait),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(forked_child_does_not_hang),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
