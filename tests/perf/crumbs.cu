/* What it takes to leave a breadcrumb, and what crumbs tell. Each way of
 * writing a number to mapped host memory in the order of a stream is tried
 * before a launch, after it, and both; each try is a process of its own, since
 * it ends in a fault. Prints the table of docs/strategies.md:
 *
 *   commands  put into the stream for each launch
 *   waits     calls of those in which the host waited for the stream
 *   fences    memory fences that they ask for
 *   and how many launches are under suspicion after a fault:
 *   serial    on one stream
 *   idle      beside a stream whose work has ended, which no wait has shown
 *   queued    beside a stream whose work has not begun
 *
 * "!" behind a number: the launch that faulted is not among the suspects.
 * With --time also what a launch costs in nanoseconds, on the device at hand,
 * above the same launches without crumbs. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGUN, ENDED, BEFORE = 1 << BEGUN, AFTER = 1 << ENDED };
enum { STREAMS = 2, NUMBERS = 256, TIMED = 1000, TURNS = 10,
       HOLD_ROUNDS = 100000 };

static uint32_t (*seen)[2];         /* of each stream; mapped */
static uint32_t (*slots)[2];        /* the same, device view */
static uint32_t *table;             /* 0, 1, 2, ... on the device */
static uint32_t *host_table;        /* the same on the host, pinned */
static uint32_t *word;              /* device memory for the launches */
static CUresult (*write_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

static void must(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "crumbs: %s: %s\n", what, cudaGetErrorName(code));
    _exit(3);
}
#define MUST(call) must(call, #call)

/* ---- ways of writing a crumb ---- */

static void by_stream_write(cudaStream_t s, uint32_t *slot, uint32_t number)
{
    write_value(s, (CUdeviceptr)(uintptr_t)slot, number, 0);
}

/* A fill has one byte's worth of a number. */
static void by_fill(cudaStream_t s, uint32_t *slot, uint32_t number)
{
    cudaMemsetAsync(slot, (int)(number & 255), sizeof *slot, s);
}

static void by_host_copy(cudaStream_t s, uint32_t *slot, uint32_t number)
{
    cudaMemcpyAsync(slot, &host_table[number % NUMBERS], sizeof *slot,
                    cudaMemcpyDefault, s);
}

static void by_device_copy(cudaStream_t s, uint32_t *slot, uint32_t number)
{
    cudaMemcpyAsync(slot, &table[number % NUMBERS], sizeof *slot,
                    cudaMemcpyDefault, s);
}

__global__ void write_kernel(volatile uint32_t *slot, uint32_t number)
{
    *slot = number;
    __threadfence_system();
}

static void by_kernel(cudaStream_t s, uint32_t *slot, uint32_t number)
{
    write_kernel<<<1, 1, 0, s>>>(slot, number);
}

/* Fences are those that CUDA documents: cuStreamWriteValue32 makes one before
 * it writes, the kernel asks for one behind; fills and copies promise none. */
static const struct way {
    const char *name;
    void (*leave)(cudaStream_t s, uint32_t *slot, uint32_t number);
    int fences;
} ways[] = {
    { "`cuStreamWriteValue32`", by_stream_write, 1 },
    { "`cudaMemsetAsync`, 4 bytes", by_fill, 0 },
    { "`cudaMemcpyAsync`, 4 bytes, from the host", by_host_copy, 0 },
    { "`cudaMemcpyAsync`, 4 bytes, from the device", by_device_copy, 0 },
    { "a kernel of one thread", by_kernel, 1 },
};
static const int positions[] = { BEFORE, AFTER, BEFORE | AFTER };
static const char *const position_names[] = { "", "before", "after", "both" };

/* ---- a program with crumbs ---- */

struct program {
    const struct way *way;
    int position;
    cudaStream_t stream[STREAMS];
    cudaEvent_t event;
    unsigned number;                    /* of the last launch */
    unsigned first[STREAMS], last[STREAMS];     /* on each stream; 0: none */
    unsigned bad;                       /* the launch that faults */
    unsigned commands;
};

__global__ void work_kernel(uint32_t *out, uint32_t rounds)
{
    uint32_t v = *out;
#pragma unroll 1
    for (uint32_t r = 0; r < rounds; r++)
        v = (v ^ v >> 15) * 0x2c1b3c6du;
    *out = v;
}

static void open_program(struct program *p)
{
    void *entry = nullptr;
    enum cudaDriverEntryPointQueryResult found;
    uint32_t numbers[NUMBERS];
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    MUST(cudaHostAlloc((void **)&seen, STREAMS * sizeof *seen,
                       cudaHostAllocMapped));
    memset(seen, 0, STREAMS * sizeof *seen);
    MUST(cudaHostGetDevicePointer((void **)&slots, seen, 0));
    MUST(cudaHostAlloc((void **)&host_table, sizeof numbers,
                       cudaHostAllocDefault));
    memcpy(host_table, numbers, sizeof numbers);
    MUST(cudaMalloc((void **)&table, sizeof numbers));
    MUST(cudaMemcpy(table, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    MUST(cudaMalloc((void **)&word, sizeof *word));
    MUST(cudaMemset(word, 0, sizeof *word));
    MUST(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &entry,
                                          12000, cudaEnableDefault, &found));
    memcpy(&write_value, &entry, sizeof entry);
    if (!entry)
        must(cudaErrorNotSupported, "cuStreamWriteValue32");
    for (cudaStream_t &s : p->stream)
        MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming));
    MUST(cudaDeviceSynchronize());
}

static void leave(struct program *p, int stream, int end)
{
    if (!(p->position & 1 << end))
        return;
    p->way->leave(p->stream[stream], &slots[stream][end], p->number);
    p->commands++;
}

static void launch(struct program *p, int stream, bool bad)
{
    p->number++;
    if (!p->first[stream])
        p->first[stream] = p->number;
    p->last[stream] = p->number;
    if (bad)
        p->bad = p->number;
    leave(p, stream, BEGUN);
    work_kernel<<<1, 1, 0, p->stream[stream]>>>(bad ? nullptr : word, 1);
    leave(p, stream, ENDED);
}

/* `stream` goes on behind what `other` has so far. Behind a fault that has
 * shown already the calls fail, as all do. */
static void follow(struct program *p, int stream, int other)
{
    cudaEventRecord(p->event, p->stream[other]);
    cudaStreamWaitEvent(p->stream[stream], p->event, 0);
}

/* ---- the tries ---- */

static void serial(struct program *p)
{
    for (int i = 1; i <= 8; i++)
        launch(p, 0, i == 5);
}

static void idle(struct program *p)
{
    launch(p, 1, false);
    launch(p, 1, false);
    follow(p, 0, 1);
    serial(p);
}

static void queued(struct program *p)
{
    launch(p, 0, false);
    launch(p, 0, true);
    follow(p, 1, 0);        /* the device has no say in the order of calls */
    launch(p, 1, false);
}

static void (*const situations[])(struct program *) = { serial, idle, queued };

/* The launch of this stream that may be running; 0: none. With one kind of
 * crumb alone the other end is anybody's guess. */
static unsigned suspect_on(const struct program *p, int stream)
{
    unsigned first = p->first[stream], last = p->last[stream];
    uint32_t begun = seen[stream][BEGUN], ended = seen[stream][ENDED];
    switch (p->position) {
    case BEFORE:
        return begun;
    case AFTER:
        return !first ? 0 : !ended ? first : ended < last ? ended + 1 : 0;
    default:
        return begun != ended ? begun : 0;
    }
}

static int suspects(struct program *p, void (*situation)(struct program *))
{
    bool contained = false;
    int n = 0;
    situation(p);
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress)
        must(cudaErrorUnknown, "the fault was not reported");
    for (uint32_t (*s)[2] = seen; s < seen + STREAMS; s++)
        for (uint32_t *end = *s; end < *s + 2; end++)
            *end &= 255;
    for (int s = 0; s < STREAMS; s++) {
        unsigned suspect = suspect_on(p, s);
        n += suspect != 0;
        contained |= suspect == p->bad;
    }
    return contained ? n : -n;
}

/* Of the crumbs of one launch, how many make the host wait? The stream is
 * held by a long kernel: if it is through when the call returns, the call has
 * waited for it. */
static int waits(struct program *p, void (*)(struct program *))
{
    int n = 0;
    for (int end = BEGUN; end <= ENDED; end++) {
        work_kernel<<<1, 1, 0, p->stream[0]>>>(word, HOLD_ROUNDS);
        leave(p, 0, end);
        n += p->position & 1 << end
            && cudaStreamQuery(p->stream[0]) == cudaSuccess;
        MUST(cudaDeviceSynchronize());
    }
    return n;
}

static int commands(struct program *p, void (*)(struct program *))
{
    launch(p, 0, false);
    MUST(cudaDeviceSynchronize());
    return (int)p->commands;
}

static int launch_ns(struct program *p, void (*)(struct program *))
{
    struct timespec from, to;
    double ns, least = 0;
    for (int i = 0; i < TURNS; i++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int k = 0; k < TIMED; k++)
            launch(p, 0, false);
        MUST(cudaDeviceSynchronize());
        clock_gettime(CLOCK_MONOTONIC, &to);
        ns = (to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec;
        if (!i || ns < least)
            least = ns;
    }
    return (int)(least / TIMED);
}

/* In a process of its own, for the fault's sake. */
static int apart(const struct way *way, int position,
                 int (*measure)(struct program *, void (*)(struct program *)),
                 void (*situation)(struct program *))
{
    int result = 0, to[2], status;
    if (pipe(to))
        exit(3);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct program p = { way, position };
        open_program(&p);
        result = measure(&p, situation);
        _exit(write(to[1], &result, sizeof result) != sizeof result);
    }
    close(to[1]);
    bool ok = read(to[0], &result, sizeof result) == sizeof result;
    close(to[0]);
    waitpid(child, &status, 0);
    if (!ok || status)
        exit(3);
    return result;
}

int main(int argc, char **argv)
{
    bool timed = argc == 2 && !strcmp(argv[1], "--time");
    int bare = timed ? apart(&ways[0], 0, launch_ns, nullptr) : 0;
    printf("| crumb | where | commands | waits | fences | serial | idle "
           "| queued |%s\n", timed ? " ns |" : "");
    printf("| --- | --- | --- | --- | --- | --- | --- | --- |%s\n",
           timed ? " --- |" : "");
    for (const struct way &way : ways)
        for (int position : positions) {
            int n = apart(&way, position, commands, nullptr);
            printf("| %s | %s | %d | %d | %d |", way.name,
                   position_names[position], n,
                   apart(&way, position, waits, nullptr), n * way.fences);
            for (auto situation : situations) {
                int s = apart(&way, position, suspects, situation);
                printf(" %d%s |", abs(s), s < 0 ? "!" : "");
            }
            if (timed)
                printf(" %d |", apart(&way, position, launch_ns, nullptr)
                       - bare);
            puts("");
        }
    return 0;
}
