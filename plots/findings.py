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


def sentence_cost(run):
    spin = [c for c in cost.cells(run) if c.workload == cost.SPIN]
    if not spin:
        return "This run holds no throughput measurements."
    strategies = sorted({c.strategy for c in spin}, key=data.strategy_key)
    strategy = ADVICE if ADVICE in strategies else strategies[0]
    host = min(c.host for c in spin)
    line = sorted((c for c in spin if c.strategy == strategy
                   and c.host == host), key=lambda c: c.kernel)
    first, last = line[0], line[-1]
    name = "empty kernels" if first.kernel == 0 else \
        f"kernels of {data.nanoseconds(first.kernel)}"
    text = f"Of `{cost.BASELINE}`'s throughput on healthy work, " \
        f"`{strategy}` {lost(first.cost)} with {name}"
    if last is not first:
        text += f" and {lost(last.cost)} with kernels of " \
            f"{data.nanoseconds(last.kernel)}"
    checked = [c for c in spin if c.strategy == "async-check"]
    if checked and strategy != "async-check":
        worst = max(checked, key=lambda c: c.cost.median)
        text += f"; `async-check`, at its worst, {lost(worst.cost)}"
    if run.device.startswith("sim"):
        text += " (times of the software device, not of a GPU)"
    return text + "."


def sentences(run):
    return [sentence_place(run), sentence_unseen(run), sentence_cost(run)]


def context_lines(run):
    """The scalars of context.json, as they are."""
    lines = [f"- {k.replace('_', ' ')}: {v}" for k, v in run.context.items()
             if isinstance(v, (str, int, float)) and str(v)]
    return lines + [""] if lines else []
