/* Device times through the CUDA API alone: a one-thread kernel writes
 * %globaltimer to mapped host memory, where it survives a lost context. */
#ifndef FAULTLAG_HARNESS_STAMP_H
#define FAULTLAG_HARNESS_STAMP_H

#include <cuda_runtime_api.h>
#include <stdint.h>

/* A conversation in mapped host memory: the host asks for the time by raising
 * `asked`, a waiting kernel answers. */
#define FL_TALK_ROUNDS 256
#define FL_TALK_NS 4000000000u  /* the kernel gives up after this long */
struct fl_talk {
    uint32_t asked;             /* 0, then 1, 2, ... */
    uint64_t answers[FL_TALK_ROUNDS];   /* device times; 0: not yet */
};

#ifdef __cplusplus
extern "C" {
#endif

/* One thread that answers so many times. */
void k_answer(cudaStream_t stream, struct fl_talk *talk, uint32_t rounds);

/* Launches the kernel: *slot (device address of mapped memory) = the time. */
void k_timer(cudaStream_t stream, volatile uint64_t *slot);

#ifdef __cplusplus
}
#endif

struct fl_trial;
#define FL_STAMPS 4096          /* launches that can be stamped in a trial */
enum fl_stamp_kind { FL_STAMP_BEGIN, FL_STAMP_END };

/* Puts a stamp on the stream for launch `number` (from 1; quietly none beyond
 * FL_STAMPS). The stamps are extra work: only traced trials have them. */
void fl_stamp(struct fl_trial *t, cudaStream_t stream, unsigned number,
              enum fl_stamp_kind kind);
/* The time of a stamp, 0 when it was never written. */
uint64_t fl_stamp_time(const struct fl_trial *t, unsigned number,
                       enum fl_stamp_kind kind);

#endif
