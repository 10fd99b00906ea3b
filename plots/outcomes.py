"""What becomes of every planted fault under every strategy: a row a scenario,
a column a strategy, a cell coloured by outcome. Trials that did not end alike
share their cell. A letter says the same as the colour."""
from matplotlib.patches import PathPatch
from matplotlib.path import Path

import data
import style
from style import plt

TITLE = "What becomes of each planted fault"
# Letter and colour of each outcome, from the most to the least useful report.
OUTCOMES = {
    "exact": ("E", style.GREEN), "late": ("L", style.SKY),
    "misattributed": ("M", style.VERMILION), "hidden": ("H", style.PURPLE),
    "silent": ("S", style.SLATE), "benign": ("B", "#b5bac2"),
    "hang": ("T", style.YELLOW), "crash": ("C", style.ORANGE),
    "skipped": ("-", None), "broken": ("!", None),
}
LEGEND = {
    "exact": "exact: names the launch", "late": "late: claims nothing",
    "misattributed": "misattributed: blames another",
    "hidden": "hidden: did not happen", "silent": "silent: wrong data, no "
    "report", "benign": "benign: right data, no report", "hang": "hang: ended "
    "at the time limit", "crash": "crash", "skipped": "skipped", "broken": "broken",
}


def look(outcome):
    letter, fill = OUTCOMES.get(outcome, ("?", None))
    return letter, style.colour(fill or style.EMPTY)


def order(outcome):
    known = list(OUTCOMES)
    return known.index(outcome) if outcome in known else len(known)


def draw_cell(ax, x, y, rows, areas):
    """Adds the parts of the cell to areas, {outcome: [rectangles]}."""
    left, counts = x - 0.5, data.outcome_counts(rows)
    for outcome in sorted(counts, key=order):
        share = counts[outcome] / len(rows)
        letter, fill = look(outcome)
        areas.setdefault(outcome, []).append(
            [(left, y - 0.5), (left + share, y - 0.5),
             (left + share, y + 0.5), (left, y + 0.5), (left, y - 0.5)])
        if share >= 0.2:
            ax.text(left + share / 2, y, letter, ha="center", va="center",
                    fontsize=8, color=style.on(fill))
        left += share


def draw_areas(ax, areas):
    """One path an outcome: a cell each would make a large file."""
    for outcome, rectangles in areas.items():
        path = Path.make_compound_path(*(Path(r, closed=True)
                                         for r in rectangles))
        ax.add_patch(PathPatch(path, facecolor=look(outcome)[1], linewidth=0))


def legend(fig, seen):
    fig.legend([plt.Rectangle((0, 0), 1, 1, facecolor=look(o)[1])
                for o in seen],
               [f"{look(o)[0]}  {LEGEND.get(o, o)}" for o in seen],
               loc="lower center", ncol=3, bbox_to_anchor=(0.5, 0.0),
               handlelength=1.2, columnspacing=1.6)
    return -(-len(seen) // 3)


def draw(run):
    scenarios, strategies = run.scenarios(), run.strategies()
    if not scenarios:
        return None
    seen = sorted(data.outcome_counts(run.faulty()), key=order)
    lines = -(-len(seen) // 3)
    height = 1.75 + 0.235 * len(scenarios) + 0.22 * lines
    fig, ax = plt.subplots(figsize=(style.WIDTH, height))
    areas = {}
    for y, scenario in enumerate(scenarios):
        for x, strategy in enumerate(strategies):
            rows = run.cell(scenario, strategy)
            if rows:
                draw_cell(ax, x, y, rows, areas)
            else:
                ax.text(x, y, "not run", ha="center", va="center", fontsize=7,
                        color=style.MUTED, style="italic")
    draw_areas(ax, areas)
    for i in range(len(strategies) + 1):
        ax.axvline(i - 0.5, color=style.PAPER, linewidth=2.5, zorder=3)
    for i in range(len(scenarios) + 1):
        ax.axhline(i - 0.5, color=style.PAPER, linewidth=2.5, zorder=3)
    ax.set(xlim=(-0.5, len(strategies) - 0.5),
           ylim=(len(scenarios) - 0.5, -0.5),
           xticks=range(len(strategies)), yticks=range(len(scenarios)))
    ax.xaxis.tick_top()
    ax.set_xticklabels(strategies, rotation=24, ha="left",
                       rotation_mode="anchor", fontsize=8.5)
    ax.set_yticklabels(scenarios, fontsize=8.5)
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    style.heading(fig, TITLE, "a cell is divided as its trials ended",
                  run.device_label())
    legend(fig, seen)
    fig.subplots_adjust(left=0.185, right=0.955, top=1 - 1.28 / height,
                        bottom=(0.3 + 0.22 * lines) / height)
    return fig
