/* Control flow: lanes that part and meet again, and every lane's progress. */
#include "bench_block.h"

#define KERNEL PTX_HEAD ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n" \
    ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;\n" \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"

/* Each lane goes round as often as its number says. */
static void lanes_leave_a_loop_one_by_one(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
        "L: setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra E;\n"
        "add.u32 %r3, %r3, %r2;\nadd.u32 %r2, %r2, 1;\nbra.uni L;\n"
        "E: st.global.u32 [%rd3], %r3;\nret;\n}\n", 1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(r->host[i], i * (i - 1) / 2);
    rig_close(r);
}

/* After nested branches all lanes are together again: activemask says so. */
static void nested_branches_join(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
        "and.b32 %r3, %r1, 2;\nsetp.eq.u32 %p2, %r3, 0;\n"
        "mov.u32 %r4, 0;\n"
        "@%p1 bra A;\n"
        " @%p2 bra B;\n add.u32 %r4, %r4, 1;\n bra.uni C;\n"
        " B: add.u32 %r4, %r4, 2;\n"
        " C: add.u32 %r4, %r4, 10;\n activemask.b32 %r5;\n bra.uni D;\n"
        "A: @!%p2 bra F;\n add.u32 %r4, %r4, 3;\n bra.uni G;\n"
        " F: add.u32 %r4, %r4, 4;\n"
        " G: add.u32 %r4, %r4, 20;\n activemask.b32 %r5;\n"
        "D: activemask.b32 %r6;\n"
        "st.global.u32 [%rd3], %r4;\nst.global.u32 [%rd3+256], %r5;\n"
        "st.global.u32 [%rd3+512], %r6;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        static const uint32_t want[4] = {23, 12, 24, 11};
        assert_int_equal(r->host[i], want[i & 3]);
        assert_int_equal(r->host[64 + i], i & 1 ? 0xaaaaaaaau : 0x55555555u);
        assert_int_equal(r->host[128 + i], FULL_MASK);
    }
    rig_close(r);
}

/* A guard on any instruction, both ways round. */
static void guards_select_lanes(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 5;\nmov.u32 %r2, 7;\n"
        "@%p1 mov.u32 %r2, 1;\n@!%p1 add.u32 %r2, %r2, %r1;\n"
        "st.global.u32 [%rd3], %r2;\n@%p1 exit;\n"
        "st.global.u32 [%rd3+128], %r2;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], i < 5 ? 1 : 7 + i);
        assert_int_equal(r->host[32 + i], i < 5 ? 0 : 7 + i);
    }
    rig_close(r);
}

/* Each lane takes the lock in a loop that the others spin in. */
static void a_spin_lock_in_a_warp_ends(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "L: atom.global.cas.b32 %r2, [%rd1+1024], 0, 1;\n"
        "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
        "ld.volatile.global.u32 %r3, [%rd1+1028];\nadd.u32 %r3, %r3, 1;\n"
        "st.volatile.global.u32 [%rd1+1028], %r3;\n"
        "atom.global.exch.b32 %r4, [%rd1+1024], 0;\nret;\n}\n", 2, 96);
    assert_int_equal(r->host[257], 192);
    assert_int_equal(r->host[256], 0);
    rig_close(r);
}

/* The same with the unlock behind the loop's exit only: the holder stands at a
 * higher pc than the spinners, which the order of pcs alone would starve. */
static void a_waiting_lane_lets_its_producer_run(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.eq.u32 %p1, %r1, 31;\n@%p1 bra P;\n"
        "W: ld.volatile.global.u32 %r2, [%rd1+512];\n"
        "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\n"
        "st.global.u32 [%rd3], %r2;\nret;\n"
        "P: mov.u32 %r3, 42;\nst.volatile.global.u32 [%rd1+512], %r3;\n"
        "ret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 31; i++) assert_int_equal(r->host[i], 42);
    rig_close(r);
}

/* Lane i waits for lane i+1's turn: 31 hand-overs against the order of pcs. */
static void lanes_hand_over_in_turn(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "W: ld.volatile.global.u32 %r2, [%rd1+512];\n"
        "sub.u32 %r3, 31, %r1;\nsetp.ne.u32 %p2, %r2, %r3;\n@%p2 bra W;\n"
        "add.u32 %r2, %r2, 1;\nst.global.u32 [%rd3], %r2;\n"
        "st.volatile.global.u32 [%rd1+512], %r2;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(r->host[i], 32 - i);
    rig_close(r);
}

/* A warp waits for another one of its block. */
static void a_warp_waits_for_a_warp(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra P;\n"
        "W: ld.volatile.global.u32 %r2, [%rd1+512];\n"
        "nanosleep.u32 100;\n"
        "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\n"
        "st.global.u32 [%rd3], %r2;\nret;\n"
        "P: setp.ne.u32 %p3, %r1, 63;\n@%p3 exit;\n"
        "mov.u32 %r3, 9;\nst.volatile.global.u32 [%rd1+512], %r3;\nret;\n}\n",
        1, 64);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(r->host[i], 9);
    rig_close(r);
}

/* Who waits for what never comes only uses up its budget. */
static void a_block_gives_its_budget_back(void **state) {
    (void)state;
    struct rig *r = rig_open(KERNEL
        "W: ld.volatile.global.u32 %r2, [%rd1+512];\n"
        "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    r->budget = 1000;
    r->runs = 10;
    assert_int_equal(rig_run(r, 1, 64, NULL), BLOCK_RUNNING);
    rig_close(r);
}

static void indexed_branch(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "and.b32 %r2, %r1, 3;\n"
        "ts: .branchtargets A, B, C, B;\n"
        "brx.idx %r2, ts;\n"
        "A: mov.u32 %r3, 100;\nbra.uni E;\nB: mov.u32 %r3, 200;\nbra.uni E;\n"
        "C: mov.u32 %r3, 300;\n"
        "E: activemask.b32 %r4;\nst.global.u32 [%rd3], %r3;\n"
        "st.global.u32 [%rd3+128], %r4;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        static const uint32_t want[4] = {100, 200, 300, 200};
        assert_int_equal(r->host[i], want[i & 3]);
        assert_int_equal(r->host[32 + i], FULL_MASK);
    }
    rig_close(r);
}

static void trap_is_a_launch_failure(void **state) {
    (void)state;
    struct rig *r = rig_open(".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;"
        ".reg .b32 %r<3>;\n.loc 1 7 3\nmov.u32 %r1, %tid.x;\n"
        "setp.eq.u32 %p1, %r1, 37;\n.loc 1 8 9\n@%p1 trap;\nret;\n}\n"
        ".file 1 \"a.cu\"\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 3, 64, NULL), BLOCK_FAULTED);
    assert_int_equal(r->fault.kind, FAULT_LAUNCH_FAILURE);
    assert_int_equal(r->fault.thread[0], 37);
    assert_int_equal(r->fault.lanes, 1);
    assert_int_equal(r->fault.ptx_line, 11);
    assert_int_equal(r->fault.n_frames, 1);
    assert_string_equal(r->fault.frames[0].file, "a.cu");
    assert_string_equal(r->fault.frames[0].function, "k");
    assert_int_equal(r->fault.frames[0].line, 8);
    assert_string_equal(r->fault.instruction, "trap");
    assert_string_equal(r->fault.kernel, "k");
    rig_close(r);
}

static void special_registers(void **state) {
    (void)state;
    struct rig *r = rig_open(KERNEL
        "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %warpid;\n"
        "mov.u32 %r5, %laneid;\nmov.u32 %r6, %lanemask_lt;\n"
        "mov.u64 %rd4, %clock64;\nmov.u64 %rd5, %globaltimer;\n"
        "setp.gt.u64 %p1, %rd5, %rd4;\nselp.u32 %r7, 1, 0, %p1;\n"
        "mad.lo.u32 %r8, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r8, 4;\n"
        "add.s64 %rd3, %rd1, %rd2;\n"
        "st.global.u32 [%rd3], %r4;\nst.global.u32 [%rd3+384], %r5;\n"
        "st.global.u32 [%rd3+768], %r6;\nst.global.u32 [%rd3+1152], %r7;\n"
        "ret;\n}\n");
    assert_true(rig_decode(r, "k"));
    r->launch = (struct exec_launch){
        .program = r->program, .grid = {1, 1, 1}, .block = {6, 12, 1},
        .params = (const uint8_t *)r->params, .services = &r->services};
    struct block *b = block_create(&r->launch);
    block_start(b, (uint32_t[3]){0, 0, 0});
    assert_int_equal(block_run(b, 1000, NULL), BLOCK_DONE);
    block_destroy(b);
    for (uint32_t i = 0; i < 72; i++) {
        assert_int_equal(r->host[i], i / 32);
        assert_int_equal(r->host[96 + i], i % 32);
        assert_int_equal(r->host[192 + i], (1u << i % 32) - 1);
        assert_int_equal(r->host[288 + i], 1);
    }
    rig_close(r);
}

/* Turns are drawn from the seed: the same seed, the same interleaving; and
 * different seeds differ somewhere. */
static void a_seed_fixes_the_order(void **state) {
    (void)state;
    struct rig *r = rig_open(KERNEL
        "mov.u32 %r2, 0;\n"
        "L: ld.volatile.global.u32 %r3, [%rd1+512];\n"
        "mad.lo.u32 %r3, %r3, 31, %r1;\n"
        "st.volatile.global.u32 [%rd1+512], %r3;\n"
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 20;\n@%p1 bra L;\n"
        "ret;\n}\n");
    assert_true(rig_decode(r, "k"));
    uint32_t got[2][16], different = 0;
    for (int again = 0; again < 2; again++)
        for (uint32_t seed = 0; seed < 16; seed++) {
            struct rng rng;
            rng_seed(&rng, seed);
            r->host[128] = 0;
            assert_int_equal(rig_run(r, 1, 256, &rng), BLOCK_DONE);
            got[again][seed] = r->host[128];
        }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
    for (int i = 1; i < 16; i++) different += got[0][i] != got[0][0];
    assert_true(different > 8);
    rig_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_leave_a_loop_one_by_one),
        cmocka_unit_test(nested_branches_join),
        cmocka_unit_test(guards_select_lanes),
        cmocka_unit_test(a_spin_lock_in_a_warp_ends),
        cmocka_unit_test(a_waiting_lane_lets_its_producer_run),
        cmocka_unit_test(lanes_hand_over_in_turn),
        cmocka_unit_test(a_warp_waits_for_a_warp),
        cmocka_unit_test(a_block_gives_its_budget_back),
        cmocka_unit_test(indexed_branch),
        cmocka_unit_test(trap_is_a_launch_failure),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(a_seed_fixes_the_order),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exec_use_baseline(true); /* and the handlers of plain x86-64 */
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
