/* The context block; see context.h. What is recorded of the environment is an
 * allow-list: variables that steer CUDA, simgpu or the loader of libraries. */
#include "harness/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "harness/columns.h"
#include "harness/csv.h"
#include "harness/environment.h"
#include "harness/version.h"

extern char **environ;

static void put_cpu(struct fl_text *out)
{
    size_t n;
    char *s = fl_read_file("/proc/cpuinfo", &n);
    char *model = s ? strstr(s, "model name") : NULL;
    char *colon = model ? strchr(model, ':') : NULL;
    if (colon) {
        colon += 1 + strspn(colon + 1, " ");
        colon[strcspn(colon, "\n")] = '\0';
        fl_json_put_string(out, "cpu", colon);
    }
    free(s);
    fl_json_put_integer(out, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
    fl_json_put_integer(out, "memory_bytes", (long long)
                        sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE));
}

static void put_environment(struct fl_text *out)
{
    static const char *const allowed[] = { "CUDA_", "SIMGPU_" };
    fl_json_open(out, "environment", '{');
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
            const char *equals = strchr(*e, '=');
            if (!equals || strncmp(*e, allowed[i], strlen(allowed[i])))
                continue;
            char *name = fl_format("%.*s", (int)(equals - *e), *e);
            fl_json_put_string(out, name, equals + 1);
            free(name);
        }
    fl_json_close(out, '}');
}

static void put_device(struct fl_text *out, const struct fl_json *probe)
{
    static const char *const numbers[] = { "toolkit", "runtime", "driver" };
    const struct fl_json *devices = fl_json_get(probe, "devices");
    fl_json_put_string(out, "device", fl_json_string(probe, "device", "?"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (fl_json_get(probe, numbers[i]))
            fl_json_put_integer(out, numbers[i],
                                fl_json_integer(probe, numbers[i], 0));
    fl_json_put_string(out, "device_name", fl_probe_device(probe)
                       ? fl_probe_device(probe) : "?");
    if (devices)
        fl_json_put(out, "devices", devices);
}

void fl_context_json(struct fl_text *out, int argc, char **argv,
                     size_t trials, const struct fl_json *probe)
{
    struct utsname system;
    char when[32];
    time_t now = time(NULL);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fl_json_open(out, NULL, '{');
    fl_json_put_integer(out, "schema_version", FL_SCHEMA_VERSION);
    fl_json_put_string(out, "time", when);
    fl_json_put_string(out, "version", FAULTLAG_VERSION);
    fl_json_put_string(out, "commit", FAULTLAG_COMMIT);
    fl_json_put_bool(out, "dirty", FAULTLAG_DIRTY);
    fl_json_put_string(out, "compiler", __VERSION__);
    put_device(out, probe);
    if (!uname(&system)) {
        fl_json_put_string(out, "system", system.sysname);
        fl_json_put_string(out, "kernel", system.release);
        fl_json_put_string(out, "machine", system.machine);
    }
    put_cpu(out);
    put_environment(out);
    fl_json_open(out, "arguments", '[');
    for (int i = 0; i < argc; i++)
        fl_json_put_string(out, NULL, argv[i]);
    fl_json_close(out, ']');
    fl_json_put_integer(out, "trials", (long long)trials);
    fl_json_close(out, '}');
}
