/* Buffers that the program lends for activity records.
 *
 * They are asked for and handed back without the lock held, since their owner
 * may call anything.
 */
#include <stdlib.h>
#include <string.h>

#include "cupti/buffers.h"
#include "cupti/state.h"

struct full { uint8_t *data; size_t size, used; struct full *next; };

pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static struct { uint8_t *data; size_t size, used, records, most; } buffer;
static struct full *first_full, **last_full = &first_full;
static size_t dropped;

static const struct {
    CUpti_ActivityKind kind;
    size_t size;
} kinds[] = {
    {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6)},
    {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_KERNEL, sizeof(CUpti_ActivityKernel10)},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
     sizeof(CUpti_ActivitySynchronization2)},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
     sizeof(CUpti_ActivityExternalCorrelation)},
};

size_t record_size(CUpti_ActivityKind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind) return kinds[i].size;
    return 0;
}

void buffers_retire(void)
{
    struct full *f = buffer.data ? malloc(sizeof *f) : NULL;
    if (f) {
        *f = (struct full){buffer.data, buffer.size, buffer.used, NULL};
        *last_full = f;
        last_full = &f->next;
    }
    memset(&buffer, 0, sizeof buffer);
}

/* Lets the lock go while the program answers. */
static void lend_buffer(void)
{
    uint8_t *data = NULL;
    size_t size = 0, most = 0;
    if (!request) return;
    pthread_mutex_unlock(&buffers_lock);
    request(&data, &size, &most);
    pthread_mutex_lock(&buffers_lock);
    if (buffer.data) buffers_retire();
    buffer.data = data;
    buffer.size = size;
    buffer.most = most;
}

void buffers_emit(const void *record, size_t size)
{
    if (buffer.data && (buffer.used + size > buffer.size ||
                        (buffer.most && buffer.records == buffer.most)))
        buffers_retire();
    if (!buffer.data) lend_buffer();
    if (!buffer.data || buffer.used + size > buffer.size) {
        dropped++;
        return;
    }
    memcpy(buffer.data + buffer.used, record, size);
    buffer.used += size;
    buffer.records++;
}

void buffers_hand_back(void)
{
    for (;;) {
        pthread_mutex_lock(&buffers_lock);
        struct full *f = first_full;
        if (f && !(first_full = f->next)) last_full = &first_full;
        pthread_mutex_unlock(&buffers_lock);
        if (!f) return;
        if (complete) complete(NULL, 0, f->data, f->size, f->used);
        free(f);
    }
}

/* ---- calls ------------------------------------------------------------------------------ */

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc on_request,
    CUpti_BuffersCallbackCompleteFunc on_complete)
{
    if (!on_request || !on_complete)
        return result(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&buffers_lock);
    request = on_request;
    complete = on_complete;
    pthread_mutex_unlock(&buffers_lock);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *data, size_t valid,
                                                CUpti_Activity **record)
{
    if (!data || !record) return result(CUPTI_ERROR_INVALID_PARAMETER);
    uint8_t *at = data;
    if (*record) {
        size_t size = record_size((*record)->kind);
        if (!size) return result(CUPTI_ERROR_INVALID_KIND);
        at = (uint8_t *)*record + size;
    }
    if (at >= data + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)at;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context,
                                                       uint32_t stream,
                                                       size_t *count)
{
    (void)context, (void)stream;
    if (!count) return result(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&buffers_lock);
    *count = dropped;
    dropped = 0;
    pthread_mutex_unlock(&buffers_lock);
    return CUPTI_SUCCESS;
}
