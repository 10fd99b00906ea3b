/* One function a kind of command: checks, copies what the caller may change
 * afterwards, puts the command into its stream. */
#include <stdlib.h>
#include <string.h>

#include "core/device_parts.h"
#include "core/guest.h"

static bool has_room(void *arg) {
    struct stream *s = arg;
    return atomic_load_explicit(&s->queued, memory_order_relaxed) <
               s->device->config.queue_depth ||
           atomic_load_explicit(&s->device->lost, memory_order_acquire);
}

/* Locks the device for one more command of s; waits while s is full. */
static enum status begin(struct stream *s) {
    struct device *d = s->device;
    if (device_gone(d)) return STATUS_LOST;
    if (d->config.queue_depth && !has_room(s))
        device_wait_until(d, has_room, s);
    device_lock(d);
    if (!d->lost) return STATUS_OK;
    device_unlock(d);
    return STATUS_LOST;
}

static void end(struct stream *s, struct command *c) {
    struct device *d = s->device;
    command_submit(d, s, c);
    device_unlock(d);
    device_enqueued(d);
}

enum status enqueue_marker(struct stream *s, struct event *e,
                           struct command *before) {
    enum status status = begin(s);
    if (status) return status;
    struct command *c = command_create(s->device, COMMAND_MARKER);
    command_edge(before, c);
    if (e) event_set_marker(e, c);
    end(s, c);
    return STATUS_OK;
}

static uint8_t *host_address(struct device *d, uint64_t address, bool device) {
    return device ? memory_host(d->memory, address) : (uint8_t *)address;
}

/* Rows that follow each other without a gap are one row. */
static void flatten(struct transfer *t) {
    if (t->height == 1) t->dst_pitch = t->src_pitch = t->width;
    if (t->dst_pitch != t->width || t->src_pitch != t->width) return;
    t->width *= t->height;
    t->height = 1;
}

/* A driver's staging buffer is small: of a large copy only the end can still
 * be on its way when the call returns. Pitched ones are not split. */
#define STAGING_BYTES (64u << 10)

static enum status copy_large(struct stream *s, const struct copy_desc *c) {
    struct copy_desc head = *c, tail = *c;
    head.staged = false;
    bool plain = c->height == 1 || (c->dst_pitch == c->width &&
                                    c->src_pitch == c->width);
    if (plain) {
        head.width = c->width * c->height - STAGING_BYTES;
        tail.width = STAGING_BYTES;
        head.height = tail.height = 1;
        tail.dst += head.width;
        tail.src += head.width;
    }
    enum status status = enqueue_copy(s, &head);
    if (!status) status = stream_wait(s);
    return status || !plain ? status : enqueue_copy(s, &tail);
}

enum status enqueue_copy(struct stream *s, const struct copy_desc *c) {
    struct device *d = s->device;
    if (c->staged && c->width * c->height > STAGING_BYTES)
        return copy_large(s, c);
    struct transfer t = { .width = c->width, .height = c->height,
                          .dst_pitch = c->dst_pitch,
                          .src_pitch = c->src_pitch };
    if (device_gone(d)) return STATUS_LOST;
    if (!c->width || !c->height) return STATUS_OK;
    t.dst = host_address(d, c->dst, c->dst_on_device);
    t.src = host_address(d, c->src, c->src_on_device);
    if (!t.dst || !t.src) return STATUS_INVALID;
    if (c->staged) {
        if (!(t.staging = malloc(c->width * c->height)))
            return STATUS_NO_MEMORY;
        for (size_t y = 0; y < c->height; y++)
            guest_copy(t.staging + y * c->width, t.src + y * c->src_pitch,
                       c->width);
        t.src = t.staging;
        t.src_pitch = c->width;
    }
    flatten(&t);
    enum status status = begin(s);
    if (status) {
        free(t.staging);
        return status;
    }
    struct command *command = command_create(d, COMMAND_COPY);
    command->transfer = t;
    end(s, command);
    return STATUS_OK;
}

enum status enqueue_fill(struct stream *s, uint64_t dst, size_t pitch,
                         uint32_t value, unsigned value_bytes, size_t width,
                         size_t height) {
    struct device *d = s->device;
    struct transfer t = { .width = width, .height = height,
                          .dst_pitch = pitch, .src_pitch = pitch };
    if (device_gone(d)) return STATUS_LOST;
    if (value_bytes != 1 && value_bytes != 2 && value_bytes != 4)
        return STATUS_INVALID;
    if (!width || !height) return STATUS_OK;
    if (!(t.dst = memory_host(d->memory, dst))) return STATUS_INVALID;
    for (unsigned i = 0; i < 8; i += value_bytes)
        memcpy((uint8_t *)&t.value + i, &value, value_bytes);
    flatten(&t);
    enum status status = begin(s);
    if (status) return status;
    struct command *command = command_create(d, COMMAND_FILL);
    command->transfer = t;
    end(s, command);
    return STATUS_OK;
}

static enum status enqueue_value(struct stream *s, enum command_kind kind,
                                 uint64_t address, uint64_t value,
                                 unsigned bytes, unsigned op) {
    struct device *d = s->device;
    if (device_gone(d)) return STATUS_LOST;
    void *at = memory_host(d->memory, address);
    if (!at || (bytes != 4 && bytes != 8) || address % bytes || op > 3)
        return STATUS_INVALID;
    enum status status = begin(s);
    if (status) return status;
    struct command *c = command_create(d, kind);
    c->value.at = at;
    c->value.value = bytes == 4 ? (uint32_t)value : value;
    c->value.bytes = bytes;
    c->value.op = op;
    end(s, c);
    return STATUS_OK;
}

enum status enqueue_write(struct stream *s, uint64_t dst, uint64_t value,
                          unsigned bytes) {
    return enqueue_value(s, COMMAND_WRITE, dst, value, bytes, 0);
}

enum status enqueue_wait_value(struct stream *s, uint64_t addr, uint64_t value,
                               unsigned bytes, unsigned op) {
    return enqueue_value(s, COMMAND_WAIT_VALUE, addr, value, bytes, op);
}

enum status enqueue_host(struct stream *s, void (*fn)(void *), void *arg,
                         bool always) {
    enum status status = begin(s);
    if (status) return status;
    struct command *c = command_create(s->device, COMMAND_HOST);
    c->host.fn = fn;
    c->host.arg = arg;
    c->host.always = always;
    s->device->host_functions++;
    end(s, c);
    return STATUS_OK;
}

enum status enqueue_free(struct stream *s, uint64_t address) {
    struct allocation a;
    if (device_gone(s->device)) return STATUS_LOST;
    if (!memory_lookup(s->device->memory, address, &a) ||
        a.address != address || a.kind != MEMORY_DEVICE)
        return STATUS_INVALID;
    enum status status = begin(s);
    if (status) return status;
    struct command *c = command_create(s->device, COMMAND_FREE);
    c->address = address;
    end(s, c);
    return STATUS_OK;
}

/* ---- launches ------------------------------------------------------------ */

/* Blocks that may be suspended at once before no new ones are started: what a
 * spinning grid may hold in memory. */
#define RESIDENT_BYTES (256ull << 20)
#define RESIDENT_MAX 1024

static uint32_t resident_limit(const struct launch_desc *l, uint64_t total) {
    const struct program *p = l->program;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t bytes = threads / LANES * p->max_frame + p->shared_static +
                     threads * p->local_bytes + l->dynamic_shared + 4096;
    uint64_t limit = RESIDENT_BYTES / bytes;
    if (limit > RESIDENT_MAX) limit = RESIDENT_MAX;
    if (limit < 4) limit = 4;
    if (l->cooperative) limit = total;
    return (uint32_t)(limit < total ? limit : total);
}

/* Bytes of grid-wide barrier state that a cooperative launch gets. */
#define WORKSPACE_BYTES 256

static uint64_t workspace_create(struct device *d) {
    uint64_t at = memory_alloc(d->memory, WORKSPACE_BYTES, MEMORY_SYMBOL, 0);
    if (at) memset(memory_host(d->memory, at), 0, WORKSPACE_BYTES);
    return at;
}

static bool copy_params(struct grid *g, const struct launch_desc *l) {
    const struct program *p = l->program;
    g->params = p->param_bytes <= sizeof g->inline_params
                    ? g->inline_params : malloc(p->param_bytes);
    if (!g->params) return false;
    for (uint32_t i = 0; i < p->n_params; i++)
        memcpy(g->params + p->params[i].offset, l->args[i],
               p->params[i].size);
    return true;
}

static void grid_init(struct device *d, struct grid *g,
                      const struct launch_desc *l, uint64_t workspace) {
    memset(g, 0, offsetof(struct grid, inline_params));
    for (int i = 0; i < 3; i++) {
        g->launch.grid[i] = l->grid[i];
        g->launch.block[i] = l->block[i];
    }
    g->launch.program = l->program;
    g->launch.dynamic_shared = l->dynamic_shared;
    g->launch.stack_bytes = l->stack_bytes;
    g->launch.grid_workspace = workspace;
    g->launch.services = &d->services;
    g->launch.stop = &d->stop;
    g->total = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    g->limit = resident_limit(l, g->total);
    g->cooperative = l->cooperative;
    g->priority = l->priority;
    if (l->place) g->place = *l->place;
}

static enum status submit_launch(struct stream *s, const struct launch_desc *l,
                                 uint64_t workspace, uint64_t *number) {
    struct device *d = s->device;
    enum status status = begin(s);
    if (status) return status;
    struct command *c = command_create(d, COMMAND_LAUNCH);
    grid_init(d, &c->grid, l, workspace);
    if (!copy_params(&c->grid, l)) {
        command_unref(d, c);
        device_unlock(d);
        return STATUS_NO_MEMORY;
    }
    c->grid.launch.params = c->grid.params;
    c->grid.launch.number = ++d->launches;
    d->builtins |= l->program->builtins;
    if (number) *number = d->launches;
    end(s, c);
    return STATUS_OK;
}

enum status enqueue_launch(struct stream *s, const struct launch_desc *l,
                           uint64_t *number) {
    struct device *d = s->device;
    uint64_t workspace = 0;
    if (device_gone(d)) return STATUS_LOST;
    for (int i = 0; i < 3; i++)
        if (!l->grid[i] || !l->block[i]) return STATUS_INVALID;
    if (l->cooperative && !(workspace = workspace_create(d)))
        return STATUS_NO_MEMORY;
    enum status status = submit_launch(s, l, workspace, number);
    if (status && workspace) memory_free(d->memory, workspace, MEMORY_SYMBOL);
    /* What the kernel did is the next call's to report. */
    if (!status && d->config.launch_blocking && !l->place) stream_wait(s);
    return status;
}
