"""Reporting latency: from the fault on the device to the first host call that
returned an error. Every sample is a point; a panel a scenario, a line a
strategy, one logarithmic axis for all."""
import math

import numpy as np

import data
import style
from style import plt

TITLE = "How late the host learns of a fault"
COLUMN = "latency_fault_to_report_ns"
PANEL_COLUMNS = 2
PANELS = 8


def free_trials(run, scenario, strategy):
    """In a seeded run time is logical, so only free-running ones count."""
    return [r for r in run.cell(scenario, strategy)
            if r.get("mode", "free") != "seeded"]


def samples(run, scenario, strategy):
    return [r for r in free_trials(run, scenario, strategy)
            if data.number(r.get(COLUMN)) is not None]


def spread(n):
    """Vertical offsets that keep points apart; the same for the same n."""
    return 0.26 * ((np.arange(n) * 0.618034) % 1.0 - 0.5) * 2


def limits(times):
    """Whole decades around all positive samples."""
    positive = [t for t in times if t > 0]
    if not positive:
        return 1e2, 1e9
    return (10 ** math.floor(math.log10(min(positive)) - 0.05),
            10 ** math.ceil(math.log10(max(positive)) + 0.05))


def draw_row(ax, y, rows, trials, mark, low):
    """Filled: the report names the launch that faulted. Hollow: it names
    another place. At the left edge, an arrow: not later than the clock can
    tell (<= 0). Beside it the median, and how many trials have a sample when
    not all do."""
    colour, marker = mark
    times = np.array(data.values(rows, COLUMN))
    height = y + spread(len(times))
    exact = np.array([r.get("outcome") == "exact" for r in rows])
    for filled in (True, False):
        for shape, where in ((marker, times > 0), ("<", times <= 0)):
            pick = where & (exact == filled)
            ax.plot(np.maximum(times[pick], low), height[pick], marker=shape,
                    color=colour, markersize=5.2, alpha=0.75, linestyle="",
                    markerfacecolor=colour if filled else style.PAPER,
                    markeredgewidth=1.0, clip_on=False, zorder=3)
    middle = float(np.median(times))
    ax.plot([max(middle, low)] * 2, [y - 0.36, y + 0.36], color=style.INK,
            linewidth=2.2, solid_capstyle="butt", zorder=4)
    all_have = len(times) == trials
    ax.text(1.012, y - (0 if all_have else 0.2), data.nanoseconds(middle),
            fontsize=8.5, va="center", transform=ax.get_yaxis_transform())
    if not all_have:
        ax.text(1.012, y + 0.28, f"{len(times)} of {trials}", fontsize=6.5,
                color=style.MUTED, va="center",
                transform=ax.get_yaxis_transform())


def draw_panel(ax, run, scenario, strategies, marks, span):
    uncertainty = []
    for y, strategy in enumerate(strategies):
        rows = samples(run, scenario, strategy)
        if rows:
            draw_row(ax, y, rows, len(free_trials(run, scenario, strategy)),
                     marks[strategy], span[0])
            uncertainty += data.values(rows, "clock_uncertainty_ns")
        else:
            cell = free_trials(run, scenario, strategy)
            text = data.outcome_text(cell) if cell else "not run"
            ax.text(0.5, y, f"no report: {text}" if cell else text,
                    transform=ax.get_yaxis_transform(), fontsize=8.5,
                    color=style.MUTED, style="italic", ha="center",
                    va="center")
    if uncertainty and np.median(uncertainty) > span[0]:
        ax.axvspan(span[0], float(np.median(uncertainty)), color=style.FAINT,
                   alpha=0.55, linewidth=0, zorder=0)
    ax.set(xscale="log", xlim=span, ylim=(len(strategies) - 0.4, -0.6),
           yticks=range(len(strategies)), title=scenario)
    ax.set_yticklabels(strategies)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda v, _: data.nanoseconds(v))


def legend(fig):
    def point(fill):
        return plt.Line2D([], [], marker="o", color=style.MUTED, linestyle="",
                          markerfacecolor=fill, markersize=6)
    fig.legend(
        [point(style.MUTED), point(style.PAPER),
         plt.Line2D([], [], marker="|", color=style.INK, linestyle="",
                    markersize=13, markeredgewidth=2.2),
         plt.Rectangle((0, 0), 1, 1, color=style.FAINT, alpha=0.55)],
        ["names the faulting launch", "names another place", "median",
         "below the clocks' uncertainty"],
        loc="lower center", ncol=4, bbox_to_anchor=(0.5, 0.0))


def most_reported(run, strategies):
    """As many scenarios as a picture can hold: those with the most samples."""
    def count(scenario):
        return sum(len(samples(run, scenario, s)) for s in strategies)
    return sorted(sorted(run.scenarios(), key=lambda s: -count(s))[:PANELS])


def draw(run):
    strategies = run.strategies()
    scenarios = most_reported(run, strategies)
    if not scenarios:
        return None
    marks = style.marks(strategies)
    columns = min(PANEL_COLUMNS, len(scenarios))
    lines = -(-len(scenarios) // columns)
    panel = 0.62 + 0.27 * len(strategies)
    height = 0.95 + lines * panel + 0.45
    fig, axes = plt.subplots(lines, columns, figsize=(style.WIDTH, height),
                             sharex=True, squeeze=False)
    span = limits([t for a in scenarios for b in strategies
                   for t in data.values(samples(run, a, b), COLUMN)])
    for ax, scenario in zip(axes.flat, scenarios):
        draw_panel(ax, run, scenario, strategies, marks, span)
    for ax in axes[:, 1:].flat:
        ax.set_yticklabels([])
    for ax in axes.flat[len(scenarios):]:
        ax.set_visible(False)
        axes[-2, 1].tick_params(axis="x", labelbottom=True)
    style.heading(fig, TITLE, "time from the bad access on the device to the "
                  "first host call that returned an error" +
                  ("; every trial is a point" if len(scenarios) ==
                   len(run.scenarios()) else f"; {PANELS} of "
                   f"{len(run.scenarios())} scenarios, most samples"),
                  run.device_label())
    fig.subplots_adjust(left=0.145, right=0.925, wspace=0.22,
                        hspace=0.62 / (panel - 0.62),
                        top=1 - 1.0 / height, bottom=0.72 / height)
    legend(fig)
    return fig
