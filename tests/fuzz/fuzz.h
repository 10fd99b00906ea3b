/* What a fuzz target consists of. libFuzzer calls the first function; the
 * replay driver (replay.c), for every compiler and every test run, both. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Any bytes: must return. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A seed that nvcc made: must be understood to the last instruction. Says on
 * stderr what is not. */
bool fuzz_seed_is_good(const char *name, const uint8_t *data, size_t size);

/* Words that a mutation may put in, NULL-terminated. */
extern const char *const fuzz_words[];

#endif
