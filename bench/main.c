/* faultlag-bench: what looking for errors costs when there are none. The
 * options, and which parts run on which device. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "harness/environment.h"

static const char usage[] =
"usage: faultlag-bench [options] [-- GOOGLE-BENCHMARK-OPTIONS]\n"
"\n"
"Measures the throughput of healthy steps under each strategy against async,\n"
"of the scenarios' defences likewise, and the latencies of single CUDA calls.\n"
"\n"
"  --device auto|sim|cuda  default auto: a GPU if one answers, else sim\n"
"  --out DIR               writes DIR/throughput.csv and DIR/micro.json\n"
"  --seconds S             length of the throughput part (default 30)\n"
"  --turn-ms MS            length of one turn (default 1)\n"
"  --strategies A,B        default all; async is always among them\n"
"  --kernels-us A,B        kernel lengths (default 0,3,10,30,100,300,1000)\n"
"  --host-work-us A,B      host work before each launch (default 0,10)\n"
"  --scenarios A,B|none    to run as well, healthy and defended (default all)\n"
"  --launches N            launches in a step (default 16)\n"
"  --repetitions N         at least so many of each cell (default 5)\n"
"  --seed N                of the order of turns (default 1)\n"
"  --only throughput|micro one of the two parts\n";

#define NAME_BYTES 64

static char all_strategies[][NAME_BYTES] = {
#define STRATEGY(ident, name, ...) name,
#include "harness/strategies.def"
#undef STRATEGY
    ""
};

/* Identifiers, until options_parse() puts dashes for underscores. */
static char all_scenarios[][NAME_BYTES] = {
#define SCENARIO(ident) #ident,
#include "scenarios/catalogue.def"
#undef SCENARIO
    ""
};

static bool is_number(const char *text, double least, double most,
                      double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && end != text && !*end && *value >= least && *value <= most;
}

/* The next of the words between commas, false at the end or on a long one. */
static bool word(const char **text, char out[NAME_BYTES])
{
    size_t n = strcspn(*text, ",");
    if (n == 0 || n >= NAME_BYTES)
        return false;
    memcpy(out, *text, n);
    out[n] = 0;
    *text += n + ((*text)[n] == ',' && (*text)[n + 1]);
    return true;
}

/* Microseconds to nanoseconds. */
static bool times(const char *text, double *ns, size_t *n)
{
    char one[NAME_BYTES];
    for (*n = 0; word(&text, one); ++*n) {
        if (*n == MAX_LIST || !is_number(one, 0, 1e6, &ns[*n]))
            return false;
        ns[*n] *= 1e3;
    }
    return !*text && *n > 0;
}

/* `all`, `none` or some of the names in ALL, which the list points into,
 * each once. */
static bool names(const char *text, char (*all)[NAME_BYTES],
                  const char **list, size_t *n)
{
    char one[NAME_BYTES];
    bool every = !strcmp(text, "all");
    *n = 0;
    for (char (*a)[NAME_BYTES] = all; every && **a && *n < MAX_LIST; a++)
        list[(*n)++] = *a;
    if (every || !strcmp(text, "none"))
        return true;
    while (word(&text, one)) {
        char (*a)[NAME_BYTES] = all;
        while (**a && strcmp(*a, one))
            a++;
        size_t twice = 0;
        while (twice < *n && list[twice] != *a)
            twice++;
        if (!**a || *n == MAX_LIST)
            return false;
        if (twice == *n)
            list[(*n)++] = *a;
    }
    return !*text && *n > 0;
}

static void ensure_baseline(struct options *o)
{
    for (size_t i = 0; i < o->n_strategies; i++)
        if (!strcmp(o->strategies[i], BASELINE))
            return;
    if (o->n_strategies < MAX_LIST)
        o->strategies[o->n_strategies++] = BASELINE;
}

enum { DEVICE, OUT, SECONDS, TURN, STRATEGIES, KERNELS, HOST, SCENARIOS,
       LAUNCHES, REPETITIONS, SEED, ONLY, HELP };

static const struct option long_options[] = {
    { "device", 1, NULL, DEVICE }, { "out", 1, NULL, OUT },
    { "seconds", 1, NULL, SECONDS }, { "turn-ms", 1, NULL, TURN },
    { "strategies", 1, NULL, STRATEGIES }, { "kernels-us", 1, NULL, KERNELS },
    { "host-work-us", 1, NULL, HOST }, { "scenarios", 1, NULL, SCENARIOS },
    { "launches", 1, NULL, LAUNCHES },
    { "repetitions", 1, NULL, REPETITIONS }, { "seed", 1, NULL, SEED },
    { "only", 1, NULL, ONLY }, { "help", 0, NULL, HELP }, { 0 }
};

/* False when VALUE is not one for option C. */
static bool set_option(struct options *o, int c, const char *value)
{
    double x = 0;
    switch (c) {
    case DEVICE:
        o->device = value;
        return !strcmp(value, "auto") || !strcmp(value, "sim") ||
               !strcmp(value, "cuda");
    case OUT:
        o->out = value;
        return *value;
    case SECONDS:
        return is_number(value, 0, 1e6, &o->seconds);
    case TURN:
        o->turn_ns = is_number(value, 0, 1e4, &x) ? x * 1e6 : -1;
        return o->turn_ns >= 0;
    case STRATEGIES:
        return names(value, all_strategies, o->strategies, &o->n_strategies);
    case SCENARIOS:
        return names(value, all_scenarios, o->scenarios, &o->n_scenarios);
    case KERNELS:
        return times(value, o->kernel_ns, &o->n_kernels);
    case HOST:
        return times(value, o->host_ns, &o->n_hosts);
    case LAUNCHES:
        o->launches = is_number(value, 1, 1e5, &x) ? (unsigned)x : 0;
        return o->launches;
    case REPETITIONS:
        o->min_repetitions = is_number(value, 1, 1e5, &x) ? (unsigned)x : 0;
        return o->min_repetitions;
    case SEED:
        o->seed = is_number(value, 0, 9e15, &x) ? (uint64_t)x : 0;
        return o->seed == x;
    case ONLY:
        o->throughput = !strcmp(value, "throughput");
        o->micro = !strcmp(value, "micro");
        return o->throughput || o->micro;
    }
    return false;
}

int options_parse(struct options *o, int argc, char **argv)
{
    int c, which = 0;
    *o = (struct options){ .device = "auto", .throughput = true,
                           .micro = true };
    const char *const defaults[] = {
        [SECONDS] = "30", [TURN] = "1", [STRATEGIES] = "all",
        [KERNELS] = "0,3,10,30,100,300,1000", [HOST] = "0,10",
        [SCENARIOS] = "all", [LAUNCHES] = "16", [REPETITIONS] = "5",
        [SEED] = "1"
    };
    for (char (*a)[NAME_BYTES] = all_scenarios; **a; a++)
        for (char *u = *a; (u = strchr(u, '_')); )
            *u = '-';
    for (int i = SECONDS; i <= SEED; i++)
        set_option(o, i, defaults[i]);
    while ((c = getopt_long(argc, argv, "", long_options, &which)) != -1) {
        if (c == HELP) {
            fputs(usage, stdout);
            exit(0);
        }
        if (c == '?')
            return 2;               /* getopt has named it */
        if (!set_option(o, c, optarg)) {
            fprintf(stderr, "faultlag-bench: --%s: not possible: %s\n",
                    long_options[which].name, optarg);
            return 2;
        }
    }
    ensure_baseline(o);
    o->passed = argv + optind;
    o->n_passed = argc - optind;
    for (int i = 0; i < o->n_passed; i++)
        if (strncmp(o->passed[i], "--benchmark", 11)) {
            fprintf(stderr, "faultlag-bench: unexpected argument: %s\n",
                    o->passed[i]);
            return 2;
        }
    return 0;
}

/* The device's kind, "sim" or "cuda"; NULL, told on stderr, if it cannot be
 * used. */
static const char *resolve(const char *wanted)
{
    struct fl_places places;
    enum fl_device_kind kind = FL_DEVICE_SIM;
    struct fl_json *probe;
    fl_places_find(&places);
    bool ok = fl_choose_device(&places, wanted, &kind, &probe);
    fl_json_free(probe);
    fl_places_free(&places);
    return ok ? fl_device_kind_name(kind) : NULL;
}

int main(int argc, char **argv)
{
    static struct options o;
    int rc = options_parse(&o, argc, argv);
    if (rc)
        return rc;
    if (o.out && mkdir(o.out, 0777) && errno != EEXIST) {
        perror(o.out);
        return 3;
    }
    o.device = resolve(o.device);
    if (!o.device)
        return 3;
    if (o.throughput)
        rc = throughput_run(&o);
    if (o.micro && rc <= 1) {
        int micro = micro_start(&o);
        rc = rc > micro ? rc : micro;
    }
    return rc;
}
