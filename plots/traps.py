"""What a program without checks and one that blocks every launch learn of each
planted fault: where the report points, how far off, how reproducibly. Each
claim carries the device, the basis of what was expected and the rows behind
it."""
from collections import Counter

import numpy as np

import data
import stats
from findings import ADVICE, PLAIN, REPORTED, plural, share

NO_TRIAL = ("skipped", "broken")
# Of the device, for good: cudaError_t that leave the context unusable.
STICKY = {700, 702, 710, 714, 715, 716, 717, 718, 719}

# What blocking comes to, by what most of its trials ended as. `hidden` counts
# where it is blocking that hides: all its trials, and not all without it.
VERDICTS = [
    ("right", ("exact",), "Where blocking is right",
     "The report names the launch that faulted."),
    ("wrong", ("late", "misattributed"), "Where blocking blames the wrong "
     "call", "The launches block and are checked, and yet the report names "
     "another one."),
    ("hides", ("hidden",), "Where blocking hides the fault",
     "The fault needs work that overlaps, and blocking takes that away."),
    ("silent", ("silent", "benign"), "Where nothing is reported, blocking or "
     "not", "No call returns an error; `silent` left wrong data behind, "
     "`benign` did not."),
    ("stops", ("hang", "crash"), "Where the program does not come back",
     "It was ended from outside, or by itself."),
    ("never", (), "Where the fault never happened",
     "In no trial of this set, blocking or not."),
]


def trials(run, scenario, strategy):
    return [r for r in run.cell(scenario, strategy)
            if r.get("outcome") not in NO_TRIAL]


def reports(rows):
    return [r for r in rows if r.get("outcome") in REPORTED]


def common(rows, column):
    """The most frequent value; of equals the first by name."""
    counts = Counter(r[column] for r in rows if r.get(column))
    return min(counts, key=lambda v: (-counts[v], v)) if counts else None


def middle(rows, column):
    return spread(data.values(rows, column))


def spread(v):
    """Median and range: `9`, `8 (7 to 9)`, or a dash."""
    if not v:
        return "-"
    low, mid, high = min(v), float(np.median(v)), max(v)
    return f"{mid:g}" if low == high else f"{mid:g} ({low:g} to {high:g})"


def detected(rows):
    """`9/12 [47, 91] %`: trials with a report, and Wilson's interval."""
    found = stats.share(len(reports(rows)), len(rows))
    return "-" if found is None else f"{len(reports(rows))}/{len(rows)} " \
        f"[{found.low * 100:.0f}, {found.high * 100:.0f}] %"


def stability(rows):
    """Share of the reports that name the most common place."""
    sites = Counter((r.get("report_file"), r.get("report_line"))
                    for r in reports(rows))
    total = sum(sites.values())
    return max(sites.values()) / total if total else None


def verdict(run, scenario):
    """The VERDICTS' key of most trials under the advice; None without any."""
    rows = trials(run, scenario, ADVICE)
    struck = [r for r in rows if r.get("outcome") != "hidden"]
    if rows and not struck:
        free = trials(run, scenario, PLAIN)
        return "hides" if any(r.get("outcome") != "hidden" for r in free) \
            else "never"
    kinds = Counter(key for r in struck for key, outcomes, *_ in VERDICTS
                    if r.get("outcome") in outcomes)
    return kinds.most_common(1)[0][0] if kinds else None


def tag(run, scenario, strategies):
    """What a claim rests on."""
    rows = [r for s in strategies for r in run.cell(scenario, s)]
    basis = sorted({r.get("basis") for r in rows} - {"", None}) or ["none"]
    names = ", ".join(f"`{scenario}/faulty/{s}/`" for s in strategies
                      if run.cell(scenario, s))
    return f"<sub>{run.short_name()}; basis: {', '.join(basis)}; rows {names}" \
        f" ({len(rows)})</sub>"


# ---- the table ---------------------------------------------------------------

def half_row(run, scenario, strategy):
    rows = trials(run, scenario, strategy)
    if not rows:
        return ["not run", "-", "-", "-", "-"]
    far = middle(reports(rows), "launches_between")
    late = data.values([r for r in rows if r.get("mode") != "seeded"],
                       "latency_fault_to_report_ns")
    if late and not run.is_simulated():
        far += f", {data.nanoseconds(float(np.median(late)))}"
    same = stability(rows)
    return [data.outcome_text(rows), middle(reports(rows), "suspects"), far,
            detected(rows), "-" if same is None else f"{same * 100:.0f} %"]


def table_rows(run):
    return [[f"[{s}](scenarios.md#{s})"] + half_row(run, s, PLAIN) +
            half_row(run, s, ADVICE) for s in run.scenarios()]


TABLE_HEAD = ["trap"] + [f"`{s}`: {what}" for s in (PLAIN, ADVICE) for what in
                         ("outcomes", "launches suspected", "launches later",
                          "reported", "same place")]


# ---- the claims --------------------------------------------------------------

def told(rows, strategy):
    """Under `sync` 12 of 12 trials named the launch in `recall`."""
    got = reports(rows)
    if not got:
        return f"under `{strategy}` no trial of {len(rows)} had a report " \
            f"({data.outcome_text(rows)})"
    outcome = common(got, "outcome")
    same = [r for r in got if r["outcome"] == outcome]
    where = common(same, "report_function")
    true = common(same, "launch_function")
    far = middle(same, "launches_between")   # `22`, `4 (1 to 7)`, `-`
    text = f"under `{strategy}` {share(len(same), len(rows))} trials "
    if outcome == "exact":
        text += f"named the launch in `{true or '?'}`"
    else:
        text += "blamed" if outcome == "misattributed" else "were told in"
        text += f" `{where or '?'}`"
        if true and far != "-":
            text += f", {far} {'launch' if far == '1' else 'launches'} after " \
                f"the one in `{true}`"
    others = [r for r in rows if r.get("outcome") != outcome]
    return text + (f" ({data.outcome_text(others)})" if others else "")


def claim(run, scenario):
    """One sentence about a scenario under the advice and without it."""
    parts = [told(trials(run, scenario, s), s) for s in (ADVICE, PLAIN)
             if trials(run, scenario, s)]
    text = "; ".join(parts)
    return f"- **{scenario}**: {text}. {tag(run, scenario, (PLAIN, ADVICE))}"


def sections(run):
    """Markdown of all scenarios, by what blocking comes to."""
    out = []
    by_verdict = {}
    for s in run.scenarios():
        by_verdict.setdefault(verdict(run, s), []).append(s)
    for key, _, title, why in VERDICTS:
        if key in by_verdict:
            found = by_verdict[key]
            out += [f"### {title}", "",
                    f"{plural(len(found), 'trap')}. {why}", ""]
            out += [claim(run, s) for s in found] + [""]
    if None in by_verdict:
        out += [f"Not run under `{ADVICE}`: " +
                ", ".join(by_verdict[None]) + ".", ""]
    return out


# ---- crumbs ------------------------------------------------------------------

def crumb_lines(run, strategy="breadcrumb"):
    """Whether a strategy that never waits names the launch of sticky faults."""
    rows = [r for r in run.faulty() if r.get("strategy") == strategy]
    sticky = [r for r in reports(rows)
              if data.number(r.get("error_code")) in STICKY]
    if not sticky:
        return []
    contains = [r for r in sticky if r["outcome"] != "misattributed"]
    alone = [r for r in contains if data.number(r.get("suspects")) == 1]
    waits = sum(data.values(rows, "host_waits"))
    more = sorted({r["scenario"] for r in contains} -
                  {r["scenario"] for r in alone})
    text = f"Of {plural(len(sticky), 'report')} of faults that end the " \
        f"context, `{strategy}`'s suspects held the launch that faulted in " \
        f"{len(contains)} and were exactly it in {len(alone)}"
    if more:
        text += " (never alone where streams overlap: " + \
            ", ".join(f"`{s}`" for s in more) + ")"
    text += f"; it made the host wait {waits:g} times."
    basis = sorted({r.get("basis") for r in sticky} - {"", None}) or ["none"]
    return [f"{text} <sub>{run.short_name()}; basis: {', '.join(basis)}; rows "
            f"`*/faulty/{strategy}/` with error_code "
            f"{', '.join(map(str, sorted(STICKY)))} ({len(sticky)})</sub>", ""]
