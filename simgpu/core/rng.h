/* The random numbers of a seeded run: splitmix64 (Steele, Lea, Flood 2014).
 * One state word, so that a seed is a whole generator and a draw costs a few
 * cycles. Not shared between threads. */
#ifndef SIMGPU_CORE_RNG_H
#define SIMGPU_CORE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline struct rng rng_seed(uint64_t seed) {
    return (struct rng){seed};
}

static inline uint64_t rng_next(struct rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in [0, n); n > 0. The bias of the multiplication is below n / 2^64. */
static inline uint64_t rng_below(struct rng *r, uint64_t n) {
    return (uint64_t)((unsigned __int128)rng_next(r) * n >> 64);
}

/* An independent generator drawn from this one. */
static inline struct rng rng_fork(struct rng *r) {
    return rng_seed(rng_next(r));
}

#endif
