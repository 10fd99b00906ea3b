/* What kernels print. Two rings of whole texts, printf and failed assertions;
 * when one is full the oldest texts go. They leave in device_flush_output(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device_parts.h"

#define ASSERTION_BYTES (1u << 20)

static void ring_read(const struct text_ring *r, size_t at, void *out,
                      size_t n) {
    size_t first = r->size - at < n ? r->size - at : n;
    memcpy(out, r->data + at, first);
    memcpy((char *)out + first, r->data, n - first);
}

static void ring_write(struct text_ring *r, const void *in, size_t n) {
    size_t at = (r->start + r->used) % r->size;
    size_t first = r->size - at < n ? r->size - at : n;
    memcpy(r->data + at, in, first);
    memcpy(r->data, (const char *)in + first, n - first);
    r->used += n;
}

/* A text is its length, then its bytes. */
static void ring_push(struct text_ring *r, const char *text, size_t len) {
    uint32_t n = (uint32_t)len;
    if (len + sizeof n > r->size) return;
    while (r->size - r->used < len + sizeof n) {
        uint32_t oldest;
        ring_read(r, r->start, &oldest, sizeof oldest);
        r->start = (r->start + sizeof oldest + oldest) % r->size;
        r->used -= sizeof oldest + oldest;
    }
    ring_write(r, &n, sizeof n);
    ring_write(r, text, len);
}

bool output_open(struct device *d) {
    d->prints.size = d->config.print_buffer_bytes;
    d->assertions.size = ASSERTION_BYTES;
    d->prints.data = malloc(d->prints.size + 1);
    d->assertions.data = malloc(d->assertions.size);
    pthread_mutex_init(&d->output_lock, NULL);
    pthread_mutex_init(&d->flush_lock, NULL);
    return d->prints.data && d->assertions.data;
}

enum status device_set_print_buffer(struct device *d, size_t bytes) {
    char *data = malloc(bytes + 1);
    if (!data) return STATUS_NO_MEMORY;
    device_lock(d);
    bool used = d->builtins & 1u << BUILTIN_VPRINTF;
    if (!used) {
        pthread_mutex_lock(&d->output_lock);
        free(d->prints.data);
        d->prints = (struct text_ring){ .data = data, .size = bytes };
        pthread_mutex_unlock(&d->output_lock);
    }
    device_unlock(d);
    if (used) free(data);
    return used ? STATUS_INVALID : STATUS_OK;
}

void output_close(struct device *d) {
    free(d->prints.data);
    free(d->assertions.data);
    pthread_mutex_destroy(&d->output_lock);
    pthread_mutex_destroy(&d->flush_lock);
}

void output_print(void *device, const char *text, size_t len) {
    struct device *d = device;
    pthread_mutex_lock(&d->output_lock);
    ring_push(&d->prints, text, len);
    pthread_mutex_unlock(&d->output_lock);
}

void output_assertion(struct device *d, const char *line) {
    pthread_mutex_lock(&d->output_lock);
    ring_push(&d->assertions, line, strlen(line));
    pthread_mutex_unlock(&d->output_lock);
}

/* Empties r and returns its bytes in order. */
static char *ring_take(struct text_ring *r, size_t *n) {
    char *bytes = (*n = r->used) ? malloc(r->used) : NULL;
    if (bytes) ring_read(r, r->start, bytes, r->used);
    r->start = r->used = 0;
    return bytes;
}

static void write_texts(FILE *to, char *bytes, size_t n, const char *behind) {
    uint32_t len;
    for (size_t at = 0; bytes && at < n; at += sizeof len + len) {
        memcpy(&len, bytes + at, sizeof len);
        fwrite(bytes + at + sizeof len, 1, len, to);
        fputs(behind, to);
    }
    free(bytes);
}

/* Writing happens outside output_lock, so that a slow reader of stdout does
 * not stop kernels; flush_lock keeps two flushes apart. */
void device_flush_output(struct device *d) {
    size_t n_prints, n_assertions;
    if (device_forked(d)) return;
    pthread_mutex_lock(&d->flush_lock);
    pthread_mutex_lock(&d->output_lock);
    char *prints = ring_take(&d->prints, &n_prints);
    char *assertions = ring_take(&d->assertions, &n_assertions);
    pthread_mutex_unlock(&d->output_lock);
    write_texts(stdout, prints, n_prints, "");
    write_texts(stderr, assertions, n_assertions, "\n");
    pthread_mutex_unlock(&d->flush_lock);
}
