/* Device memory: places, checks, capacity, and what is remembered of it. */
#include "tests/unit/rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"

#define MIB (1ull << 20)

static struct memory *create(enum memory_check check, uint64_t total) {
    struct memory_config c = { .total_bytes = total, .check = check,
                               .guard_bytes = 32 * MIB, .fill = 0xcd };
    struct memory *m = memory_create(&c);
    assert_non_null(m);
    return m;
}

static bool admitted(struct memory *m, uint64_t address) {
    struct span s;
    if (!memory_find(m, address, &s)) return false;
    assert_true(s.lo <= address && address < s.hi);
    assert_int_equal(s.epoch, memory_epoch(m));
    return true;
}

static void alignment_and_order(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t last = 0;
    for (uint64_t size = 1; size < 40 * MIB; size = size * 3 + 1) {
        uint64_t a = memory_alloc(m, size, MEMORY_DEVICE, 7);
        struct allocation got;
        assert_int_not_equal(a, 0);
        assert_int_equal(a % 256, 0);
        assert_true(memory_lookup(m, a + size - 1, &got));
        assert_int_equal(got.address, a);
        assert_int_equal(got.size, size);
        assert_int_equal(got.flags, 7);
        assert_int_equal(got.serial, ++last);
        assert_false(memory_lookup(m, a + size, &got));
        assert_true(memory_covers(m, a, size));
        assert_false(memory_covers(m, a, size + 1));
        assert_false(memory_covers(m, a + size, 1));
        assert_false(memory_covers(m, a + 1, UINT64_MAX));
    }
    memory_destroy(m);
}

/* What a GPU lets pass and what not. */
static void hardware_check(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t a = memory_alloc(m, 360, MEMORY_DEVICE, 0);
    uint64_t big = memory_alloc(m, 5 * MIB, MEMORY_DEVICE, 0);
    assert_true(admitted(m, a) && admitted(m, a + 359));
    assert_true(admitted(m, a + 360 + 652));
    assert_true(admitted(m, a - 96));
    assert_false(admitted(m, a + 4 * MIB));
    assert_false(admitted(m, a - 4 * MIB));
    assert_true(admitted(m, big + 6 * MIB - 1)); /* its last block */
    assert_false(admitted(m, big + 6 * MIB));
    assert_false(admitted(m, big + 5 * MIB + 4 * MIB));
    assert_false(admitted(m, big - 1));
    assert_false(admitted(m, 0));
    assert_false(admitted(m, 0x87654320));
    assert_false(admitted(m, UINT64_MAX));
    assert_false(admitted(m, (uint64_t)&a));
    assert_false(admitted(m, memory_shared_window(m)));
    assert_false(admitted(m, memory_local_window(m) + WINDOW_BYTES - 1));
    assert_false(admitted(m, memory_param_window(m)));
    memory_destroy(m);
}

/* Without guards allocations lie side by side, as drivers pack them, and one
 * span covers them. */
static void packed(void **state) {
    (void)state;
    struct memory *m = memory_create(&(struct memory_config){
        .total_bytes = 1024 * MIB, .fill = -1 });
    uint64_t a = memory_alloc(m, 2 * MIB, MEMORY_DEVICE, 0);
    uint64_t b = memory_alloc(m, 2 * MIB, MEMORY_DEVICE, 0);
    uint64_t c = memory_alloc(m, 2 * MIB, MEMORY_DEVICE, 0);
    struct span s;
    assert_int_equal(b, a + 2 * MIB);
    assert_true(memory_find(m, b, &s));
    assert_int_equal(s.lo, a);
    assert_int_equal(s.hi, c + 2 * MIB);
    assert_true(memory_free(m, b, MEMORY_DEVICE));
    assert_false(admitted(m, b));
    assert_true(memory_find(m, a, &s) && s.hi == b);
    assert_true(memory_find(m, c, &s) && s.lo == c);
    assert_int_equal(memory_alloc(m, 100, MEMORY_DEVICE, 0), b + 512);
    assert_true(memory_find(m, c, &s) && s.lo == a);
    assert_int_equal(memory_alloc(m, 0, MEMORY_DEVICE, 0), 0);
    memory_destroy(m);
}

static void exact_check(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_EXACT, 1024 * MIB);
    uint64_t a = memory_alloc(m, 360, MEMORY_DEVICE, 0);
    uint64_t b = memory_alloc(m, 3 * MIB, MEMORY_DEVICE, 0);
    struct span s;
    assert_true(memory_find(m, a + 100, &s));
    assert_int_equal(s.lo, a);
    assert_int_equal(s.hi, a + 360);
    assert_false(admitted(m, a + 360));
    assert_false(admitted(m, a - 1));
    assert_true(admitted(m, b + 3 * MIB - 1));
    assert_false(admitted(m, b + 3 * MIB));
    assert_true(memory_free(m, a, MEMORY_DEVICE));
    assert_false(admitted(m, a));
    memory_destroy(m);
}

/* Freed small memory stays mapped while its block holds anything; the epoch
 * tells holders of spans. */
static void unmapping(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t a = memory_alloc(m, 1000, MEMORY_DEVICE, 0);
    uint64_t b = memory_alloc(m, 1000, MEMORY_DEVICE, 0);
    uint64_t big = memory_alloc(m, 2 * MIB, MEMORY_DEVICE, 0);
    struct span s;
    assert_true(memory_free(m, a, MEMORY_DEVICE));
    assert_true(admitted(m, a));
    assert_true(memory_find(m, big, &s));
    assert_true(memory_free(m, big, MEMORY_DEVICE));
    assert_int_not_equal(s.epoch, memory_epoch(m));
    assert_false(admitted(m, big));
    *(volatile char *)(big + (uint64_t)s.delta) = 1; /* stale, not fatal */
    assert_true(memory_free(m, b, MEMORY_DEVICE));
    assert_false(admitted(m, a));
    assert_false(memory_free(m, b, MEMORY_DEVICE));
    assert_false(memory_free(m, 0, MEMORY_DEVICE));
    memory_destroy(m);
}

static void free_wants_start_and_kind(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t a = memory_alloc(m, 1000, MEMORY_DEVICE, 0);
    uint64_t p = memory_alloc(m, 1000, MEMORY_PINNED, 0);
    assert_false(memory_free(m, a + 256, MEMORY_DEVICE));
    assert_false(memory_free(m, a, MEMORY_PINNED));
    assert_false(memory_free(m, p, MEMORY_DEVICE));
    assert_true(memory_free(m, p, MEMORY_PINNED));
    assert_true(memory_free(m, a, MEMORY_DEVICE));
    memory_destroy(m);
}

/* Constants: found, but not for stores, under both checks. */
static void readonly_memory(void **state) {
    (void)state;
    for (int check = 0; check < 2; check++) {
        struct memory *m = create((enum memory_check)check, 1024 * MIB);
        uint64_t a = memory_alloc(m, 100, MEMORY_SYMBOL, 0);
        uint64_t c = memory_alloc(m, 100, MEMORY_SYMBOL, MEMORY_READONLY);
        uint64_t big = memory_alloc(m, 3 * MIB, MEMORY_SYMBOL,
                                    MEMORY_READONLY);
        struct span s;
        assert_true(memory_find(m, a, &s) && s.writable);
        assert_true(memory_find(m, c, &s) && !s.writable);
        assert_true(memory_find(m, big + 2 * MIB, &s) && !s.writable);
        assert_true(s.lo <= big + 2 * MIB && big + 2 * MIB < s.hi);
        assert_true(memory_free(m, c, MEMORY_SYMBOL));
        assert_true(memory_find(m, a, &s) && s.writable);
        memory_destroy(m);
    }
}

static void capacity(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 64 * MIB);
    uint64_t free_bytes, total, a[40];
    unsigned n = 0;
    assert_int_equal(memory_alloc(m, UINT64_MAX, MEMORY_DEVICE, 0), 0);
    assert_int_equal(memory_alloc(m, UINT64_MAX, MEMORY_MANAGED, 0), 0);
    assert_int_equal(memory_alloc(m, UINT64_MAX - 5, MEMORY_PINNED, 0), 0);
    assert_int_equal(memory_alloc(m, 65 * MIB, MEMORY_DEVICE, 0), 0);
    while ((a[n] = memory_alloc(m, 2 * MIB, MEMORY_DEVICE, 0))) n++;
    assert_int_equal(n, 32);
    memory_usage(m, &free_bytes, &total);
    assert_int_equal(total, 64 * MIB);
    assert_int_equal(free_bytes, 0);
    assert_int_equal(memory_alloc(m, 1, MEMORY_DEVICE, 0), 0);
    while (n) assert_true(memory_free(m, a[--n], MEMORY_DEVICE));
    memory_usage(m, &free_bytes, &total);
    assert_int_equal(free_bytes, total);
    assert_int_not_equal(memory_alloc(m, 64 * MIB, MEMORY_DEVICE, 0), 0);
    memory_destroy(m);
}

static void fresh_memory_is_not_zero(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t a = memory_alloc(m, 100, MEMORY_DEVICE, 0);
    uint64_t b = memory_alloc(m, 4 * MIB, MEMORY_DEVICE, 0);
    assert_int_equal(*(uint8_t *)memory_host(m, a + 50), 0xcd);
    assert_int_equal(*(uint8_t *)memory_host(m, b + 3 * MIB), 0xcd);
    strcpy(memory_host(m, a), "left over");
    assert_true(memory_free(m, a, MEMORY_DEVICE));
    assert_int_equal(memory_alloc(m, 90, MEMORY_DEVICE, 0), a);
    assert_string_equal(memory_host(m, a), "left over");
    memory_destroy(m);
}

static void host_kinds(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t p = memory_alloc(m, 5000, MEMORY_PINNED, 0);
    uint64_t g = memory_alloc(m, 5000, MEMORY_MANAGED, 0);
    char *own = aligned_alloc(4096, 3 * 4096);
    struct span s;
    *(char *)p = *(char *)g = 1; /* the host may touch both */
    assert_ptr_equal(memory_host(m, p), (void *)p);
    assert_true(memory_find(m, p + 4999, &s));
    assert_int_equal(s.delta, 0);
    assert_int_equal(p % 4096, 0);

    assert_true(memory_register(m, own + 100, 4096, 0));
    assert_false(memory_register(m, own + 200, 10, 0));
    assert_false(memory_register(m, own, 8192, 0));
    assert_true(memory_register(m, own + 5000, 100, 0)); /* shares a page */
    assert_true(admitted(m, (uint64_t)own + 100));
    assert_true(admitted(m, (uint64_t)own));         /* its page */
    assert_true(admitted(m, (uint64_t)own + 8191));
    assert_false(admitted(m, (uint64_t)own + 8192));
    assert_false(memory_covers(m, (uint64_t)own, 1));
    assert_false(memory_free(m, (uint64_t)own, MEMORY_REGISTERED));
    assert_true(memory_free(m, (uint64_t)own + 100, MEMORY_REGISTERED));
    assert_false(admitted(m, (uint64_t)own + 100));
    memory_destroy(m);
    free(own);
}

static void nearest(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    struct allocation a;
    int64_t d;
    assert_false(memory_nearest(m, 1234, &a, &d));
    uint64_t x = memory_alloc(m, 100, MEMORY_DEVICE, 0);
    uint64_t y = memory_alloc(m, 4 * MIB, MEMORY_DEVICE, 0);
    assert_true(memory_nearest(m, x + 50, &a, &d));
    assert_int_equal(a.address, x);
    assert_int_equal(d, 0);
    assert_true(memory_nearest(m, x + 100, &a, &d));
    assert_int_equal(d, 1);
    assert_true(memory_nearest(m, y - 8, &a, &d));
    assert_int_equal(a.address, y);
    assert_int_equal(d, -8);
    assert_true(memory_free(m, y, MEMORY_DEVICE));
    assert_true(memory_nearest(m, y + 5, &a, &d));
    assert_int_equal(a.address, y);
    assert_false(a.live);
    assert_int_equal(d, 0);
    assert_true(memory_nearest(m, 0, &a, &d));
    assert_int_equal(a.address, x);
    memory_destroy(m);
}

static void reset_frees_all(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t a = memory_alloc(m, 100, MEMORY_DEVICE, 0), free_bytes, total;
    memory_alloc(m, 9 * MIB, MEMORY_DEVICE, 0);
    memory_alloc(m, 100, MEMORY_PINNED, 0);
    memory_reset(m);
    memory_usage(m, &free_bytes, &total);
    assert_int_equal(free_bytes, total);
    assert_false(memory_free(m, a, MEMORY_DEVICE));
    assert_false(admitted(m, a));
    memory_destroy(m);
}

/* The map is the same in every run, so that seeded runs repeat. */
static void addresses_repeat(void **state) {
    (void)state;
    uint64_t seen[2][4];
    for (int i = 0; i < 2; i++) {
        struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
        seen[i][0] = memory_alloc(m, 100, MEMORY_DEVICE, 0);
        seen[i][1] = memory_alloc(m, 9 * MIB, MEMORY_DEVICE, 0);
        seen[i][2] = memory_alloc(m, 100, MEMORY_PINNED, 0);
        seen[i][3] = memory_alloc(m, 100, MEMORY_SYMBOL, 0);
        memory_destroy(m);
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
}

static void device_address_is_fatal_on_host(void **state) {
    (void)state;
    struct memory *m = create(MEMORY_CHECK_HARDWARE, 1024 * MIB);
    uint64_t a = memory_alloc(m, 100, MEMORY_DEVICE, 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)a);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    memory_destroy(m);
}

/* Against a model: a random walk of allocations, packed, everything checked. */
static void walk(enum memory_check check) {
    enum { SLOTS = 200 };
    struct memory *m = memory_create(&(struct memory_config){
        .total_bytes = 512 * MIB, .check = check, .fill = -1 });
    struct { uint64_t at, size; } slot[SLOTS] = { 0 };
    unsigned r = 12345;
    for (int step = 0; step < 20000; step++) {
        r = r * 1103515245 + 12345;
        unsigned i = (r >> 8) % SLOTS;
        if (slot[i].at) {
            assert_true(admitted(m, slot[i].at));
            assert_true(admitted(m, slot[i].at + slot[i].size - 1));
            assert_true(memory_free(m, slot[i].at, MEMORY_DEVICE));
            if (check == MEMORY_CHECK_EXACT || slot[i].size > MIB)
                assert_false(admitted(m, slot[i].at));
            slot[i].at = 0;
            continue;
        }
        r = r * 1103515245 + 12345;
        slot[i].size = 1 + (r >> 4) % (1u << ((r >> 24) % 23));
        slot[i].at = memory_alloc(m, slot[i].size, MEMORY_DEVICE, 0);
        if (!slot[i].at) continue;
        for (unsigned j = 0; j < SLOTS; j++)
            assert_true(j == i || !slot[j].at ||
                        slot[j].at + slot[j].size <= slot[i].at ||
                        slot[i].at + slot[i].size <= slot[j].at);
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (slot[i].at)
            assert_true(memory_free(m, slot[i].at, MEMORY_DEVICE));
    uint64_t free_bytes, total;
    memory_usage(m, &free_bytes, &total);
    assert_int_equal(free_bytes, total);
    memory_destroy(m);
}

static void random_walk(void **state) {
    (void)state;
    walk(MEMORY_CHECK_HARDWARE);
    walk(MEMORY_CHECK_EXACT);
}

/* Finders run while the map changes; what is always live is always found. */
static _Atomic bool stop;
struct finder { struct memory *m; uint64_t fixed[3]; bool ok; };

static void *find_all(void *arg) {
    struct finder *f = arg;
    f->ok = true;
    while (!stop)
        for (int i = 0; i < 3; i++) {
            struct span s;
            f->ok &= memory_find(f->m, f->fixed[i], &s) &&
                     s.lo <= f->fixed[i] && f->fixed[i] < s.hi;
        }
    return NULL;
}

static void concurrent_finders(void **state) {
    (void)state;
    for (int check = 0; check < 2; check++) {
        struct memory *m = create((enum memory_check)check, 1024 * MIB);
        struct finder f = { .m = m };
        pthread_t t[2];
        f.fixed[0] = memory_alloc(m, 100, MEMORY_DEVICE, 0);
        f.fixed[1] = memory_alloc(m, 3 * MIB, MEMORY_DEVICE, 0);
        f.fixed[2] = memory_alloc(m, 100, MEMORY_PINNED, 0);
        struct finder g = f;
        stop = false;
        pthread_create(&t[0], NULL, find_all, &f);
        pthread_create(&t[1], NULL, find_all, &g);
        for (int i = 0; i < 300; i++) {
            uint64_t a = memory_alloc(m, 64, MEMORY_DEVICE, 0);
            uint64_t b = memory_alloc(m, 3 * MIB, MEMORY_DEVICE, 0);
            uint64_t c = memory_alloc(m, 64, MEMORY_PINNED, 0);
            memory_free(m, a, MEMORY_DEVICE);
            memory_free(m, b, MEMORY_DEVICE);
            memory_free(m, c, MEMORY_PINNED);
        }
        stop = true;
        pthread_join(t[0], NULL);
        pthread_join(t[1], NULL);
        assert_true(f.ok && g.ok);
        memory_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alignment_and_order),
        cmocka_unit_test(hardware_check),
        cmocka_unit_test(packed),
        cmocka_unit_test(exact_check),
        cmocka_unit_test(unmapping),
        cmocka_unit_test(free_wants_start_and_kind),
        cmocka_unit_test(readonly_memory),
        cmocka_unit_test(capacity),
        cmocka_unit_test(fresh_memory_is_not_zero),
        cmocka_unit_test(host_kinds),
        cmocka_unit_test(nearest),
        cmocka_unit_test(reset_frees_all),
        cmocka_unit_test(addresses_repeat),
        cmocka_unit_test(device_address_is_fatal_on_host),
        cmocka_unit_test(random_walk),
        cmocka_unit_test(concurrent_finders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
