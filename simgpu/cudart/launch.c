/* Kernel launches: what is refused before anything runs, and the rest.
 *
 * A launch that is refused runs nothing and leaves the context healthy; its
 * code waits in the last-error slot, since <<<>>> throws the return value
 * away.
 */
#include "cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/limits.h"
#include "cudart/registration.h"

static bool dimensions_fit(dim3 grid, dim3 block)
{
    return grid.x && grid.y && grid.z && block.x && block.y && block.z &&
           grid.x <= MAX_GRID_X && grid.y <= MAX_GRID_YZ &&
           grid.z <= MAX_GRID_YZ && block.x <= MAX_BLOCK_XY &&
           block.y <= MAX_BLOCK_XY && block.z <= MAX_BLOCK_Z &&
           (uint64_t)block.x * block.y * block.z <= MAX_THREADS;
}

cudaError_t launch_check(struct kernel *k, dim3 grid, dim3 block,
                         size_t shared, bool cooperative)
{
    if (!dimensions_fit(grid, block)) return cudaErrorInvalidConfiguration;
    cudaError_t error = kernel_load(k);
    if (error != cudaSuccess) return error;
    unsigned threads = block.x * block.y * block.z;
    if (k->program->maxntid && threads > k->program->maxntid)
        return cudaErrorInvalidValue; /* __launch_bounds__: hip-tests */
    if (threads > kernel_max_threads(k)) return cudaErrorLaunchOutOfResources;
    if (shared > (size_t)kernel_dynamic_limit(k))
        return cooperative ? cudaErrorCooperativeLaunchTooLarge
                           : cudaErrorInvalidValue;
    if (!cooperative) return cudaSuccess;
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    uint64_t resident = (uint64_t)occupancy(k, threads, shared) *
                        (uint64_t)identity()->multiprocessors;
    return blocks > resident ? cudaErrorCooperativeLaunchTooLarge
                             : cudaSuccess;
}

/* Every parameter of the kernel needs a value. */
static cudaError_t args_check(const struct kernel *k, void **args)
{
    for (uint32_t i = 0; i < k->program->n_params; i++)
        if (!args || !args[i]) return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* Printed output is let out at the start of every launch and, when launches
 * block, at their end. A blocking launch reports what its kernel did. */
static cudaError_t launch(struct kernel *k, dim3 grid, dim3 block, void **args,
                          size_t shared, struct rt_stream *s,
                          const struct launch_options *o)
{
    struct context *c = context();
    if (thread_state.call) thread_state.call->kernel = k->name;
    cudaError_t error = launch_check(k, grid, block, shared, o->cooperative);
    if (error == cudaSuccess) error = args_check(k, args);
    if (error != cudaSuccess) return error;
    flush_output();
    struct work w = {.kind = WORK_LAUNCH,
                     .launch = {k, grid, block, shared, args, o->cooperative,
                                o->priority, NULL}};
    error = submit(s, &w);
    if (error != cudaSuccess || !c->launch_blocking || s->capture)
        return error;
    flush_output();
    return device_lost(c->device) ? from_status(STATUS_LOST) : cudaSuccess;
}

cudaError_t launch_kernel(struct kernel *k, dim3 grid, dim3 block, void **args,
                          size_t shared, struct rt_stream *s,
                          bool cooperative)
{
    struct launch_options o = {cooperative, s->priority};
    return launch(k, grid, block, args, shared, s, &o);
}

/* ---- attributes ---------------------------------------------------------------- */

cudaError_t launch_attribute(cudaLaunchAttributeID id,
                             const cudaLaunchAttributeValue *value,
                             struct launch_options *o)
{
    switch (id) {
    case cudaLaunchAttributeCooperative:
        o->cooperative = value->cooperative;
        return cudaSuccess;
    case cudaLaunchAttributePriority:
        o->priority = value->priority;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        if (value->clusterDim.x <= 1 && value->clusterDim.y <= 1 &&
            value->clusterDim.z <= 1)
            return cudaSuccess;
        warn_once("clusters of more than one block are not supported");
        return cudaErrorNotSupported;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        return cudaSuccess;
    default:
        warn_once("launch attribute %d is not supported", (int)id);
        return cudaErrorNotSupported;
    }
}

cudaError_t launch_config(const cudaLaunchConfig_t *config, struct kernel *k,
                          void **args, struct rt_stream *s)
{
    struct launch_options o = {false, s->priority};
    if (config->numAttrs && !config->attrs) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        cudaError_t error = launch_attribute(a->id, &a->val, &o);
        if (error != cudaSuccess) return error;
    }
    if (!s->capture) o.priority = priority_clamp(o.priority);
    return launch(k, config->gridDim, config->blockDim, args,
                  config->dynamicSmemBytes, s, &o);
}

/* ---- host functions ------------------------------------------------------------- */

cudaError_t launch_host(struct rt_stream *s, cudaHostFn_t fn, void *arg)
{
    if (!fn) return cudaErrorInvalidValue;
    struct work w = {.kind = WORK_HOST, .host = {fn, arg, false}};
    return submit(s, &w);
}

struct callback {
    cudaStreamCallback_t fn;
    cudaStream_t stream;
    void *arg;
};

/* Callbacks, unlike host functions, run after a fault too and are told. */
static void run_callback(void *p)
{
    struct callback c = *(struct callback *)p;
    free(p);
    struct context *now = context();
    struct fault fault;
    cudaError_t status = cudaSuccess;
    if (now) device_flush_output(now->device);
    if (now && device_fault(now->device, &fault))
        status = (cudaError_t)fault_kind_code(fault.kind);
    c.fn(c.stream, status, c.arg);
}

cudaError_t launch_callback(struct rt_stream *s, cudaStreamCallback_t fn,
                            void *arg)
{
    if (!fn) return cudaErrorInvalidValue;
    cudaError_t error = capture_refuse(s);
    if (error != cudaSuccess) return error;
    struct callback *c = malloc(sizeof *c);
    if (!c) return cudaErrorMemoryAllocation;
    *c = (struct callback){fn, s->handle, arg};
    struct work w = {.kind = WORK_HOST, .host = {run_callback, c, true}};
    error = submit(s, &w);
    if (error != cudaSuccess) free(c);
    return error;
}
