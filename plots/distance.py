"""Distance between the launch that faulted and the place that was blamed:
frames of the call stack not shared, and launches in between. A row a
scenario, a column a strategy; what was never reported is hatched and says
what happened instead."""
import numpy as np

import data
import style
from style import plt

TITLE = "How far from the fault the report is"
PANELS = [("frame_distance", "stack frames not shared"),
          ("launches_between", "launches in between")]
SIDE_BY_SIDE = 6   # strategies that fit next to each other


def cell_text(values, reported, total):
    """Median, spread if there is any, and how many trials say so when not
    all do."""
    low, mid, high = min(values), float(np.median(values)), max(values)
    text = f"{mid:g}" if low == high else f"{mid:g}\n{low:g} to {high:g}"
    return text if reported == total else f"{text}\n({reported}/{total})"


def draw_cell(ax, x, y, rows, column, norm, cmap):
    values = data.values(rows, column)
    if values:
        colour = cmap(norm(float(np.median(values))))
        ax.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, color=colour,
                                   linewidth=0))
        dark = np.dot(colour[:3], (0.299, 0.587, 0.114)) < 0.45
        first, *rest = cell_text(values, len(values), len(rows)).split("\n")
        ink = "white" if dark else style.INK
        ax.text(x, y - (0, 0.16, 0.24)[len(rest)], first, ha="center",
                va="center", fontsize=11, color=ink)
        if rest:
            ax.text(x, y + 0.22, "\n".join(rest), ha="center", va="center",
                    fontsize=8 - len(rest), linespacing=1, color=ink)
        return
    ax.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="#f4f5f7",
                               hatch="////", edgecolor="#c9cdd3",
                               linewidth=0))
    outcomes = data.outcome_counts(rows)
    text = "\n".join(o for o, _ in outcomes.most_common(2)) or "not run"
    ax.text(x, y, text, ha="center", va="center", fontsize=8,
            color=style.MUTED, style="italic",
            bbox={"facecolor": "#f4f5f7", "edgecolor": "none", "pad": 1.5})


def draw_panel(ax, run, column, title, scenarios, strategies):
    cells = {(x, y): run.cell(a, b) for y, a in enumerate(scenarios)
             for x, b in enumerate(strategies)}
    top = max([float(np.median(v)) for v in
               (data.values(r, column) for r in cells.values()) if v] + [1])
    scale = plt.matplotlib.colors.SymLogNorm(1, vmin=0, vmax=max(top, 2),
                                             base=10)
    cmap = plt.matplotlib.colors.LinearSegmentedColormap.from_list(
        "distance", ["#ffffff", "#cfe3f1", "#56B4E9", "#0072B2", "#00355c"])
    for (x, y), rows in cells.items():
        draw_cell(ax, x, y, rows, column, scale, cmap)
    for i in range(len(strategies) + 1):
        ax.axvline(i - 0.5, color=style.FAINT, linewidth=1, zorder=3)
    for i in range(len(scenarios) + 1):
        ax.axhline(i - 0.5, color=style.FAINT, linewidth=1, zorder=3)
    ax.set(xlim=(-0.5, len(strategies) - 0.5),
           ylim=(len(scenarios) - 0.5, -0.5), title=title,
           xticks=range(len(strategies)), yticks=range(len(scenarios)))
    ax.set_xticklabels(strategies, rotation=24, ha="right",
                       rotation_mode="anchor")
    ax.set_yticklabels(scenarios)
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def draw(run):
    scenarios, strategies = run.scenarios(), run.strategies()
    if not scenarios:
        return None
    beside = len(strategies) <= SIDE_BY_SIDE
    grid = (0.5 if len(scenarios) <= 10 else 0.36) * len(scenarios)
    height = 1.75 + grid * (1 if beside else 2) + (0 if beside else 0.42)
    fig, axes = plt.subplots(1 if beside else 2, 2 if beside else 1,
                             figsize=(style.WIDTH, height), squeeze=False)
    for ax, (column, title) in zip(axes.flat, PANELS):
        draw_panel(ax, run, column, title, scenarios, strategies)
    if beside:
        axes[0, 1].set_yticklabels([])
    else:
        axes[0, 0].set_xticklabels([])
    style.heading(fig, TITLE, "median over the trials; 0 is the faulting "
                  "launch itself, hatched cells were never reported",
                  run.device_label())
    longest = max(map(len, scenarios))
    fig.subplots_adjust(left=0.15 if longest < 19 else 0.19,
                        right=0.985, wspace=0.06,
                        hspace=0.42 / grid, top=1 - 0.98 / height,
                        bottom=0.75 / height)
    return fig
