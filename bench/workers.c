/* Workers as processes: start, ask, stop. What device a worker gets is a
 * matter of its environment alone, as for a trial. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "harness/environment.h"

#define ANSWER_MS 60000             /* no turn takes this long */

enum { BLOCKING = 1, OWN = 2, INTERVAL = 4, SEES_ALL = 8 };

static bool is_blocking(const char *strategy)
{
#define STRATEGY(ident, name, traits, ...) \
    if (!strcmp(strategy, name)) \
        return (traits) & BLOCKING;
#include "harness/strategies.def"
#undef STRATEGY
    return false;
}

/* In the new process: becomes the worker program beside faultlag-trial. */
static _Noreturn void become(const char *device, bool blocking, char **argv)
{
    struct fl_places places;
    struct fl_env env;
    fl_places_find(&places);
    fl_environment_for(&places, strcmp(device, "sim") ? FL_DEVICE_CUDA
                                                      : FL_DEVICE_SIM, &env);
    if (blocking)
        fl_env_set(&env, "CUDA_LAUNCH_BLOCKING", "1");
    char *slash = strrchr(places.trial, '/');
    char *program = fl_format("%.*s/faultlag-bench-worker",
                              (int)(slash - places.trial), places.trial);
    execve(program, argv, env.list);
    perror(program);
    _exit(127);
}

static bool gone(struct worker *w, const char *why)
{
    snprintf(w->gone, sizeof w->gone, "%s", why);
    worker_stop(w);
    return false;
}

static bool launch(struct worker *w, const char *device, const char *strategy,
                   const char *variant)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    *w = (struct worker){ .strategy = strategy, .variant = variant,
                          .pid = -1, .to = -1, .from = -1 };
    w->name = worker_is_defence(w) ? variant : strategy;
    if (pipe(to) || pipe(from) || (w->pid = fork()) < 0) {
        snprintf(w->gone, sizeof w->gone, "%s", strerror(errno));
        return false;
    }
    if (w->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_IGN);    /* the parent decides when to end */
        signal(SIGPIPE, SIG_DFL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        become(device, is_blocking(strategy),
               (char *[]){ (char *)"faultlag-bench-worker", (char *)strategy,
                           (char *)variant, NULL });
    }
    close(to[0]);
    close(from[1]);
    w->to = to[1];
    w->from = from[0];
    return true;
}

static bool answered(struct worker *w)
{
    struct pollfd p = { .fd = w->from, .events = POLLIN };
    int n;
    do {
        n = poll(&p, 1, ANSWER_MS);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

bool worker_ask(struct worker *w, const struct turn_request *q,
                struct turn_reply *r)
{
    if (w->pid <= 0)
        return false;
    /* A worker that could not start has answered already: read in any case. */
    ssize_t sent = write(w->to, q, sizeof *q);
    if (!answered(w))
        return gone(w, "no answer in time");
    if (read(w->from, r, sizeof *r) != (ssize_t)sizeof *r)
        return gone(w, "the worker died");
    if (!r->ok)
        return gone(w, r->text);
    return sent == (ssize_t)sizeof *q || gone(w, "the worker is closed");
}

bool worker_is_defence(const struct worker *w)
{
    return strcmp(w->variant, HEALTHY) != 0;
}

bool worker_start(struct worker *w, const char *device, const char *strategy,
                  const char *variant, struct turn_reply *hello)
{
    struct turn_request q = { .kind = TURN_HELLO };
    if (!launch(w, device, strategy, variant) || !worker_ask(w, &q, hello))
        return false;
    return (hello->value != 0) == !strcmp(device, "sim") ||
           gone(w, "the CUDA runtime that was loaded is not this device's");
}

void worker_stop(struct worker *w)
{
    if (w->pid <= 0)
        return;
    close(w->to);
    /* An idle one ends by itself; one that hangs, or hangs while ending, is
     * killed after a second. */
    for (int i = 0; i < 100; i++) {
        if (waitpid(w->pid, NULL, WNOHANG) == w->pid)
            goto out;
        if (w->gone[0] && i == 0)
            kill(w->pid, SIGTERM);
        usleep(10000);
    }
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
out:
    close(w->from);
    w->pid = -1;
}

int micro_start(const struct options *o)
{
    char *argv[16 + MAX_LIST], out[PATH_MAX + 32];
    int n = 0, status;
    argv[n++] = (char *)"faultlag-bench-worker";
    argv[n++] = (char *)"--micro";
    argv[n++] = (char *)"--benchmark_min_time=0.03";
    argv[n++] = (char *)"--benchmark_repetitions=5";
    argv[n++] = (char *)"--benchmark_enable_random_interleaving=true";
    argv[n++] = (char *)"--benchmark_display_aggregates_only=true";
    if (o->out) {
        snprintf(out, sizeof out, "--benchmark_out=%s/micro.json", o->out);
        argv[n++] = out;
    }
    for (int i = 0; i < o->n_passed && i < MAX_LIST; i++)
        argv[n++] = o->passed[i];
    argv[n] = NULL;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return 3;
    if (pid == 0)
        become(o->device, false, argv);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
