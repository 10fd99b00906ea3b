/* A thread beside the trial: the third witness of the fault's time, which
 * needs no clock of the device, and the guard of the time limit. It looks
 * every 50 us, so that on a small machine it costs the trial nothing. */
#include <time.h>
#include <unistd.h>

#include "harness/run.h"

static void *watch(void *argument)
{
    struct fl_run *run = argument;
    int64_t end = run->limit_ns ? fl_now_ns() + run->limit_ns : INT64_MAX;
    while (!run->watcher_stop) {
        if (!run->seen_ns
            && __atomic_load_n(&run->trial.beacon->set, __ATOMIC_ACQUIRE))
            run->seen_ns = fl_now_ns();
        if (fl_now_ns() > end) {
            fl_record_write(run, true);
            _exit(0);
        }
        struct timespec pause = { 0, run->seen_ns ? 1000000 : 50000 };
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void fl_watch_start(struct fl_run *run)
{
    run->watching = !pthread_create(&run->watcher, NULL, watch, run);
}

void fl_watch_stop(struct fl_run *run)
{
    if (!run->watching)
        return;
    run->watcher_stop = true;
    pthread_join(run->watcher, NULL);
    run->watching = false;
}
