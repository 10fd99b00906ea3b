/* Where the parts of an installation lie, and how a child process is given
 * one device or the other: through its loader's environment alone. */
#ifndef FAULTLAG_HARNESS_ENVIRONMENT_H
#define FAULTLAG_HARNESS_ENVIRONMENT_H

#include "harness/json.h"
#include "harness/process.h"

enum fl_device_kind { FL_DEVICE_SIM, FL_DEVICE_CUDA };

/* Relative to the executable: bin/faultlag-trial, lib/simgpu, lib/cuda. */
struct fl_places { char *trial, *lib[2]; };

void fl_places_find(struct fl_places *places);
void fl_places_free(struct fl_places *places);
const char *fl_device_kind_name(enum fl_device_kind kind);

/* This process's environment with the device's runtime library put first;
 * what a caller's shell may have set about launch blocking, seeds and
 * schedules is taken out. fl_env_free() it. */
void fl_environment_for(const struct fl_places *places,
                        enum fl_device_kind kind, struct fl_env *env);

/* What faultlag-trial --probe says of a device; NULL and a reason if it says
 * nothing. */
struct fl_json *fl_probe(const struct fl_places *places,
                         enum fl_device_kind kind, char reason[512]);
/* The first device's name in a probe, or NULL if it has no usable device. */
const char *fl_probe_device(const struct fl_json *probe);
/* It ends kernels that run too long (cudaDevAttrKernelExecTimeout). */
bool fl_probe_limits_kernels(const struct fl_json *probe);

/* "auto", "sim" or "cuda" to a device that answers. False, told on stderr,
 * if there is none; for "auto" the choice is told on stderr. */
bool fl_choose_device(const struct fl_places *places, const char *wanted,
                      enum fl_device_kind *kind, struct fl_json **probe);

#endif
