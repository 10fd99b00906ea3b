/* The device: streams, events, the engine that executes their commands, and
 * the state of being lost.
 *
 * Every piece of work is a *command* in a graph of dependencies: a stream is
 * the chain of its commands, an event is a pointer to the command it was
 * recorded behind, waiting for an event is one more edge, the legacy default
 * stream is edges to and from every blocking stream. A command with no edge
 * left is ready; the engine runs ready commands, blocks of a grid in parallel.
 *
 * Two ways to run, fixed when the device opens (docs/simgpu.md):
 *   free    worker threads, concurrent with the host; real time
 *   seeded  logical time; device work advances only inside host calls, by an
 *           amount and in an order drawn from the seed
 *
 * Nothing here knows CUDA's names; cudart/ translates.
 */
#ifndef SIMGPU_CORE_DEVICE_H
#define SIMGPU_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fault.h"
#include "core/memory.h"
#include "ptx/exec.h"

struct device;
struct stream;
struct event;

enum schedule { SCHEDULE_RANDOM, SCHEDULE_EAGER, SCHEDULE_LAZY };

struct device_config {
    bool seeded;
    uint64_t seed;
    enum schedule schedule;
    unsigned workers;            /* free mode: 0 = one a core */
    bool launch_blocking;
    uint64_t time_limit_ns;      /* a kernel's run time limit (702), 0 none */
    uint64_t memory_bytes;
    enum memory_check check;
    int64_t timer_offset_ns;     /* distortion of %globaltimer, for tests */
    double timer_ppm;
    uint64_t timer_granularity_ns;
    size_t print_buffer_bytes;   /* at first; device_set_print_buffer() */
    size_t heap_bytes;           /* the same of malloc in kernels */
    uint64_t guard_bytes;        /* unmapped space behind an allocation */
    int fill;                    /* byte that fresh memory holds, -1: as is */
    unsigned queue_depth;        /* commands a stream holds */
    uint64_t pause_ms;           /* seeded: see device_unrepeatable() */
    /* For the runtime layer; the device itself has no use for them. */
    unsigned capability;         /* 90 is 9.0 */
    unsigned multiprocessors;
    bool report, reset_keeps_loss;
};

/* The defaults of settings.def, no environment. */
void device_config_default(struct device_config *c);

enum status {
    STATUS_OK,
    STATUS_NOT_READY,
    STATUS_LOST,       /* sticky: device_fault() says why */
    STATUS_NO_MEMORY,
    STATUS_INVALID,
};

/* The same, then SIMGPU_* settings from the environment; a bad value is
 * reported on stderr and ignored. */
void device_config_from_env(struct device_config *c);

struct device *device_open(const struct device_config *c);
void device_close(struct device *d);
struct memory *device_memory(struct device *d);
struct exec_services *device_services(struct device *d);

/* ---- being lost --------------------------------------------------------- */
bool device_lost(const struct device *d);
/* First fault since the device opened; false if none. */
bool device_fault(const struct device *d, struct fault *out);
/* True when a seeded run had to go on by itself (host spun without calling). */
bool device_unrepeatable(const struct device *d);
/* True in a child that the process forked after device_open(): the device's
 * threads are not there, so there it is lost, without a fault, and close does
 * nothing. */
bool device_forked(const struct device *d);

/* ---- streams ------------------------------------------------------------ */
/* device_legacy_stream() is the legacy default stream; never destroyed. */
struct stream *stream_create(struct device *d, bool blocking);
struct stream *device_legacy_stream(struct device *d);
void stream_destroy(struct stream *s);   /* work in it still completes */
enum status stream_query(struct stream *s);
enum status stream_wait(struct stream *s);  /* until all its work is done */
enum status device_wait(struct device *d);
uint64_t stream_id(const struct stream *s);

/* ---- commands ----------------------------------------------------------- */
/* All return STATUS_LOST at once on a lost device, without queueing. A copy,
 * fill, write, wait or free whose device address is in no live allocation is
 * STATUS_INVALID. A call waits while its stream holds queue_depth commands. */

/* Copies params. With launch_blocking it waits (not for a part of a graph:
 * that is waited for as a whole), but reports only errors of queueing: what the
 * kernel did is the next call's to report. *number gets the launch number. */
struct launch_desc {
    const struct program *program;
    uint32_t grid[3], block[3], dynamic_shared;
    uint32_t stack_bytes;     /* a thread's, for recursion; 0: the default */
    void **args;              /* args[i] points at the host's parameter i */
    bool cooperative;         /* all blocks resident at once */
    int priority;             /* its blocks begin before those of higher ones */
    const struct launch_place *place; /* in a graph, or NULL; copied */
};
enum status enqueue_launch(struct stream *s, const struct launch_desc *l,
                           uint64_t *number);
/* To be called before program_free(): the device keeps room for the blocks of
 * programs that ran. NULL: of all. No launch of it may be queued. */
void device_drop_program(struct device *d, const struct program *p);

/* One 2-D copy; width == pitch for a plain one. Pointers are host or device
 * addresses as flagged. A device side is checked when enqueued by the caller,
 * not again. `staged`: the host source is read before the call returns, which
 * may leave the last 64 KiB on their way (pageable copies return once staged;
 * larger ones wait for the stream). */
struct copy_desc {
    uint64_t dst, src;
    bool dst_on_device, src_on_device;
    size_t width, height, dst_pitch, src_pitch;
    bool staged;
};
enum status enqueue_copy(struct stream *s, const struct copy_desc *c);
enum status enqueue_fill(struct stream *s, uint64_t dst, size_t pitch,
                         uint32_t value, unsigned value_bytes,
                         size_t width, size_t height);
/* Stream-ordered write of 4 or 8 bytes, fenced (write-value). */
enum status enqueue_write(struct stream *s, uint64_t dst, uint64_t value,
                          unsigned bytes);
/* Stops the stream until (*addr OP value) holds; op: 0 >=, 1 ==, 2 &, 3 nor */
enum status enqueue_wait_value(struct stream *s, uint64_t addr, uint64_t value,
                               unsigned bytes, unsigned op);
/* Runs fn on the device's host-function thread. Never runs on a lost device
 * unless `always`. */
enum status enqueue_host(struct stream *s, void (*fn)(void *), void *arg,
                         bool always);
/* Stream-ordered free. */
enum status enqueue_free(struct stream *s, uint64_t address);

/* ---- events ------------------------------------------------------------- */
struct event *event_create(struct device *d, bool timing);
void event_destroy(struct event *e);
enum status event_record(struct event *e, struct stream *s);
enum status event_query(struct event *e);   /* never recorded: OK */
enum status event_wait(struct event *e);
enum status stream_wait_event(struct stream *s, struct event *e);
/* Milliseconds between two completed events; NOT_READY, INVALID (never
 * recorded or without timing). */
enum status event_elapsed(struct event *from, struct event *to, float *ms);
/* Device time at which a recorded event completed; false while it has not. */
bool event_time(struct event *e, uint64_t *ns);

/* ---- output ------------------------------------------------------------- */
/* printf and assertion text leaves the device only here: printf to stdout,
 * assertions to stderr. The caller decides when (the flush points). */
void device_flush_output(struct device *d);

/* Sizes that kernels see. STATUS_INVALID once a kernel was launched that
 * contains printf or, for the heap, malloc or free; STATUS_NO_MEMORY. */
enum status device_set_print_buffer(struct device *d, size_t bytes);
enum status device_set_heap(struct device *d, size_t bytes);

/* Every host call tells the device that it happened: in a seeded run this is
 * where the device advances. Free runs do nothing here. */
void device_host_call(struct device *d);

/* Device clock as %globaltimer gives it, without distortion. */
uint64_t device_time_ns(const struct device *d);

/* %clock64 counts at this rate, to be told as the device's clock rate. */
#define DEVICE_CLOCK_KHZ 1000000

#endif
