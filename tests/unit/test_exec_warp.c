/* What lanes and warps do together: barriers, exchanges, votes. */
#include "bench_block.h"

#define KERNEL PTX_HEAD ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n" \
    ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;\n" \
    ".shared .align 4 .b8 s[4096];\n" \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" \
    "mov.u32 %r20, s;\nshl.b32 %r21, %r1, 2;\nadd.u32 %r22, %r20, %r21;\n"

/* ---- barriers ------------------------------------------------------------------- */

/* Reads what a thread of another warp wrote, both ways, many times. */
#define EXCHANGE(barrier) KERNEL \
    "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r9, %ntid.x;\n" \
    "L: mad.lo.u32 %r4, %r2, 1000, %r1;\nst.shared.u32 [%r22], %r4;\n" \
    barrier \
    "sub.u32 %r5, %r9, %r1;\nsub.u32 %r5, %r5, 1;\nshl.b32 %r5, %r5, 2;\n" \
    "add.u32 %r5, %r5, %r20;\nld.shared.u32 %r6, [%r5];\n" \
    "add.u32 %r3, %r3, %r6;\n" barrier \
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 10;\n@%p1 bra L;\n" \
    "st.global.u32 [%rd3], %r3;\nret;\n}\n"

static uint32_t wrong_exchanges(const struct rig *r, uint32_t n) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < n; i++)
        wrong += r->host[i] != 45000 + 10 * (n - 1 - i);
    return wrong;
}

static void a_barrier_orders_warps(void **state) {
    (void)state;
    struct rig *r = rig_open(EXCHANGE("bar.sync 0;\n"));
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 3, 1000, NULL), BLOCK_DONE);
    assert_int_equal(wrong_exchanges(r, 1000), 0);
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        memset(r->host, 0, 4000);
        assert_int_equal(rig_run(r, 1, 96, &rng), BLOCK_DONE);
        assert_int_equal(wrong_exchanges(r, 96), 0);
    }
    rig_close(r);
}

/* And its absence shows: under nearly every seed, and in free turns. */
static void a_missing_barrier_shows(void **state) {
    (void)state;
    struct rig *r = rig_open(EXCHANGE(""));
    uint32_t shown = 0;
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 1, 96, NULL), BLOCK_DONE);
    assert_int_not_equal(wrong_exchanges(r, 96), 0);
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        assert_int_equal(rig_run(r, 1, 96, &rng), BLOCK_DONE);
        shown += wrong_exchanges(r, 96) != 0;
    }
    assert_true(shown > 15);
    rig_close(r);
}

/* Threads that have left do not keep the others waiting. */
static void exited_threads_are_not_waited_for(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.ge.u32 %p1, %r1, 70;\n@%p1 exit;\n"
        "setp.lt.u32 %p2, %r1, 8;\n@%p2 exit;\n"
        "st.shared.u32 [%r22], %r1;\nbar.sync 0;\n"
        "xor.b32 %r2, %r1, 1;\nshl.b32 %r2, %r2, 2;\nadd.u32 %r2, %r2, %r20;\n"
        "ld.shared.u32 %r3, [%r2];\nst.global.u32 [%rd3], %r3;\nret;\n}\n",
        2, 200);
    for (uint32_t i = 8; i < 70; i++) assert_int_equal(r->host[i], i ^ 1);
    rig_close(r);
}

/* Threads that leave while the others already wait. */
static void late_exits_release_a_barrier(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra B;\n"
        "mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p2, %r2, 3000;\n@%p2 bra L;\nexit;\n"
        "B: bar.sync 0;\nmov.u32 %r3, 1;\nst.global.u32 [%rd3], %r3;\nret;\n}\n",
        1, 128);
    for (uint32_t i = 0; i < 128; i++) assert_int_equal(r->host[i], i < 64);
    rig_close(r);
}

/* Two sides of a branch each with a barrier of their own meet (since sm_70
 * each thread arrives for itself). */
static void divergent_arrival(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
        "st.shared.u32 [%r22], %r1;\n@%p1 bra A;\n"
        "barrier.sync 0;\nbra.uni J;\nA: barrier.sync 0;\n"
        "J: xor.b32 %r3, %r1, 33;\nshl.b32 %r3, %r3, 2;\n"
        "add.u32 %r3, %r3, %r20;\nld.shared.u32 %r4, [%r3];\n"
        "activemask.b32 %r5;\n"
        "st.global.u32 [%rd3], %r4;\nst.global.u32 [%rd3+512], %r5;\n"
        "ret;\n}\n", 1, 64);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(r->host[i], i ^ 33);
        assert_int_equal(r->host[128 + i], FULL_MASK);
    }
    rig_close(r);
}

/* Producer warps arrive and go on, the consumer warp waits: named barriers
 * with a count (PTX's own example). */
static void arrive_and_sync_with_a_count(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra C;\n"
        "mov.u32 %r2, 0;\nS: add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p2, %r2, 500;\n@%p2 bra S;\n"
        "st.shared.u32 [%r22], %r1;\nbar.arrive 3, 96;\nret;\n"
        "C: bar.sync 3, 96;\nld.shared.u32 %r3, [%r22+128];\n"
        "ld.shared.u32 %r4, [%r22+256];\nadd.u32 %r3, %r3, %r4;\n"
        "st.global.u32 [%rd3], %r3;\nret;\n}\n", 2, 96);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(r->host[i], 96 + 2 * i);
    rig_close(r);
}

/* What one block left at a barrier does not count for the next one. */
static void blocks_do_not_share_arrivals(void **state) {
    (void)state;
    struct rig *r = rig_open(KERNEL
        "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\n"
        "bar.sync 3, 64;\nret;\nA: bar.arrive 3, 64;\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 2, 32, NULL), BLOCK_STUCK);
    rig_close(r);
}

static void barrier_reductions(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 41;\nbar.red.popc.u32 %r2, 0, %p1;\n"
        "bar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 1, %p1;\n"
        "bar.red.or.pred %p4, 1, 96, !%p1;\n"
        "setp.ge.u32 %p5, %r1, 0;\nbar.red.and.pred %p6, 0, %p5;\n"
        "bar.red.or.pred %p7, 0, !%p5;\n"
        "selp.u32 %r3, 1, 0, %p2;\nselp.u32 %r4, 2, 0, %p3;\n"
        "selp.u32 %r5, 4, 0, %p4;\nselp.u32 %r6, 8, 0, %p6;\n"
        "selp.u32 %r7, 16, 0, %p7;\n"
        "or.b32 %r3, %r3, %r4;\nor.b32 %r3, %r3, %r5;\n"
        "or.b32 %r3, %r3, %r6;\nor.b32 %r3, %r3, %r7;\n"
        "st.global.u32 [%rd3], %r2;\nst.global.u32 [%rd3+512], %r3;\nret;\n}\n",
        2, 96);
    for (uint32_t i = 0; i < 96; i++) {
        assert_int_equal(r->host[i], 41);
        assert_int_equal(r->host[128 + i], 2 | 4 | 8);
    }
    rig_close(r);
}

/* A barrier that half of the block never reaches: stuck, and at once. */
static void a_deadlock_is_told(void **state) {
    (void)state;
    struct rig *r = rig_open(KERNEL
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1;\nret;\n"
        "A: bar.sync 2;\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 1, 64, NULL), BLOCK_STUCK);
    rig_close(r);
}

static void a_barrier_out_of_range_is_illegal(void **state) {
    (void)state;
    struct rig *r = rig_open(KERNEL "add.u32 %r2, %r1, 16;\nbar.sync %r2;\n"
                             "ret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 1, 32, NULL), BLOCK_FAULTED);
    assert_int_equal(r->fault.kind, FAULT_ILLEGAL_INSTRUCTION);
    rig_close(r);
}

/* ---- mbarrier --------------------------------------------------------------------- */

#define MBARRIER ".version 8.0\n.target sm_90\n.address_size 64\n" \
    ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n" \
    ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;\n" \
    ".shared .align 8 .b8 bar[8]; .shared .align 4 .b8 s[4096];\n" \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" \
    "mov.u32 %r20, s;\nshl.b32 %r21, %r1, 2;\nadd.u32 %r22, %r20, %r21;\n" \
    "setp.ne.u32 %p1, %r1, 0;\n"

/* All arrive and wait, round after round, as cuda::barrier compiles to. */
static void mbarrier_phases(void **state) {
    (void)state;
    struct rig *r = rig_open(MBARRIER
        "@!%p1 mbarrier.init.shared.b64 [bar], 96;\nbar.sync 0;\n"
        "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
        "L: mad.lo.u32 %r4, %r2, 1000, %r1;\nst.shared.u32 [%r22], %r4;\n"
        "mbarrier.arrive.shared::cta.b64 %rd4, [bar];\n"
        "W: mbarrier.try_wait.shared::cta.b64 %p2, [bar], %rd4;\n"
        "@!%p2 bra W;\n"
        "sub.u32 %r5, 95, %r1;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r5, %r20;\n"
        "ld.shared.u32 %r6, [%r5];\nadd.u32 %r3, %r3, %r6;\n"
        "mbarrier.arrive.shared::cta.b64 _, [bar];\n"
        "V: mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 1;\n"
        "@!%p2 bra V;\n"
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 10;\n@%p3 bra L;\n"
        "st.global.u32 [%rd3], %r3;\nret;\n}\n");
    assert_true(rig_decode(r, "k"));
    assert_int_equal(rig_run(r, 2, 96, NULL), BLOCK_DONE);
    assert_int_equal(wrong_exchanges(r, 96), 0);
    for (uint32_t seed = 0; seed < 10; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        memset(r->host, 0, 384);
        assert_int_equal(rig_run(r, 1, 96, &rng), BLOCK_DONE);
        assert_int_equal(wrong_exchanges(r, 96), 0);
    }
    rig_close(r);
}

/* Copies are done when the thread arrives for them: without .noinc that takes
 * no arrival from the barrier, with it one. */
static void mbarrier_copies(void **state) {
    (void)state;
    struct rig *r = rig_ran(MBARRIER
        "mbarrier.init.shared.b64 [bar], 2;\n"
        "cp.async.ca.shared.global [s], [%rd1], 4;\n"
        "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
        "mbarrier.arrive.shared.b64 %rd4, [bar];\n"
        "mbarrier.pending_count.b64 %r2, %rd4;\n"
        "mbarrier.test_wait.shared.b64 %p2, [bar], %rd4;\n"
        "selp.u32 %r3, 1, 0, %p2;\n"
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n"
        "mbarrier.test_wait.shared.b64 %p2, [bar], %rd4;\n"
        "selp.u32 %r4, 1, 0, %p2;\n"
        "st.global.v2.u32 [%rd1], {%r2, %r3};\n"
        "st.global.u32 [%rd1+8], %r4;\nret;\n}\n", 1, 1);
    static const uint32_t want[3] = {2, 0, 1};
    assert_memory_equal(r->host, want, sizeof want);
    rig_close(r);
}

/* Counts, drops and bytes of copies, seen through one thread. */
static void mbarrier_counts(void **state) {
    (void)state;
    struct rig *r = rig_ran(MBARRIER
        "mbarrier.init.shared.b64 [bar], 3;\n"
        "mbarrier.arrive.shared.b64 %rd4, [bar], 2;\n"
        "mbarrier.pending_count.b64 %r2, %rd4;\n"
        "mbarrier.test_wait.shared.b64 %p2, [bar], %rd4;\n"
        "selp.u32 %r3, 1, 0, %p2;\n"
        "mbarrier.arrive_drop.shared.b64 %rd5, [bar];\n"
        "mbarrier.pending_count.b64 %r4, %rd5;\n"
        "mbarrier.test_wait.shared.b64 %p2, [bar], %rd4;\n"
        "selp.u32 %r5, 1, 0, %p2;\n" /* phase 0 is over; 2 are awaited now */
        "mbarrier.arrive.expect_tx.shared.b64 %rd6, [bar], 16;\n"
        "mbarrier.pending_count.b64 %r6, %rd6;\n"
        "mbarrier.arrive.shared.b64 %rd7, [bar];\n"
        "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;\n"
        "selp.u32 %r7, 1, 0, %p2;\n" /* 16 bytes are missing */
        "mbarrier.complete_tx.shared::cta.b64 [bar], 16;\n"
        "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;\n"
        "selp.u32 %r8, 1, 0, %p2;\n"
        "st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};\n"
        "st.global.v2.u32 [%rd1+16], {%r6, %r7};\n"
        "st.global.u32 [%rd1+24], %r8;\nret;\n}\n", 1, 1);
    static const uint32_t want[7] = {3, 0, 1, 1, 2, 0, 1};
    assert_memory_equal(r->host, want, sizeof want);
    rig_close(r);
}

/* ---- shfl ------------------------------------------------------------------------- */

#define SHFL(op) KERNEL "mul.lo.u32 %r2, %r1, 10;\n" op \
    "selp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd3], %r3;\n" \
    "st.global.u32 [%rd3+128], %r4;\nret;\n}\n"

static void check_shfl(const char *ptx, const int8_t *from,
                       uint32_t in_range) {
    struct rig *r = rig_ran(ptx, 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], 10 * from[i]);
        assert_int_equal(r->host[32 + i], in_range >> i & 1);
    }
    rig_close(r);
}

static void shuffles(void **state) {
    (void)state;
    int8_t from[32];
    uint32_t p;
#define EXPECT(source, inside)                                             \
    for (int i = (int)(p = 0); i < 32; i++) {                              \
        from[i] = (int8_t)((inside) ? (source) : i);                       \
        p |= (uint32_t)(inside) << i;                                      \
    }
    EXPECT(i - 3, i >= 3)
    check_shfl(SHFL("shfl.sync.up.b32 %r3|%p1, %r2, 3, 0, -1;\n"), from, p);
    EXPECT(i + 5, i + 5 < 32)
    check_shfl(SHFL("shfl.sync.down.b32 %r3|%p1, %r2, 5, 31, -1;\n"), from, p);
    EXPECT(i ^ 7, 1)
    check_shfl(SHFL("shfl.sync.bfly.b32 %r3|%p1, %r2, 7, 31, -1;\n"), from, p);
    EXPECT(13, 1)
    check_shfl(SHFL("shfl.sync.idx.b32 %r3|%p1, %r2, 13, 31, -1;\n"), from, p);
    /* width 8: the mask of segments is 0x18, c = 0x1800 | clamp */
    EXPECT(i - 3, i % 8 >= 3)
    check_shfl(SHFL("shfl.sync.up.b32 %r3|%p1, %r2, 3, 6144, -1;\n"), from, p);
    EXPECT(i + 2, i % 8 + 2 < 8)
    check_shfl(SHFL("shfl.sync.down.b32 %r3|%p1, %r2, 2, 6151, -1;\n"), from,
               p);
    EXPECT(i / 8 * 8 + 5, 1)
    check_shfl(SHFL("shfl.sync.idx.b32 %r3|%p1, %r2, 5, 6151, -1;\n"), from,
               p);
    EXPECT(i ^ 9, 0 == (i ^ 9) / 8 - i / 8 || (i ^ 9) < i)
    check_shfl(SHFL("shfl.sync.bfly.b32 %r3|%p1, %r2, 9, 6151, -1;\n"), from,
               p);
#undef EXPECT
}

/* Lanes that take no part give 0, as hardware does. */
static void shuffles_from_the_absent(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "add.u32 %r2, %r1, 50;\nsetp.ge.u32 %p1, %r1, 8;\n@%p1 exit;\n"
        "shfl.sync.down.b32 %r3, %r2, 5, 31, 255;\n"
        "st.global.u32 [%rd3], %r3;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(r->host[i], i < 3 ? i + 55 : 0);
    rig_close(r);
}

/* Half the warp comes to the exchange by another way, from another place. */
static void lanes_meet_from_different_places(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 16;\nadd.u32 %r2, %r1, 100;\n@%p1 bra A;\n"
        "shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\nadd.u32 %r3, %r3, 1000;\n"
        "bra.uni J;\n"
        "A: mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\n"
        "setp.lt.u32 %p2, %r4, %r1;\n@%p2 bra L;\n"
        "shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\nadd.u32 %r3, %r3, 2000;\n"
        "J: bar.warp.sync -1;\nactivemask.b32 %r5;\n"
        "st.global.u32 [%rd3], %r3;\nst.global.u32 [%rd3+128], %r5;\n"
        "ret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], (i ^ 16) + 100 + (i < 16 ? 2000 : 1000));
        assert_int_equal(r->host[32 + i], FULL_MASK);
    }
    rig_close(r);
}

/* Two halves, each with its member mask, exchange at one instruction. */
static void member_masks_separate_groups(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r2, 65535, -65536, %p1;\n"
        "@%p1 bra A;\nmov.u32 %r4, 0;\nbra.uni B;\nA: mov.u32 %r4, 1;\n"
        "B: vote.sync.ballot.b32 %r3, %p1, %r2;\n"
        "st.global.u32 [%rd3], %r3;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(r->host[i], i < 16 ? 0xffff : 0);
    rig_close(r);
}

/* A lane that exits is not waited for, before and after the others came. */
static void meetings_do_not_wait_for_the_gone(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 exit;\n"
        "setp.ne.u32 %p2, %r1, 4;\n@%p2 bra V;\n"
        "mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\n"
        "setp.lt.u32 %p3, %r4, 9;\n@%p3 bra L;\nexit;\n"
        "V: setp.lt.u32 %p4, %r1, 10;\n"
        "vote.sync.ballot.b32 %r3, %p4, -1;\n"
        "st.global.u32 [%rd3], %r3;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(r->host[i], i == 3 || i == 4 ? 0 : 0x3e7);
    rig_close(r);
}

/* ---- votes and the like ------------------------------------------------------------ */

static void votes(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 12;\nsetp.ge.u32 %p2, %r1, 0;\n"
        "vote.sync.ballot.b32 %r2, %p1, -1;\n"
        "vote.sync.ballot.b32 %r3, !%p1, -1;\n"
        "vote.sync.any.pred %p3, %p1, -1;\nvote.sync.all.pred %p4, %p1, -1;\n"
        "vote.sync.uni.pred %p5, %p1, -1;\nvote.sync.all.pred %p6, %p2, -1;\n"
        "vote.sync.uni.pred %p7, !%p2, -1;\n"
        "vote.sync.any.pred %p8, !%p2, -1;\n"
        "selp.u32 %r4, 1, 0, %p3;\nselp.u32 %r5, 2, 0, %p4;\n"
        "selp.u32 %r6, 4, 0, %p5;\nselp.u32 %r7, 8, 0, %p6;\n"
        "selp.u32 %r8, 16, 0, %p7;\nselp.u32 %r9, 32, 0, %p8;\n"
        "or.b32 %r4, %r4, %r5;\nor.b32 %r4, %r4, %r6;\nor.b32 %r4, %r4, %r7;\n"
        "or.b32 %r4, %r4, %r8;\nor.b32 %r4, %r4, %r9;\n"
        "st.global.u32 [%rd3], %r2;\nst.global.u32 [%rd3+128], %r3;\n"
        "st.global.u32 [%rd3+256], %r4;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], 0xfff);
        assert_int_equal(r->host[32 + i], ~0xfffu);
        assert_int_equal(r->host[64 + i], 1 | 8 | 16);
    }
    rig_close(r);
}

static void matches(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "and.b32 %r2, %r1, 3;\nmatch.any.sync.b32 %r3, %r2, -1;\n"
        "cvt.u64.u32 %rd4, %r2;\nshl.b64 %rd4, %rd4, 40;\n"
        "match.any.sync.b64 %r4, %rd4, -1;\n"
        "match.all.sync.b32 %r5|%p1, %r2, -1;\nmov.u32 %r6, 5;\n"
        "match.all.sync.b32 %r7|%p2, %r6, -1;\n"
        "selp.u32 %r8, 1, 0, %p1;\nselp.u32 %r9, 2, 0, %p2;\n"
        "or.b32 %r8, %r8, %r9;\n"
        "st.global.u32 [%rd3], %r3;\nst.global.u32 [%rd3+128], %r4;\n"
        "st.global.u32 [%rd3+256], %r5;\nst.global.u32 [%rd3+384], %r7;\n"
        "st.global.u32 [%rd3+512], %r8;\nret;\n}\n", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(r->host[i], 0x11111111u << (i & 3));
        assert_int_equal(r->host[32 + i], 0x11111111u << (i & 3));
        assert_int_equal(r->host[64 + i], 0);
        assert_int_equal(r->host[96 + i], FULL_MASK);
        assert_int_equal(r->host[128 + i], 2);
    }
    rig_close(r);
}

static void reductions(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "sub.u32 %r2, %r1, 10;\n"
        "redux.sync.add.s32 %r3, %r2, -1;\nredux.sync.min.s32 %r4, %r2, -1;\n"
        "redux.sync.min.u32 %r5, %r2, -1;\nredux.sync.max.s32 %r6, %r2, -1;\n"
        "redux.sync.max.u32 %r7, %r2, -1;\nredux.sync.or.b32 %r8, %r1, -1;\n"
        "redux.sync.and.b32 %r9, %r1, -1;\nredux.sync.xor.b32 %r10, %r1, -1;\n"
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"
        "st.global.u32 [%rd3], %r3;\nst.global.u32 [%rd3+4], %r4;\n"
        "st.global.u32 [%rd3+8], %r5;\nst.global.u32 [%rd3+12], %r6;\n"
        "st.global.u32 [%rd3+16], %r7;\nst.global.u32 [%rd3+20], %r8;\n"
        "st.global.u32 [%rd3+24], %r9;\nst.global.u32 [%rd3+28], %r10;\n"
        "ret;\n}\n", 1, 32);
    const uint32_t want[8] = {496 - 320, (uint32_t)-10, 0, 21, (uint32_t)-1, 31,
                              0, 0};
    assert_memory_equal(r->host, want, sizeof want);
    rig_close(r);
}

static void one_is_elected(void **state) {
    (void)state;
    struct rig *r = rig_ran(KERNEL
        "setp.lt.u32 %p1, %r1, 6;\n@%p1 exit;\n"
        "elect.sync %r2|%p2, -1;\nselp.u32 %r3, 100, 0, %p2;\n"
        "add.u32 %r3, %r3, %r2;\nst.global.u32 [%rd3], %r3;\nret;\n}\n",
        1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(r->host[i], i < 6 ? 0 : i == 6 ? 106 : 6);
    rig_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_orders_warps),
        cmocka_unit_test(a_missing_barrier_shows),
        cmocka_unit_test(exited_threads_are_not_waited_for),
        cmocka_unit_test(late_exits_release_a_barrier),
        cmocka_unit_test(divergent_arrival),
        cmocka_unit_test(arrive_and_sync_with_a_count),
        cmocka_unit_test(blocks_do_not_share_arrivals),
        cmocka_unit_test(barrier_reductions),
        cmocka_unit_test(a_deadlock_is_told),
        cmocka_unit_test(a_barrier_out_of_range_is_illegal),
        cmocka_unit_test(mbarrier_phases),
        cmocka_unit_test(mbarrier_copies),
        cmocka_unit_test(mbarrier_counts),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(shuffles_from_the_absent),
        cmocka_unit_test(lanes_meet_from_different_places),
        cmocka_unit_test(member_masks_separate_groups),
        cmocka_unit_test(meetings_do_not_wait_for_the_gone),
        cmocka_unit_test(votes),
        cmocka_unit_test(matches),
        cmocka_unit_test(reductions),
        cmocka_unit_test(one_is_elected),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    exec_use_baseline(true); /* and the handlers of plain x86-64 */
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
