/* Fuzzing without a fuzzer: replays seeds, then mutations of them drawn from
 * a fixed sequence, so that every run of the tests tries the same inputs.
 *
 *   replay COUNT SEED...      the seeds must be understood; then COUNT inputs
 *   replay FILE               one input, to reproduce a finding
 *
 * The input being tried is written to replay-crash when it does not return. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

/* Larger seeds must be understood but are not mutated: the time is better
 * spent on many small inputs. */
#define MAX_MUTATED (16 * 1024)

struct input {
    uint8_t *data;
    size_t size;
};

static uint64_t draw_state = 0x9e3779b97f4a7c15u;
static struct input current;

static uint64_t draw(uint64_t below)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return below ? draw_state % below : 0;
}

static struct input read_file(const char *path)
{
    struct input in = { 0 };
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) {
        perror(path);
        exit(2);
    }
    in.size = (size_t)ftell(f);
    rewind(f);
    in.data = malloc(in.size + 1);
    if (!in.data || fread(in.data, 1, in.size, f) != in.size) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return in;
}

/* Puts n bytes in place of `cut` bytes at `at`. */
static void splice(struct input *in, size_t at, size_t cut, const void *bytes,
                   size_t n)
{
    size_t tail = in->size - at - cut;
    uint8_t *next = malloc(in->size - cut + n + 1);
    if (!next) abort();
    memcpy(next, in->data, at);
    if (n) memcpy(next + at, bytes, n);
    memcpy(next + at + n, in->data + at + cut, tail);
    free(in->data);
    in->data = next;
    in->size = at + n + tail;
}

static void mutate_once(struct input *in, const struct input *seeds,
                        size_t n_seeds, size_t n_words)
{
    size_t at = draw(in->size + 1), left = in->size - at;
    const struct input *other = &seeds[draw(n_seeds)];
    const char *word = fuzz_words[draw(n_words)];
    size_t from = draw(other->size), n = draw(64);
    if (n > other->size - from) n = other->size - from;
    size_t cut = draw(16);
    if (cut > left) cut = left;
    switch (draw(7)) {
    case 0: /* one bit */
        if (left) in->data[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1: /* one byte */
        if (left) in->data[at] = (uint8_t)draw(256);
        break;
    case 2: splice(in, at, cut, NULL, 0); break;
    case 3: splice(in, at, 0, word, strlen(word)); break;
    case 4: splice(in, at, cut, word, strlen(word)); break;
    case 5: splice(in, at, 0, other->data + from, n); break;
    default: /* the end, sometimes */
        if (!draw(8)) in->size = at;
        break;
    }
}

static void crashed(int sig)
{
    FILE *f = fopen("replay-crash", "wb");
    if (f) {
        fwrite(current.data, 1, current.size, f);
        fclose(f);
    }
    static const char note[] = "input written to replay-crash\n";
    if (write(2, note, sizeof note - 1) < 0) _exit(3);
    signal(sig, SIG_DFL);
    raise(sig);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s COUNT SEED... | FILE\n", argv[0]);
        return 2;
    }
    if (argc == 2) {
        struct input in = read_file(argv[1]);
        LLVMFuzzerTestOneInput(in.data, in.size);
        free(in.data);
        return 0;
    }
    size_t count = strtoul(argv[1], NULL, 10), n_seeds = (size_t)argc - 2;
    size_t n_words = 0, bad = 0;
    while (fuzz_words[n_words]) n_words++;
    struct input *seeds = calloc(n_seeds, sizeof *seeds);
    size_t n_small = 0;
    for (size_t i = 0; i < n_seeds; i++) {
        struct input in = read_file(argv[i + 2]);
        bad += !fuzz_seed_is_good(argv[i + 2], in.data, in.size);
        if (in.size <= MAX_MUTATED)
            seeds[n_small++] = in;
        else
            free(in.data);
    }
    if (!n_small) count = 0;
    static const int fatal[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM };
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], crashed);
    for (size_t i = 0; i < count; i++) {
        const struct input *seed = &seeds[draw(n_small)];
        current.size = seed->size;
        current.data = malloc(seed->size + 1);
        memcpy(current.data, seed->data, seed->size);
        for (uint64_t k = 1 + draw(6); k; k--)
            mutate_once(&current, seeds, n_small, n_words);
        /* a block of exactly the size, so that sanitizers see every step
         * outside; an input that takes ten seconds is a finding too */
        uint8_t *exact = realloc(current.data, current.size ? current.size : 1);
        if (exact) current.data = exact;
        alarm(10);
        LLVMFuzzerTestOneInput(current.data, current.size);
        free(current.data);
    }
    printf("%zu seeds, %zu of them not understood; %zu mutations\n", n_seeds,
           bad, count);
    for (size_t i = 0; i < n_small; i++) free(seeds[i].data);
    free(seeds);
    return bad ? 1 : 0;
}
