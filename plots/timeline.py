"""One trial as a picture: a lane for the host's launches and calls, a lane
for each stream's kernels, the fault and its report marked. Reads the Chrome
traces trace*.json of the run's folder, which `faultlag run --trace` wrote; the
window goes from the launch that faults to its report."""
import glob
import os

import data
import style
from style import plt

TITLE = "From the launch to the fault to the report"
MAX_TRACES = 3
LANE = 0.74                         # height of a lane's bars
HOST_COLOURS = {"launch": style.SKY, "call": style.BLUE,
                "check": style.ORANGE}
KERNEL, FAULTED = "#9aa3ad", style.VERMILION


class Trace:
    """Times in ns from the trace's start. fault and report are None where the
    trial had none."""

    def __init__(self, path, notes):
        raw = data.read_json(path, notes)
        events = [e for e in raw.get("traceEvents") or []
                  if isinstance(e, dict)]
        about = raw.get("otherData")
        self.about = about if isinstance(about, dict) else {}
        self.lanes = {e.get("tid"): str(args(e).get("name")) for e in events
                      if e.get("ph") == "M" and e.get("name") == "thread_name"}
        self.slices = [s for s in map(self.slice, events) if s]
        self.fault = self.instant(events, "fault")
        self.report = self.instant(events, "report")
        kernels = [s for s in self.slices if s["cat"].startswith("kernel")]
        broken = [s for s in kernels if s["cat"] != "kernel"]
        self.faulted = broken[0]["launch"] if broken else None

    @staticmethod
    def slice(e):
        ts, dur = data.number(e.get("ts")), data.number(e.get("dur"))
        if e.get("ph") != "X" or ts is None or dur is None or dur < 0:
            return None
        return {"name": str(e.get("name")), "cat": str(e.get("cat")),
                "lane": e.get("tid"), "from": ts * 1e3, "for": dur * 1e3,
                "launch": args(e).get("launch"), "args": args(e)}

    @staticmethod
    def instant(events, name):
        times = [data.number(e.get("ts")) for e in events
                 if e.get("ph") == "i" and e.get("name") == name]
        return times[0] * 1e3 if times and times[0] is not None else None

    def launch_of(self, number):
        return next((s for s in self.slices if s["cat"] == "launch"
                     and s["launch"] == number and number is not None), None)

    def window(self):
        """From just before the faulting launch to just after the report."""
        start = min(s["from"] for s in self.slices)
        end = max(s["from"] + s["for"] for s in self.slices)
        launch = self.launch_of(self.faulted)
        if launch:
            start = launch["from"]
        if self.report is not None:
            end = self.report
        room = max(end - start, 1.0)
        return start - 0.10 * room, end + 0.10 * room


def args(e):
    return e["args"] if isinstance(e.get("args"), dict) else {}


def read(run):
    """The folder's traces that hold anything, with the run's device only."""
    traces = []
    for path in sorted(glob.glob(os.path.join(run.folder, "trace*.json"))):
        noted = len(run.notes)
        try:
            trace = Trace(path, run.notes)
        except data.RunError as e:
            run.notes.append(str(e))
            continue
        if not trace.slices and len(run.notes) == noted:
            run.notes.append(f"{os.path.basename(path)}: no events")
        elif trace.slices and trace.about.get("device") != run.device:
            run.notes.append(f"{os.path.basename(path)}: of another device")
        elif trace.slices:
            traces.append(trace)
    traces.sort(key=lambda t: data.strategy_key(
        str(t.about.get("strategy"))))
    return traces[:MAX_TRACES]


def colour(trace, s):
    if s["launch"] == trace.faulted and trace.faulted is not None \
            and s["cat"] != "check":
        return FAULTED
    return HOST_COLOURS.get(s["cat"], KERNEL)


def draw_bars(ax, trace, rows, span):
    """Bars as wide as they are long, but never thinner than the eye sees; a
    name where there is room for it."""
    width = span[1] - span[0]
    for s in trace.slices:
        left, right = s["from"], s["from"] + s["for"]
        if right < span[0] or left > span[1] or s["lane"] not in rows:
            continue
        y = rows[s["lane"]]
        c = colour(trace, s)
        ax.add_patch(plt.Rectangle(
            (left, y - LANE / 2), max(right - left, width * 0.0009), LANE,
            facecolor=c, edgecolor=style.PAPER, linewidth=0.4, zorder=2,
            hatch="////" if "not finish" in s["cat"] else None))
        name = s["name"]
        seen = min(right, span[1]) - max(left, span[0])
        if seen > width * 0.0105 * len(name):
            ax.text((max(left, span[0]) + min(right, span[1])) / 2, y, name,
                    ha="center", va="center", fontsize=7.5, clip_on=True,
                    color=style.on(c), zorder=4,
                    bbox={"facecolor": c, "edgecolor": "none", "pad": 0.8}
                    if "not finish" in s["cat"] else None)


def between(trace):
    """Launches made after the one that faulted, before the report."""
    return sum(1 for s in trace.slices if s["cat"] == "launch"
               and s["launch"] is not None
               and s["launch"] > (trace.faulted or 0)
               and (trace.report is None or s["from"] < trace.report))


def site(s):
    a = s["args"]
    return f"{a.get('function', '?')}() {a.get('file', '?')}:" \
        f"{a.get('line', '?')}"


def mark(ax, x, text, y, align, colour_=FAULTED, line="-"):
    ax.axvline(x, color=colour_, linewidth=1.4, linestyle=line, zorder=5)
    ax.annotate(text, (x, y), xytext=(-4 if align == "right" else 4, 0),
                textcoords="offset points", ha=align, va="center",
                fontsize=8.5, color=colour_, fontweight="bold", zorder=6,
                annotation_clip=False,
                bbox={"facecolor": style.PAPER, "edgecolor": "none",
                      "pad": 1})


def reporting_slice(trace):
    """The host's call or check that ended with the report."""
    host = [s for s in trace.slices if s["cat"] in HOST_COLOURS
            and s["from"] <= (trace.report or 0)]
    return max(host, key=lambda s: s["from"], default=None)


def describe(ax, trace, rows):
    launch = trace.launch_of(trace.faulted)
    top, bottom = -0.72, len(rows) - 0.28
    if launch:
        mark(ax, launch["from"], "launched here: " + site(launch), top,
             "left", line=":")
    if trace.fault is not None:
        mark(ax, trace.fault, "fault", bottom, "right")
    if trace.report is not None:
        s = reporting_slice(trace)
        late = data.nanoseconds(trace.report - trace.fault) + " after it, " \
            if trace.fault is not None else ""
        n = between(trace)
        mark(ax, trace.report, f"reported {late}{n} launch"
             f"{'' if n == 1 else 'es'} later: " + (site(s) if s else ""),
             bottom + 0.34, "right", style.INK)


def draw_panel(ax, trace):
    lanes = sorted((t for t in trace.lanes if t is not None), key=str)
    rows = {t: i for i, t in enumerate(
        sorted(lanes, key=lambda t: (trace.lanes[t] != "host",
                                     trace.lanes[t])))}
    span = trace.window()
    draw_bars(ax, trace, rows, span)
    describe(ax, trace, rows)
    start = span[0] + (span[1] - span[0]) / 12
    ax.set(xlim=span, ylim=(len(rows) + 0.35, -1.0), yticks=list(
        rows.values()))
    ax.set_yticklabels([trace.lanes[t] for t in rows])
    ax.xaxis.set_major_formatter(
        lambda v, _: data.nanoseconds(v - start) if abs(v - start) > 1
        else "0")
    ticks = plt.MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(
        0, span[1] - start)
    ax.set_xticks([start + t for t in ticks if start + t <= span[1]])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    about = trace.about
    ax.set_title(f"{about.get('scenario', '?')} under "
                 f"{about.get('strategy', '?')}")


def draw(run):
    traces = read(run)
    if not traces:
        return None
    heights = [1.45 + 0.46 * len(t.lanes) for t in traces]
    height = 1.25 + sum(heights)
    fig, axes = plt.subplots(len(traces), 1, figsize=(style.WIDTH, height),
                             squeeze=False, height_ratios=heights)
    for ax, trace in zip(axes.flat, traces):
        draw_panel(ax, trace)
    style.heading(fig, TITLE, "time from the launch that faults; kernels are "
                  "drawn on the stream they ran on", run.device_label())
    patches = [plt.Rectangle((0, 0), 1, 1, facecolor=c) for c in
               (*HOST_COLOURS.values(), KERNEL, FAULTED)]
    fig.legend(patches, ["launch", "call", "check", "kernel",
                         "the launch that faults"],
               loc="lower center", ncol=5, bbox_to_anchor=(0.5, 0.0))
    fig.subplots_adjust(left=0.085, right=0.985, top=1 - 0.95 / height,
                        bottom=0.62 / height, hspace=0.42)
    return fig
