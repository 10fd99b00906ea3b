"""Rows set against each other: trials of one scenario by how many of its
samples were bad, and two sets made on different devices."""
import data
import traps
from findings import joined, plural, share
from report import table

SWEEP = "bad_samples_ppm"


# ---- the share of bad samples ------------------------------------------------

def sweeps(run):
    """{scenario: [share in millionths]} where trials differ in it."""
    out = {}
    for scenario in run.scenarios():
        rates = sorted({v for s in run.strategies() for v in
                        data.values(run.cell(scenario, s), SWEEP)})
        if len(rates) > 1:
            out[scenario] = rates
    return out


def bands(rates, most=5):
    """Up to `most` bands of rates, as equal in number as can be."""
    n = min(most, len(rates))
    return [rates[i * len(rates) // n:(i + 1) * len(rates) // n]
            for i in range(n)]


def rate_text(band):
    low, high = (f"{v / 1e4:.3g}" for v in (band[0], band[-1]))
    return f"{low} %" if low == high else f"{low} to {high} %"


def before(rows):
    v = data.values(rows, "launch_index")
    return traps.spread([x - 1 for x in v])


def sweep_section(run):
    found = sweeps(run)
    if not found:
        return []
    strategies = [s for s in (traps.PLAIN, traps.ADVICE, "breadcrumb")
                  if s in run.strategies()]
    out = ["## How the share of bad samples matters", "",
           "Launches that went well before the one that faulted, and trials "
           "with a report (Wilson's 95 % interval), by the share of bad "
           "samples in the input:", ""]
    rows = []
    for scenario, rates in found.items():
        for band in bands(rates):
            mine = [[r for r in traps.trials(run, scenario, s)
                     if data.number(r.get(SWEEP)) in band] for s in strategies]
            rows.append([scenario, rate_text(band), before(sum(mine, []))] +
                        [traps.detected(m) for m in mine])
    return out + table(["trap", "bad samples", "launches before"] +
                       strategies, rows) + [
        f"<sub>{run.short_name()}; rows " + ", ".join(
            f"`{s}/faulty/*/`" for s in found) + f", column {SWEEP}</sub>", ""]


# ---- two devices -------------------------------------------------------------

def free(run, scenario, strategy):
    return [r for r in traps.trials(run, scenario, strategy)
            if r.get("mode", "free") != "seeded"]


def cells(run, other):
    """[(scenario, strategy, rows here, rows there)] of free-running trials,
    the only ones that a GPU has."""
    out = []
    for scenario in run.scenarios():
        for strategy in run.strategies():
            pair = [free(r, scenario, strategy) for r in (run, other)]
            if all(pair):
                out.append((scenario, strategy, *pair))
    return out


def differs(here, there):
    """Not one outcome or report is common to the two."""
    return not set(data.outcome_counts(here)) & set(data.outcome_counts(there))


def compare_section(run, other):
    names = run.short_name(), other.short_name()
    both = cells(run, other)
    out = [f"## Against {other.device_label()}", ""]
    if run.is_simulated() == other.is_simulated():
        out += ["Both sets are of one kind of device.", ""]
    if not both:
        return out + ["The two sets have no cell in common.", ""]
    apart = [c for c in both if differs(*c[2:])]
    partly = [c for c in both if not differs(*c[2:]) and
              set(data.outcome_counts(c[2])) != set(data.outcome_counts(c[3]))]
    out += [f"Of {plural(len(both), 'cell')} that both have in free-running "
            f"trials, {share(len(both) - len(apart) - len(partly), len(both))}"
            f" ended alike, {len(partly)} had some outcomes in common and "
            f"{len(apart)} none.", ""]
    rows = [[a, b, data.outcome_text(here), data.outcome_text(there),
             ", ".join(sorted({r.get("basis") for r in there} - {"", None}))
             or "none", "none in common" if differs(here, there) else "partly"]
            for a, b, here, there in apart + partly]
    if rows:
        out += table(["trap", "strategy", *names, "basis", "agree"], rows)
    far = [[a, b, *(traps.middle(traps.reports(x), "launches_between")
                    for x in (here, there))] for a, b, here, there in both]
    far = [r for r in far if r[2] != r[3] and "-" not in r[2:]]
    if far:
        out += ["Launches between fault and report, where they differ:", ""]
        out += table(["trap", "strategy", *names], far)
    for a, b, name in ((run, other, names[0]), (other, run, names[1])):
        more = sorted(set(a.scenarios()) - set(b.scenarios()))
        if more:
            out += [f"Only on {name}: " + joined(f"`{s}`" for s in more) +
                    ".", ""]
    return out + [f"<sub>{names[0]} and {names[1]}; rows "
                  "`*/faulty/*/free/`</sub>", ""]
