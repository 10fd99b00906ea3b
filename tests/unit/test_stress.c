/* Many host threads with many streams and events each, on one device: order
 * within what a thread asked for must hold whatever the others do. */
#include "tests/unit/rig.h"

#include <pthread.h>

static void add_one(void *arg) { ++*(unsigned *)arg; }

struct stress { struct device *d; unsigned index; bool ok; };

static void *stress_thread(void *arg) {
    struct stress *t = arg;
    struct device *d = t->d;
    struct stream *s[3];
    struct event *e = event_create(d, true), *f = event_create(d, false);
    uint64_t x = memory_alloc(device_memory(d), 4096, MEMORY_DEVICE, 0);
    unsigned r = t->index + 1, count = 0, want = 0;
    uint8_t last = 0;
    t->ok = true;
    for (int i = 0; i < 3; i++) s[i] = stream_create(d, i > 0);
    for (int i = 0; i < 400; i++) {
        r = r * 1103515245 + 12345;
        struct stream *at = s[(r >> 16) % 3];
        device_host_call(d);
        switch ((r >> 20) % 8) {
        case 0: t->ok &= stream_wait(at) == STATUS_OK; break;
        case 1: t->ok &= stream_query(at) != STATUS_LOST; break;
        case 2: t->ok &= event_query(e) != STATUS_LOST; break;
        case 3:
            t->ok &= enqueue_host(at, add_one, &count, false) == STATUS_OK;
            t->ok &= event_record(f, at) == STATUS_OK;
            t->ok &= event_wait(f) == STATUS_OK;
            want++;
            t->ok &= count == want;
            break;
        case 4:
            stream_destroy(at);
            s[(r >> 16) % 3] = stream_create(d, true);
            break;
        default:
            /* Every write to x is behind the one before. */
            t->ok &= stream_wait_event(at, e) == STATUS_OK;
            last = (uint8_t)i;
            t->ok &= enqueue_fill(at, x, 0, last, 1, 4096, 1) == STATUS_OK;
            t->ok &= event_record(e, at) == STATUS_OK;
        }
    }
    t->ok &= device_wait(d) == STATUS_OK;
    uint8_t *p = memory_host(device_memory(d), x);
    for (int i = 0; i < 4096; i++) t->ok &= p[i] == last;
    for (int i = 0; i < 3; i++) stream_destroy(s[i]);
    event_destroy(e);
    event_destroy(f);
    return NULL;
}

static void stress(void **state) {
    (void)state;
    enum { THREADS = 6 };
    for (int way = 0; way < 6; way++) {
        struct device *d = rig_way(way);
        struct stress t[THREADS];
        pthread_t thread[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            t[i] = (struct stress){ d, i, false };
            pthread_create(&thread[i], NULL, stress_thread, &t[i]);
        }
        for (unsigned i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
        for (unsigned i = 0; i < THREADS; i++) assert_true(t[i].ok);
        device_close(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(stress) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
