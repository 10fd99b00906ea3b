"""What checking costs when nothing is wrong: throughput lost against `async`
over the length of a kernel, with bootstrap bands, a panel for each amount of
host work between launches. cells() is also what the report's table shows."""
from collections import defaultdict, namedtuple

import numpy as np

import data
import stats
import style
from style import plt

TITLE = "What a strategy costs when nothing is wrong"
BASELINE = "async"
SPIN = "spin"



def host_label(ns):
    return "no host work between launches" if ns == 0 else \
        f"{data.nanoseconds(ns)} of host work between launches"


Cell = namedtuple("Cell", "workload host kernel measured strategy cost "
                  "extra_ns pairs defence")
HEALTHY = ("", "healthy")           # rows older than the column have none


def contender(row):
    """What a row competes as: its strategy, or the defence that it ran with
    in place of one."""
    variant = row.get("variant") or ""
    return row.get("strategy") if variant in HEALTHY else variant


def turns(run):
    """{(workload, host ns, kernel ns): {contender: {repetition: row}}}; the
    two times are None for a scenario."""
    table = defaultdict(lambda: defaultdict(dict))
    for r in run.throughput:
        workload = r.get("workload") or SPIN
        host, kernel = (data.number(r.get(c)) for c in
                        ("host_work_ns", "kernel_target_ns"))
        rate = data.number(r.get("steps_per_s"))
        if (workload == SPIN and None in (host, kernel)) or not rate \
                or rate < 0 or not contender(r):
            continue
        table[workload, host, kernel][contender(r)][r.get("repetition")] = r
    return table


def compare(key, strategy, rows, base):
    """Only turns of the same repetition, which were neighbours in time, are
    compared, in their order (the bootstrap's digits depend on it). extra_ns:
    time added to each launch."""
    both = sorted(set(rows) & set(base), key=lambda r: data.number(r) or 0)
    a = data.values([rows[k] for k in both], "steps_per_s")
    b = data.values([base[k] for k in both], "steps_per_s")
    launches = [data.number(rows[k].get("launches_per_step")) for k in both]
    extra = [(1 / x - 1 / y) * 1e9 / n for x, y, n in zip(a, b, launches) if n]
    measured = data.values(base.values(), "kernel_measured_ns")
    workload, host, kernel = key
    return Cell(workload, host, kernel,
                float(np.median(measured)) if measured else None, strategy,
                stats.cost(a, b), stats.median(extra), len(both),
                any((r.get("variant") or "") not in HEALTHY
                    for r in rows.values()))


def cells(run):
    """Every cell of every strategy but the baseline, and of every defence, spin
    kernels by host work and length first, scenarios after. Kept with the run:
    many ask, and the bootstrap takes its time."""
    if "cost_cells" not in vars(run):
        run.cost_cells = computed_cells(run)
    return run.cost_cells


def computed_cells(run):
    out = []
    for key, by_strategy in sorted(
            turns(run).items(),
            key=lambda i: (i[0][0] != SPIN, i[0][0], i[0][1:] if
                           i[0][0] == SPIN else ())):
        base = by_strategy.get(BASELINE, {})
        for strategy in sorted(by_strategy, key=data.strategy_key):
            rows = by_strategy[strategy]
            if strategy != BASELINE and set(rows) & set(base):
                out.append(compare(key, strategy, rows, base))
    return out


def axis_place(kernel, shortest):
    """Where a length stands on the logarithmic axis; the empty kernel has a
    place of its own to the left."""
    return kernel if kernel > 0 else shortest / 4


def draw_panel(ax, cells_, strategies, marks, shortest):
    for strategy in strategies:
        line = sorted((c.kernel, c.cost) for c in cells_
                      if c.strategy == strategy)
        if not line:
            continue
        x = [axis_place(k, shortest) for k, _ in line]
        low, mid, high = (np.array([getattr(c, f) for _, c in line]) * 100
                          for f in ("low", "median", "high"))
        colour, marker = marks[strategy]
        ax.fill_between(x, low, high, color=colour, alpha=0.14, linewidth=0)
        ax.plot(x, mid, color=colour, marker=marker, markersize=6,
                linewidth=1.6, markeredgecolor=style.PAPER, markeredgewidth=0.6,
                label=strategy)
    ax.axhline(0, color=style.INK, linewidth=1, zorder=1)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xlabel("work of one kernel")


def label_axis(ax, kernels, shortest, apart=2.5):
    """A tick a length, thinned where labels would touch."""
    places, labels, last = [], [], 0
    for kernel in kernels:
        place = axis_place(kernel, shortest)
        if place > last * apart:
            places.append(place)
            labels.append(data.nanoseconds(kernel) if kernel else "empty")
            last = place
    ax.set_xticks(places)
    ax.set_xticklabels(labels)
    ax.yaxis.set_major_formatter(lambda v, _: f"{v:g} %")


def draw(run):
    spin = [c for c in cells(run) if c.workload == SPIN]
    if not spin:
        return None
    hosts = sorted({c.host for c in spin})
    kernels = sorted({c.kernel for c in spin})
    shortest = min([k for k in kernels if k > 0] or [1e3])
    strategies = sorted({c.strategy for c in spin}, key=data.strategy_key)
    marks = style.marks(strategies)
    legend_lines = -(-len(strategies) // 6)
    height = 4.3 + 0.22 * legend_lines
    fig, axes = plt.subplots(1, len(hosts), figsize=(style.WIDTH, height),
                             sharey=True, sharex=True, squeeze=False)
    for ax, host in zip(axes.flat, hosts):
        draw_panel(ax, [c for c in spin if c.host == host], strategies, marks,
                   shortest)
        ax.set_title(host_label(host))
        label_axis(ax, kernels, shortest)
    # Room for the medians; of wide bands only what is near them.
    low = max(min(c.cost.low for c in spin),
              min(0, *(c.cost.median for c in spin)) - 0.2)
    axes[0, 0].set(ylim=(min(low, -0.05) * 100, 102),
                   ylabel=f"throughput lost against {BASELINE}")
    handles, labels = axes.flat[-1].get_legend_handles_labels()
    fig.legend(handles, labels, loc="lower center",
               ncol=-(-len(strategies) // legend_lines),
               bbox_to_anchor=(0.5, 0.0))
    style.heading(fig, TITLE, "healthy steps; median of paired, interleaved "
                  "turns, bands are 95 % bootstrap intervals",
                  run.device_label())
    fig.subplots_adjust(left=0.092, right=0.985, wspace=0.06,
                        top=1 - 0.98 / height,
                        bottom=(0.7 + 0.22 * legend_lines) / height)
    return fig
