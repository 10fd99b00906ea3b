"""What a run shows, in sentences computed from its rows. Nothing is said that
the rows do not hold: a part of a run that is missing is named as missing."""
import numpy as np

import cost
import data

REPORTED = ("exact", "late", "misattributed")
PLAIN, ADVICE = "async", "sync"     # the baseline and the usual advice


def deviates(row):
    return row.get("as_expected") == "no"


def outcome_cell(rows):
    if not rows:
        return "not run"
    mark = " !" if any(map(deviates, rows)) else ""
    return data.outcome_text(rows) + mark


def share(part, whole):
    return f"{part} of {whole}"


def plural(n, noun):
    return f"{n:g} {noun}" + ("" if n == 1 else
                              "es" if noun.endswith("h") else "s")


# ---- 1: where the report points ---------------------------------------------

def place_of(run, strategy):
    """One clause: how often this strategy names the faulting launch."""
    rows = [r for r in run.faulty() if r.get("strategy") == strategy]
    reports = [r for r in rows if r.get("outcome") in REPORTED]
    if not rows:
        return None
    if not reports:
        return f"`{strategy}` reported none of {plural(len(rows), 'trial')}"
    exact = sum(r["outcome"] == "exact" for r in reports)
    text = f"`{strategy}` named the launch that faulted in " \
        f"{share(exact, len(reports))} reports"
    far = data.values([r for r in reports if r["outcome"] != "exact"],
                      "launches_between")
    frames = data.values([r for r in reports if r["outcome"] != "exact"],
                         "frame_distance")
    if far:
        middle = float(np.median(far))
        text += f"; the others came a median of {plural(middle, 'launch')}" + \
            (f" (up to {max(far):g})" if max(far) > middle else "") + " later"
        if frames:
            text += f", {plural(float(np.median(frames)), 'stack frame')} away"
    return text


def sentence_place(run):
    wanted = [s for s in (PLAIN, ADVICE) if s in run.strategies()] \
        or run.strategies()[:2]
    parts = [p for p in (place_of(run, s) for s in wanted) if p]
    if not parts:
        return "This run holds no trials with a planted fault."
    text = "; ".join(parts) if len(parts) < 2 else ", while ".join(parts)
    return f"On {run.device_label()}, {text}."


# ---- 2: what is not seen at all ---------------------------------------------

def hides(run):
    """[(strategy, scenario, hidden, trials)] where the fault itself did not
    happen under a strategy although it did under another one."""
    out = []
    for scenario in run.scenarios():
        cells = {s: run.cell(scenario, s) for s in run.strategies()}
        struck = any(r.get("outcome") not in ("hidden", "clean", "skipped",
                                              "broken")
                     for rows in cells.values() for r in rows)
        for strategy, rows in cells.items():
            hidden = data.outcome_counts(rows)["hidden"]
            if struck and rows and hidden == len(rows):
                out.append((strategy, scenario, hidden, len(rows)))
    return out


def silences(run):
    """[(scenario, silent, trials)] over all strategies."""
    out = []
    for scenario in run.scenarios():
        rows = [r for r in run.faulty() if r.get("scenario") == scenario]
        silent = data.outcome_counts(rows)["silent"]
        if silent:
            out.append((scenario, silent, len(rows)))
    return out


def joined(words):
    words = list(words)
    return words[0] if len(words) == 1 else \
        ", ".join(words[:-1]) + " and " + words[-1]


def sentence_unseen(run):
    if not run.scenarios():
        return "Whether a strategy hides faults cannot be told without trials."
    parts = []
    by_scenario = {}
    for strategy, scenario, hidden, _ in hides(run):
        by_scenario.setdefault(scenario, []).append((strategy, hidden))
    for scenario, found in by_scenario.items():
        total = sum(n for _, n in found)
        rows = run.cell(scenario, PLAIN)
        strikes = len(rows) - data.outcome_counts(rows)["hidden"]
        parts.append(f"the fault of `{scenario}` never happened under " +
                     joined(f"`{s}`" for s, _ in found) +
                     f" ({plural(total, 'trial')})" +
                     (f" but did in {share(strikes, len(rows))} under "
                      f"`{PLAIN}`" if rows and strikes else ""))
    parts += [f"`{scenario}` corrupted data without any report in "
              f"{share(n, total)} trials" for scenario, n, total
              in silences(run)]
    if not parts:
        return "Every planted fault that struck was reported, and no " \
            "strategy kept one from striking."
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


# ---- 3: what it costs -------------------------------------------------------

def lost(interval):
    """`lost 60 % [58, 61]`, or that it cannot be told from nothing."""
    figures = f"{interval.median * 100:.0f} % [{interval.low * 100:.0f}, " \
        f"{interval.high * 100:.0f}]"
    return f"lost {figures}" if interval.low > 0 else \
        f"was faster ({figures})" if interval.high < 0 else \
        f"lost nothing measurable ({figures})"


def work(cell):
    kernels = f"kernels of {data.nanoseconds(cell.kernel)}" if cell.kernel \
        else "empty kernels"
    return kernels + (f" and {data.nanoseconds(cell.host)} of host work "
                      "between launches" if cell.host else "")


def sentence_cost(run):
    spin = [c for c in cost.cells(run) if c.workload == cost.SPIN]
    if not spin:
        return "This run holds no throughput measurements."
    strategies = sorted({c.strategy for c in spin}, key=data.strategy_key)
    strategy = ADVICE if ADVICE in strategies else strategies[0]
    mine = [c for c in spin if c.strategy == strategy]
    worst = max(mine, key=lambda c: c.cost.median)
    longest = max(mine, key=lambda c: (c.kernel, -c.host))
    text = f"Of `{cost.BASELINE}`'s throughput on healthy work, " \
        f"`{strategy}` {lost(worst.cost)} at its worst, with {work(worst)}"
    if longest.kernel > worst.kernel:
        text += f", and {lost(longest.cost)} with {work(longest)}"
    checked = [c for c in spin if c.strategy == "async-check"]
    if checked and strategy != "async-check":
        worst = max(checked, key=lambda c: c.cost.median)
        text += f"; `async-check`, at its worst, {lost(worst.cost)}"
    if run.is_simulated():
        text += " (times of the software device, not of a GPU)"
    return text + "."


def sentences(run):
    return [sentence_place(run), sentence_unseen(run), sentence_cost(run)]


def version(number):
    """CUDA's 13000 as 13.0."""
    return f"{number // 1000}.{number % 1000 // 10}" \
        if isinstance(number, int) else str(number)


def context_lines(run):
    """When, from which sources and on what the run was made, as far as
    context.json says."""
    c = run.context
    dirty = " with changes not committed" if c.get("dirty") is True else ""
    known = [
        ("made", c.get("time")),
        ("commit", c.get("commit") and f"{c['commit']}{dirty}"),
        ("CUDA", ", ".join(f"{k} {version(c[k])}" for k in
                           ("toolkit", "runtime", "driver") if c.get(k))),
        ("processor", c.get("cpu") and
         f"{c['cpu']}, {c.get('cpus_online', '?')} online"),
        ("system", " ".join(str(c[k]) for k in
                            ("system", "kernel", "machine") if c.get(k))),
    ]
    lines = [f"- {k}: {v}" for k, v in known if v]
    return lines + [""] if lines else []
