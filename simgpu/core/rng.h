/* The source of every choice in a seeded run: xoroshiro128+ started from a
 * splitmix64 of the seed. Small, fast, and the same on every machine, so that
 * a seed names one run for ever. */
#ifndef SIMGPU_CORE_RNG_H
#define SIMGPU_CORE_RNG_H

#include <stdint.h>

struct rng { uint64_t s[2]; };

static inline uint64_t rng_split(uint64_t *x) {
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline void rng_seed(struct rng *r, uint64_t seed) {
    r->s[0] = rng_split(&seed);
    r->s[1] = rng_split(&seed);
}

static inline uint64_t rng_next(struct rng *r) {
    uint64_t a = r->s[0], b = r->s[1], sum = a + b;
    b ^= a;
    r->s[0] = ((a << 24) | (a >> 40)) ^ b ^ (b << 16);
    r->s[1] = (b << 37) | (b >> 27);
    return sum;
}

/* Uniform in [0, n), n > 0; the bias of 2^-32 per unit of n does not matter
 * here. Taken from the high bits, which are the better ones. */
static inline uint32_t rng_below(struct rng *r, uint32_t n) {
    return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

/* A length between 1 and 2^max_log2 with an even chance for every order of
 * magnitude: short and long turns are equally likely, so an interleaving that
 * needs either is found without knowing how long the kernels are. */
static inline uint64_t rng_length(struct rng *r, unsigned max_log2) {
    unsigned log2 = rng_below(r, max_log2 + 1);
    return (1ull << log2) + (log2 ? rng_next(r) % (1ull << log2) : 0);
}

#endif
