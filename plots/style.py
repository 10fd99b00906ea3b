"""How every picture looks: 9 inches wide (900 px in a README), light or dark,
the Okabe-Ito palette, each strategy with a colour and a marker of its own, and
files that are the same bytes for the same data."""
import os
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTH = 9.0
DPI = 200

# What apply() changes; read them when drawing, not at import.
PAPER, INK, MUTED, FAINT = "#ffffff", "#1a1a1a", "#5f6368", "#d9dce1"
EMPTY, HATCH = "#f4f5f7", "#b5bac2"
DARK = False
THEMES = {
    "light": (PAPER, INK, MUTED, FAINT, EMPTY, HATCH),
    "dark": ("#0d1117", "#e6edf3", "#9aa4af", "#30363d", "#1a2029", "#4b535d"),
}

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
SLATE = "#3a3f46"

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
    found = {s: STRATEGY_MARKS.get(s) or next(spare) for s in strategies}
    return {s: (colour(c), m) for s, (c, m) in found.items()}


def colour(c):
    """The palette's colour on the paper in use: what is too dark for a dark
    one is made lighter, and stays the same hue."""
    lighter = {BLACK: INK, BLUE: "#4a9fdb", SLATE: "#5d6671"}
    return lighter.get(c, c) if DARK else c


def on(c):
    """The ink that is read best on an area of this colour."""
    red, green, blue = matplotlib.colors.to_rgb(c)
    return "#1a1a1a" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.45 \
        else "#ffffff"


def apply(theme="light"):
    global PAPER, INK, MUTED, FAINT, EMPTY, HATCH, DARK
    PAPER, INK, MUTED, FAINT, EMPTY, HATCH = THEMES[theme]
    DARK = theme == "dark"
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
        "figure.facecolor": PAPER, "savefig.facecolor": PAPER,
        "axes.facecolor": PAPER,
        "hatch.linewidth": 0.6, "hatch.color": HATCH,
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


def shorten(path):
    """An SVG without indentation, and with coordinates to a hundredth of a
    point: a fifth smaller, and the same to the eye."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r'( d="[^"]*"|translate\([^)]*\)| (?:x|y|points)="[^"]*")',
                  lambda m: re.sub(r"(\.\d\d)\d+", r"\1", m[0]), text)
    with open(path, "w", encoding="utf-8") as f:
        f.write(re.sub(r"(?m)^ +", "", text))


def save(fig, folder, name, kinds=("png", "svg"), source=None):
    """Writes name.png and name.svg, or one of the two; returns the file names.
    source: what an SVG says it was drawn from."""
    os.makedirs(folder, exist_ok=True)
    metadata = {"png": {"Software": None},
                "svg": {"Date": None, "Creator": "faultlag", "Source": source}}
    for ext in kinds:
        path = os.path.join(folder, f"{name}.{ext}")
        fig.savefig(path, dpi=DPI, metadata=metadata[ext])
        if ext == "svg":
            shorten(path)
    plt.close(fig)
    return [f"{name}.{ext}" for ext in kinds]
