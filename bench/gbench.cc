// The translation behind gbench.h: a gb_state is a benchmark::State, seen
// from C as an opaque struct.
#include "bench/gbench.h"

#include <benchmark/benchmark.h>

namespace {

benchmark::State &cxx(gb_state *s)
{
    return *reinterpret_cast<benchmark::State *>(s);
}

} // namespace

void gb_add(const char *name, gb_body *body, void *arg, gb_clock clock,
            double min_seconds)
{
    auto *b = benchmark::RegisterBenchmark(name, [=](benchmark::State &state) {
        body(reinterpret_cast<gb_state *>(&state), arg);
    });
    if (clock == GB_MANUAL)
        b->UseManualTime();
    else
        b->UseRealTime();
    if (min_seconds > 0)
        b->MinTime(min_seconds);
}

int gb_next(gb_state *s)
{
    return cxx(s).KeepRunning();
}

void gb_pause(gb_state *s)
{
    cxx(s).PauseTiming();
}

void gb_resume(gb_state *s)
{
    cxx(s).ResumeTiming();
}

void gb_seconds(gb_state *s, double seconds)
{
    cxx(s).SetIterationTime(seconds);
}

int64_t gb_iterations(const gb_state *s)
{
    return reinterpret_cast<const benchmark::State *>(s)->iterations();
}

void gb_counter(gb_state *s, const char *name, double value)
{
    cxx(s).counters[name] = value;
}

void gb_rate(gb_state *s, const char *name, double total)
{
    cxx(s).counters[name] =
        benchmark::Counter(total, benchmark::Counter::kIsRate);
}

void gb_fail(gb_state *s, const char *why)
{
    cxx(s).SkipWithError(why);
}

void gb_context(const char *key, const char *value)
{
    benchmark::AddCustomContext(key, value);
}

int gb_run(int *argc, char **argv)
{
    benchmark::Initialize(argc, argv);
    if (benchmark::ReportUnrecognizedArguments(*argc, argv))
        return -1;
    int ran = static_cast<int>(benchmark::RunSpecifiedBenchmarks());
    benchmark::Shutdown();
    return ran;
}
