/* Names and texts of errors. */
#include "cudart/cudart.h"

static const struct { cudaError_t code; const char *name, *text; } errors[] = {
#define CUDA_ERROR(name, text) {name, #name, text},
#include "cudart/errors.def"
#undef CUDA_ERROR
};

static const char unknown[] = "unrecognized error code";

const char *CUDARTAPI cudaGetErrorName(cudaError_t code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return errors[i].name;
    return unknown;
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return errors[i].text;
    return unknown;
}
