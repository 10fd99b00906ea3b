"""Localisation against cost, one point a strategy: how often its report names
the launch that faulted, over what it adds to each launch when nothing is
wrong. What is counted (waits of the host, runtime calls) is the same on every
device. Time is shown for a GPU only: a software device's says nothing about
one, and has the picture of cost.py."""
import numpy as np

import cost
import data
import style
from style import plt

TITLE = "What a strategy finds, and what it costs"
KERNEL_NS = 10e3                    # the cell whose cost is shown: nearest
NO_TRIAL = ("skipped", "broken")
BESIDE = 4                          # points that fit next to each other


def names_it(row):
    """The report names the launch that faulted, and it alone; with more under
    suspicion it would be right by luck."""
    return row.get("outcome") == "exact" and \
        data.number(row.get("suspects")) in (None, 1)


def found(run, strategy):
    """Share of the trials with a planted fault whose report names the launch
    that faulted. Every scenario weighs the same, however many trials it had."""
    by_scenario = {}
    for r in run.faulty():
        if r.get("strategy") == strategy and r.get("outcome") not in NO_TRIAL:
            by_scenario.setdefault(r.get("scenario"), []).append(names_it(r))
    return float(np.mean([np.mean(v) for v in by_scenario.values()])) \
        if by_scenario else None


def per_launch(run, strategy, column):
    """Of a launch, median over healthy trials."""
    v = [data.number(r.get(column)) / data.number(r.get("launches"))
         for r in run.trials if r.get("variant") == "healthy"
         and r.get("strategy") == strategy and data.number(r.get("launches"))
         and data.number(r.get(column)) is not None]
    return float(np.median(v)) if v else None


def typical(run):
    """The cells of the kernel length next to KERNEL_NS with the most host
    work, by strategy; the baseline costs nothing by definition."""
    spin = [c for c in cost.cells(run) if c.workload == cost.SPIN]
    if not spin:
        return {}, None
    best = min(spin, key=lambda c: (abs(c.kernel - KERNEL_NS), -c.host))
    return {c.strategy: c for c in spin if (c.kernel, c.host) ==
            (best.kernel, best.host)}, best


def counted(run, strategies, column):
    return {s: (v, v, v) for s, v in
            ((s, per_launch(run, s, column)) for s in strategies)
            if v is not None}


def timed(run, strategies):
    """Throughput lost in percent, by strategy, and the cell; nothing of a
    simulated device."""
    cells, cell = typical(run)
    if run.is_simulated() or not cell:
        return {}, None
    lost = {s: tuple(100 * v for v in cells[s].cost) if s in cells else
            (0, 0, 0) for s in strategies if s in cells or s == cost.BASELINE}
    return lost, cell


def panels(run, strategies):
    """[(title, label of the axis, {strategy: (median, low, high)})]"""
    lost, cell = timed(run, strategies)
    all_ = [("host waits", "waits for the device a launch",
             counted(run, strategies, "host_waits")),
            ("runtime calls", "calls added a launch",
             counted(run, strategies, "strategy_calls")),
            (cell and f"time, {data.nanoseconds(cell.kernel)} kernels",
             f"% of {cost.BASELINE}'s throughput lost", lost)]
    return [p for p in all_ if p[2]]


def spots(points, reach):
    """[[(strategy, x, y)]]: those that would cover each other, together."""
    out = []
    for strategy, (x, y) in sorted(points.items(), key=lambda p: p[1]):
        for spot in out:
            if abs(x - spot[-1][1]) < reach[0] and \
                    abs(y - spot[0][2]) < reach[1]:
                spot.append((strategy, x, y))
                break
        else:
            out.append([(strategy, x, y)])
    return out


def draw_points(ax, points, marks, beside):
    """Points on one spot stand side by side, in the order of the legend, and
    in lines above each other where they are many."""
    low, high = ax.get_xlim()
    wide = (high - low) * 0.0175 * beside    # panels beside each other
    for spot in spots(points, (wide * 1.5, 0.035)):
        middle = float(np.mean([x for _, x, _ in spot]))
        lines = -(-len(spot) // BESIDE)
        columns = -(-len(spot) // lines)
        for i, (strategy, _, y) in enumerate(
                sorted(spot, key=lambda p: data.strategy_key(p[0]))):
            line, column = divmod(i, columns)
            here = min(columns, len(spot) - line * columns)
            colour, marker = marks[strategy]
            ax.plot(middle + (column - (here - 1) / 2) * wide,
                    y + line * 0.045,
                    marker=marker, color=colour, linestyle="", zorder=4,
                    markersize=12 if marker == "*" else 9, clip_on=False,
                    markeredgecolor=style.PAPER, markeredgewidth=0.6)


def legend(fig, marks):
    lines = -(-len(marks) // 7)
    fig.legend([plt.Line2D([], [], color=c, marker=m, linestyle="",
                           markersize=11 if m == "*" else 8)
                for c, m in marks.values()],
               list(marks), loc="lower center", ncol=-(-len(marks) // lines),
               bbox_to_anchor=(0.5, 0.0), columnspacing=1.4)
    return lines


def draw_panel(ax, title, label, values, shares, marks, beside):
    points = {s: (v[0], shares[s]) for s, v in values.items()}
    x = [v for interval in values.values() for v in interval]
    room = max(max(x) - min(min(x), 0), 0.02) * 0.12
    ax.set(xlim=(min(min(x), 0) - room, max(x) + room), ylim=(-0.03, 1.06),
           xlabel=label, title=title)
    for s, (_, low, high) in values.items():
        if high > low:
            ax.plot((low, high), [shares[s]] * 2, color=marks[s][0],
                    linewidth=1.6, alpha=0.6, zorder=2)
    draw_points(ax, points, marks, beside)


def draw(run):
    shares = {s: found(run, s) for s in run.strategies()}
    names = [s for s in shares if shares[s] is not None]
    drawn = panels(run, names)
    if not drawn or not any(shares.values()):
        return None
    marks = style.marks(names)
    height = 4.9
    fig, axes = plt.subplots(1, len(drawn), figsize=(style.WIDTH, height),
                             sharey=True, squeeze=False)
    for ax, (title, label, values) in zip(axes.flat, drawn):
        draw_panel(ax, title, label, values, shares, marks, len(drawn))
    axes[0, 0].set_ylabel("trials that named the faulting launch alone")
    axes[0, 0].yaxis.set_major_formatter(lambda v, _: f"{v * 100:.0f} %")
    scenarios = len(run.scenarios())
    style.heading(fig, TITLE, f"mean over {scenarios} scenarios with a planted "
                  "fault; points on one spot stand beside each other",
                  run.device_label())
    lines = legend(fig, marks)
    fig.subplots_adjust(left=0.092, right=0.985, wspace=0.08,
                        top=1 - 0.98 / height,
                        bottom=(0.66 + 0.22 * lines) / height)
    return fig
