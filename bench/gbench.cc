// The translation behind gbench.h: a gb_state is a benchmark::State, seen
// from C as an opaque struct. The JSON file gets a context of our own lines
// only: the library's would add the machine's name and the program's path.
#include "bench/gbench.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<std::pair<std::string, std::string>> context;

benchmark::State &cxx(gb_state *s)
{
    return *reinterpret_cast<benchmark::State *>(s);
}

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

class OwnContext : public benchmark::JSONReporter {
public:
    bool ReportContext(const Context &) override
    {
        std::ostream &out = GetOutputStream();
        out << "{\n  \"context\": {";
        const char *separator = "\n";
        for (const auto &line : context) {
            out << separator << "    " << quoted(line.first) << ": "
                << quoted(line.second);
            separator = ",\n";
        }
        out << "\n  },\n  \"benchmarks\": [\n";
        return true;
    }
};

} // namespace

void gb_add(const char *name, gb_body *body, void *arg, gb_clock clock)
{
    auto *b = benchmark::RegisterBenchmark(name, [=](benchmark::State &state) {
        body(reinterpret_cast<gb_state *>(&state), arg);
    });
    if (clock == GB_MANUAL)
        b->UseManualTime();
    else
        b->UseRealTime();
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
    context.emplace_back(key, value);
    benchmark::AddCustomContext(key, value);
}

int gb_run(int *argc, char **argv)
{
    bool to_file = false;
    for (int i = 1; i < *argc; i++)
        to_file |= !std::strncmp(argv[i], "--benchmark_out=", 16);
    benchmark::Initialize(argc, argv);
    if (benchmark::ReportUnrecognizedArguments(*argc, argv))
        return -1;
    OwnContext file;
    size_t ran = benchmark::RunSpecifiedBenchmarks(nullptr,
                                                   to_file ? &file : nullptr);
    benchmark::Shutdown();
    return static_cast<int>(ran);
}
