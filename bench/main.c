/* faultlag-bench: what looking for errors costs when there are none. The
 * options, and which parts run on which device. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"

static const char usage[] =
"usage: faultlag-bench [options] [-- GOOGLE-BENCHMARK-OPTIONS]\n"
"\n"
"Measures the throughput of healthy steps under each strategy against async,\n"
"and the latencies of single CUDA calls.\n"
"\n"
"  --device auto|sim|cuda  default auto: a GPU if one answers, else sim\n"
"  --out DIR               writes DIR/throughput.csv and DIR/micro.json\n"
"  --seconds S             length of the throughput part (default 20)\n"
"  --turn-ms MS            length of one turn (default 5)\n"
"  --strategies A,B        default all; async is always among them\n"
"  --kernels-us A,B        kernel lengths (default 0,3,10,30,100,300,1000,3000)\n"
"  --host-work-us A,B      host work before each launch (default 0,10)\n"
"  --scenarios A,B|none    healthy twins to run as well (default all)\n"
"  --launches N            launches in a step (default 16)\n"
"  --repetitions N         at least so many of each cell (default 5)\n"
"  --seed N                of the order of turns (default 1)\n"
"  --only throughput|micro one of the two parts\n";

static const char *const all_strategies[] = {
#define STRATEGY(ident, name, ...) name,
#include "harness/strategies.def"
#undef STRATEGY
    NULL
};

static const char *const all_scenarios[] = {
#define SCENARIO(ident) #ident,
#include "scenarios/catalogue.def"
#undef SCENARIO
    NULL
};

/* Splits a private copy of TEXT at commas. */
static bool split(const char *text, const char **list, size_t *n)
{
    char *copy = strdup(text), *save = NULL;
    *n = 0;
    for (char *p = strtok_r(copy, ",", &save); p;
         p = strtok_r(NULL, ",", &save)) {
        if (*n == MAX_LIST)
            return false;
        list[(*n)++] = p;
    }
    return *n > 0;
}

static bool is_number(const char *text, double least, double most,
                      double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && end != text && !*end && *value >= least && *value <= most;
}

static bool times(const char *text, double *ns, size_t *n)
{
    const char *list[MAX_LIST];
    if (!split(text, list, n))
        return false;
    for (size_t i = 0; i < *n; i++) {
        if (!is_number(list[i], 0, 1e6, &ns[i]))
            return false;
        ns[i] *= 1e3;
    }
    return true;
}

/* An identifier of a .def list as its name: dashes for underscores. */
static char *as_name(const char *ident)
{
    char *name = strdup(ident);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    return name;
}

/* `all`, `none` or some of the names in ALL; *unknown is one that is not. */
static bool names(const char *text, const char *const *all, const char **list,
                  size_t *n, const char **unknown)
{
    const char *known[MAX_LIST];
    size_t n_known = 0;
    while (all[n_known] && n_known < MAX_LIST) {
        known[n_known] = as_name(all[n_known]);
        n_known++;
    }
    *n = 0;
    if (!strcmp(text, "none"))
        return true;
    if (!strcmp(text, "all")) {
        memcpy(list, known, n_known * sizeof *list);
        *n = n_known;
        return true;
    }
    *unknown = text;
    if (!split(text, list, n))
        return false;
    for (size_t i = 0; i < *n; i++) {
        size_t k = 0;
        while (k < n_known && strcmp(known[k], list[i]))
            k++;
        *unknown = list[i];
        if (k == n_known)
            return false;
    }
    return true;
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

/* False when VALUE is not one for option C; *why is then the culprit. */
static bool set_option(struct options *o, int c, const char *value,
                       const char **why)
{
    double x = 0;
    *why = value;
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
        return names(value, all_strategies, o->strategies, &o->n_strategies,
                     why);
    case SCENARIOS:
        return names(value, all_scenarios, o->scenarios, &o->n_scenarios,
                     why);
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
    const char *why;
    int c, which = 0;
    *o = (struct options){ .device = "auto", .throughput = true,
                           .micro = true };
    const char *const defaults[] = {
        [SECONDS] = "20", [TURN] = "5", [STRATEGIES] = "all",
        [KERNELS] = "0,3,10,30,100,300,1000,3000", [HOST] = "0,10",
        [SCENARIOS] = "all", [LAUNCHES] = "16", [REPETITIONS] = "5",
        [SEED] = "1"
    };
    for (int i = SECONDS; i <= SEED; i++)
        set_option(o, i, defaults[i], &why);
    while ((c = getopt_long(argc, argv, "", long_options, &which)) != -1) {
        if (c == HELP) {
            fputs(usage, stdout);
            exit(0);
        }
        if (c == '?')
            return 2;               /* getopt has named it */
        if (!set_option(o, c, optarg, &why)) {
            fprintf(stderr, "faultlag-bench: --%s: not possible: %s\n",
                    long_options[which].name, why);
            return 2;
        }
    }
    o->passed = argv + optind;
    o->n_passed = argc - optind;
    for (int i = 0; i < o->n_passed; i++)
        if (strncmp(o->passed[i], "--benchmark", 11)) {
            fprintf(stderr, "faultlag-bench: unexpected argument: %s\n",
                    o->passed[i]);
            return 2;
        }
    ensure_baseline(o);
    return 0;
}

/* A GPU if one answers, else the software device; which is said. */
static const char *resolve(const char *device)
{
    struct worker w;
    struct turn_reply r;
    if (strcmp(device, "auto"))
        return device;
    signal(SIGPIPE, SIG_IGN);
    bool gpu = worker_start(&w, "cuda", BASELINE, &r);
    worker_stop(&w);
    if (gpu)
        fprintf(stderr, "faultlag-bench: device cuda: %s\n", r.text);
    else
        fprintf(stderr, "faultlag-bench: device sim (no GPU: %s)\n", w.gone);
    return gpu ? "cuda" : "sim";
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
    if (o.throughput)
        rc = throughput_run(&o);
    if (o.micro && rc <= 1) {
        int micro = micro_start(&o);
        rc = rc > micro ? rc : micro;
    }
    return rc;
}
