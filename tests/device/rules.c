/* Runs the rules: lists them, runs each in a child of this program, and says
 * in TAP how they came out.
 *
 *   device-conformance                 all rules
 *   device-conformance PATTERN...      those whose name contains one of them
 *   device-conformance --list          name, basis, env, text; tab separated
 *   device-conformance --markdown      the table of docs/cuda-rules.md
 *   device-conformance --only NAME     one rule, in this process
 *
 * Exit status: 0 all hold, 1 some do not, 2 usage, 77 no device.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rules.h"

static const char *const basis_names[] = {"header", "report", "derived",
                                          "open", "hardware"};
enum { STATUS_HOLDS = 0, STATUS_BROKEN = 1, STATUS_SKIPPED = 77 };
enum { LIMIT_MS = 60000 };

static struct rule *rules;
static size_t n_rules;
static int failures;

int rule_add(struct rule *r)
{
    struct rule **at = &rules;
    while (*at && strcmp((*at)->name, r->name) < 0) at = &(*at)->next;
    r->next = *at;
    *at = r;
    return (int)n_rules++;
}

/* ---- inside a rule's process ------------------------------------------------ */

static void failed(const char *file, int line)
{
    const char *base = strrchr(file, '/');
    failures++;
    printf("# %s:%d: ", base ? base + 1 : file, line);
}

void rule_expect(const char *file, int line, const char *what, long long got,
                 long long want)
{
    if (got == want) return;
    failed(file, line);
    printf("%s is %lld, expected %lld\n", what, got, want);
}

void rule_expect_either(const char *file, int line, const char *what,
                        long long got, long long a, long long b)
{
    if (got == a || got == b) return;
    failed(file, line);
    printf("%s is %lld, expected %lld or %lld\n", what, got, a, b);
}

void rule_expect_text(const char *file, int line, const char *what,
                      const char *got, const char *want)
{
    if (got && !strcmp(got, want)) return;
    failed(file, line);
    printf("%s is \"%s\", expected \"%s\"\n", what, got ? got : "(null)",
           want);
}

void rule_skip(const char *why)
{
    printf("# skipped: %s\n", why);
    fflush(stdout);
    _exit(STATUS_SKIPPED);
}

static int text_fd, text_saved, text_file = -1;
static char *text;

void text_begin(int fd)
{
    fflush(NULL);
    text_fd = fd;
    text_saved = dup(fd);
    text_file = memfd_create("text", 0);
    dup2(text_file, fd);
}

size_t text_size(void)
{
    fflush(NULL);
    return (size_t)lseek(text_file, 0, SEEK_END);
}

const char *text_end(void)
{
    size_t n = text_size();
    dup2(text_saved, text_fd);
    close(text_saved);
    free(text);
    text = calloc(1, n + 1);
    if (!text || pread(text_file, text, n, 0) != (ssize_t)n) abort();
    close(text_file);
    return text;
}

int text_count(const char *where, const char *part)
{
    int n = 0;
    for (; (where = strstr(where, part)); where += strlen(part)) n++;
    return n;
}

static int run_here(const char *name)
{
    struct rule *r = rules;
    while (r && strcmp(r->name, name)) r = r->next;
    if (!r) {
        fprintf(stderr, "no rule %s\n", name);
        return 2;
    }
    r->check();
    fflush(NULL);
    /* No destructors: some rules leave endless kernels or a lost context. */
    _exit(failures ? STATUS_BROKEN : STATUS_HOLDS);
}

/* ---- around it -------------------------------------------------------------- */

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* Copies what the child says until it ends or its time is up. */
static void relay(int fd, pid_t child)
{
    long long end = now_ms() + LIMIT_MS;
    char buf[4096];
    for (;;) {
        struct pollfd p = {fd, POLLIN, 0};
        long long left = end - now_ms();
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) {
            printf("# no end after %d ms\n", LIMIT_MS);
            kill(child, SIGKILL);
            return;
        }
        ssize_t n = read(fd, buf, sizeof buf);
        if (n <= 0) return;
        fwrite(buf, 1, (size_t)n, stdout);
    }
}

static void become(const struct rule *r, int out)
{
    if (r->env) putenv(strdup(r->env));
    dup2(out, 1);
    dup2(out, 2);
    execl("/proc/self/exe", "device-conformance", "--only", r->name, NULL);
    _exit(2);
}

static int run_child(const struct rule *r)
{
    int fd[2], status;
    if (pipe2(fd, O_CLOEXEC)) return STATUS_BROKEN;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) become(r, fd[1]);
    close(fd[1]);
    relay(fd[0], child);
    close(fd[0]);
    if (waitpid(child, &status, 0) < 0) return STATUS_BROKEN;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("# ended by signal %d\n", WTERMSIG(status));
    return STATUS_BROKEN;
}

static bool wanted(const struct rule *r, char **patterns)
{
    if (!*patterns) return true;
    for (; *patterns; patterns++)
        if (strstr(r->name, *patterns)) return true;
    return false;
}

static bool on_simgpu(void)
{
    return dlsym(RTLD_DEFAULT, "simgpuGetFaultRecord") != NULL;
}

static int run_all(char **patterns)
{
    int n = 0, broken = 0, skipped = 0, answers = 0, total = 0;
    for (struct rule *r = rules; r; r = r->next) total += wanted(r, patterns);
    printf("TAP version 13\n1..%d\n", total);
    for (struct rule *r = rules; r; r = r->next) {
        if (!wanted(r, patterns)) continue;
        int status = run_child(r);
        bool answer = status == STATUS_BROKEN && r->basis == OPEN &&
                      !on_simgpu();
        bool bad = status && status != STATUS_SKIPPED;
        printf("%s %d - %s%s\n", bad ? "not ok" : "ok", ++n, r->name,
               status == STATUS_SKIPPED ? " # SKIP"
               : answer ? " # TODO open: the device answers otherwise" : "");
        skipped += status == STATUS_SKIPPED;
        answers += answer;
        broken += bad && !answer;
    }
    printf("# %d rules, %d broken, %d skipped, %d open ones answered "
           "otherwise\n", total, broken, skipped, answers);
    return broken ? 1 : 0;
}

static int list(void)
{
    for (struct rule *r = rules; r; r = r->next)
        printf("%s\t%s\t%s\t%s\n", r->name, basis_names[r->basis],
               r->env ? r->env : "", r->text);
    return 0;
}

static int markdown(void)
{
    printf("| rule | what holds | basis | test |\n| --- | --- | --- | --- |\n");
    for (struct rule *r = rules; r; r = r->next) {
        const char *base = strrchr(r->file, '/');
        printf("| %s | %s%s%s%s | %s | %s |\n", r->name, r->text,
               r->env ? " (`" : "", r->env ? r->env : "",
               r->env ? "`)" : "", basis_names[r->basis],
               base ? base + 1 : r->file);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--list")) return list();
    if (argc > 1 && !strcmp(argv[1], "--markdown")) return markdown();
    if (argc == 3 && !strcmp(argv[1], "--only")) return run_here(argv[2]);
    if (argc > 1 && argv[1][0] == '-') {
        fprintf(stderr, "usage: device-conformance [--list | --markdown | "
                        "--only NAME | PATTERN...]\n");
        return 2;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        fprintf(stderr, "no CUDA device\n");
        return 77;
    }
    return run_all(argv + 1);
}
