#!/usr/bin/env python3
"""usage: report.py RUNDIR

Writes RUNDIR/report.md: three sentences of what the run shows, the pictures
that make_plots.py has drawn, and the tables behind them. Everything is
computed from the files of the run. Exit code: 0 written, 2 bad usage or no
run."""
import os
import sys
from collections import Counter

try:
    import cost
    import data
    import findings
    import make_plots
    import stats
    import latency
    import traps
except ImportError as e:
    sys.exit(f"report: {e.name or e} is missing: apt-get install "
             "python3-matplotlib python3-numpy, or pip install them")


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(head, rows):
    """Markdown lines; the first column is text, the others are figures."""
    out = ["| " + " | ".join(cell(h) for h in head) + " |",
           "| --- |" + " ---: |" * (len(head) - 1)]
    out += ["| " + " | ".join(cell(c) for c in r) + " |" for r in rows]
    return out + [""]


def matrix(run, text):
    """A row a scenario, a column a strategy, text(rows of the cell)."""
    strategies = run.strategies()
    return table(["scenario"] + strategies,
                 [[s] + [text(run.cell(s, t)) for t in strategies]
                  for s in run.scenarios()])


def span(interval):
    """`1.2 ms [1.1 ms, 1.4 ms]` of nanoseconds."""
    return "-" if interval is None else \
        "{} [{}, {}]".format(*map(data.nanoseconds, interval))


def latency_text(rows):
    v = data.values([r for r in rows if r.get("mode", "free") != "seeded"],
                    latency.COLUMN)
    return span(stats.median(v))


def percent(interval):
    return f"{interval.median * 100:.1f} % [{interval.low * 100:.1f}, " \
        f"{interval.high * 100:.1f}]"


def sites_text(rows):
    """How many trials were reported, and how stable the place blamed was."""
    if not rows:
        return "-"
    sites = Counter((r.get("report_file"), r.get("report_line"))
                    for r in rows if r.get("report_line"))
    text = f"{sum(sites.values())}/{len(rows)}"
    if len(sites) > 1:
        text += f", {len(sites)} places"
    return text


MODES = [("free", ""), ("seeded", "random"), ("seeded", "eager"),
         ("seeded", "lazy")]


def mode_lines(run):
    """Cells whose trials did not all end alike, by the way the device ran:
    what a schedule changes."""
    rows = []
    for s in run.scenarios():
        for t in run.strategies():
            trials = run.cell(s, t)
            if len(data.outcome_counts(trials)) < 2:
                continue
            rows.append([s, t] + [
                data.outcome_text([r for r in trials
                                   if (r.get("mode", ""),
                                       r.get("schedule", "")) == m]) or "-"
                for m in MODES])
    if not rows:
        return []
    return ["Cells with more than one outcome, by the way the device ran "
            "(free, or in logical time under a schedule):", ""] + table(
        ["scenario", "strategy", "free", "random", "eager", "lazy"], rows)


def twin_line(run):
    out = []
    for variant in sorted({r.get("variant") or "?" for r in run.trials} -
                          {"faulty"}):
        rows = [r for r in run.trials if r.get("variant") == variant]
        if rows:
            out.append(f"{variant}: {data.outcome_text(rows)}")
    return ["Trials without a fault to report: " + "; ".join(out) + ".", ""] \
        if out else []


def burden_lines(run):
    """What a strategy adds to a launch, in calls and waits: the same on every
    machine, unlike time."""
    rows = []
    healthy = [r for r in run.trials if r.get("variant") == "healthy"]
    for s in sorted({r.get("strategy", "") for r in healthy},
                    key=data.strategy_key):
        mine = [r for r in healthy if r.get("strategy") == s
                and data.number(r.get("launches"))]
        per_launch = []
        for column in ("strategy_calls", "host_waits"):
            v = [data.number(r.get(column)) / data.number(r["launches"])
                 for r in mine if data.number(r.get(column)) is not None]
            per_launch.append(f"{stats.np.median(v):.2f}" if v else "-")
        rows.append([s] + per_launch)
    return table(["strategy", "calls added a launch", "host waits a launch"],
                 rows) if rows else []


def cost_lines(run):
    cells = cost.cells(run)
    strategies = sorted({c.strategy for c in cells}, key=data.strategy_key)
    rows, keys = [], []
    for c in cells:
        key = (c.workload, c.host, c.kernel)
        if key in keys:
            continue
        keys.append(key)
        same = {x.strategy: x for x in cells
                if (x.workload, x.host, x.kernel) == key}
        name = f"{c.workload}, healthy twin" if c.kernel is None else \
            ("empty kernel" if c.kernel == 0 else
             f"kernel of {data.nanoseconds(c.kernel)}") + \
            (f", {data.nanoseconds(c.host)} host work" if c.host else "")
        measured = data.nanoseconds(c.measured) if c.measured else "-"
        rows.append([name, measured] + [percent(same[s].cost) if s in same
                                        else "-" for s in strategies])
    return table(["work", "measured a kernel"] + strategies, rows)


def extra_lines(run):
    """Time that a strategy adds to one launch, where kernels are shortest."""
    spin = [c for c in cost.cells(run) if c.workload == cost.SPIN
            and c.extra_ns is not None]
    if not spin:
        return []
    shortest = min(c.kernel for c in spin)
    hosts = sorted({c.host for c in spin})
    cells = {(c.strategy, c.host): c.extra_ns for c in spin
             if c.kernel == shortest}
    rows = [[s] + [span(cells.get((s, h))) for h in hosts]
            for s in sorted({s for s, _ in cells}, key=data.strategy_key)]
    return ["Time added to a launch of " + (
        f"a kernel of {data.nanoseconds(shortest)}:" if shortest else
        "an empty kernel:"), ""] + table(
            ["strategy"] + [cost.host_label(h) for h in hosts], rows)


def micro_lines(run):
    rows = []
    found = run.micro.get("benchmarks")
    medians = [b for b in found if isinstance(b, dict)
               and b.get("aggregate_name") == "median"] \
        if isinstance(found, list) else []
    # They ran in random order; family_index is the order of the source.
    for b in sorted(medians, key=lambda b: data.number(
            b.get("family_index")) or 0):
        time = data.number(b.get("real_time"))
        scale = data.TIME_UNITS.get(b.get("time_unit"))
        if time is None or scale is None:
            continue
        rate = data.number(b.get("bytes_per_second"))
        extra = f"{rate / 1e9:.3g} GB/s" if rate else ""
        times = data.number(b.get("times_host_loop"))
        if times:
            per_second = data.number(b.get("thread_instructions_per_second"))
            extra = f"{times:.3g} times the host's loop, " \
                f"{(per_second or 0) / 1e9:.3g}e9 thread instructions/s"
        rows.append([data.call_name(b), data.nanoseconds(time * scale), extra])
    return table(["call", "median", ""], rows) if rows else []


def pictures(run):
    out = []
    for name, caption in make_plots.PICTURES.items():
        path = f"{make_plots.FOLDER}/{name}"
        if os.path.exists(os.path.join(run.folder, path + ".png")):
            out += [f"![{caption}]({path}.png)", "",
                    f"*{caption}* ([SVG]({path}.svg))", ""]
    return out


def trial_sections(run):
    if not run.scenarios():
        return []
    out = ["## What became of each trial", "",
           "Trials with the planted fault, all modes; "
           "`!` marks cells with a trial that was not as expected.", ""]
    out += matrix(run, findings.outcome_cell) + twin_line(run)
    out += mode_lines(run)
    out += ["Trials with a report, and how many places they name when not "
            "one:", ""] + matrix(run, sites_text)
    out += ["## Distance to the faulting launch", "",
            "Launches between the one that faulted and the report, median "
            "and range:", ""]
    out += matrix(run, lambda rows: traps.middle(rows, "launches_between"))
    out += ["Call-stack frames that the two places do not share:", ""]
    out += matrix(run, lambda rows: traps.middle(rows, "frame_distance"))
    out += ["## Latency from fault to report", "",
            "Free-running trials: median [95 % bootstrap interval].", ""]
    return out + matrix(run, latency_text)


def cost_sections(run):
    out = []
    burden = burden_lines(run)
    if burden:
        out += ["## What a strategy adds", "", "Median over healthy trials, "
                "the waits that every step ends with not counted.", ""]
        out += burden
    if cost.cells(run):
        out += ["## Throughput cost on healthy work", "",
                f"Lost against `{cost.BASELINE}`, median of paired turns "
                "[95 % bootstrap interval]; negative: faster.", ""]
        out += cost_lines(run)
        out += extra_lines(run)
    micro = micro_lines(run)
    if micro:
        out += ["## Latencies of single calls", ""] + micro
    return out


def build(run):
    out = [f"# faultlag on {run.device_label()}", ""]
    if run.is_simulated():
        out += ["simgpu is a software device: places and outcomes are those "
                "that CUDA's rules give, times are its own and say nothing "
                "about a GPU's.", ""]
    out += findings.context_lines(run)
    out += ["## What this run shows", ""]
    out += [f"{i}. {s}" for i, s in enumerate(findings.sentences(run), 1)]
    out += [""] + pictures(run) + trial_sections(run) + cost_sections(run)
    if run.notes:
        out += ["## Notes on the data", ""]
        out += [f"- {n}" for n in run.notes] + [""]
    return "\n".join(out)


def main(argv):
    if len(argv) != 2 or argv[1].startswith("-"):
        print(__doc__.split("\n\n")[0], file=sys.stderr)
        return 2
    try:
        run = data.Run(argv[1])
        path = os.path.join(run.folder, "report.md")
        text = build(run)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    except data.RunError as e:
        print(f"report: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"report: {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
