/* Calls, frames, and the functions that are built in. */
#include "bench_block.h"

#define KERNEL ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n" \
    ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f64 %fd<4>;\n" \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"

#define CALL_U32(function, arg, result) \
    "{ .param .b32 param0; .param .b32 retval0;\n" \
    "st.param.b32 [param0+0], " arg ";\n" \
    "call.uni (retval0), " function ", (param0);\n" \
    "ld.param.b32 " result ", [retval0+0]; }\n"

#define FIB ".func (.param .b32 func_retval0) fib(.param .b32 fib_0)\n{\n" \
    ".reg .pred %p<2>; .reg .b32 %r<9>;\n" \
    "ld.param.u32 %r8, [fib_0];\nsetp.lt.s32 %p1, %r8, 2;\n@%p1 bra D;\n" \
    "add.s32 %r4, %r8, -1;\n" CALL_U32("fib", "%r4", "%r5") \
    "add.s32 %r6, %r8, -2;\n" CALL_U32("fib", "%r6", "%r7") \
    "add.s32 %r8, %r7, %r5;\nD: st.param.b32 [func_retval0+0], %r8;\n" \
    "ret;\n}\n"

static void recursion_with_a_depth_a_lane(void **state) {
    (void)state;
    static const uint32_t fib[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    struct rig *r = rig_ran(PTX_HEAD FIB KERNEL
        "rem.u32 %r2, %r1, 12;\n" CALL_U32("fib", "%r2", "%r3")
        "activemask.b32 %r4;\nst.global.u32 [%rd3], %r3;\n"
        "st.global.u32 [%rd3+256], %r4;\nret;\n}\n", 1, 64);
    assert_true(r->program->recursive);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(r->host[i], fib[i % 12]);
        assert_int_equal(r->host[64 + i], FULL_MASK);
    }
    rig_close(r);
}

static void endless_recursion_is_a_stack_fault(void **state) {
    (void)state;
    struct rig *r = rig_open(PTX_HEAD
        ".func (.param .b32 func_retval0) f(.param .b32 f_0)\n{\n"
        ".reg .b32 %r<9>;\nld.param.u32 %r1, [f_0];\nadd.u32 %r1, %r1, 1;\n"
        CALL_U32("f", "%r1", "%r2")
        "st.param.b32 [func_retval0+0], %r2;\nret;\n}\n"
        KERNEL CALL_U32("f", "%r1", "%r3") "ret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 1, 32, NULL), BLOCK_FAULTED);
    assert_int_equal(r->fault.kind, FAULT_STACK);
    assert_int_equal(r->fault.lanes, 32);
    rig_close(r);
}

/* Lanes call different functions through a table in memory. */
#define TABLE PTX_HEAD \
    ".func (.param .b32 func_retval0) twice(.param .b32 a0);\n" \
    ".func (.param .b32 func_retval0) square(.param .b32 a0);\n" \
    ".global .align 8 .u64 table[2] = {twice, square};\n" \
    ".func (.param .b32 func_retval0) twice(.param .b32 a0)\n{\n" \
    ".reg .b32 %r<3>; ld.param.u32 %r1, [a0]; add.u32 %r2, %r1, %r1;\n" \
    "st.param.b32 [func_retval0+0], %r2; ret;\n}\n" \
    ".func (.param .b32 func_retval0) square(.param .b32 a0)\n{\n" \
    ".reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u32 %r1, [a0];\n" \
    "mul.lo.u32 %r2, %r1, %r1;\n" \
    "st.param.b32 [func_retval0+0], %r2; ret;\n}\n"
#define CALL_ADDRESS(address) \
    "{ .param .b32 param0; .param .b32 retval0;\n" \
    "st.param.b32 [param0+0], %r1;\n" \
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n" \
    "call (retval0), " address ", (param0), proto;\n" \
    "ld.param.b32 %r3, [retval0+0]; }\n"

static void indirect_calls(void **state) {
    (void)state;
    struct rig *r = rig_ran(TABLE KERNEL
        "and.b32 %r2, %r1, 1;\nmul.wide.u32 %rd4, %r2, 8;\n"
        "mov.u64 %rd5, table;\nadd.s64 %rd5, %rd5, %rd4;\n"
        "ld.global.u64 %rd6, [%rd5];\n" CALL_ADDRESS("%rd6")
        "activemask.b32 %r4;\nst.global.u32 [%rd3], %r3;\n"
        "st.global.u32 [%rd3+128], %r4;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], i & 1 ? i * i : 2 * i);
        assert_int_equal(r->host[32 + i], FULL_MASK);
    }
    rig_close(r);
}

static void a_call_of_nonsense_is_an_invalid_pc(void **state) {
    (void)state;
    struct rig *r = rig_open(TABLE KERNEL
        "mov.u64 %rd6, 4660;\n" CALL_ADDRESS("%rd6") "ret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 1, 32, NULL), BLOCK_FAULTED);
    assert_int_equal(r->fault.kind, FAULT_INVALID_PC);
    assert_int_equal(r->fault.address, 4660);
    rig_close(r);
}

/* A struct by value, its address taken; a struct back. */
static void structs_by_value(void **state) {
    (void)state;
    struct rig *r = rig_ran(PTX_HEAD
        ".func (.param .align 16 .b8 func_retval0[16]) swap"
        "(.param .align 16 .b8 s[16], .param .b32 which)\n{\n"
        ".reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        "mov.b64 %rd1, s;\nld.param.u32 %r1, [which];\n"
        "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd1, %rd1, %rd2;\n"
        "ld.local.u64 %rd3, [%rd1];\nld.param.u64 %rd4, [s+8];\n"
        "ld.param.u64 %rd5, [s];\nadd.u64 %rd3, %rd3, 1000;\n"
        "st.param.b64 [func_retval0+0], %rd4;\n"
        "st.param.b64 [func_retval0+8], %rd3;\nret;\n}\n"
        KERNEL
        "cvt.u64.u32 %rd4, %r1;\nadd.u64 %rd5, %rd4, 500;\n"
        "and.b32 %r2, %r1, 1;\n"
        "{ .param .align 16 .b8 param0[16]; .param .b32 param1;\n"
        ".param .align 16 .b8 retval0[16];\n"
        "st.param.v2.b64 [param0+0], {%rd4, %rd5};\n"
        "st.param.b32 [param1+0], %r2;\n"
        "call.uni (retval0), swap, (param0, param1);\n"
        "ld.param.v2.b64 {%rd6, %rd7}, [retval0+0]; }\n"
        "st.global.u32 [%rd3], %rd6;\nst.global.u32 [%rd3+128], %rd7;\n"
        "ret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], i + 500);
        assert_int_equal(r->host[32 + i], 1000 + (i & 1 ? i + 500 : i));
    }
    rig_close(r);
}

/* Lanes in different functions at once, whose frames are laid out differently
 * (64-bit rows against 32-bit ones), must not touch each other's registers:
 * each waits in the middle for the other side. */
static void frames_of_parted_lanes_are_apart(void **state) {
    (void)state;
    struct rig *r = rig_ran(PTX_HEAD
        ".func (.param .b32 func_retval0) wide(.param .b32 a0)\n{\n"
        ".reg .b64 %rd<9>; .reg .b32 %r<3>; ld.param.u32 %r1, [a0];\n"
        "cvt.u64.u32 %rd1, %r1;\nadd.u64 %rd2, %rd1, 1;\n"
        "add.u64 %rd3, %rd1, 2;\nadd.u64 %rd4, %rd1, 3;\n"
        "bar.warp.sync -1;\nadd.u64 %rd1, %rd1, %rd2;\n"
        "add.u64 %rd1, %rd1, %rd3;\nadd.u64 %rd1, %rd1, %rd4;\n"
        "cvt.u32.u64 %r2, %rd1;\nbar.warp.sync -1;\n"
        "st.param.b32 [func_retval0+0], %r2; ret;\n}\n"
        ".func (.param .b32 func_retval0) narrow(.param .b32 a0)\n{\n"
        ".reg .b32 %r<9>; ld.param.u32 %r1, [a0];\n"
        "add.u32 %r2, %r1, 10;\nadd.u32 %r3, %r1, 20;\nadd.u32 %r4, %r1, 30;\n"
        "bar.warp.sync -1;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n"
        "add.u32 %r1, %r1, %r4;\nbar.warp.sync -1;\n"
        "st.param.b32 [func_retval0+0], %r1; ret;\n}\n"
        KERNEL
        "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\n"
        CALL_U32("wide", "%r1", "%r3") "bra.uni J;\nA: "
        CALL_U32("narrow", "%r1", "%r3")
        "J: st.global.u32 [%rd3], %r3;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(r->host[i], 4 * i + (i & 1 ? 6 : 60));
    rig_close(r);
}

static void local_memory_is_a_threads_own(void **state) {
    (void)state;
    struct rig *r = rig_ran(PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
        ".local .align 16 .b8 depot[64]; .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        ".reg .pred %p<2>;\n"
        "mov.u64 %rd1, depot;\ncvta.local.u64 %rd2, %rd1;\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
        "L: mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
        "mad.lo.u32 %r3, %r1, 100, %r2;\nst.local.u32 [%rd4], %r3;\n"
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra L;\n"
        "and.b32 %r4, %r1, 15;\nmul.wide.u32 %rd3, %r4, 4;\n"
        "add.s64 %rd4, %rd2, %rd3;\nld.u32 %r5, [%rd4];\n"
        "ld.local.u32 %r6, [depot+12];\nadd.u32 %r5, %r5, %r6;\n"
        "ld.param.u64 %rd5, [p];\nmul.wide.u32 %rd6, %r1, 4;\n"
        "add.s64 %rd5, %rd5, %rd6;\nst.global.u32 [%rd5], %r5;\nret;\n}\n",
        1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(r->host[i], 200 * i + (i & 15) + 3);
    rig_close(r);
}

/* ---- printf --------------------------------------------------------------------------- */

#define PRINTF_HEAD PTX_HEAD \
    ".extern .func (.param .b32 func_retval0) vprintf" \
    "(.param .b64 a, .param .b64 b);\n"

static void hex(char *to, const char *s) {
    size_t n = strlen(s) + 1;
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%s%u", i ? ", " : "", (unsigned char)s[i]);
}

/* Prints with one argument buffer of `stores`, text put into local memory. */
static void check_printf(const char *format, const char *stores,
                         const char *want, int n_args) {
    static char ptx[8192], bytes[2048];
    hex(bytes, format);
    snprintf(ptx, sizeof ptx,
        PRINTF_HEAD ".global .align 1 .b8 f[%zu] = {%s};\n"
        ".global .align 1 .b8 abc[4] = {97, 98, 99, 0};\n"
        ".visible .entry k(.param .u64 p)\n{\n"
        ".local .align 8 .b8 depot[512]; .reg .b64 %%rd<9>; .reg .b32 %%r<9>;\n"
        "mov.u64 %%rd1, depot;\ncvta.local.u64 %%rd2, %%rd1;\n"
        "mov.u64 %%rd3, f;\ncvta.global.u64 %%rd4, %%rd3;\nmov.u64 %%rd5, abc;\n"
        "cvta.global.u64 %%rd6, %%rd5;\n%s"
        "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0;\n"
        "st.param.b64 [param0+0], %%rd4;\nst.param.b64 [param1+0], %%rd2;\n"
        "call.uni (retval0), vprintf, (param0, param1);\n"
        "ld.param.b32 %%r2, [retval0+0]; }\n"
        "ld.param.u64 %%rd7, [p];\nst.global.u32 [%%rd7], %%r2;\nret;\n}\n",
        strlen(format) + 1, bytes, stores);
    struct rig *r = rig_ran(ptx, 1, 1);
    assert_string_equal(r->printed, want);
    assert_int_equal((int32_t)r->host[0], n_args);
    rig_close(r);
}

static void printf_formats(void **state) {
    (void)state;
    check_printf("plain\n", "", "plain\n", 0);
    check_printf("100%%\n", "", "100%\n", 0);
    check_printf("%d|%5d|%-5d|%05d", "st.local.u32 [%rd1], -7;\n"
        "st.local.u32 [%rd1+4], 42;\nst.local.u32 [%rd1+8], 42;\n"
        "st.local.u32 [%rd1+12], 42;\n", "-7|   42|42   |00042", 4);
    check_printf("%u %x %X %o %#x", "st.local.u32 [%rd1], -1;\n"
        "st.local.u32 [%rd1+4], 255;\nst.local.u32 [%rd1+8], 255;\n"
        "st.local.u32 [%rd1+12], 8;\nst.local.u32 [%rd1+16], 16;\n",
        "4294967295 ff FF 10 0x10", 5);
    check_printf("%hd %hhu %ld %lld %lu", "st.local.u32 [%rd1], 65537;\n"
        "st.local.u32 [%rd1+4], 511;\nst.local.u64 [%rd1+8], -5;\n"
        "st.local.u64 [%rd1+16], 1234567890123;\nst.local.u64 [%rd1+24], -1;\n",
        "1 255 -5 1234567890123 18446744073709551615", 5);
    /* a double behind an int is aligned; 0d3FF8.. is 1.5 */
    check_printf("%d %f %.1e %g", "st.local.u32 [%rd1], 1;\n"
        "mov.b64 %rd8, 0d3FF8000000000000;\nst.local.u64 [%rd1+8], %rd8;\n"
        "st.local.u64 [%rd1+16], %rd8;\nst.local.u64 [%rd1+24], %rd8;\n",
        "1 1.500000 1.5e+00 1.5", 4);
    check_printf("%a", "mov.b64 %rd8, 0d3FF8000000000000;\n"
        "st.local.u64 [%rd1], %rd8;\n", "0x1.8p+0", 1);
    check_printf("[%s] [%5s] [%-5s] [%.2s]", "st.local.u64 [%rd1], %rd6;\n"
        "st.local.u64 [%rd1+8], %rd6;\nst.local.u64 [%rd1+16], %rd6;\n"
        "st.local.u64 [%rd1+24], %rd6;\n", "[abc] [  abc] [abc  ] [ab]", 4);
    check_printf("%s %p %p", "st.local.u64 [%rd1], 0;\n"
        "st.local.u64 [%rd1+8], 0;\nst.local.u64 [%rd1+16], 4096;\n",
        "(null) (nil) 0x1000", 3);
    check_printf("%c%c|%3c", "st.local.u32 [%rd1], 72;\n"
        "st.local.u32 [%rd1+4], 105;\nst.local.u32 [%rd1+8], 33;\n",
        "Hi|  !", 3);
    check_printf("%*d|%-*d|%.*f", "st.local.u32 [%rd1], 4;\n"
        "st.local.u32 [%rd1+4], 7;\nst.local.u32 [%rd1+8], 3;\n"
        "st.local.u32 [%rd1+12], 7;\nst.local.u32 [%rd1+16], 2;\n"
        "mov.b64 %rd8, 0d3FF8000000000000;\nst.local.u64 [%rd1+24], %rd8;\n",
        "   7|7  |1.50", 6);
    check_printf("%y %d", "st.local.u32 [%rd1], 3;\n", "%y 3", 1);
    check_printf("end %", "", "end %", 0);
}

/* The guide: at most 32 arguments, further conversions as they stand. */
static void printf_takes_32_arguments(void **state) {
    (void)state;
    char format[200] = "", want[200] = "";
    for (int i = 0; i < 34; i++) strcat(format, "%d ");
    for (int i = 0; i < 32; i++) strcat(want, "0 ");
    strcat(want, "%d %d ");
    check_printf(format, "", want, 32);
}

/* Lanes print in order; a null format gives -1; a bad string is 700. */
static void printf_by_many_lanes(void **state) {
    (void)state;
    const char *ptx = PRINTF_HEAD
        ".global .align 1 .b8 f[5] = {37, 100, 44, 0};\n"
        ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
        ".local .align 8 .b8 depot[8]; .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        "mov.u64 %rd1, depot;\ncvta.local.u64 %rd2, %rd1;\n"
        "mov.u64 %rd3, f;\ncvta.global.u64 %rd4, %rd3;\n"
        "ld.param.u64 %rd5, [q];\nmul.lo.u64 %rd4, %rd4, %rd5;\n"
        "mov.u32 %r1, %tid.x;\nst.local.u32 [%rd1], %r1;\n"
        "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0;\n"
        "st.param.b64 [param0+0], %rd4;\nst.param.b64 [param1+0], %rd2;\n"
        "call.uni (retval0), vprintf, (param0, param1);\n"
        "ld.param.b32 %r2, [retval0+0]; }\n"
        "ld.param.u64 %rd7, [p];\nst.global.u32 [%rd7], %r2;\nret;\n}\n";
    struct rig *r = rig_open(ptx);
    assert_true(rig_decode(r, "k"));
    r->params[1] = 1;
    assert_int_equal(rig_run(r, 1, 12, NULL), BLOCK_DONE);
    assert_string_equal(r->printed, "0,1,2,3,4,5,6,7,8,9,10,11,");
    r->params[1] = 0;
    assert_int_equal(rig_run(r, 1, 12, NULL), BLOCK_DONE);
    assert_int_equal((int32_t)r->host[0], -1);
    r->params[1] = 3;
    assert_int_equal(rig_run(r, 1, 12, NULL), BLOCK_FAULTED);
    assert_int_equal(r->fault.kind, FAULT_ILLEGAL_ADDRESS);
    rig_close(r);
}

/* ---- assertions, malloc ------------------------------------------------------------------ */

/* The failing lanes end, each with its line; the others go on. */
static void assertions(void **state) {
    (void)state;
    struct rig *r = rig_ran(PTX_HEAD
        ".extern .func __assertfail(.param .b64 a, .param .b64 b,"
        " .param .b32 c, .param .b64 d, .param .b64 e);\n"
        ".global .align 1 .b8 expr[6] = {105, 32, 60, 32, 51, 0};\n"
        ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
        ".global .align 1 .b8 func[9] = {118, 111, 105, 100, 32, 107, 40, 41,"
        " 0};\n"
        KERNEL "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra OK;\n"
        "mov.u64 %rd4, expr;\nmov.u64 %rd5, file;\nmov.u64 %rd6, func;\n"
        "{ .param .b64 param0; .param .b64 param1; .param .b32 param2;\n"
        ".param .b64 param3; .param .b64 param4;\n"
        "st.param.b64 [param0+0], %rd4;\nst.param.b64 [param1+0], %rd5;\n"
        "st.param.b32 [param2+0], 60;\nst.param.b64 [param3+0], %rd6;\n"
        "st.param.b64 [param4+0], 1;\n"
        "call.uni __assertfail, (param0, param1, param2, param3, param4); }\n"
        "OK: mov.u32 %r2, 1;\nst.global.u32 [%rd3], %r2;\nret;\n}\n", 1, 5);
    assert_string_equal(r->asserted,
        "a.cu:60: void k(): block: [0,0,0], thread: [3,0,0] "
        "Assertion `i < 3` failed.\n"
        "a.cu:60: void k(): block: [0,0,0], thread: [4,0,0] "
        "Assertion `i < 3` failed.\n");
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(r->host[i], i < 3);
    rig_close(r);
}

static void heap_of_the_device(void **state) {
    (void)state;
    struct rig *r = rig_ran(PTX_HEAD
        ".extern .func (.param .b64 func_retval0) malloc(.param .b64 a);\n"
        ".extern .func free(.param .b64 a);\n" KERNEL
        "{ .param .b64 param0; .param .b64 retval0;\n"
        "st.param.b64 [param0+0], 64;\n"
        "call.uni (retval0), malloc, (param0);\n"
        "ld.param.b64 %rd4, [retval0+0]; }\n"
        "st.u32 [%rd4+8], %r1;\nld.u32 %r2, [%rd4+8];\n"
        "st.global.u32 [%rd3], %r2;\n"
        "{ .param .b64 param0; st.param.b64 [param0+0], %rd4;\n"
        "call.uni free, (param0); }\nret;\n}\n", 1, 40);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(r->host[i], i);
    rig_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_with_a_depth_a_lane),
        cmocka_unit_test(endless_recursion_is_a_stack_fault),
        cmocka_unit_test(indirect_calls),
        cmocka_unit_test(a_call_of_nonsense_is_an_invalid_pc),
        cmocka_unit_test(structs_by_value),
        cmocka_unit_test(frames_of_parted_lanes_are_apart),
        cmocka_unit_test(local_memory_is_a_threads_own),
        cmocka_unit_test(printf_formats),
        cmocka_unit_test(printf_takes_32_arguments),
        cmocka_unit_test(printf_by_many_lanes),
        cmocka_unit_test(assertions),
        cmocka_unit_test(heap_of_the_device),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exec_use_baseline(true); /* and the handlers of plain x86-64 */
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
