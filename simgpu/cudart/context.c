/* The one context of the process: made by the first call that needs it, when
 * the settings in the environment are read (CUDA_LAUNCH_BLOCKING among them,
 * once), and replaced by cudaDeviceReset.
 */
#include "cudart/cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *_Atomic current;
static uint64_t contexts_made;
static unsigned flags_wanted;

struct context *context(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

bool setting_flag(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0");
}

struct device_config settings(void)
{
    struct context *c = context();
    if (c) return c->config;
    struct device_config config;
    device_config_from_env(&config);
    return config;
}

/* ---- which device ---------------------------------------------------------- */

static struct device_identity who;

/* CUDA_VISIBLE_DEVICES: a list of device numbers that ends at the first one
 * that does not exist. With one device only "0..." shows it. */
static bool device_visible(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list) return true;
    char *end;
    long n = strtol(list, &end, 10);
    if (end == list) return !strncmp(list, "GPU-", 4);
    return n == 0;
}

static void read_identity(void)
{
    struct device_config config = settings();
    who.devices = device_visible();
    who.major = (int)config.capability / 10;
    who.minor = (int)config.capability % 10;
    who.multiprocessors = (int)config.multiprocessors;
}

const struct device_identity *identity(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_identity);
    return &who;
}

/* ---- making and ending it -------------------------------------------------- */

static struct context *make(void)
{
    struct context *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    device_config_from_env(&c->config);
    c->launch_blocking = c->config.launch_blocking =
        setting_flag("CUDA_LAUNCH_BLOCKING");
    c->device = device_open(&c->config);
    if (!c->device) goto no_device;
    c->memory = device_memory(c->device);
    c->number = ++contexts_made;
    limits_start(c);
    c->legacy = calloc(1, sizeof *c->legacy);
    if (!c->legacy) goto no_stream;
    c->legacy->core = device_legacy_stream(c->device);
    c->legacy->legacy = true;
    return c;
no_stream:
    device_close(c->device);
no_device:
    free(c);
    return NULL;
}

cudaError_t context_open(void)
{
    if (!identity()->devices) return cudaErrorNoDevice;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    if (!context()) {
        struct context *c = make();
        if (c) atomic_store_explicit(&current, c, memory_order_release);
        else error = cudaErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* Everything in flight ends, everything made is gone. On a lost context the
 * next call finds a new one unless SIMGPU_RESET_KEEPS_LOSS is set: sources
 * disagree on what hardware does. */
void context_reset(void)
{
    pthread_mutex_lock(&lock);
    struct context *c = context();
    if (c) {
        device_wait(c->device);
        device_flush_output(c->device);
        const struct tools *t = tools_watching();
        if (t) t->reset();
        device_drop_program(c->device, NULL);
        modules_unload();
        pools_reset();
        managed_forget(0);
        captures_reset();
        handle_forget_all();
        atomic_store_explicit(&current, NULL, memory_order_release);
        device_close(c->device);
        free(c->legacy);
        free(c);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- waiting --------------------------------------------------------------- */

void flush_output(void) { device_flush_output(context()->device); }

cudaError_t synchronize_device(void)
{
    cudaError_t error = from_status(device_wait(context()->device));
    flush_output();
    return error;
}

API(CALL_CONTEXT, cudaDeviceSynchronize, (void), ())
{
    cudaError_t error = capture_device_check();
    return error == cudaSuccess ? synchronize_device() : error;
}

API(CALL_PLAIN, cudaDeviceReset, (void), ())
{
    struct context *c = context();
    if (c && device_lost(c->device) &&
        c->config.reset_keeps_loss)
        return from_status(STATUS_LOST);
    context_reset();
    flags_wanted = 0;
    thread_state.last = cudaSuccess;
    return cudaSuccess;
}

unsigned device_flags(void) { return flags_wanted; }

API(CALL_STICKY, cudaSetDeviceFlags, (unsigned flags), (flags))
{
    unsigned schedule = flags & cudaDeviceScheduleMask;
    if (flags & ~(unsigned)cudaDeviceMask) return cudaErrorInvalidValue;
    if (schedule & (schedule - 1)) return cudaErrorInvalidValue;
    flags_wanted = flags;
    return cudaSuccess;
}

API(CALL_STICKY, cudaGetDeviceFlags, (unsigned *flags), (flags))
{
    if (!flags) return cudaErrorInvalidValue;
    *flags = flags_wanted | cudaDeviceMapHost;
    return cudaSuccess;
}

/* ---- choosing the device --------------------------------------------------- */

API(CALL_PLAIN, cudaGetDeviceCount, (int *count), (count))
{
    if (!count) return cudaErrorInvalidValue;
    *count = identity()->devices;
    return *count ? cudaSuccess : cudaErrorNoDevice;
}

API(CALL_STICKY, cudaGetDevice, (int *device), (device))
{
    if (!device) return cudaErrorInvalidValue;
    if (!identity()->devices) return cudaErrorNoDevice;
    *device = 0;
    return cudaSuccess;
}

static cudaError_t check_device(int device)
{
    if (!identity()->devices) return cudaErrorNoDevice;
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

/* Since CUDA 12 cudaSetDevice makes the context. */
API(CALL_STICKY, cudaSetDevice, (int device), (device))
{
    cudaError_t error = check_device(device);
    return error != cudaSuccess || context() ? error : context_open();
}

API(CALL_STICKY, cudaInitDevice,
    (int device, unsigned device_flags, unsigned flags),
    (device, device_flags, flags))
{
    cudaError_t error = check_device(device);
    if (error != cudaSuccess) return error;
    if (flags & ~(unsigned)cudaInitDeviceFlagsAreValid)
        return cudaErrorInvalidValue;
    if (flags & cudaInitDeviceFlagsAreValid) flags_wanted = device_flags;
    return context() ? cudaSuccess : context_open();
}

API(CALL_PLAIN, cudaSetValidDevices, (int *devices, int n), (devices, n))
{
    for (int i = 0; i < n; i++) {
        if (!devices) return cudaErrorInvalidValue;
        if (devices[i] != 0) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
}
