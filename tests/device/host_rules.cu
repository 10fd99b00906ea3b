/* Host functions and callbacks in streams; CUDA_LAUNCH_BLOCKING; threads and
 * processes around a context. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "faults.cuh"

struct seen {
    volatile int ran;
    cudaError_t inside, status;
};
static void note(void *p) { ((seen *)p)->ran = 1; }

RULE(host, function_runs_in_order, HEADER,
     "a host function runs after earlier and before later work")
{
    gate g;
    seen s = {};
    g.keep();
    OK(cudaLaunchHostFunc(0, note, &s));
    usleep(20000);
    EXPECT(s.ran, 0);
    g.open();
    OK(cudaStreamSynchronize(0));
    EXPECT(s.ran, 1);
}

RULE(host, function_null, REPORT, "a null host function: 1")
{
    EXPECT(cudaLaunchHostFunc(0, (cudaHostFn_t) nullptr, nullptr),
           cudaErrorInvalidValue);
}

static void call_cuda(void *p)
{
    void *q;
    ((seen *)p)->inside = cudaMalloc(&q, 64);
    ((seen *)p)->ran = 1;
}
RULE(host, function_must_not_call, HEADER,
     "CUDA calls inside a host function are refused with 800")
{
    seen s = {};
    OK(cudaLaunchHostFunc(0, call_cuda, &s));
    OK(finish());
    EXPECT(s.ran, 1);
    EXPECT(s.inside, cudaErrorNotPermitted);
}

RULE(host, function_after_fault, REPORT,
     "a host function queued behind a fault never runs")
{
    seen s = {};
    fault_illegal<<<1, 1>>>(nullptr);
    cudaLaunchHostFunc(0, note, &s);
    EXPECT(finish(), cudaErrorIllegalAddress);
    usleep(20000);
    EXPECT(s.ran, 0);
}

static void callback(cudaStream_t, cudaError_t status, void *p)
{
    ((seen *)p)->status = status;
    ((seen *)p)->ran = 1;
}
RULE(host, callback_runs, HEADER, "a callback runs and is told success")
{
    seen s = {};
    s.status = cudaErrorUnknown;
    OK(cudaStreamAddCallback(0, callback, &s, 0));
    OK(finish());
    EXPECT(s.ran, 1);
    EXPECT(s.status, cudaSuccess);
}

RULE(host, callback_arguments, HEADER, "callback flags other than 0, null: 1")
{
    seen s = {};
    EXPECT(cudaStreamAddCallback(0, callback, &s, 1), cudaErrorInvalidValue);
    EXPECT(cudaStreamAddCallback(0, (cudaStreamCallback_t) nullptr, &s, 0),
           cudaErrorInvalidValue);
}

RULE(host, callback_after_fault, HEADER,
     "a callback queued behind a fault runs and is told the code")
{
    seen s = {};
    gate g;
    g.keep();
    fault_illegal<<<1, 1>>>(nullptr);
    OK(cudaStreamAddCallback(0, callback, &s, 0));
    g.open();
    EXPECT(finish(), cudaErrorIllegalAddress);
    for (int i = 0; i < 200 && !s.ran; i++) usleep(1000);
    EXPECT(s.ran, 1);
    EXPECT(s.status, cudaErrorIllegalAddress);
}

/* ---- CUDA_LAUNCH_BLOCKING ----------------------------------------------------------- */

RULE_ENV(blocking, launch_reports, REPORT, "CUDA_LAUNCH_BLOCKING=1",
         "the launch itself reports what its kernel did")
{
    OK(cudaFree(0));
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
}

RULE_ENV(blocking, launch_waits, REPORT, "CUDA_LAUNCH_BLOCKING=1",
         "a launch returns when its kernel has ended")
{
    gate g;
    hold<<<1, 1>>>(g.device, 1 << 16);
    OK(cudaStreamQuery(0));
}

RULE_ENV(blocking, good_launches_stay_good, DERIVED, "CUDA_LAUNCH_BLOCKING=1",
         "launches that succeed leave no error")
{
    int *p = device_array<int>(1);
    for (int i = 0; i < 10; i++) put<<<1, 1>>>(p, i);
    OK(cudaGetLastError());
    EXPECT(read_int(p), 9);
}

RULE(blocking, set_too_late, REPORT,
     "setting CUDA_LAUNCH_BLOCKING once the context exists has no effect")
{
    gate g;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    g.keep();
    EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
    g.open();
    OK(finish());
}

RULE(blocking, set_in_time, DERIVED,
     "setting it in the process before the first CUDA call works")
{
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
}

RULE(blocking, set_after_device_count, OPEN,
     "setting it after cudaGetDeviceCount but before the context still works")
{
    int n;
    OK(cudaGetDeviceCount(&n));
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    fault_illegal<<<1, 1>>>(nullptr);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
}

RULE_ENV(blocking, zero_is_off, DERIVED, "CUDA_LAUNCH_BLOCKING=0",
         "the value 0 leaves launches asynchronous")
{
    gate g;
    g.keep();
    EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
    g.open();
    OK(finish());
}

RULE_ENV(blocking, other_streams_too, DERIVED, "CUDA_LAUNCH_BLOCKING=1",
         "launches in every stream block")
{
    cudaStream_t s;
    gate g;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    hold<<<1, 1, 0, s>>>(g.device, 1 << 16);
    OK(cudaStreamQuery(s));
}

/* ---- processes and threads ------------------------------------------------------------- */

RULE(process, forked_child, REPORT,
     "a child forked after CUDA was used cannot use it: 3")
{
    OK(cudaFree(0));
    pid_t child = fork();
    if (child == 0) {
        void *p;
        _exit(cudaMalloc(&p, 64) == cudaErrorInitializationError ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    OK(finish());
}

RULE(process, fork_before, DERIVED, "a child forked before the first use can")
{
    pid_t child = fork();
    if (child == 0) {
        void *p;
        _exit(cudaMalloc(&p, 64) == cudaSuccess ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

static void *launch_and_leave(void *p)
{
    put<<<1, 1>>>((int *)p, 11);
    return nullptr;
}
RULE(process, thread_ends_with_work_queued, DERIVED,
     "work of a host thread that has ended still completes")
{
    int *p = device_array<int>(1);
    pthread_t t;
    pthread_create(&t, nullptr, launch_and_leave, p);
    pthread_join(t, nullptr);
    OK(finish());
    EXPECT(read_int(p), 11);
}

RULE(process, exit_with_work_queued, DERIVED,
     "a process ends although a kernel never would")
{
    pid_t child = fork();
    if (child == 0) {
        gate g;
        g.keep();
        hold<<<1, 1>>>(g.device, 0x7fffffff);
        exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

RULE(process, exit_with_lost_context, DERIVED,
     "a process whose context is lost ends normally")
{
    pid_t child = fork();
    if (child == 0) {
        fault_illegal<<<1, 1>>>(nullptr);
        exit(finish() == cudaErrorIllegalAddress ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}
