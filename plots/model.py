"""What a strategy should cost, computed from single calls, against what it was
measured to cost.

The host prepares launches, the device works them off, and a strategy that
waits lets the two take turns instead of overlapping. A launch costs

    host      host work + launch + calls that the strategy adds
    device    one kernel, back to back + commands that the strategy adds

and a run of g launches that ends with a wait

    host + (g - 1) max(host, device) + kernel + start

where start is what launch-and-wait of an empty kernel takes beyond launching
it. A step under `sync` is n such runs of one launch, under `async` one of n. A
step as a graph is the host's work, then capturing, updating and launching a
graph of n empty kernels, then the kernels.

Calls, waits and commands are medians of micro.json, the kernel is measured in
throughput.csv next to the turns; no parameter is fitted to the throughput that
is predicted, so every miss is the model's. Short kernels cannot be measured
back to back (one then sees launches), so theirs is the calibrated length, in
the scale of the long ones."""
from collections import namedtuple

import numpy as np

import cost
import data
import style
from style import plt

TITLE = "Cost model against measurement"
MISS = 0.10                         # of async's throughput
LONG_NS = 3e4                       # kernels that hide their launch
COLUMNS = 4

# What a strategy does at each launch: calls of the host, commands for the
# device (micro.json's names), and after how many launches it waits. event-poll
# asks at most twice: once for what is done, once for what is not yet.
Habit = namedtuple("Habit", "calls commands waits graph",
                   defaults=({}, {}, None, False))
GRAPH, IN_GRAPH = "graph/16", 16    # what it is called, and launches in it
ASK = {"cudaGetLastError": 1}
HABITS = {
    "async": Habit(),
    "async-check": Habit(ASK),
    "sync": Habit(ASK, {}, 1),
    "sync-unchecked": Habit({}, {}, 1),
    "stream-sync": Habit(ASK, {}, 1),
    "device-sync": Habit(ASK, {}, 1),
    "every-8": Habit({}, {}, 8),
    "event-poll": Habit({**ASK, "cudaEventRecord": 1,
                         "cudaEventQuery/complete": 2},
                        {"drain/cudaEventRecord": 1}),
    "graph": Habit(graph=True),
    "graph-sync": Habit(graph=True),
    "dsa": Habit(),                 # it reads memory of its own
    "breadcrumb": Habit({**ASK, "cuStreamWriteValue32": 2},
                        {"drain/cuStreamWriteValue32": 2}),
}

# kernel, host: of the cell, in ns; predicted, cost: lost against async, 0 to
# 1; ratio: predicted time of a step over the measured one.
Point = namedtuple("Point", "strategy kernel host predicted cost ratio")


def call_times(run):
    """{call: median ns} of micro.json."""
    found = run.micro.get("benchmarks")
    out = {}
    for b in found if isinstance(found, list) else []:
        scale = isinstance(b, dict) and data.TIME_UNITS.get(b.get("time_unit"))
        time = scale and data.number(b.get("real_time"))
        if time and b.get("aggregate_name") == "median":
            out[data.call_name(b)] = time * scale
    return out


def lacks(strategy, times):
    """Why this strategy cannot be predicted; None when it can."""
    habit = HABITS.get(strategy)
    if habit is None:
        return "not in the model"
    needed = {GRAPH} if habit.graph else \
        {"launch", "launch_sync", *habit.calls, *habit.commands}
    missing = sorted(needed - set(times))
    return f"micro.json has no {', '.join(missing)}" if missing else None


def kernel_scale(cells):
    """How much longer than calibrated kernels were in these turns."""
    scales = [c.measured / c.kernel for c in cells
              if c.measured and c.kernel and c.kernel >= LONG_NS]
    return float(np.median(scales)) if scales else 1.0


def step_ns(strategy, times, cell, scale, n):
    """A step of n launches. cell.measured: a launch and its kernel, back to
    back."""
    habit = HABITS[strategy]
    kernel = cell.kernel * scale
    back_to_back = cell.measured or kernel
    kernel = min(kernel, back_to_back)
    if habit.graph:
        return n * (cell.host + times[GRAPH] / IN_GRAPH + kernel)

    def total(names):
        return sum(k * times[name] for name, k in names.items())

    host = cell.host + times["launch"] + total(habit.calls)
    commands = total(habit.commands)
    device = back_to_back + commands
    start = max(0, times["launch_sync"] - times["launch"])
    most = habit.waits or n
    runs = [min(most, n - done) for done in range(0, n, most)]
    return sum(host + (g - 1) * max(host, device) + kernel + commands + start
               for g in runs)


def measured_step(run):
    """{(strategy, host, kernel): (median ns of a step, launches in one)}"""
    out = {}
    for (workload, host, kernel), by_strategy in cost.turns(run).items():
        for strategy, rows in by_strategy.items():
            n = data.values(rows.values(), "launches_per_step")
            if workload == cost.SPIN and n and n[0] >= 1:
                rates = data.values(rows.values(), "steps_per_s")
                out[strategy, host, kernel] = (1e9 / float(np.median(rates)),
                                               int(n[0]))
    return out


def points(run):
    times, measured, out = call_times(run), measured_step(run), []
    if lacks(cost.BASELINE, times):
        return []
    spin = [c for c in cost.cells(run) if c.workload == cost.SPIN]
    scale = kernel_scale(spin)
    for c in spin:
        at = measured.get((c.strategy, c.host, c.kernel))
        if not at or lacks(c.strategy, times):
            continue
        ns, n = at
        mine, base = (step_ns(s, times, c, scale, n)
                      for s in (c.strategy, cost.BASELINE))
        out.append(Point(c.strategy, c.kernel, c.host, 1 - base / mine,
                         c.cost, mine / ns))
    return out


def misses(point):
    """The prediction is far off, and not for want of precision."""
    return abs(point.predicted - point.cost.median) > MISS and not \
        point.cost.low <= point.predicted <= point.cost.high


def looks():
    """Of the amounts of host work: colour and line."""
    return zip(map(style.colour, (style.BLUE, style.ORANGE, style.GREEN,
                                  style.PURPLE)), ("-", "--", "-.", ":"))


def draw_panel(ax, points_, hosts, shortest):
    for host, (colour, line) in zip(hosts, looks()):
        mine = sorted((p for p in points_ if p.host == host),
                      key=lambda p: p.kernel)
        if not mine:
            continue
        x = [cost.axis_place(p.kernel, shortest) for p in mine]
        ax.plot(x, [p.predicted * 100 for p in mine], line, color=colour,
                linewidth=1.6, zorder=2)
        for place, p in zip(x, mine):
            ax.plot([place] * 2, [p.cost.low * 100, p.cost.high * 100],
                    color=colour, linewidth=1, alpha=0.7, zorder=2)
            ax.plot(place, p.cost.median * 100, "o", markersize=5,
                    color=colour, zorder=3,
                    markerfacecolor=style.PAPER if misses(p) else colour)
    ax.axhline(0, color=style.INK, linewidth=0.8, zorder=1)
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.tick_params(labelsize=7.5)


def legend(fig, hosts):
    ink = {"color": style.MUTED, "linestyle": ""}
    keys = [plt.Line2D([], [], color=c, linestyle=line, linewidth=1.6)
            for _, (c, line) in zip(hosts, looks())]
    names = [f"model, {data.nanoseconds(h)} host work" if h else
             "model, no host work" for h in hosts]
    keys += [plt.Line2D([], [], marker="o", markersize=5, **ink),
             plt.Line2D([], [], marker="o", markersize=5,
                        markerfacecolor=style.PAPER, **ink)]
    fig.legend(keys, names + ["measured", "the model fails"],
               loc="lower center", ncol=4, bbox_to_anchor=(0.5, 0.0))


def draw(run):
    found = points(run)
    if not found:
        return None
    strategies = sorted({p.strategy for p in found}, key=data.strategy_key)
    hosts = sorted({p.host for p in found})[:4]     # as many as looks()
    kernels = sorted({p.kernel for p in found})
    shortest = min([k for k in kernels if k > 0] or [1e3])
    columns = min(COLUMNS, len(strategies))
    lines = -(-len(strategies) // columns)
    height = 1.75 + 1.75 * lines
    fig, axes = plt.subplots(lines, columns, figsize=(style.WIDTH, height),
                             sharex=True, sharey=True, squeeze=False)
    for ax, strategy in zip(axes.flat, strategies):
        draw_panel(ax, [p for p in found if p.strategy == strategy], hosts,
                   shortest)
        ax.set_title(strategy)
    for ax in axes.flat[len(strategies):]:
        ax.set_visible(False)
    for i in range(columns):            # the lowest panel of each column
        bottom = axes[(len(strategies) - 1 - i) // columns, i]
        cost.label_axis(bottom, kernels, shortest, apart=8)
        bottom.tick_params(axis="x", labelbottom=True)
    for ax in axes[:, 0]:
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:g} %")
    low = min(0, *(p.predicted for p in found), *(p.cost.median for p in found))
    axes[0, 0].set_ylim(max(low, -1) * 105 - 5, 102)
    fig.supylabel(f"throughput lost against {cost.BASELINE}", fontsize=10)
    fig.supxlabel("work of one kernel", fontsize=10, y=0.42 / height)
    style.heading(fig, TITLE, "lines are predicted from single calls; hollow "
                  f"points are missed by more than {MISS * 100:.0f} points and "
                  "the 95 % interval", run.device_label())
    fig.subplots_adjust(left=0.10, right=0.985, wspace=0.13, hspace=0.28,
                        top=1 - 0.98 / height, bottom=0.92 / height)
    legend(fig, hosts)
    return fig
