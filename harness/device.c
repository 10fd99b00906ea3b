/* Which device this process has. simgpu tells itself apart by one extra
 * symbol in the runtime library, looked up here and never linked. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "harness/run.h"

/* simgpu's fault record, version 1; the layout is its published interface
 * (simgpu.h), repeated because nothing here may depend on simgpu. */
struct record_v1 {
    uint32_t version;
    int32_t code;
    char kind[48], kernel[256], file[256];
    uint32_t line, ptx_line;
    char instruction[64];
    uint32_t block[3], thread[3];
    uint64_t address;
    uint32_t bytes, is_write;
    uint64_t near_address, near_size;
    int64_t near_distance;
    uint32_t near_freed, lanes;
    uint64_t launch, time_ns;
    char message[256];
};

static void *symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static const char *kind(void)
{
    return symbol("simgpuGetFaultRecord") ? "sim" : "cuda";
}

bool fl_device_fault(struct fl_device_fault *fault)
{
    int (*get)(void *) = (int (*)(void *))symbol("simgpuGetFaultRecord");
    struct record_v1 r = { .version = 1 };
    if (!get || get(&r) != 1)
        return false;
    fault->code = r.code;
    fault->line = r.line;
    fault->address = r.address;
    fault->bytes = r.bytes;
    fault->is_write = r.is_write;
    memcpy(fault->kernel, r.kernel, sizeof r.kernel);
    memcpy(fault->file, r.file, sizeof r.file);
    memcpy(fault->block, r.block, sizeof r.block);
    memcpy(fault->thread, r.thread, sizeof r.thread);
    return true;
}

int fl_device_repeatable(void)
{
    int (*get)(void) = (int (*)(void))symbol("simgpuRunNotRepeatable");
    return get ? !get() : -1;
}

bool fl_device_open(struct fl_run *run, const char *wanted, char error[512])
{
    struct cudaDeviceProp properties;
    run->device = kind();
    if (strcmp(wanted, "auto") && strcmp(wanted, run->device)) {
        snprintf(error, 512, "wanted device `%s`, but the CUDA runtime that "
                 "was loaded is %s", wanted, strcmp(run->device, "sim")
                 ? "NVIDIA's" : "simgpu");
        return false;
    }
    cudaError_t code = cudaGetDeviceProperties(&properties, 0);
    if (!code)
        code = cudaFree(NULL);
    if (code) {
        snprintf(error, 512, "no usable device: %s (%s, %d)",
                 cudaGetErrorString(code), cudaGetErrorName(code), code);
        return false;
    }
    snprintf(run->device_name, sizeof run->device_name, "%s", properties.name);
    return true;
}

void fl_device_json(struct fl_text *out)
{
    int n = 0, driver = 0, runtime = 0;
    cudaError_t code = cudaGetDeviceCount(&n);
    fl_json_open(out, NULL, '{');
    fl_json_put_string(out, "device", kind());
    fl_json_put_integer(out, "toolkit", CUDART_VERSION);
    if (!cudaRuntimeGetVersion(&runtime))
        fl_json_put_integer(out, "runtime", runtime);
    if (!cudaDriverGetVersion(&driver))
        fl_json_put_integer(out, "driver", driver);
    if (code) {
        fl_json_put_integer(out, "error_code", code);
        fl_json_put_string(out, "error_name", cudaGetErrorName(code));
        fl_json_put_string(out, "error", cudaGetErrorString(code));
    }
    fl_json_open(out, "devices", '[');
    for (int i = 0; !code && i < n; i++) {
        struct cudaDeviceProp p;
        if (cudaGetDeviceProperties(&p, i))
            continue;
        fl_json_open(out, NULL, '{');
        fl_json_put_string(out, "name", p.name);
        fl_json_put_integer(out, "major", p.major);
        fl_json_put_integer(out, "minor", p.minor);
        int limited = 0;
        cudaDeviceGetAttribute(&limited, cudaDevAttrKernelExecTimeout, i);
        fl_json_put_integer(out, "multiprocessors", p.multiProcessorCount);
        fl_json_put_integer(out, "memory_bytes", (long long)p.totalGlobalMem);
        fl_json_put_bool(out, "kernel_time_limit", limited);
        fl_json_close(out, '}');
    }
    fl_json_close(out, ']');
    fl_json_close(out, '}');
}
