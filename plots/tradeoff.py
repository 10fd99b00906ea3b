"""Localisation against cost, one point a strategy: how often its report names
the launch that faulted, over what it adds when nothing is wrong. Left in waits
of the host, which are the same on every machine; right in time on this device,
with its bootstrap interval."""
import numpy as np

import cost
import data
import style
from style import plt

TITLE = "What a strategy finds, and what it costs"
KERNEL_NS = 10e3                    # the cell whose cost is shown: nearest
NO_TRIAL = ("skipped", "broken")


def found(run, strategy):
    """Share of the trials with a planted fault whose report names the launch
    that faulted, and it alone."""
    rows = [r for r in run.faulty() if r.get("strategy") == strategy
            and r.get("outcome") not in NO_TRIAL]
    return sum(r.get("outcome") == "exact" for r in rows) / len(rows) \
        if rows else None


def waits(run, strategy):
    """Host waits a launch, median over healthy trials."""
    v = [data.number(r.get("host_waits")) / data.number(r.get("launches"))
         for r in run.trials if r.get("variant") == "healthy"
         and r.get("strategy") == strategy and data.number(r.get("launches"))
         and data.number(r.get("host_waits")) is not None]
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


def draw_points(ax, points, marks):
    """points: [(strategy, x, y, (low, high) or None)]. Of points on one spot
    each next one is drawn a little higher, so that all are seen."""
    low, high = ax.get_ylim()
    taken = {}
    for strategy, x, y, interval in points:
        colour, marker = marks[strategy]
        spot = (round(x, 2) if interval is None else None, round(y, 2))
        up = taken[spot] = taken.get(spot, -1) + 1
        y += up * (high - low) * 0.028
        if interval:
            ax.plot(interval, (y, y), color=colour, linewidth=1.6, alpha=0.6,
                    zorder=2)
        ax.plot(x, y, marker=marker, color=colour, markersize=9,
                markeredgecolor="white", markeredgewidth=0.7, zorder=3,
                linestyle="", clip_on=False)


def legend(fig, marks):
    lines = -(-len(marks) // 6)
    fig.legend([plt.Line2D([], [], color=c, marker=m, markersize=8,
                           linestyle="") for c, m in marks.values()],
               list(marks), loc="lower center", ncol=-(-len(marks) // lines),
               bbox_to_anchor=(0.5, 0.0))
    return lines


def draw(run):
    names = run.strategies()
    shares = {s: found(run, s) for s in names}
    by_wait = [(s, waits(run, s), shares[s], None) for s in names
               if shares[s] is not None and waits(run, s) is not None]
    cells, cell = typical(run)
    by_time = [(s, c.median, shares[s], (c.low, c.high)) for s, c in
               ((s, cells[s].cost if s in cells else
                 cost.stats.Interval(0, 0, 0) if s == cost.BASELINE else None)
                for s in names) if c and shares[s] is not None]
    panels = [p for p in ((by_wait, "host waits added a launch"),
                          (by_time, "throughput lost against "
                           f"{cost.BASELINE}")) if p[0]]
    if not panels or not any(shares.values()):
        return None
    marks = style.marks(names)
    height = 4.7
    fig, axes = plt.subplots(1, len(panels), figsize=(style.WIDTH, height),
                             sharey=True, squeeze=False)
    for ax, (points, label) in zip(axes.flat, panels):
        x = [p[1] for p in points] + [v for p in points for v in p[3] or ()]
        room = max(max(x) - min(x), 0.02) * 0.07
        ax.set(xlim=(min(min(x), 0) - room, max(x) + room), ylim=(-0.03, 1.0),
               xlabel=label)
        draw_points(ax, points, marks)
    axes[0, 0].set_ylabel("trials that named the faulting launch")
    axes[0, 0].yaxis.set_major_formatter(lambda v, _: f"{v * 100:.0f} %")
    if by_time:
        axes.flat[-1].xaxis.set_major_formatter(
            lambda v, _: f"{v * 100:.0f} %")
        axes.flat[-1].set_title(f"kernels of {data.nanoseconds(cell.kernel)}, "
                                f"{data.nanoseconds(cell.host)} host work")
    if by_wait:
        axes[0, 0].set_title("counted, on any device")
    style.heading(fig, TITLE, "points at one height are drawn above each "
                  "other; lines are 95 % bootstrap intervals", run.device_label())
    lines = legend(fig, marks)
    fig.subplots_adjust(left=0.092, right=0.985, wspace=0.08,
                        top=1 - 0.98 / height,
                        bottom=(0.66 + 0.22 * lines) / height)
    return fig
