/* Host functions run one at a time, on a thread of their own, in the order in
 * which they became ready. */
#include "core/device_parts.h"

static bool cancelled(struct device *d, struct command *c) {
    return (d->lost && !c->host.always) || d->closing;
}

static void *host_thread(void *device) {
    struct device *d = device;
    device_lock(d);
    while (!d->closing) {
        struct command *c = list_pop(&d->host_queue);
        if (!c) {
            pthread_cond_wait(&d->host_work, &d->lock);
            continue;
        }
        if (!cancelled(d, c)) {
            device_unlock(d);
            c->host.fn(c->host.arg);
            device_lock(d);
        }
        command_complete(d, c);
        device_settle(d);
        device_unlock(d); /* wakes who waits for it */
        device_lock(d);
    }
    device_unlock(d);
    return NULL;
}

void host_submit(struct device *d, struct command *c) {
    list_append(&d->host_queue, c);
    if (!d->host_started)
        d->host_started = device_thread(d, host_thread, "simgpu-host");
    pthread_cond_signal(&d->host_work);
}

void host_discard(struct device *d) {
    struct command *next;
    for (struct command *c = d->host_queue.first; c; c = next) {
        next = c->next;
        if (!cancelled(d, c)) continue;
        list_remove(&d->host_queue, c);
        command_complete(d, c);
    }
}
