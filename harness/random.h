/* splitmix64: a small generator whose whole state is one number, so that a
 * trial's inputs and a bench's order are functions of their seed alone. */
#ifndef FAULTLAG_HARNESS_RANDOM_H
#define FAULTLAG_HARNESS_RANDOM_H

#include <stdint.h>

static inline uint64_t fl_splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
