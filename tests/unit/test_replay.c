/* A seed names one run: the same seed gives the same interleaving, the same
 * bytes, the same fault at the same logical time; other seeds give others;
 * eager and lazy are the two ends.
 *
 * Two scenes. In the first, copies and host functions of two streams race; it
 * needs no kernel. In the second, a kernel on one stream writes indices and a
 * kernel on another gathers through them with nothing in between: when the
 * gather comes too early it reads a stale index and faults. */
#include "tests/unit/rig.h"

#define BUFFER (1u << 18)
#define SEEDS 40

struct outcome {
    uint64_t bytes;   /* hash of the memory that was raced for */
    uint64_t time;    /* logical, at the end */
    char order[64];   /* of host functions */
    enum status status;
    bool faulted;
    struct fault fault;
    bool unrepeatable;
};

static uint64_t hash(const void *data, size_t n) {
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static void finish(struct device *d, struct outcome *o) {
    o->status = device_wait(d);
    o->time = device_time_ns(d);
    memset(&o->fault, 0, sizeof o->fault);
    o->faulted = device_fault(d, &o->fault);
    o->unrepeatable = device_unrepeatable(d);
}

static void assert_same(const struct outcome *a, const struct outcome *b) {
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->time, b->time);
    assert_string_equal(a->order, b->order);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->faulted, b->faulted);
    assert_memory_equal(&a->fault, &b->fault, sizeof a->fault);
    assert_false(a->unrepeatable || b->unrepeatable);
}

/* ---- copies and host functions ------------------------------------------ */

static void note(void *arg) {
    char **cursor = *(char ***)arg, letter = *((char *)arg + sizeof(void *));
    *(*cursor)++ = letter;
}

static void commands_scene(uint64_t seed, enum schedule schedule,
                           struct outcome *o) {
    struct device *d = rig_seeded(seed, schedule);
    struct stream *s[2] = { stream_create(d, false),
                            stream_create(d, false) };
    uint64_t x = rig_alloc(d, BUFFER), y = rig_alloc(d, 4 * BUFFER);
    char *cursor = o->order;
    struct { char **cursor; char letter; } notes[8];

    memset(o, 0, sizeof *o);
    memset(rig_host(d, x), 0, BUFFER);
    memset(rig_host(d, y), 0, 4 * BUFFER);
    for (int i = 0; i < 8; i++) {
        notes[i].cursor = &cursor;
        notes[i].letter = "aAbBcCdD"[i];
        device_host_call(d);
        if (i % 2 == 0) {
            enqueue_fill(s[0], x, 0, (uint32_t)i + 1, 1, BUFFER, 1);
        } else {
            struct copy_desc c = { .dst = y + (unsigned)i / 2 * BUFFER,
                                   .src = x, .dst_on_device = true,
                                   .src_on_device = true, .width = BUFFER,
                                   .height = 1 };
            enqueue_copy(s[1], &c);
        }
        device_host_call(d);
        enqueue_host(s[i % 2], note, &notes[i], false);
    }
    finish(d, o);
    o->bytes = hash(rig_host(d, y), 4 * BUFFER);
    device_close(d);
}

static void commands_replay(void **state) {
    (void)state;
    unsigned bytes_differ = 0, order_differs = 0;
    struct outcome first;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct outcome a, b;
        commands_scene(seed, SCHEDULE_RANDOM, &a);
        commands_scene(seed, SCHEDULE_RANDOM, &b);
        assert_same(&a, &b);
        assert_int_equal(strlen(a.order), 8);
        if (seed == 1) first = a;
        bytes_differ += a.bytes != first.bytes;
        order_differs += strcmp(a.order, first.order) != 0;
    }
    assert_true(bytes_differ > SEEDS / 4);
    assert_true(order_differs > SEEDS / 4);
}

/* Eager finishes inside each call: the order is the program's. */
static void commands_eager(void **state) {
    (void)state;
    struct outcome first, o;
    commands_scene(1, SCHEDULE_EAGER, &first);
    assert_string_equal(first.order, "aAbBcCdD");
    for (uint64_t seed = 2; seed <= 6; seed++) {
        commands_scene(seed, SCHEDULE_EAGER, &o);
        assert_string_equal(o.order, first.order);
        assert_int_equal(o.bytes, first.bytes);
    }
}

/* Lazy does nothing before a call waits. */
static void commands_lazy(void **state) {
    (void)state;
    struct device *d = rig_seeded(3, SCHEDULE_LAZY);
    struct stream *s = stream_create(d, true);
    uint64_t x = rig_alloc(d, BUFFER);
    memset(rig_host(d, x), 0, BUFFER);
    enqueue_fill(s, x, 0, 7, 1, BUFFER, 1);
    for (int i = 0; i < 100; i++) device_host_call(d);
    assert_int_equal(*(char *)rig_host(d, x), 0);
    assert_int_equal(stream_query(s), STATUS_NOT_READY);
    assert_int_equal(stream_wait(s), STATUS_OK);
    assert_int_equal(*(char *)rig_host(d, x), 7);
    assert_int_equal(stream_query(s), STATUS_OK);
    device_close(d);
}

/* ... but a host that polls gets there. */
static void lazy_polling_ends(void **state) {
    (void)state;
    struct device *d = rig_seeded(3, SCHEDULE_LAZY);
    struct event *e = event_create(d, true);
    uint64_t x = rig_alloc(d, BUFFER);
    enqueue_fill(device_legacy_stream(d), x, 0, 7, 1, BUFFER, 1);
    event_record(e, device_legacy_stream(d));
    while (event_query(e) == STATUS_NOT_READY) device_host_call(d);
    assert_int_equal(event_query(e), STATUS_OK);
    assert_false(device_unrepeatable(d));
    event_destroy(e);
    device_close(d);
}

/* ---- kernels ------------------------------------------------------------- */

static const char kernels[] = PTX_HEAD
    /* index[i] = i */
    ".visible .entry produce(.param .u64 index) {\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [index];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r4;\n"
    "ret; }\n"
    /* out[i] = data[index[i]] */
    ".visible .entry gather(.param .u64 index, .param .u64 data,\n"
    "                       .param .u64 out) {\n"
    ".reg .b32 %r<7>; .reg .b64 %rd<10>;\n"
    "ld.param.u64 %rd1, [index]; ld.param.u64 %rd2, [data];\n"
    "ld.param.u64 %rd3, [out];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.s32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4;\n"
    "ld.global.u32 %r5, [%rd5];\n"
    "mul.wide.s32 %rd6, %r5, 4; add.s64 %rd7, %rd2, %rd6;\n"
    "ld.global.u32 %r6, [%rd7];\n"
    "add.s64 %rd8, %rd3, %rd4;\n"
    "st.global.u32 [%rd8], %r6;\n"
    "ret; }\n"
    /* log[atomicAdd(count, 1)] = tag + ctaid */
    ".visible .entry mark(.param .u64 log, .param .u64 count,\n"
    "                     .param .u32 tag) {\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [log]; ld.param.u64 %rd2, [count];\n"
    "ld.param.u32 %r1, [tag]; mov.u32 %r2, %ctaid.x;\n"
    "add.s32 %r3, %r1, %r2;\n"
    "atom.global.add.u32 %r4, [%rd2], 1;\n"
    "mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
    "st.global.u32 [%rd4], %r3;\n"
    "ret; }\n";

#define BLOCKS 16u
#define THREADS 64u
#define N (BLOCKS * THREADS)

static void race_scene(uint64_t seed, enum schedule schedule, bool event,
                       struct outcome *o) {
    struct device *d = rig_seeded(seed, schedule);
    struct ptx_module *m = rig_module(kernels);
    struct program *produce = rig_program(m, "produce");
    struct program *gather = rig_program(m, "gather");
    struct program *mark = rig_program(m, "mark");
    struct stream *s[2] = { stream_create(d, false),
                            stream_create(d, false) };
    uint64_t index = rig_alloc(d, N * 4), data = rig_alloc(d, N * 4);
    uint64_t out = rig_alloc(d, N * 4), log = rig_alloc(d, 64 * 4);
    uint64_t count = rig_alloc(d, 4);
    uint32_t tags[2] = { 100, 200 };

    memset(o, 0, sizeof *o);
    memset(rig_host(d, index), 0x7f, N * 4); /* stale: far out of range */
    memset(rig_host(d, data), 1, N * 4);
    memset(rig_host(d, out), 0, N * 4);
    memset(rig_host(d, log), 0, 64 * 4);
    memset(rig_host(d, count), 0, 4);

    for (int i = 0; i < 2; i++) {
        device_host_call(d);
        rig_launch(s[i], mark, 8, 1, RIG_ARGS(&log, &count, &tags[i]));
    }
    device_host_call(d);
    rig_launch(s[0], produce, BLOCKS, THREADS, RIG_ARGS(&index));
    if (event) {
        struct event *e = event_create(d, false);
        device_host_call(d);
        event_record(e, s[0]);
        device_host_call(d);
        stream_wait_event(s[1], e);
        event_destroy(e);
    }
    device_host_call(d);
    rig_launch(s[1], gather, BLOCKS, THREADS, RIG_ARGS(&index, &data, &out));
    finish(d, o);
    o->bytes = hash(rig_host(d, out), N * 4) ^ hash(rig_host(d, log), 64 * 4);
    device_close(d);
    program_free(produce);
    program_free(gather);
    program_free(mark);
    ptx_module_free(m);
}

static unsigned faults(enum schedule schedule, bool event,
                       unsigned *interleavings) {
    unsigned n = 0;
    uint64_t seen[SEEDS];
    *interleavings = 0;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct outcome a, b;
        race_scene(i + 1, schedule, event, &a);
        race_scene(i + 1, schedule, event, &b);
        assert_same(&a, &b);
        assert_int_equal(a.status, a.faulted ? STATUS_LOST : STATUS_OK);
        if (a.faulted) {
            assert_int_equal(a.fault.kind, FAULT_ILLEGAL_ADDRESS);
            assert_string_equal(a.fault.kernel, "gather");
            assert_int_equal(a.fault.launch, 4);
            n++;
        }
        bool known = false;
        for (unsigned j = 0; j < *interleavings; j++)
            known |= seen[j] == a.bytes;
        if (!known) seen[(*interleavings)++] = a.bytes;
    }
    return n;
}

static void race_replay(void **state) {
    (void)state;
    unsigned kinds, n = faults(SCHEDULE_RANDOM, false, &kinds);
    print_message("random: %u of %d seeds fault, %u interleavings\n", n, SEEDS,
                  kinds);
    assert_true(n > 0 && n < SEEDS);
    assert_true(kinds > SEEDS / 4);
    assert_int_equal(faults(SCHEDULE_RANDOM, true, &kinds), 0);
}

static void race_extremes(void **state) {
    (void)state;
    unsigned kinds, n;
    assert_int_equal(faults(SCHEDULE_EAGER, false, &kinds), 0);
    n = faults(SCHEDULE_LAZY, false, &kinds);
    print_message("lazy: %u of %d seeds fault, %u interleavings\n", n, SEEDS,
                  kinds);
    assert_true(n > 0);
    assert_int_equal(faults(SCHEDULE_LAZY, true, &kinds), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_replay),
        cmocka_unit_test(commands_eager),
        cmocka_unit_test(commands_lazy),
        cmocka_unit_test(lazy_polling_ends),
        cmocka_unit_test(race_replay),
        cmocka_unit_test(race_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
