#!/usr/bin/env python3
"""usage: page.py [--out DIR] SET [OTHER]

Writes the page of findings of a result set, with its pictures in light and
dark: findings.md for a set made on simgpu, findings-gpu.md for one made on a
GPU, pictures in img/. With OTHER, a set of another device, the page ends with
where the two differ. Exit code: 0 written, 2 bad usage or no such set.

Guarantee: a set made on simgpu makes no claim about time outside sections
whose title says that it is simgpu's own; such a page is refused."""
import glob
import hashlib
import importlib
import os
import re
import sys
from collections import Counter

try:
    import cost
    import data
    import defences
    import findings
    import make_plots
    import model
    import sets
    import stats
    import style
    import tradeoff
    import traps
    from report import percent, table
except ImportError as e:
    sys.exit(f"page: {e.name or e} is missing: apt-get install "
             "python3-matplotlib python3-numpy, or pip install them")

OWN_TIME = "simgpu's own time"
PICTURES = ("tradeoff", "outcomes", "cost", "defences", "model", "timeline")
SOURCES = ("trials.csv", "throughput.csv", "micro.json", "context.json",
           "trace*.json")
TIME = re.compile(r"\d ?(ns|µs|us|ms|s)\b")


def digest(folder):
    """Names the exact files that a page was made from."""
    h = hashlib.sha256()
    for pattern in SOURCES:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder),
                                                  pattern))):
            with open(path, "rb") as f:
                h.update(os.path.basename(path).encode() + b"\0" + f.read())
    return h.hexdigest()[:16]


def kind(run):
    return "simgpu" if run.is_simulated() else "gpu"


def page_name(run):
    return "findings.md" if run.is_simulated() else "findings-gpu.md"


def draw(run, out, source):
    """The names of the pictures that the set has data for, drawn twice; those
    of an older set are gone."""
    drawn = []
    for old in glob.glob(os.path.join(glob.escape(out), "img",
                                      f"{kind(run)}-*.svg")):
        os.remove(old)
    for name in PICTURES:
        for theme in style.THEMES:
            style.apply(theme)
            fig = importlib.import_module(name).draw(run)
            if fig is not None:
                style.save(fig, os.path.join(out, "img"),
                           f"{kind(run)}-{name}-{theme}", ("svg",), source)
                drawn += [name] if name not in drawn else []
    return drawn


def picture(run, name, drawn):
    if name not in drawn:
        return []
    light, dark = (f"img/{kind(run)}-{name}-{t}.svg" for t in
                   ("light", "dark"))
    return ["<picture>",
            f'  <source media="(prefers-color-scheme: dark)" srcset="{dark}">',
            f'  <img alt="{make_plots.PICTURES[name]}" src="{light}">',
            "</picture>", ""]


# ---- sections ----------------------------------------------------------------

def head(run, folder):
    name = os.path.basename(os.path.normpath(folder))
    out = [f"# Findings on {run.device_label()}", "",
           f"<!-- Written by plots/page.py from results/{name} (files "
           f"{digest(folder)}); do not edit. -->", ""]
    if run.is_simulated():
        out += ["simgpu is a software device. Places, counts and outcomes are "
                "those that CUDA's rules give, each with the basis that it "
                "rests on; `open` is what only hardware can settle. **Nothing "
                "on this page says how long anything takes on a GPU**: where "
                "times are shown, they are simgpu's own and so marked.", ""]
    trials = run.faulty()
    out += [f"Made from [results/{name}](../results/{name}/report.md): "
            f"{len(run.scenarios())} traps, {len(run.strategies())} "
            f"strategies, {len(trials)} trials with a planted fault and "
            f"{len(run.trials) - len(trials)} without. Rows are named by the "
            "beginning of their `trial_id` in trials.csv. `make plots` writes "
            "this page again.", ""]
    return out + findings.context_lines(run) + basis_lines(run)


def basis_lines(run):
    """What the expectations of the cells rest on, and whether they held."""
    counts, off = Counter(), 0
    for scenario in run.scenarios():
        for strategy in run.strategies():
            rows = run.cell(scenario, strategy)
            off += any(map(findings.deviates, rows))
            counts.update({r.get("basis") for r in rows} - {"", None})
    if not counts:
        return []
    return ["What each cell (a trap under a strategy) was expected to give "
            "was written down before its first run, with its basis: " +
            ", ".join(f"{counts[b]} `{b}`" for b in sorted(counts)) +
            f". {findings.plural(off, 'cell')} came out otherwise. "
            f"<sub>{run.short_name()}; rows `*/faulty/*/`, columns basis and "
            "as_expected</sub>", ""]


def strategy_rows(run, lost):
    rows = []
    for s in run.strategies():
        trials = [r for scenario in run.scenarios()
                  for r in traps.trials(run, scenario, s)]
        got = traps.reports(trials)
        same = [v for v in (traps.stability(traps.trials(run, scenario, s))
                            for scenario in run.scenarios()) if v is not None]
        found, waits, calls = (
            tradeoff.found(run, s),
            *(tradeoff.per_launch(run, s, c) for c in
              ("host_waits", "strategy_calls")))
        rows.append([s] + [
            "-" if found is None else f"{found * 100:.0f} %",
            traps.detected(trials), traps.middle(got, "suspects"),
            f"{sum(r['outcome'] == 'misattributed' for r in got)}",
            "-" if not same else f"{sum(same) / len(same) * 100:.0f} %",
            "-" if waits is None else f"{waits:.2f}",
            "-" if calls is None else f"{calls:.2f}"] +
            ([f"{lost[s][0]:.1f} % [{lost[s][1]:.1f}, {lost[s][2]:.1f}]"
              if s in lost else "-"] if lost else []))
    return rows


def best_sentence(run):
    """Which strategies find the most without waiting, and with it."""
    found = [(tradeoff.found(run, s), s, tradeoff.per_launch(
        run, s, "host_waits")) for s in run.strategies()]
    found = [f for f in found if f[0] is not None and f[2] is not None]
    parts = []
    for text, wanted in (("without a single host wait", lambda w: w == 0),
                         ("of those that wait", lambda w: w > 0)):
        mine = [f for f in found if wanted(f[2])]
        if mine:
            top = max(f[0] for f in mine)
            names = findings.joined(f"`{s}`" for share, s, _ in mine
                                    if share == top)
            parts.append(f"{text}, {names} named the launch that faulted, "
                         f"alone, most often ({top * 100:.0f} %)")
    if not parts:
        return []
    text = "; ".join(parts)
    return [text[0].upper() + text[1:] + f". <sub>{run.short_name()}; rows "
            f"`*/faulty/*/` ({len(run.faulty())}), waits from "
            "`*/healthy/*/`</sub>", ""]


def headline(run, drawn):
    out = ["## Localisation against cost", ""]
    out += picture(run, "tradeoff", drawn) + best_sentence(run)
    out += traps.crumb_lines(run)
    lost, at = tradeoff.timed(run, run.strategies())
    out += table(["strategy", "named alone", "reported", "suspects",
                  "misattributed", "same place", "host waits a launch",
                  "calls a launch"] +
                 ([f"lost with {findings.work(at)}"] if lost else []),
                 strategy_rows(run, lost))
    return out + [
        "*named alone*: the report names the launch that faulted and no other "
        "is under suspicion, mean over traps. *reported*: trials with a "
        "report, with Wilson's 95 % interval. *same place*: share of a trap's "
        "reports that name its most common place, mean over traps. Waits and "
        "calls: median over healthy trials, the step's own end not counted. "
        "What each strategy does and needs: [strategies.md](strategies.md).",
        ""]


def sync_against_async(run):
    out = ["## Every trap, without checks and with blocking launches", ""]
    out += table(traps.TABLE_HEAD, traps.table_rows(run))
    out += ["*launches suspected*: that the report cannot exclude; *launches "
            "later*: made between the one that faulted and the report" +
            ("" if run.is_simulated() else ", and the median time from fault "
             "to report") + "; median and range over trials. "
            f"<sub>{run.short_name()}; rows `*/faulty/{findings.PLAIN}/`, "
            f"`*/faulty/{findings.ADVICE}/`</sub>", ""]
    return out + ["## What blocking is worth", ""] + traps.sections(run)


def own_time(run):
    return f" ({OWN_TIME})" if run.is_simulated() else ""


def defence_section(run, drawn):
    found = defences.pairs(run)
    out = [f"## Cost of the defences{own_time(run)}", ""]
    if not found:
        return out + ["This set holds no throughput of defended variants.", ""]
    names = defences.contenders(found)
    out += picture(run, "defences", drawn)
    out += table(["trap"] + names + ["pairs"], [
        [f"[{s}](scenarios.md#{s})"] +
        [percent(cells[n].cost) if n in cells else "-" for n in names] +
        [f"{min(c.pairs for c in cells.values())}"]
        for s, cells in sorted(found.items())])
    dear = [s for s, cells in found.items() for n, c in cells.items()
            if c.defence and c.cost.low > 0]
    blocks = [s for s, cells in found.items()
              if defences.ADVICE in cells and
              cells[defences.ADVICE].cost.low > 0]
    return out + [
        f"Of {findings.plural(len(found), 'trap')} with a defence, its cost "
        f"can be told from nothing in {len(dear)}, that of blocking every "
        f"launch in {len(blocks)}. A defence meets the faulty input and lets "
        "the program go on; blocking only says where it ended. Lost against "
        f"the healthy twin under `{cost.BASELINE}`, median of pairs [95 % "
        f"bootstrap interval]. <sub>{run.short_name()}; throughput.csv, "
        f"variants but healthy, and strategy {defences.ADVICE}</sub>", ""]


def model_section(run, drawn):
    points = model.points(run)
    out = [f"## Cost model{own_time(run)}", ""]
    times = model.call_times(run)
    left_out = {s: model.lacks(s, times) for s in sorted(
        {c.strategy for c in cost.cells(run) if c.workload == cost.SPIN},
        key=data.strategy_key)}
    left_out = {s: why for s, why in left_out.items() if why}
    if not points:
        why = model.lacks(cost.BASELINE, times) or "no throughput"
        return out + [f"Nothing can be predicted from this set: {why}.", ""]
    out += ["Host and device work side by side, or, where a strategy waits, "
            "one after the other: a run of *g* launches up to a wait takes "
            "*host + (g - 1) max(host, device) + kernel + start*, *host* being "
            "the host's own work, the launch and the calls that the strategy "
            "adds. Calls are taken from `micro.json`, kernels as measured "
            "between the turns; nothing is fitted to the throughput predicted "
            "(`plots/model.py`).", ""]
    out += picture(run, "model", drawn) + table(
        ["strategy", "cells", "missed", "predicted step / measured",
         "worst miss", "predicted", "measured"], model_rows(points))
    out += model_failures(points)
    if run.is_simulated():
        out += ["One thing that the model does not have: on simgpu a host "
                "thread that waits works for the device meanwhile "
                "([simgpu.md](simgpu.md)), so host and device are not two "
                "there, and waiting for short kernels can be cheaper than "
                "handing them over.", ""]
    if left_out:
        out += ["Not predicted: " + "; ".join(
            f"`{s}` ({why})" for s, why in left_out.items()) + ".", ""]
    return out + [f"<sub>{run.short_name()}; throughput.csv, workload "
                  f"{cost.SPIN}, and micro.json</sub>", ""]


def model_rows(points):
    rows = []
    for s in sorted({p.strategy for p in points}, key=data.strategy_key):
        mine = [p for p in points if p.strategy == s]
        worst = max(mine, key=lambda p: abs(p.predicted - p.cost.median))
        ratio = [p.ratio for p in mine]
        rows.append([s, len(mine), sum(map(model.misses, mine)),
                     f"{float(stats.np.median(ratio)):.2f} "
                     f"({min(ratio):.2f} to {max(ratio):.2f})",
                     findings.work(worst), f"{worst.predicted * 100:.0f} %",
                     percent(worst.cost)])
    return rows


def model_failures(points):
    """Where misses gather: by length of the kernel."""
    missed = [p for p in points if model.misses(p)]
    if not missed:
        return ["No cell is missed by more than "
                f"{model.MISS * 100:.0f} points and its interval.", ""]
    by_length = []
    for k in sorted({p.kernel for p in points}):
        n = sum(p.kernel == k for p in missed)
        if n:
            by_length.append(
                f"{n} of {sum(p.kernel == k for p in points)} with " +
                (f"kernels of {data.nanoseconds(k)}" if k else
                 "empty kernels"))
    above = sum(p.predicted > p.cost.median for p in missed)
    return [f"**Where it fails.** {len(missed)} of {len(points)} cells are "
            f"missed by more than {model.MISS * 100:.0f} points of "
            f"throughput and lie outside their interval: " +
            ", ".join(by_length) + f". It predicts too much cost in {above} "
            f"of these, too little in {len(missed) - above}.", ""]


# ---- the page ----------------------------------------------------------------

def refuse_times(run, lines):
    """A page on simgpu states no time but as simgpu's own."""
    own = False
    for line in lines if run.is_simulated() else []:
        if line.startswith("## "):
            own = OWN_TIME in line
        if not own and TIME.search(line):
            raise data.RunError("refused: a claim about time from simgpu's "
                                f"data, which says nothing of a GPU: {line}")


def build(run, folder, drawn, other=None):
    out = head(run, folder) + headline(run, drawn)
    out += ["## Every trap under every strategy", ""]
    out += picture(run, "outcomes", drawn)
    out += [f"<sub>{run.short_name()}; rows `*/faulty/*/` "
            f"({len(run.faulty())})</sub>", ""] + sync_against_async(run)
    out += sets.sweep_section(run)
    if cost.cells(run) and "cost" in drawn:
        out += [f"## Cost of the strategies{own_time(run)}", ""]
        out += picture(run, "cost", drawn)
    out += defence_section(run, drawn) + model_section(run, drawn)
    if "timeline" in drawn:
        out += [f"## One trial in time{own_time(run)}", ""]
        out += picture(run, "timeline", drawn)
    if other is not None:
        out += sets.compare_section(run, other)
    if run.notes:
        out += ["## Notes on the data", ""] + [f"- {n}" for n in run.notes] + [
            ""]
    refuse_times(run, out)
    return "\n".join(out).rstrip("\n") + "\n"


def write(folder, out, other=None):
    run = data.Run(folder)
    drawn = draw(run, out, digest(folder))
    text = build(run, folder, drawn, other and data.Run(other))
    path = os.path.join(out, page_name(run))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def main(argv):
    args = argv[1:]
    out = os.path.join(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))), "docs")
    if args[:1] == ["--out"] and len(args) > 1:
        out, args = args[1], args[2:]
    if not 1 <= len(args) <= 2 or args[0].startswith("-"):
        print(__doc__.split("\n\n")[0], file=sys.stderr)
        return 2
    try:
        print(os.path.relpath(write(args[0], out, *args[1:])))
    except data.RunError as e:
        print(f"page: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"page: {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
