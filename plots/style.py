"""How every picture looks: 9 inches wide (900 px in a README), light, the
Okabe-Ito palette, each strategy with a colour and a marker of its own, and
files that are the same bytes for the same data."""
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTH = 9.0
DPI = 200

INK, MUTED, FAINT = "#1a1a1a", "#5f6368", "#d9dce1"
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"

# No two share both; the colour alone is never needed to tell them apart.
STRATEGY_MARKS = {
    "async": (BLACK, "o"), "async-check": (ORANGE, "s"),
    "sync": (VERMILION, "D"), "sync-unchecked": (PURPLE, "v"),
    "stream-sync": (BLUE, "^"), "device-sync": (SKY, "<"),
    "every-8": (GREEN, "P"), "event-poll": (BLACK, "X"),
    "graph": (ORANGE, "h"), "graph-sync": (VERMILION, "8"),
    "dsa": (PURPLE, "d"), "breadcrumb": (GREEN, "*"),
    "cupti-log": (SKY, ">"),
}
SPARE_MARKS = [(c, m) for m in "pHv" for c in (MUTED, BLACK, GREEN, BLUE)]


def marks(strategies):
    """Colour and marker of each strategy, also of ones not known here."""
    spare = iter(SPARE_MARKS * (1 + len(strategies)))
    return {s: STRATEGY_MARKS.get(s) or next(spare) for s in strategies}


def apply():
    plt.rcParams.update({
        "font.family": "DejaVu Sans", "font.size": 10,
        "axes.titlesize": 10.5, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.labelcolor": INK,
        "axes.edgecolor": MUTED, "axes.linewidth": 0.8,
        "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.7,
        "axes.axisbelow": True, "text.color": INK,
        "xtick.color": INK, "ytick.color": INK,
        "xtick.labelsize": 9, "ytick.labelsize": 9.5,
        "legend.frameon": False, "legend.fontsize": 9,
        "figure.facecolor": "white", "savefig.facecolor": "white",
        "hatch.linewidth": 0.6, "hatch.color": "#b5bac2",
        "svg.hashsalt": "faultlag", "svg.fonttype": "path",
    })


def heading(fig, title, subtitle, device):
    """Title, one line of reading help, and the device, inside the picture."""
    height = fig.get_figheight()
    fig.text(0.012, 1 - 0.10 / height, title, fontsize=13.5,
             fontweight="bold", va="top")
    fig.text(0.012, 1 - 0.42 / height, subtitle, fontsize=9.5, color=MUTED,
             va="top")
    fig.text(0.988, 1 - 0.13 / height, f"device: {device}", fontsize=10,
             va="top", ha="right")


def save(fig, folder, name):
    """Writes name.png and name.svg; returns the file names."""
    os.makedirs(folder, exist_ok=True)
    for ext, metadata in (("png", {"Software": None}),
                          ("svg", {"Date": None, "Creator": "faultlag"})):
        fig.savefig(os.path.join(folder, f"{name}.{ext}"), dpi=DPI,
                    metadata=metadata)
    plt.close(fig)
    return [f"{name}.png", f"{name}.svg"]
