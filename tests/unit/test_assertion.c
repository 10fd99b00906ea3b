/* Failed assertions in kernels: the thread ends, the launch goes on to its end,
 * then the device is lost with 710; the text waits for a flush. */
#include "tests/unit/rig.h"

#include <stdio.h>
#include <unistd.h>

/* __assertfail(text, text, 12, text, 1), text in %rd1 */
#define ASSERT_FAIL \
    "{ .param .b64 a; st.param.b64 [a], %rd1;\n" \
    "  .param .b64 b; st.param.b64 [b], %rd1;\n" \
    "  .param .b32 c; st.param.b32 [c], 12;\n" \
    "  .param .b64 e; st.param.b64 [e], %rd1;\n" \
    "  .param .b64 f; st.param.b64 [f], 1;\n" \
    "  call.uni __assertfail, (a, b, c, e, f); }\n"

static const char text[] = PTX_HEAD
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,\n"
    "                           .param .b64 d, .param .b64 e);\n"
    /* p[tid] = 1; assert(tid != 3) */
    ".visible .entry fail(.param .u64 text, .param .u64 p) {\n"
    ".reg .b32 %r<3>; .reg .b64 %rd<5>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [text]; ld.param.u64 %rd2, [p];\n"
    "mov.u32 %r1, %tid.x;\n"
    "cvt.u64.u32 %rd3, %r1; add.s64 %rd4, %rd2, %rd3;\n"
    "mov.u32 %r2, 1; st.global.u8 [%rd4], %r2;\n"
    "setp.ne.s32 %p1, %r1, 3; @%p1 bra $ok;\n"
    ASSERT_FAIL
    "$ok: ret; }\n"
    /* block 0 fails, the others never end */
    ".visible .entry wait(.param .u64 text) {\n"
    ".reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [text]; mov.u32 %r1, %ctaid.x;\n"
    "setp.ne.s32 %p1, %r1, 0; @%p1 bra $spin;\n"
    ASSERT_FAIL
    "$spin: bra $spin; }\n";

static struct ptx_module *module;
static struct program *fail_one, *wait_for_it;

static int set_up(void **state) {
    (void)state;
    module = rig_module(text);
    fail_one = rig_program(module, "fail");
    wait_for_it = rig_program(module, "wait");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    program_free(fail_one);
    program_free(wait_for_it);
    ptx_module_free(module);
    return 0;
}

static uint64_t words(struct device *d) {
    uint64_t a = rig_alloc(d, 64);
    strcpy(rig_host(d, a), "i < n");
    return a;
}

static void lost_at_the_end(void **state) {
    (void)state;
    EACH_WAY(d) {
        uint64_t w = words(d), p = rig_alloc(d, 64);
        struct fault f;
        memset(rig_host(d, p), 0, 64);
        rig_launch(device_legacy_stream(d), fail_one, 1, 64, RIG_ARGS(&w, &p));
        assert_int_equal(device_wait(d), STATUS_LOST);
        assert_true(device_fault(d, &f));
        assert_int_equal(f.kind, FAULT_ASSERT);
        assert_int_equal(fault_kind_code(f.kind), 710);
        assert_string_equal(f.kernel, "fail");
        assert_int_equal(f.thread[0], 3);
        rig_expect(d, p, 1, 64); /* all others went on */
    }
}

/* Threads that wait for one that an assertion ended do not keep the launch. */
static void waiting_threads_end(void **state) {
    (void)state;
    for (int seeded = 0; seeded < 2; seeded++) {
        struct device *d = seeded ? rig_seeded(1, SCHEDULE_RANDOM)
                                  : rig_free(2);
        uint64_t w = words(d);
        struct fault f;
        rig_launch(device_legacy_stream(d), wait_for_it, 2, 1, RIG_ARGS(&w));
        assert_int_equal(device_wait(d), STATUS_LOST);
        assert_true(device_fault(d, &f));
        assert_int_equal(f.kind, FAULT_ASSERT);
        device_close(d);
    }
}

/* Standard error goes to a file while the device runs or flushes. */
static void text_at_the_flush(void **state) {
    (void)state;
    struct device *d = rig_free(2);
    uint64_t w = words(d), p = rig_alloc(d, 128);
    char got[2][256];
    for (int flush = 0; flush < 2; flush++) {
        FILE *file = tmpfile();
        int saved = dup(2);
        dup2(fileno(file), 2);
        if (flush) {
            device_flush_output(d);
        } else {
            rig_launch(device_legacy_stream(d), fail_one, 1, 64,
                       RIG_ARGS(&w, &p));
            device_wait(d);
        }
        fflush(stderr);
        dup2(saved, 2);
        close(saved);
        rewind(file);
        got[flush][fread(got[flush], 1, sizeof got[0] - 1, file)] = 0;
        fclose(file);
    }
    assert_string_equal(got[0], "");
    assert_string_equal(got[1], "i < n:12: i < n: block: [0,0,0], "
                        "thread: [3,0,0] Assertion `i < n` failed.\n");
    device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_at_the_end),
        cmocka_unit_test(waiting_threads_end),
        cmocka_unit_test(text_at_the_flush),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
