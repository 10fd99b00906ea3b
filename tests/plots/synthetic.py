"""Invented result sets for the tests of plots/: plausible shapes, made-up
numbers, a device name that says so. Never a measurement."""
import csv
import json
import math
import os
import random
import re

DEVICE = "test data (invented)"

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def columns(def_file):
    """The names in a table of COLUMN(name, ...)."""
    with open(os.path.join(ROOT, def_file), encoding="utf-8") as f:
        return re.findall(r"^COLUMN\((\w+)", f.read(), re.MULTILINE)


TRIAL_COLUMNS = columns("harness/columns.def")
THROUGHPUT_COLUMNS = columns("bench/columns.def")

SCENARIOS = ["bad-gather", "bad-gather-assert", "dynamic-lengths",
             "empty-mask", "preprocess-race", "shared-race"]
STRATEGIES = ["async", "async-check", "sync", "sync-unchecked",
              "stream-sync"]


def trial(random_, scenario, strategy, i, mode):
    row = {"schema_version": 1, "scenario": scenario, "variant": "faulty",
           "strategy": strategy, "device": "cuda", "mode": mode, "seed": i,
           "schedule": "random" if mode == "seeded" else "",
           "launches": 20, "strategy_calls": 20, "host_waits": 1,
           "trial_id": f"{scenario}/{strategy}/{mode}/{i}",
           "expected": "", "clock_uncertainty_ns": 900,
           "fault_file": f"kernels/{scenario}.cu", "fault_line": 40,
           "launch_file": f"scenarios/{scenario}.c", "launch_line": 100,
           "launch_function": "attention", "launch_index": 5}
    if scenario == "preprocess-race" and strategy != "async":
        row["outcome"] = "hidden"
        return row
    if scenario == "shared-race":
        row["outcome"] = random_.choice(["silent", "silent", "benign"])
        return row
    exact = strategy in ("sync", "stream-sync")
    between = 0 if exact else random_.choice([7, 8, 9]) \
        if strategy == "async-check" else 9
    latency = 10 ** random_.gauss(4.2 if exact else 6, 0.2)
    row.update(outcome="exact" if exact else "late", error_code=700,
               error_name="cudaErrorIllegalAddress",
               report_api="cudaGetLastError", report_line=100 + 9 * between,
               report_file=f"scenarios/{scenario}.c",
               report_function="attention" if exact else "read_loss",
               launches_between=between, api_calls_between=between + 1,
               frame_distance=0 if exact else 4, suspects=between + 1,
               line_distance=9 * between, cascade_errors=2)
    if mode == "free":
        row.update(latency_fault_to_report_ns=round(latency),
                   latency_launch_to_report_ns=round(latency * 1.1))
    return row


def trials(seed=1, per_cell=8, scenarios=tuple(SCENARIOS)):
    r = random.Random(seed)
    rows = [trial(r, a, b, i, mode) for a in scenarios for b in STRATEGIES
            for mode in ("free", "seeded") for i in range(per_cell)]
    return rows + [dict(trial(r, a, b, 0, "free"), variant="healthy",
                        outcome="clean", report_line="")
                   for a in scenarios for b in STRATEGIES]


def throughput(seed=1, repetitions=7):
    r, rows = random.Random(seed), []
    waits = {"async": 0, "async-check": 60, "sync": 9000,
             "sync-unchecked": 8900, "stream-sync": 9500}
    for repetition in range(repetitions):
        for host in (0, 10000):
            for kernel in (0, 3000, 10000, 30000, 100000, 300000, 1000000):
                for strategy in STRATEGIES:
                    launch = max(kernel, 4000 + host) if waits[strategy] \
                        < 1000 else kernel + 4000 + host
                    launch += waits[strategy]
                    ns = launch * 16 * math.exp(r.gauss(0, 0.02))
                    rows.append({
                        "schema_version": 1, "device": "cuda",
                        "repetition": repetition, "strategy": strategy,
                        "workload": "spin", "kernel_target_ns": kernel,
                        "kernel_measured_ns": round(max(kernel, 4000)),
                        "host_work_ns": host, "launches_per_step": 16,
                        "steps": 3, "elapsed_ns": round(3 * ns),
                        "steps_per_s": 1e9 / ns})
        for scenario in ("bad-gather", "dynamic-lengths"):
            for strategy, variant, factor in (
                    ("async", "healthy", 1), ("sync", "healthy", 1.6),
                    ("async", "guarded", 1.02)):
                ns = 4e5 * factor * math.exp(r.gauss(0, 0.005))
                rows.append({
                    "schema_version": 1, "device": "cuda",
                    "repetition": repetition, "strategy": strategy,
                    "variant": variant, "workload": scenario,
                    "launches_per_step": 26, "steps": 2,
                    "elapsed_ns": round(2 * ns), "steps_per_s": 1e9 / ns})
    return rows


def micro():
    """Calls that fit throughput()'s invented strategies."""
    times = {"launch": 4000, "launch_sync": 13000, "cudaGetLastError": 60}
    return {"benchmarks": [
        {"run_name": f"{name}/real_time", "aggregate_name": "median",
         "real_time": ns, "time_unit": "ns", "family_index": i}
        for i, (name, ns) in enumerate(times.items())]}


def write_csv(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        f.write("# invented rows for a test\n")
        w = csv.DictWriter(f, columns, extrasaction="ignore",
                           lineterminator="\n")
        w.writeheader()
        w.writerows(rows)


def trace(strategy, launches=18, bad=4):
    """What `faultlag run --trace` writes, with invented times (in us)."""
    events = [{"ph": "M", "name": "thread_name", "tid": t, "pid": 1,
               "args": {"name": n}} for t, n in ((1, "host"), (10, "stream 0"))]

    def slice_(cat, name, lane, ts, dur, i, line):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1,
                       "tid": lane, "ts": ts, "dur": dur,
                       "args": {"file": "scenarios/bad-gather.c",
                                "line": line, "function": "attention",
                                **({"launch": i} if i else {})}})
    host, device, fault = 0.0, 0.0, None
    for i in range(1, launches + 1):
        name = "k_index_select" if i == bad else "k_linear"
        slice_("launch", name, 1, host, 6.0, i, 40 + i)
        start = max(host + 5, device)
        if fault is None:
            device = start + 70
            ended = i != bad
            slice_("kernel" if ended else "kernel that did not finish", name,
                   10, start, 70, i, 40 + i)
            if not ended:
                fault = device
        host += 8
        if strategy == "sync":
            host = device + 4
            slice_("check", "check", 1, host, 1.0, i, 40 + i)
            host += 2
            if fault is not None:
                break
    if strategy != "sync":
        slice_("call", "cudaDeviceSynchronize", 1, host, fault + 60 - host, 0,
               99)
    report = host if strategy == "sync" else fault + 60
    for name, lane, ts in (("fault", 10, fault), ("report", 1, report)):
        events.append({"ph": "i", "name": name, "cat": name, "pid": 1,
                       "tid": lane, "ts": ts, "s": "g"})
    return {"otherData": {"scenario": "bad-gather", "strategy": strategy,
                          "device": "cuda"}, "traceEvents": events}


def write_run(folder, seed=1, scenarios=tuple(SCENARIOS)):
    os.makedirs(folder, exist_ok=True)
    write_csv(os.path.join(folder, "trials.csv"), TRIAL_COLUMNS,
              trials(seed, scenarios=scenarios))
    write_csv(os.path.join(folder, "throughput.csv"), THROUGHPUT_COLUMNS,
              throughput(seed))
    with open(os.path.join(folder, "context.json"), "w") as f:
        json.dump({"device_kind": "cuda", "device_name": DEVICE}, f)
    with open(os.path.join(folder, "micro.json"), "w") as f:
        json.dump(micro(), f)
    for strategy in ("async", "sync"):
        path = os.path.join(folder, f"trace-{strategy}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(trace(strategy), f)
    return folder


def damage(text, r):
    """The bytes with some cut out, put in or cut off, as r draws."""
    raw = bytearray(text)
    for _ in range(r.choice([1, 3, 30])):
        i = r.randrange(len(raw) + 1)
        what = r.randrange(4)
        if what == 0:
            raw[i:i + r.randrange(200)] = b""
        elif what == 1:
            raw[i:i] = bytes(r.randrange(256) for _ in range(5))
        elif what == 2:
            raw[i:i] = r.choice([b",", b'"', b"\n", b"nan", b"1e999", b"-",
                                 b"#", b"\xff\xfe", b"\0", b"9" * 30])
        else:
            del raw[i:]
    return bytes(raw)


if __name__ == "__main__":
    import sys
    write_run(sys.argv[1])
