/* How a scenario talks to the device. Every launch and every call of the CUDA
 * runtime goes through one of these macros, which record where it stands
 * (file, line, function, call stack), count it, and let the strategy look for
 * errors the way a program of that kind would:
 *
 *   FL_LAUNCH(t, stream, k_relu(stream, x, n));
 *   FL_CALL(t, cudaMemcpyAsync(dst, src, n, cudaMemcpyDefault, stream));
 *   FL_WAIT(t, stream, cudaStreamSynchronize(stream));
 *   FL_STEP_END(t);
 *   FL_PLANT(t, stream, k_gather(stream, fl_beacon(t), ...), EXPECT(...), ...);
 *
 * The first error that anything notices is the trial's report. It ends the
 * step there and then, as an exception would: control leaves the scenario by
 * longjmp and does not come back, so scenarios need no error paths and must
 * not hold what only they can release (memory may leak: the process ends).
 * Nobody but the observer calls cudaGetLastError or cudaPeekAtLastError; a
 * launcher discards the launch's code, as nvcc's <<<>>> does.
 *
 * All of it belongs to the thread that called fl_trial_start(); other threads
 * of a scenario may touch host memory and make unrecorded calls only. */
#ifndef FAULTLAG_HARNESS_LAUNCH_H
#define FAULTLAG_HARNESS_LAUNCH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/beacon.h"
#include "harness/expect.h"

struct fl_trial;

/* One place in the source; static, so its address is its identity. */
struct fl_site {
    const char *file;       /* as the compiler was given it */
    const char *function;
    const char *text;       /* the call as written */
    int line;
    bool planted;
};

#define FL_SITE(text, planted) \
    static const struct fl_site fl_site_ = \
        { __FILE__, __func__, text, __LINE__, planted }

/* A kernel launch; `call` is a launcher of kernels/ that launches one kernel
 * on `stream`. The launch's number (from 1) is in force while it runs. */
#define FL_LAUNCH(t, stream, call) do { \
        FL_SITE(#call, false); \
        fl_launch_begin((t), &fl_site_, (stream)); \
        call; \
        fl_launch_end((t)); \
    } while (0)

/* The launch that commits the planted fault, with the outcomes to expect
 * beside it (expect.h). One in a scenario; it may run many times. */
#define FL_PLANT(t, stream, call, ...) do { \
        FL_SITE(#call, true); \
        static const struct fl_expect fl_expect_[] = { __VA_ARGS__ }; \
        static const struct fl_plant fl_plant_ = { &fl_site_, fl_expect_, \
            sizeof fl_expect_ / sizeof fl_expect_[0] }; \
        static const struct fl_plant *const fl_plant_entry_ \
            __attribute__((used, section("fl_plants"))) = &fl_plant_; \
        fl_launch_begin((t), &fl_site_, (stream)); \
        call; \
        fl_launch_end((t)); \
    } while (0)

/* A call of the runtime that returns cudaError_t, checked as the strategy
 * says. Its value is that code where the strategy does not check calls. */
#define FL_CALL(t, call) __extension__ ({ \
        FL_SITE(#call, false); \
        fl_call_begin((t), &fl_site_); \
        fl_call_end((t), (call), FL_NO_STREAM); })

/* The same for a call whose success proves that everything issued before on
 * `stream` is complete; FL_ALL_STREAMS: on every stream. It narrows the set
 * of launches that a later report may be about. */
#define FL_WAIT(t, stream, call) __extension__ ({ \
        FL_SITE(#call, false); \
        fl_call_begin((t), &fl_site_); \
        fl_call_end((t), (call), (stream)); })

/* Stands at the end of every step, in the step's outermost function: waits
 * for the device and checks, under every strategy. */
#define FL_STEP_END(t) do { \
        FL_SITE("cudaDeviceSynchronize()", false); \
        fl_step_end((t), &fl_site_); \
    } while (0)

#define FL_ALL_STREAMS ((cudaStream_t)(intptr_t)-1)
#define FL_NO_STREAM ((cudaStream_t)(intptr_t)-2)

/* The beacon to hand to the planted kernel; only inside FL_LAUNCH/FL_PLANT,
 * where it carries the number of that launch. */
struct fl_beacon fl_beacon(const struct fl_trial *t);

/* The beacon of faults that the host commits (a zero-sized grid, say): called
 * just before the FL_PLANT, in the faulty case only; the fault is that
 * launch's. `value`: the bad size. */
void fl_host_beacon(struct fl_trial *t, int64_t value);

/* Ends the trial as an error of the harness (not of the device): bad set-up,
 * out of memory. Does not return. */
void fl_broken(struct fl_trial *t, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* Ends the trial as not possible here: neither expected nor deviating, and
 * the reason is kept. For a strategy's start hook, whose tool a machine may
 * not have, and for a scenario's set-up. Does not return. */
void fl_skip(struct fl_trial *t, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* Behind the macros. */
void fl_launch_begin(struct fl_trial *t, const struct fl_site *site,
                     cudaStream_t stream);
void fl_launch_end(struct fl_trial *t);
void fl_call_begin(struct fl_trial *t, const struct fl_site *site);
cudaError_t fl_call_end(struct fl_trial *t, cudaError_t code,
                        cudaStream_t waited_for);
void fl_step_end(struct fl_trial *t, const struct fl_site *site);

#endif
