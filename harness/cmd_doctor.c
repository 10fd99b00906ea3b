/* faultlag doctor: what of an installation works here, and why the rest does
 * not. Exit 0 if there is a device to run on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/command.h"
#include "harness/context.h"
#include "harness/environment.h"
#include "harness/listing.h"

struct finding { const char *what; bool works; char *detail; };

static struct finding file(const char *what, const char *path,
                           const char *why_not)
{
    bool there = !access(path, R_OK);
    return (struct finding){ what, there, fl_format("%s%s", path,
                                                    there ? "" : why_not) };
}

static struct finding device(const char *what, const struct fl_places *places,
                             enum fl_device_kind kind, struct fl_json **probe)
{
    char reason[512] = "";
    *probe = fl_probe(places, kind, reason);
    const char *name = fl_probe_device(*probe);
    return (struct finding){ what, name != NULL,
                             fl_strdup(name ? name : reason) };
}

static struct finding driver(const struct fl_json *probe)
{
    long long version = fl_json_integer(probe, "driver", 0);
    return (struct finding){
        "NVIDIA driver", version > 0, version > 0
            ? fl_format("supports CUDA %lld.%lld", version / 1000,
                        version % 1000 / 10)
            : fl_strdup("none is loaded (libcuda.so.1); install one to use "
                        "--device cuda") };
}

static struct finding catalogue(const struct fl_places *places)
{
    struct fl_json *listing = fl_listing_read(places);
    size_t n = 0;
    const struct fl_json *all = fl_json_get(listing, "scenarios");
    for (const struct fl_json *s = all ? all->first : NULL; s; s = s->next)
        n += !fl_json_bool(s, "selftest");
    fl_json_free(listing);
    return (struct finding){ "catalogue", n > 0,
                             fl_format("%zu scenarios", n) };
}

int fl_cmd_doctor(const struct fl_options *o, int argc, char **argv)
{
    struct fl_places places;
    struct fl_json *sim, *cuda;
    fl_places_find(&places);
    char *simgpu = fl_format("%s/libcudart.so.13",
                             places.lib[FL_DEVICE_SIM]);
    char *cudart = fl_format("%s/libcudart.so.13",
                             places.lib[FL_DEVICE_CUDA]);
    char *cupti = fl_format("%s/libcupti.so.13", places.lib[FL_DEVICE_CUDA]);
    struct finding findings[] = {
        file("trial program", places.trial, " is missing: build it"),
        catalogue(&places),
        file("simgpu", simgpu, " is missing: build it"),
        device("device sim", &places, FL_DEVICE_SIM, &sim),
        file("NVIDIA's runtime", cudart,
             " is missing; the build copies it from the CUDA Toolkit"),
        device("device cuda", &places, FL_DEVICE_CUDA, &cuda),
        driver(cuda),
        file("CUPTI", cupti,
             " is missing; the strategy cupti-log needs it on a GPU"),
    };
    size_t n = sizeof findings / sizeof *findings;
    bool usable = !strcmp(o->device, "sim") ? fl_probe_device(sim) != NULL
        : !strcmp(o->device, "cuda") ? fl_probe_device(cuda) != NULL
        : fl_probe_device(sim) || fl_probe_device(cuda);
    struct fl_text out = { 0 };
    if (o->as_json) {
        fl_json_open(&out, NULL, '{');
        fl_json_put_bool(&out, "usable", usable);
        fl_json_open(&out, "findings", '[');
        for (size_t i = 0; i < n; i++) {
            fl_json_open(&out, NULL, '{');
            fl_json_put_string(&out, "what", findings[i].what);
            fl_json_put_bool(&out, "works", findings[i].works);
            fl_json_put_string(&out, "detail", findings[i].detail);
            fl_json_close(&out, '}');
        }
        fl_json_close(&out, ']');
        fl_json_close(&out, '}');
        fl_text_puts(&out, "\n");
    } else {
        for (size_t i = 0; i < n; i++)
            fl_text_printf(&out, "%-4s%-18s%s\n",
                           findings[i].works ? "ok" : "no",
                           findings[i].what, findings[i].detail);
    }
    fputs(out.s, stdout);
    fl_text_free(&out);
    for (size_t i = 0; i < n; i++)
        free(findings[i].detail);
    fl_json_free(sim);
    fl_json_free(cuda);
    free(simgpu);
    free(cudart);
    free(cupti);
    fl_places_free(&places);
    (void)argc, (void)argv;
    return usable ? FL_EXIT_OK : FL_EXIT_UNUSABLE;
}
