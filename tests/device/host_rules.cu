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

/* How a child that runs `body` ends: its exit status, or minus the signal;
 * SIGALRM is what a hang becomes. */
static int ended(void (*body)())
{
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        body();
        _exit(99);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Every kind of call; all of them must return 3 in a forked child. */
static void use_everything()
{
    void *p = nullptr;
    int n;
    static int word;
    cudaStream_t s = nullptr;
    cudaEvent_t e = nullptr;
    cudaError_t all[] = {
        cudaMalloc(&p, 64), cudaFree(p), cudaMallocHost(&p, 64),
        cudaMemcpy(&word, &n, 4, cudaMemcpyHostToHost),
        cudaMemset(&word, 0, 4), cudaDeviceSynchronize(),
        cudaStreamCreate(&s), cudaStreamSynchronize(0), cudaStreamQuery(0),
        cudaEventCreate(&e), cudaGetDeviceCount(&n), cudaGetDevice(&n),
        cudaSetDevice(0),
        cudaLaunchKernel((const void *)nothing, 1, 1, nullptr, 0, 0),
        cudaLaunchHostFunc(0, note, &word),
    };
    for (cudaError_t error : all)
        if (error != cudaErrorInitializationError) _exit(1);
    nothing<<<1, 1>>>();
    if (cudaGetLastError() != cudaErrorInitializationError) _exit(2);
    exit(0);
}
RULE(process, forked_child, REPORT,
     "a child forked after CUDA was used cannot use it, every call returns 3, "
     "and it ends normally")
{
    gate g;
    g.keep();
    EXPECT(ended(use_everything), 0);
    g.open();
    OK(finish());
}

RULE(process, forked_child_that_does_not_use_it, DERIVED,
     "a child forked with work queued may end normally")
{
    gate g;
    g.keep();
    EXPECT(ended([] { exit(0); }), 0);
    g.open();
    OK(finish());
}

RULE(process, forked_from_a_lost_context, DERIVED,
     "so may one forked after a fault, and its calls return 3")
{
    EXPECT(commit_illegal(), cudaErrorIllegalAddress);
    EXPECT(ended(use_everything), 0);
}

RULE(process, fork_before, DERIVED, "a child forked before the first use can")
{
    EXPECT(ended([] {
        void *p;
        exit(cudaMalloc(&p, 64) == cudaSuccess ? 0 : 1);
    }), 0);
}

static void *launch_and_leave(void *p)
{
    put<<<1, 1>>>((int *)p, 11);
    put<<<1, 1, 0, cudaStreamPerThread>>>((int *)p + 1, 12);
    return nullptr;
}
RULE(process, thread_ends_with_work_queued, DERIVED,
     "work of a host thread that has ended still completes, in its own "
     "default stream too")
{
    int *p = device_array<int>(2);
    gate g;
    pthread_t t;
    g.keep();
    pthread_create(&t, nullptr, launch_and_leave, p);
    pthread_join(t, nullptr);
    g.open();
    OK(finish());
    EXPECT(read_int(p), 11);
    EXPECT(read_int(p + 1), 12);
}

RULE(process, exit_with_work_queued, DERIVED,
     "a process ends although a kernel never would")
{
    EXPECT(ended([] {
        gate g;
        fault_endless<<<1, 1>>>(g.device);
        nothing<<<1, 1>>>();
        exit(0);
    }), 0);
}

RULE(process, exit_with_lost_context, DERIVED,
     "a process whose context is lost ends normally")
{
    EXPECT(ended([] {
        exit(commit_illegal() == cudaErrorIllegalAddress ? 0 : 1);
    }), 0);
}

static void leave(void *) { exit(7); }
RULE(process, exit_from_a_host_function, DERIVED,
     "a host function may end the process, with work running and queued")
{
    EXPECT(ended([] {
        gate g;
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        fault_endless<<<1, 1, 0, s>>>(g.device);
        cudaLaunchHostFunc(0, leave, nullptr);
        nothing<<<1, 1>>>();
        cudaStreamSynchronize(0);
        pause();
    }), 7);
}

static void sleep_long(void *) { pause(); }
RULE(process, exit_under_a_host_function, DERIVED,
     "a process ends although a host function does not return")
{
    EXPECT(ended([] {
        cudaLaunchHostFunc(0, sleep_long, nullptr);
        nothing<<<1, 1>>>();
        exit(0);
    }), 0);
}

static void *wait_here(void *) { cudaDeviceSynchronize(); return nullptr; }
RULE(process, exit_while_others_wait, DERIVED,
     "a process ends while another thread waits for a kernel that never ends")
{
    EXPECT(ended([] {
        gate g;
        pthread_t t;
        fault_endless<<<1, 1>>>(g.device);
        pthread_create(&t, nullptr, wait_here, nullptr);
        usleep(20000);
        exit(0);
    }), 0);
}

RULE(process, main_thread_leaves_first, DERIVED,
     "the context outlives the thread that made it")
{
    EXPECT(ended([] {
        pthread_t t;
        cudaFree(0);
        pthread_create(&t, nullptr, [](void *) -> void * {
            usleep(20000);
            int *p = nullptr;
            cudaMalloc(&p, 4);
            put<<<1, 1>>>(p, 1);
            exit(cudaDeviceSynchronize());
        }, nullptr);
        pthread_exit(nullptr);
    }), 0);
}

RULE(process, threads_first_calls_at_once, DERIVED,
     "threads may make the context at the same time")
{
    EXPECT(ended([] {
        auto work = [](void *) -> void * {
            for (int i = 0; i < 20; i++) {
                void *p;
                if (cudaMalloc(&p, 64) == cudaSuccess) cudaFree(p);
                cudaDeviceSynchronize();
            }
            return nullptr;
        };
        pthread_t t[3];
        for (pthread_t &x : t) pthread_create(&x, nullptr, work, nullptr);
        for (pthread_t x : t) pthread_join(x, nullptr);
        cudaDeviceReset();
        exit(cudaFree(0));
    }), 0);
}
