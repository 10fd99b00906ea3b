/* One poll loop over the pipes and the pidfd of each child; see process.h. */
#include "harness/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_TEXT (1u << 20)
extern char **environ;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- environment ---- */

void fl_env_init(struct fl_env *env)
{
    *env = (struct fl_env){ 0 };
    while (environ[env->n])
        env->n++;
    env->list = fl_alloc((env->n + 1) * sizeof *env->list);
    for (size_t i = 0; i < env->n; i++)
        env->list[i] = fl_strdup(environ[i]);
}

static char **entry(const struct fl_env *env, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < env->n; i++)
        if (!strncmp(env->list[i], name, n) && env->list[i][n] == '=')
            return &env->list[i];
    return NULL;
}

void fl_env_set(struct fl_env *env, const char *name, const char *value)
{
    char **e = entry(env, name);
    if (!e) {
        env->list = fl_grow(env->list, env->n + 2, sizeof *env->list);
        e = &env->list[env->n++];
        *e = NULL;
        env->list[env->n] = NULL;
    }
    free(*e);
    *e = fl_format("%s=%s", name, value);
}

void fl_env_unset(struct fl_env *env, const char *name)
{
    char **e = entry(env, name);
    if (!e)
        return;
    free(*e);
    *e = env->list[--env->n];
    env->list[env->n] = NULL;
}

const char *fl_env_get(const struct fl_env *env, const char *name)
{
    char **e = entry(env, name);
    return e ? *e + strlen(name) + 1 : NULL;
}

void fl_env_free(struct fl_env *env)
{
    for (size_t i = 0; i < env->n; i++)
        free(env->list[i]);
    free(env->list);
}

/* ---- children ---- */

/* In the new process. `ends` are the writing ends, all above 9. */
static _Noreturn void become(char *const *argv, char **env, const int *ends,
                             pid_t parent)
{
    int null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)            /* died before the line above */
        _exit(127);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    dup2(null, STDIN_FILENO);
    dup2(ends[FL_OUT], STDOUT_FILENO);
    dup2(ends[FL_ERR], STDERR_FILENO);
    dup2(ends[FL_RECORD], FL_RECORD_FD);
    execve(argv[0], argv, env);
    _exit(127);
}

static void close_all(int *fds)
{
    for (int i = 0; i < FL_PIPES; i++)
        if (fds[i] >= 0) {
            close(fds[i]);
            fds[i] = -1;
        }
}

/* A pipe whose ends keep clear of the numbers that the child uses. */
static bool make_pipe(int *reading, int *writing)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    *reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    *writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
    return *reading >= 0 && *writing >= 0
        && !fcntl(*reading, F_SETFL, O_NONBLOCK);
}

bool fl_child_start(struct fl_child *child, char *const *argv,
                    const struct fl_env *env, int64_t limit_ns)
{
    int ends[FL_PIPES] = { -1, -1, -1 };
    bool ok = true;
    *child = (struct fl_child){ .pid = -1, .pidfd = -1,
                                .pipe = { -1, -1, -1 } };
    for (int i = 0; i < FL_PIPES; i++)
        ok = ok && make_pipe(&child->pipe[i], &ends[i]);
    child->started_ns = now_ns();
    child->deadline_ns = child->started_ns + limit_ns;
    pid_t parent = getpid();
    if (ok) {
        child->pid = fork();
        if (child->pid == 0)
            become(argv, env->list, ends, parent);
        ok = child->pid > 0;
    }
    int error = errno;
    close_all(ends);
    if (ok) {
        child->pidfd = pidfd_open(child->pid, 0);
        if (child->pidfd >= 0)
            return true;
        error = errno;
        fl_child_kill(child);
    }
    close_all(child->pipe);
    errno = error;
    return false;
}

static void drain(struct fl_child *child)
{
    char buffer[16384];
    for (int i = 0; i < FL_PIPES; i++) {
        while (child->pipe[i] >= 0) {
            ssize_t n = read(child->pipe[i], buffer, sizeof buffer);
            if (n > 0) {
                struct fl_text *t = &child->text[i];
                size_t room = t->n < MOST_TEXT ? MOST_TEXT - t->n : 0;
                fl_text_add(t, buffer, (size_t)n < room ? (size_t)n : room);
                continue;
            }
            if (n < 0 && (errno == EAGAIN || errno == EINTR))
                break;
            close(child->pipe[i]);
            child->pipe[i] = -1;
        }
    }
}

static void reap(struct fl_child *child)
{
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    child->ended_ns = now_ns();
    drain(child);
    close_all(child->pipe);
    if (child->pidfd >= 0)
        close(child->pidfd);
    child->pidfd = -1;
    child->pid = -1;
}

void fl_child_kill(struct fl_child *child)
{
    if (child->pid <= 0)
        return;
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);          /* before it made its group */
    reap(child);
}

int fl_child_wait(struct fl_child **children, int n,
                  volatile sig_atomic_t *stop)
{
    struct pollfd *fds = fl_alloc((size_t)n * (FL_PIPES + 1) * sizeof *fds);
    int ended = -1;
    while (ended < 0 && !*stop) {
        int64_t now = now_ns(), next = INT64_MAX;
        for (int i = 0; i < n; i++) {
            struct pollfd *f = &fds[i * (FL_PIPES + 1)];
            for (int k = 0; k < FL_PIPES; k++)
                f[k] = (struct pollfd){ children[i]->pipe[k], POLLIN, 0 };
            f[FL_PIPES] = (struct pollfd){ children[i]->pidfd, POLLIN, 0 };
            if (children[i]->deadline_ns < next)
                next = children[i]->deadline_ns;
        }
        int wait_ms = next <= now ? 0 : (int)((next - now) / 1000000) + 1;
        if (poll(fds, (nfds_t)n * (FL_PIPES + 1), wait_ms) < 0
            && errno != EINTR)
            break;
        for (int i = 0; i < n && ended < 0; i++) {
            drain(children[i]);
            if (fds[i * (FL_PIPES + 1) + FL_PIPES].revents) {
                reap(children[i]);
                ended = i;
            } else if (now_ns() >= children[i]->deadline_ns) {
                children[i]->timed_out = true;
                fl_child_kill(children[i]);
                ended = i;
            }
        }
    }
    free(fds);
    return ended;
}

void fl_child_free(struct fl_child *child)
{
    fl_child_kill(child);
    for (int i = 0; i < FL_PIPES; i++)
        fl_text_free(&child->text[i]);
}

const char *fl_child_excuse(const struct fl_child *child)
{
    if (child->timed_out)
        return "no answer within the time limit";
    if (child->text[FL_ERR].n)
        return child->text[FL_ERR].s;
    if (WIFSIGNALED(child->status))
        return strsignal(WTERMSIG(child->status));
    return WEXITSTATUS(child->status) == 127 ? "it cannot be run"
                                             : "it said nothing";
}

bool fl_child_run(struct fl_child *child, char *const *argv,
                  const struct fl_env *env, int64_t limit_ns)
{
    volatile sig_atomic_t never = 0;
    if (!fl_child_start(child, argv, env, limit_ns))
        return false;
    fl_child_wait(&child, 1, &never);
    return true;
}
