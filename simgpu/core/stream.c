/* Streams: chains of commands, and waiting for their ends. */
#include <stdlib.h>

#include "core/device_parts.h"

static struct stream *create(struct device *d, bool blocking, bool legacy) {
    struct stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->device = d;
    s->blocking = blocking;
    s->legacy = legacy;
    device_lock(d);
    s->id = d->next_stream_id++;
    s->next = d->streams;
    d->streams = s;
    device_unlock(d);
    return s;
}

struct stream *stream_create(struct device *d, bool blocking) {
    return device_forked(d) ? NULL : create(d, blocking, false);
}

struct stream *stream_create_legacy(struct device *d) {
    return create(d, false, true);
}

struct stream *device_legacy_stream(struct device *d) { return d->legacy; }

uint64_t stream_id(const struct stream *s) { return s->id; }

void stream_destroy(struct stream *s) {
    struct device *d = s->device;
    if (device_forked(d)) return;
    device_lock(d);
    s->destroyed = true;
    if (!s->queued) stream_unlink(d, s);
    device_unlock(d);
}

/* Work that a synchronise of s waits for: its own, and for the legacy stream
 * that of all blocking ones. Lock held. */
static bool has_work(struct stream *s) {
    struct device *d = s->device;
    if (stream_tail(s)) return true;
    if (s->legacy)
        for (struct stream *t = d->streams; t; t = t->next)
            if (t->blocking && stream_tail(t)) return true;
    return false;
}

static enum status verdict(struct device *d) {
    return d->lost ? STATUS_LOST : STATUS_OK;
}

enum status stream_query(struct stream *s) {
    struct device *d = s->device;
    if (device_gone(d)) return STATUS_LOST;
    device_lock(d);
    bool busy = has_work(s);
    device_unlock(d);
    if (busy && d->config.seeded) seeded_query(d);
    return busy ? STATUS_NOT_READY : STATUS_OK;
}

static bool is_quiet(void *arg) {
    struct device *d = arg;
    return !atomic_load_explicit(&d->running, memory_order_acquire);
}

enum status device_wait_quiet(struct device *d) {
    if (device_forked(d)) return STATUS_LOST;
    if (d->lost) device_wait_until(d, is_quiet, d);
    return verdict(d);
}

enum status stream_wait(struct stream *s) {
    struct device *d = s->device;
    struct command *c = NULL;
    if (device_forked(d)) return STATUS_LOST;
    device_lock(d);
    if (has_work(s) && s->legacy && !d->lost)
        command_submit(d, s, command_create(d, COMMAND_MARKER));
    if ((c = stream_tail(s))) c->refs++;
    device_unlock(d);
    if (c) {
        device_wait_command(d, c);
        device_lock(d);
        command_unref(d, c);
        device_unlock(d);
    }
    return device_wait_quiet(d);
}

/* What is queued now, in all streams; not what other threads add meanwhile. */
enum status device_wait(struct device *d) {
    if (device_forked(d)) return STATUS_LOST;
    device_lock(d);
    size_t n = 0, count = 0;
    for (struct stream *s = d->streams; s; s = s->next) count++;
    struct command **tail = malloc(count * sizeof *tail);
    if (!tail) abort();
    for (struct stream *s = d->streams; s; s = s->next)
        if ((tail[n] = stream_tail(s))) tail[n++]->refs++;
    device_unlock(d);
    for (size_t i = 0; i < n; i++) device_wait_command(d, tail[i]);
    device_lock(d);
    for (size_t i = 0; i < n; i++) command_unref(d, tail[i]);
    device_unlock(d);
    free(tail);
    return device_wait_quiet(d);
}
