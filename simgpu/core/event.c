/* Events: the marker command that was last recorded. */
#include <stdlib.h>

#include "core/device_parts.h"

struct event *event_create(struct device *d, bool timing) {
    struct event *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->device = d;
    e->timing = timing;
    return e;
}

void event_set_marker(struct event *e, struct command *marker) {
    command_unref(e->device, e->marker);
    e->marker = marker;
    if (marker) marker->refs++;
}

void event_destroy(struct event *e) {
    if (!device_forked(e->device)) {
        device_lock(e->device);
        event_set_marker(e, NULL);
        device_unlock(e->device);
    }
    free(e);
}

/* A reference to the marker, NULL if never recorded. */
static struct command *marker_of(struct event *e) {
    device_lock(e->device);
    struct command *c = e->marker;
    if (c) c->refs++;
    device_unlock(e->device);
    return c;
}

static void unref(struct device *d, struct command *c) {
    if (!c) return;
    device_lock(d);
    command_unref(d, c);
    device_unlock(d);
}

enum status event_record(struct event *e, struct stream *s) {
    return enqueue_marker(s, e, NULL);
}

enum status stream_wait_event(struct stream *s, struct event *e) {
    struct device *d = s->device;
    if (device_gone(d)) return STATUS_LOST;
    struct command *before = marker_of(e);
    enum status status = STATUS_OK;
    if (before && !before->done) status = enqueue_marker(s, NULL, before);
    unref(d, before);
    return status;
}

enum status event_query(struct event *e) {
    struct device *d = e->device;
    if (device_gone(d)) return STATUS_LOST;
    struct command *c = marker_of(e);
    bool done = !c || c->done;
    unref(d, c);
    if (!done && d->config.seeded) seeded_query(d);
    return done ? STATUS_OK : STATUS_NOT_READY;
}

enum status event_wait(struct event *e) {
    struct device *d = e->device;
    if (device_forked(d)) return STATUS_LOST;
    struct command *c = marker_of(e);
    if (c) device_wait_command(d, c);
    unref(d, c);
    return device_wait_quiet(d);
}

enum status event_elapsed(struct event *from, struct event *to, float *ms) {
    struct device *d = from->device;
    if (device_gone(d)) return STATUS_LOST;
    if (!from->timing || !to->timing) return STATUS_INVALID;
    struct command *a = marker_of(from), *b = marker_of(to);
    enum status status = !a || !b ? STATUS_INVALID
                         : !a->done || !b->done ? STATUS_NOT_READY
                                                : STATUS_OK;
    if (!status)
        *ms = (float)((double)(int64_t)(b->done_ns - a->done_ns) / 1e6);
    unref(d, a);
    unref(d, b);
    return status;
}

bool event_time(struct event *e, uint64_t *ns) {
    struct command *c = marker_of(e);
    bool done = c && c->done;
    if (done) *ns = c->done_ns;
    unref(e->device, c);
    return done;
}
