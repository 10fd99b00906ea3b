#include "bench/saxpy.h"

/* In a file of its own, so that the caller cannot specialise it. */
void saxpy_host(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
