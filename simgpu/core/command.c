/* The graph: commands, their edges, and what happens when one is done.
 *
 * A command whose last edge is met goes to `ready`; device_settle() takes it
 * from there: what is a matter of nanoseconds (markers, single writes, frees)
 * is done on the spot by whoever settles, the rest goes to the executors. On a
 * lost device everything that becomes ready is completed without being done,
 * so the whole graph unwinds by the same way it runs. */
#include <stdlib.h>
#include <string.h>

#include "core/device_parts.h"
#include "core/guest.h"

void list_append(struct command_list *l, struct command *c) {
    c->next = NULL;
    c->prev = l->last;
    if (l->last) l->last->next = c;
    else l->first = c;
    l->last = c;
    l->n++;
}

void list_remove(struct command_list *l, struct command *c) {
    if (c->prev) c->prev->next = c->next;
    else l->first = c->next;
    if (c->next) c->next->prev = c->prev;
    else l->last = c->prev;
    c->prev = c->next = NULL;
    l->n--;
}

struct command *list_pop(struct command_list *l) {
    struct command *c = l->first;
    if (c) list_remove(l, c);
    return c;
}

struct command *command_create(struct device *d, enum command_kind kind) {
    struct command *c = d->spare;
    if (c) d->spare = c->next;
    else if (!(c = malloc(sizeof *c))) abort();
    /* The union is the kind's own business, and large. */
    memset(c, 0, offsetof(struct command, transfer));
    c->kind = kind;
    c->refs = 1; /* of being unfinished */
    c->out = c->inline_out;
    c->cap_out = sizeof c->inline_out / sizeof *c->inline_out;
    return c;
}

void command_unref(struct device *d, struct command *c) {
    if (!c || --c->refs) return;
    if (c->out != c->inline_out) free(c->out);
    c->next = d->spare;
    d->spare = c;
}

void command_edge(struct command *before, struct command *after) {
    if (!before || before->done) return;
    if (before->n_out == before->cap_out) {
        uint32_t cap = 2 * before->cap_out;
        bool own = before->out != before->inline_out;
        struct command **grown =
            realloc(own ? before->out : NULL, cap * sizeof *grown);
        if (!grown) abort();
        if (!own) memcpy(grown, before->out, before->n_out * sizeof *grown);
        before->out = grown;
        before->cap_out = cap;
    }
    before->out[before->n_out++] = after;
    after->unmet++;
}

struct command *stream_tail(struct stream *s) {
    if (s->tail && s->tail->done) {
        command_unref(s->device, s->tail);
        s->tail = NULL;
    }
    return s->tail;
}

void command_submit(struct device *d, struct stream *s, struct command *c) {
    command_edge(stream_tail(s), c);
    /* Legacy default stream: after all blocking streams, before their next. */
    if (s->legacy) {
        for (struct stream *t = d->streams; t; t = t->next)
            if (t->blocking && t != s) command_edge(stream_tail(t), c);
    } else if (s->blocking) {
        command_edge(stream_tail(d->legacy), c);
    }
    command_unref(d, s->tail);
    s->tail = c;
    c->refs++;
    c->stream = s;
    atomic_fetch_add_explicit(&s->queued, 1, memory_order_relaxed);
    if (!c->unmet) list_append(&d->ready, c);
    device_settle(d);
}

void stream_unlink(struct device *d, struct stream *s) {
    struct stream **at = &d->streams;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    command_unref(d, s->tail);
    free(s);
}

static bool prioritised(const struct command *c) {
    return c->kind == COMMAND_LAUNCH && c->grid.priority;
}

void command_complete(struct device *d, struct command *c) {
    if (c->active) {
        list_remove(&d->active, c);
        d->prioritised -= prioritised(c);
    }
    c->active = false;
    switch (c->kind) {
    case COMMAND_MARKER: /* 0: dropped by a lost device, never reached */
        if (!atomic_load_explicit(&d->lost, memory_order_relaxed))
            c->done_ns = device_time_ns(d);
        break;
    case COMMAND_LAUNCH: grid_release(d, c); break;
    case COMMAND_COPY: free(c->transfer.staging); break;
    case COMMAND_HOST: d->host_functions--; break;
    default: break;
    }
    atomic_store_explicit(&c->done, true, memory_order_release);
    for (uint32_t i = 0; i < c->n_out; i++)
        if (--c->out[i]->unmet == 0) list_append(&d->ready, c->out[i]);
    struct stream *s = c->stream;
    if (atomic_fetch_sub_explicit(&s->queued, 1, memory_order_relaxed) == 1 &&
        s->destroyed)
        stream_unlink(d, s);
    command_unref(d, c);
    d->wake_waiters = true;
}

static bool value_holds(const struct command *c) {
    uint64_t v = c->value.bytes == 8
                     ? __atomic_load_n((uint64_t *)c->value.at,
                                       __ATOMIC_ACQUIRE)
                     : __atomic_load_n((uint32_t *)c->value.at,
                                       __ATOMIC_ACQUIRE);
    uint64_t want = c->value.value;
    switch (c->value.op) {
    case 0: /* signed distance, so that counters may wrap */
        return c->value.bytes == 8 ? (int64_t)(v - want) >= 0
                                   : (int32_t)(uint32_t)(v - want) >= 0;
    case 1: return v == want;
    case 2: return (v & want) != 0;
    default: return (~(v | want) & (c->value.bytes == 8 ? UINT64_MAX
                                                        : UINT32_MAX)) != 0;
    }
}

static void write_value(const struct command *c) {
    if (c->value.bytes == 8)
        __atomic_store_n((uint64_t *)c->value.at, c->value.value,
                         __ATOMIC_SEQ_CST);
    else
        __atomic_store_n((uint32_t *)c->value.at, (uint32_t)c->value.value,
                         __ATOMIC_SEQ_CST);
}

/* Executors that a command can use at once. */
static unsigned width_of(const struct command *c) {
    if (c->kind != COMMAND_LAUNCH) return 1;
    return c->grid.total < 64 ? (unsigned)c->grid.total : 64;
}

static void activate(struct device *d, struct command *c) {
    c->active = true;
    list_append(&d->active, c);
    d->prioritised += prioritised(c);
    d->wake_workers += width_of(c);
}

static void settle_one(struct device *d, struct command *c) {
    bool lost = atomic_load_explicit(&d->lost, memory_order_relaxed);
    if (c->kind == COMMAND_HOST && (!lost || c->host.always)) {
        /* Its place among the others is drawn in a seeded run. */
        if (d->config.seeded && !lost) activate(d, c);
        else host_submit(d, c);
        return;
    }
    if (!lost) {
        switch (c->kind) {
        case COMMAND_WRITE: write_value(c); break;
        case COMMAND_FREE:
            memory_free(d->memory, c->address, MEMORY_DEVICE);
            break;
        case COMMAND_WAIT_VALUE:
            if (value_holds(c)) break;
            list_append(&d->polled, c);
            d->wake_workers++;
            return;
        case COMMAND_COPY:
        case COMMAND_FILL:
        case COMMAND_LAUNCH: activate(d, c); return;
        default: break;
        }
    }
    command_complete(d, c);
}

void device_settle(struct device *d) {
    struct command *c;
    while ((c = list_pop(&d->ready))) settle_one(d, c);
}

void device_poll(struct device *d) {
    struct command *c = d->polled.first;
    if (!c) return;
    while (c) {
        struct command *next = c->next;
        if (value_holds(c)) {
            list_remove(&d->polled, c);
            command_complete(d, c);
        }
        c = next;
    }
    device_settle(d);
}
