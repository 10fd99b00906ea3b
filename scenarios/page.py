"""Writes docs/scenarios.md: faultlag list --json | scenarios/page.py

The page is the catalogue's own account of itself, so that it cannot say
anything else than what is planted and expected. A test compares the two.
"""
import json
import sys

INTRO = """\
# Scenarios

<!-- Written by scenarios/page.py from `faultlag list --json`; do not edit. -->

A scenario is a small training program with one planted fault, in one file `scenarios/NAME.c`. Most run two steps of 10 to 30 launches: a good batch, then the one in question. `faulty` has the fault; `healthy`, its twin, runs the same code and differs by exactly the fault; `guarded` meets the faulty input with a defence, as do `clamped`, `replaced` and `checked` where there are several (below). What is expected stands beside the planted launch in the source and was written before the cell's first run. All but `faulty` must always come out clean, with the right data.

Three witnesses must agree on a fault: the *beacon*, which the first thread about to commit it writes to host memory; the scenario's *oracle*, which computes on the CPU which thread and value must be bad and what the right data are; and, on simgpu, the device's own record.

Outcomes: `exact` names the fault launch; `late` is a later launch or call that claims nothing; `misattributed` is blamed by a check that claims to be about it; `silent` and `benign` are never reported, with wrong and with right data; `hidden` did not happen under this strategy. *reported in* is the function that holds the report; of the rows that match a strategy, device and mode the first decides.

Four defences of an index stand side by side in `bad-gather` and `negative-index`. `guarded`: the look-up's own kernel checks and takes zeros. `clamped`, `replaced`: a kernel before it cuts the indices to the valid range, or puts index 0 in a bad one's place (what frameworks call `clamp` and `where`). `checked`: the host asks `index.min() >= 0 and index.max() < size` and refuses the batch; that is a launch, a copy and **a wait of the host in each step**, what launches that block have for each launch. None of the four counts from the end, as Python would; what each makes of a list for three rows:

| indices | valid in Python | guarded takes | clamped | replaced | checked |
| --- | --- | --- | --- | --- | --- |
| 0, 1, 2 | yes | rows 0, 1, 2 | rows 0, 1, 2 | rows 0, 1, 2 | accepts |
| -1 | yes: row 2 | zeros | row 0 | row 0 | refuses |
| 100 | no | zeros | row 2 | row 0 | refuses |

`corrupt-sample` and `roi-align` depend on the data: how many of their samples are bad, 1, 2, 4 or 8, is drawn from the trial's seed like all of its input. The column `bad_samples_ppm` has the share, so that trials can be sorted by it, and a seed is all that a replay needs. Of the eight steps of `corrupt-sample`, a median of 2.5 are good before the fault with one bad record of 32 (none to seven), 1 with two, 0 with four or eight; the validation of `roi-align` stops in its third batch with one bad box of 192, in its first with two or more (medians over seeds 1 to 100; `--strategy async --schedule eager --trials 100`, grouped by `bad_samples_ppm`).

How often a race is lost is measured, not expected: `preprocess-race` on simgpu, seeds 1 to 200, faults under `async` in 0 % of eager, 20.5 % of lazy and 25.5 % of random schedules, under `sync` in none. (`faultlag run preprocess-race --device sim --strategy async,sync --schedule all --trials 200`; a seed gives the same row every time.) Since copies take no time there, `copy-race` faults under `async` in hardly any random schedule, in most lazy ones, and in about a third of free trials.

To add one: `scenarios/NAME.c`, its line in `scenarios/catalogue.def`, its kernel in `kernels/` if no other will do, and this page again.
"""

DEVICES = {1: "sim", 2: "cuda"}
MODES = {1: "free", 2: "random", 4: "eager", 8: "lazy"}
ANY_DEVICE, ANY_MODE = 3, 15


def names(members, value, all_of_them):
    if value == all_of_them:
        return []
    return [name for bit, name in members.items() if value & bit]


def where(row):
    words = (names(DEVICES, row["devices"], ANY_DEVICE)
             + names(MODES, row["modes"], ANY_MODE))
    return ", ".join(words) or "any"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |",
             "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)


def outcomes(row):
    text = row["outcomes"].replace("|", " or ")
    if "some" in row:
        text += "; of 20 trials, some " + row["some"].replace("|", " or ")
    return text


def function(row):
    return f"`{row['where']}`" if "where" in row else ""


def section(s):
    site = f"`{s['launch_function']}`"
    facts = [f"{s['summary'][0].upper()}{s['summary'][1:]}.",
             f"Stands for: {s['stands_for']}."]
    if "fault_kernel" in s:
        facts.append(f"Planted in `{s['fault_kernel']}` "
                     f"(`{s['fault_file']}`), launched in {site}.")
    else:
        facts.append(f"Committed by the host, at the launch in {site}.")
    if s.get("launch_unchecked"):
        facts.append("That launch stands for a library's: no strategy checks "
                     "it.")
    if "guard" in s:
        facts.append(f"Guarded: {s['guard']}.")
    rows = [(f"`{e['strategy']}`", where(e), outcomes(e), e.get("code", ""),
             function(e), e["basis"], e.get("note", ""))
            for e in s["expect"]]
    return "\n\n".join([f"## {s['name']}", " ".join(facts),
                        table(["strategy", "device, mode", "outcome", "code",
                               "reported in", "basis", "why"], rows)])


def main():
    scenarios = json.load(sys.stdin)["scenarios"]
    overview = [(f"[{s['name']}](#{s['name']})", s["summary"],
                 ", ".join(s["variants"])) for s in scenarios]
    print("\n\n".join([INTRO.rstrip(),
                       table(["scenario", "planted", "variants"], overview)]
                      + [section(s) for s in scenarios]))


main()
