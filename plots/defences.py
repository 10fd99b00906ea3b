"""A check in the kernel beside blocking every launch: throughput lost by a
scenario's defended variant under `async`, and by its healthy twin under the
usual advice, both against the healthy twin under `async`, in pairs."""
import cost
import data
import style
from style import plt

TITLE = "A defence in the program beside blocking every launch"
ADVICE = "sync"
WHAT = {
    "guarded": "guarded: the scenario's own defence",
    "clamped": "clamped: the kernel cuts each index to the range",
    "replaced": "replaced: the kernel takes index 0 for a bad one",
    "checked": "checked: the host reads the indices' range back",
    ADVICE: f"{ADVICE}: no defence, every launch blocks",
}


def pairs(run):
    """{scenario: {contender: cell}} of those that have a defence."""
    out = {}
    for c in cost.cells(run):
        if c.workload != cost.SPIN and (c.defence or c.strategy == ADVICE):
            out.setdefault(c.workload, {})[c.strategy] = c
    return {s: cells for s, cells in out.items()
            if any(c.defence for c in cells.values())}


def contenders(found):
    """Defences first, by name; the advice last."""
    names = {n for cells in found.values() for n in cells}
    return sorted(names, key=lambda n: (n == ADVICE, n))


def spread(found):
    """The axis, in percent: all intervals, within reason."""
    costs = [c.cost for cells in found.values() for c in cells.values()]
    low = max(-0.5, min(-0.05, *(c.low for c in costs)))
    high = min(1, max(0.05, *(c.high for c in costs)))
    low = min(low, *(c.median for c in costs))
    return low * 103, high * 103


def draw_point(ax, at, interval, colour, marker, span):
    """An arrow where the interval goes on beyond the picture."""
    low, middle, high = (v * 100 for v in (interval.low, interval.median,
                                           interval.high))
    ends = max(low, span[0]), min(high, span[1])
    ax.plot(ends, (at, at), color=colour, linewidth=1.6, alpha=0.6, zorder=2)
    for end, wanted, arrow in zip(ends, (low, high), "<>"):
        if end != wanted:
            ax.plot(end, at, arrow, color=colour, markersize=5, clip_on=False)
    ax.plot(middle, at, marker, color=colour, markersize=6,
            markeredgecolor=style.PAPER, markeredgewidth=0.5, zorder=3)


def draw(run):
    found = pairs(run)
    if not found:
        return None
    names = contenders(found)
    looks = dict(zip(names[:-1] if ADVICE in names else names, (
        (style.GREEN, "o"), (style.colour(style.BLUE), "s"),
        (style.PURPLE, "^"), (style.ORANGE, "P"))))
    looks[ADVICE] = (style.VERMILION, "D")
    lines = -(-len(names) // 2)
    most = max(map(len, found.values()))
    height = 1.65 + 0.22 * lines + (0.14 + 0.11 * most) * len(found)
    fig, ax = plt.subplots(figsize=(style.WIDTH, height))
    scenarios, span = sorted(found), spread(found)
    for y, scenario in enumerate(scenarios):
        here = [n for n in names if n in found[scenario]]
        for i, name in enumerate(here):
            at = y + (i - (len(here) - 1) / 2) * min(0.24, 0.62 / most)
            draw_point(ax, at, found[scenario][name].cost,
                       *looks.get(name, (style.MUTED, "p")), span)
    ax.axvline(0, color=style.INK, linewidth=1, zorder=1)
    ax.set(xlim=span, ylim=(len(scenarios) - 0.4, -0.6),
           yticks=range(len(scenarios)),
           xlabel="throughput lost against the healthy twin under "
           f"{cost.BASELINE}")
    ax.set_yticklabels(scenarios)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda v, _: f"{v:g} %")
    style.heading(fig, TITLE, "median of paired, interleaved turns; lines are "
                  "95 % bootstrap intervals", run.device_label())
    fig.legend([plt.Line2D([], [], color=looks.get(n, (style.MUTED, "p"))[0],
                           marker=looks.get(n, (style.MUTED, "p"))[1],
                           markersize=6, linewidth=1.6) for n in names],
               [WHAT.get(n, n) for n in names],
               loc="lower center", ncol=2, bbox_to_anchor=(0.5, 0.0))
    fig.subplots_adjust(left=0.185, right=0.985, top=1 - 0.78 / height,
                        bottom=(0.64 + 0.22 * lines) / height)
    return fig
