/* Choosing a device for a child process; see environment.h. */
#include "harness/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_NS INT64_C(20000000000)

const char *fl_device_kind_name(enum fl_device_kind kind)
{
    return kind == FL_DEVICE_SIM ? "sim" : "cuda";
}

void fl_places_find(struct fl_places *places)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    for (int up = 0; up < 2; up++) {            /* .../bin/faultlag */
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    places->trial = fl_format("%s/bin/faultlag-trial", path);
    places->lib[FL_DEVICE_SIM] = fl_format("%s/lib/simgpu", path);
    places->lib[FL_DEVICE_CUDA] = fl_format("%s/lib/cuda", path);
}

void fl_places_free(struct fl_places *places)
{
    free(places->trial);
    free(places->lib[FL_DEVICE_SIM]);
    free(places->lib[FL_DEVICE_CUDA]);
}

static void put_first(struct fl_env *env, const char *name, const char *value)
{
    const char *old = fl_env_get(env, name);
    char *both = old && *old ? fl_format("%s:%s", value, old)
                             : fl_strdup(value);
    fl_env_set(env, name, both);
    free(both);
}

void fl_environment_for(const struct fl_places *places,
                        enum fl_device_kind kind, struct fl_env *env)
{
    fl_env_init(env);
    fl_env_unset(env, "CUDA_LAUNCH_BLOCKING");
    fl_env_unset(env, "SIMGPU_SEED");
    fl_env_unset(env, "SIMGPU_SCHEDULE");
    put_first(env, "LD_LIBRARY_PATH", places->lib[kind]);
#ifndef __SANITIZE_ADDRESS__
    /* A preloaded library wins even over a DT_RPATH. With AddressSanitizer
     * nothing may be loaded before its own runtime. */
    char *library = fl_format("%s/libcudart.so.13", places->lib[kind]);
    if (!access(library, R_OK))
        put_first(env, "LD_PRELOAD", library);
    free(library);
#endif
}

struct fl_json *fl_probe(const struct fl_places *places,
                         enum fl_device_kind kind, char reason[512])
{
    char *argv[] = { places->trial, "--probe", NULL };
    struct fl_child child;
    struct fl_env env;
    struct fl_json *probe = NULL;
    fl_environment_for(places, kind, &env);
    if (!fl_child_run(&child, argv, &env, PROBE_NS))
        snprintf(reason, 512, "%s: %s", places->trial, strerror(errno));
    else if (!(probe = fl_json_parse(fl_text_str(&child.text[FL_OUT]),
                                     child.text[FL_OUT].n, NULL)))
        snprintf(reason, 512, "%.200s: %.300s", places->trial,
                 fl_child_excuse(&child));
    else if (strcmp(fl_json_string(probe, "device", ""),
                    fl_device_kind_name(kind))) {
        snprintf(reason, 512, "the runtime that was loaded is not the one "
                 "in %s", places->lib[kind]);
        fl_json_free(probe);
        probe = NULL;
    } else if (!fl_probe_device(probe)) {
        snprintf(reason, 512, "%s (%s)", fl_json_string(probe, "error",
                                                       "no device"),
                 fl_json_string(probe, "error_name", "count 0"));
    }
    fl_child_free(&child);
    fl_env_free(&env);
    return probe;
}

const char *fl_probe_device(const struct fl_json *probe)
{
    const struct fl_json *devices = fl_json_get(probe, "devices");
    return devices && devices->first
        ? fl_json_string(devices->first, "name", NULL) : NULL;
}

bool fl_probe_limits_kernels(const struct fl_json *probe)
{
    const struct fl_json *devices = fl_json_get(probe, "devices");
    return devices && devices->first
        && fl_json_bool(devices->first, "kernel_time_limit");
}

bool fl_choose_device(const struct fl_places *places, const char *wanted,
                      enum fl_device_kind *kind, struct fl_json **probe)
{
    bool any = !strcmp(wanted, "auto");
    char reason[512], first[512] = "";
    *probe = NULL;
    for (int k = FL_DEVICE_CUDA; k >= FL_DEVICE_SIM; k--) {
        if (!any && strcmp(wanted, fl_device_kind_name(k)))
            continue;
        *kind = (enum fl_device_kind)k;
        *probe = fl_probe(places, *kind, reason);
        if (*probe && fl_probe_device(*probe)) {
            if (any && k == FL_DEVICE_CUDA)
                fprintf(stderr, "faultlag: device cuda: %s\n",
                        fl_probe_device(*probe));
            else if (any)
                fprintf(stderr, "faultlag: device sim (simgpu, the software "
                        "device); no GPU: %s\n", first);
            return true;
        }
        fl_json_free(*probe);
        *probe = NULL;
        snprintf(first, sizeof first, "%s", reason);
        if (!any) {
            fprintf(stderr, "faultlag: device %s cannot be used: %s\n",
                    wanted, reason);
            return false;
        }
    }
    if (any)
        fprintf(stderr, "faultlag: no device: %s\n", reason);
    else
        fprintf(stderr, "faultlag: no device is called `%s`; there are auto, "
                "sim and cuda\n", wanted);
    return false;
}
