/* Child processes: started, listened to, limited in time, reaped. */
#ifndef FAULTLAG_HARNESS_PROCESS_H
#define FAULTLAG_HARNESS_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/text.h"

enum fl_pipe { FL_OUT, FL_ERR, FL_RECORD, FL_PIPES };

/* The record's file descriptor in the child. */
#define FL_RECORD_FD 3

struct fl_child {
    pid_t pid;
    int pidfd, pipe[FL_PIPES];
    struct fl_text text[FL_PIPES];      /* what came, each cut at 1 MiB */
    int64_t started_ns, ended_ns, deadline_ns;
    bool timed_out;             /* killed because its time was up */
    int status;                 /* as of waitpid */
};

/* An environment made of this process's and changes to it. */
struct fl_env { char **list; size_t n; };
void fl_env_init(struct fl_env *env);
void fl_env_set(struct fl_env *env, const char *name, const char *value);
void fl_env_unset(struct fl_env *env, const char *name);
const char *fl_env_get(const struct fl_env *env, const char *name);
void fl_env_free(struct fl_env *env);

/* Starts argv[0] in a process group of its own; it dies with its parent.
 * False with errno set. limit_ns: killed after that long. */
bool fl_child_start(struct fl_child *child, char *const *argv,
                    const struct fl_env *env, int64_t limit_ns);
/* Serves all children until one has ended, and returns its number; -1 when
 * *stop has been set by a signal handler. */
int fl_child_wait(struct fl_child **children, int n,
                  volatile sig_atomic_t *stop);
/* Kills and reaps. */
void fl_child_kill(struct fl_child *child);
void fl_child_free(struct fl_child *child);

/* Why a finished child gave nothing of use, for a message; a string that the
 * child owns, or a constant. */
const char *fl_child_excuse(const struct fl_child *child);

/* Runs to the end; false if it could not be started. */
bool fl_child_run(struct fl_child *child, char *const *argv,
                  const struct fl_env *env, int64_t limit_ns);

#endif
