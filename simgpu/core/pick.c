/* A piece of work: whether a command has one, and running it. The lock is held
 * around, not during; `attached` says that somebody is at it meanwhile, and is
 * given up last, so that losing the device leaves the command to its owner. */
#include <limits.h>

#include "core/device_parts.h"

bool piece_available(const struct command *c) {
    if (c->kind == COMMAND_LAUNCH) return grid_has_work(c);
    return !c->attached;
}

static bool begins(const struct command *c) {
    return c->kind == COMMAND_LAUNCH && grid_begins(c);
}

int piece_priority(const struct device *d) {
    int first = INT_MAX;
    if (!d->prioritised) return first;
    for (struct command *c = d->active.first; c; c = c->next)
        if (begins(c) && c->grid.priority < first) first = c->grid.priority;
    return first;
}

bool piece_eligible(const struct command *c, int priority) {
    return piece_available(c) && !(begins(c) && c->grid.priority > priority);
}

static void transfer_end(struct device *d, struct command *c) {
    struct transfer *x = &c->transfer;
    c->attached--;
    if (d->lost || x->done == x->width * x->height) command_complete(d, c);
}

void piece_run(struct device *d, struct turn *t) {
    struct command *c = t->command;
    c->attached++;
    atomic_fetch_add_explicit(&d->running, 1, memory_order_relaxed);
    if (c->kind == COMMAND_LAUNCH) {
        grid_begin(d, t);
        device_unlock(d);
        grid_run(d, t);
        device_lock(d);
        grid_end(d, t);
    } else {
        device_unlock(d);
        transfer_run(c, t);
        device_lock(d);
        transfer_end(d, c);
    }
    device_settle(d);
    atomic_fetch_sub_explicit(&d->running, 1, memory_order_release);
    d->wake_waiters |= d->lost;
}
