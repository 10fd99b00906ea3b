/* The error log: one line for each call that returned an error, kept in a
 * ring, given to callbacks, and written to CUDA_LOG_FILE (stdout, stderr or a
 * path) if that is set. It covers calls, not what kernels did.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cudart/cudart.h"

/* 25600 bytes is what CUDA keeps; half-full lines make it fewer. */
enum { LINES = 100, LINE_BYTES = 256, MAX_CALLBACKS = 16 };

struct callback { cudaLogsCallback_t fn; void *data; };

static char lines[LINES][LINE_BYTES];
static unsigned next_line; /* number of the next one; they count up for good */
static struct callback callbacks[MAX_CALLBACKS];
static FILE *file;
static bool file_opened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void open_file(void)
{
    const char *path = getenv("CUDA_LOG_FILE");
    file_opened = true;
    if (!path || !*path) return;
    if (!strcmp(path, "stdout")) file = stdout;
    else if (!strcmp(path, "stderr")) file = stderr;
    else if (!(file = fopen(path, "a")))
        warn("CUDA_LOG_FILE=%s cannot be opened", path);
}

void log_error(const char *function, cudaError_t error)
{
    struct callback told[MAX_CALLBACKS];
    char line[LINE_BYTES];
    struct timespec t;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &tm);
    snprintf(line, sizeof line,
             "[%02d:%02d:%02d.%03ld][%d][CUDA][E] %s returned %d (%s): %s",
             tm.tm_hour, tm.tm_min, tm.tm_sec, t.tv_nsec / 1000000,
             (int)getpid(), function, (int)error, cudaGetErrorName(error),
             cudaGetErrorString(error));
    pthread_mutex_lock(&lock);
    strcpy(lines[next_line++ % LINES], line);
    memcpy(told, callbacks, sizeof told);
    if (!file_opened) open_file();
    if (file) {
        fprintf(file, "%s\n", line);
        fflush(file);
    }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < MAX_CALLBACKS; i++)
        if (told[i].fn)
            told[i].fn(told[i].data, cudaLogLevelError, line, strlen(line));
}

API(CALL_PLAIN, cudaLogsRegisterCallback,
    (cudaLogsCallback_t fn, void *data, cudaLogsCallbackHandle *out),
    (fn, data, out))
{
    if (!fn) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < MAX_CALLBACKS && callbacks[i].fn) i++;
    if (i < MAX_CALLBACKS) callbacks[i] = (struct callback){fn, data};
    pthread_mutex_unlock(&lock);
    if (i == MAX_CALLBACKS) return cudaErrorMemoryAllocation;
    if (out) *out = (cudaLogsCallbackHandle)&callbacks[i];
    return cudaSuccess;
}

API(CALL_PLAIN, cudaLogsUnregisterCallback, (cudaLogsCallbackHandle handle),
    (handle))
{
    cudaError_t error = cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CALLBACKS; i++)
        if (handle == (cudaLogsCallbackHandle)&callbacks[i] &&
            callbacks[i].fn) {
            callbacks[i].fn = NULL;
            error = cudaSuccess;
        }
    pthread_mutex_unlock(&lock);
    return error;
}

API(CALL_PLAIN, cudaLogsCurrent, (cudaLogIterator *out, unsigned flags),
    (out, flags))
{
    if (!out || flags) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    *out = next_line;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* Where to begin; the lock is held. */
static unsigned from(const cudaLogIterator *iterator)
{
    unsigned oldest = next_line > LINES ? next_line - LINES : 0;
    unsigned first = iterator ? *iterator : 0;
    return first < oldest ? oldest : first > next_line ? next_line : first;
}

API(CALL_PLAIN, cudaLogsDumpToFile,
    (cudaLogIterator *iterator, const char *path, unsigned flags),
    (iterator, path, flags))
{
    FILE *f = path && !flags ? fopen(path, "w") : NULL;
    if (!f) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    for (unsigned i = from(iterator); i < next_line; i++)
        fprintf(f, "%s\n", lines[i % LINES]);
    if (iterator) *iterator = next_line;
    pthread_mutex_unlock(&lock);
    return fclose(f) ? cudaErrorInvalidValue : cudaSuccess;
}

/* The most recent ones that fit. */
API(CALL_PLAIN, cudaLogsDumpToMemory,
    (cudaLogIterator *iterator, char *buffer, size_t *size, unsigned flags),
    (iterator, buffer, size, flags))
{
    if (!buffer || !size || flags) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    unsigned first = from(iterator), i = next_line;
    size_t used = 0, room = *size;
    while (i > first && used + strlen(lines[(i - 1) % LINES]) + 2 <= room)
        used += strlen(lines[--i % LINES]) + 1;
    if (i == next_line && first < next_line) error = cudaErrorInvalidValue;
    *size = used;
    if (room) *buffer = '\0';
    for (; i < next_line; i++)
        buffer += sprintf(buffer, "%s\n", lines[i % LINES]);
    if (iterator && error == cudaSuccess) *iterator = next_line;
    pthread_mutex_unlock(&lock);
    return error;
}
