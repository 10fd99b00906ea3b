"""Writes docs/decision-tree.md and its picture from rules.txt:

    tree.py text > docs/decision-tree.md
    tree.py pictures docs/decision-tree      (.svg and .png, light and dark)

The page and the picture are the program's own data, so that they cannot say
anything else than what `faultlag diagnose` does; a test compares the page.
"""
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
VALUE = re.compile(r'(\w+)=("(?:\\.|[^"\\])*"|\S+)')


def rules():
    """Kind and values of each rule, in order."""
    text = re.sub(r"(?m)(^|\s)#.*$", "", (HERE / "rules.txt").read_text())
    text = re.sub(r"\n[ \t]+", " ", text)
    for line in text.splitlines():
        if line.strip():
            kind, rest = line.split(None, 1)
            yield kind, {k: re.sub(r"\\(.)", r"\1", v.strip('"'))
                         for k, v in VALUE.findall(rest)}


RULES = collections.defaultdict(list)
for _kind, _values in rules():
    RULES[_kind].append(_values)

INTRO = """\
# The decision tree

<!-- Written by harness/diagnose/tree.py from harness/diagnose/rules.txt; do not edit. -->

What [`faultlag diagnose`](diagnose.md) asks of a log, in this order, and what it concludes. Everything below is its own data.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="decision-tree-dark.png">
  <img src="decision-tree-light.png" alt="The questions in order, each with the causes that its answers lead to" width="900">
</picture>

(As [SVG](decision-tree-light.svg), [dark](decision-tree-dark.svg).)

## The questions

1. **Which fault came first?** The first run that failed counts; runs after it (blocking, under a tool) are evidence. Errors after the first are victims.
2. **Can the process go on?** Not after a sticky error or a device assertion.
3. **Did launches wait?** Yes if `CUDA_LAUNCH_BLOCKING=1` is set and PyTorch's hint is absent, or if PyTorch left its hint out; no if the hint is there, if a wait reported the error, if a later run had to set it, if a tool names a kernel that the reported call did not launch, or if the reported line cannot have launched the kernel whose assertion failed. Otherwise the log does not tell.
4. **Can the stack be trusted?** Yes if a tool stopped at the access, if launches waited, if the error is one that the failing call itself returns, or if the reported line is the operator of the assertion. No if it is another operator, a wait, a copy or a free. Otherwise the log does not tell.
5. **What is the cause?** A device assertion names the operator. Without one, a tool's record, what a blocking run did, the code of the error and the reported line. All evidence is weighed; the heaviest cause comes first.
"""


WHEN = {"noassert": "an assertion failed, its line is missing",
        "nokernel": "the context is lost, nothing names the kernel",
        "unsure": "whether to trust the stack is unknown"}


def alternatives(text):
    return [a for a in text.split("|") if a]


def code(text):
    return "`" + text.replace("|", "\\|") + "`"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |",
             "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def looks(rule):
    words = [code(alternatives(rule[key])[0]) for key in ("file", "expr",
                                                          "kernel")
             if key in rule]
    return " and ".join(words) or "any other"


def text():
    out = [INTRO, "## A device assertion\n",
           "The first row that fits; in each column one of several words.\n",
           table(["looks like", "operator", "cause", "or", "meaning"],
                 [[looks(r), r["op"], r["cause"],
                   ", ".join(alternatives(r.get("or", ""))), r["say"]]
                  for r in RULES["assert"]]),
           "## An error code\n",
           "The old number is the one of CUDA 10.0 and earlier.\n",
           table(["code", "old", "name", "sticky", "cause", "meaning"],
                 [[r["code"], r.get("old", ""), r["name"],
                   r.get("sticky", ""), r["cause"], r["say"]]
                  for r in RULES["error"]]),
           "## A library's status\n",
           "After another fault, those marked are its victims; alone, they suggest their cause.\n",
           table(["status", "victim", "cause", "meaning"],
                 [[r["name"], r.get("victim", ""), r["cause"], r["say"]]
                  for r in RULES["status"]]),
           "## Other evidence\n",
           table(["where", "what", "only with", "cause", "weight", "meaning"],
                 [[r["in"], ", ".join(map(code, alternatives(
                     r.get("text", r.get("for", r.get("name", "")))))),
                   ", ".join(alternatives(r.get("op", r.get("code", "")))),
                   r["cause"], r["weight"], r["say"]]
                  for r in RULES["evidence"]]),
           "## What would tell\n",
           "The first that holds is asked for.\n",
           table(["when", "ask"], [[WHEN[r["when"]], r["say"]]
                                   for r in RULES["ask"]]),
           "## Causes and next steps\n"]
    for cause in RULES["cause"]:
        out.append(f"### {cause['name']}\n\n{cause['say']}.\n")
        for step in RULES["step"]:
            if cause["name"] not in alternatives(step.get("for", "")):
                continue
            where = ", ".join(alternatives(step.get("in", ""))) or "any"
            out.append(f"- *{where}*: {step['do']}")
        out.append("")
    return "\n".join(out).rstrip() + "\n"


# ---- the picture ----

def leaves(kind, name):
    """Causes of a kind of rule, with what leads to each."""
    causes = collections.defaultdict(list)
    for rule in RULES[kind]:
        if name(rule) not in causes[rule["cause"]]:
            causes[rule["cause"]].append(name(rule))
    return causes


def questions():
    facts = [r for r in RULES["evidence"] if r["in"] == "fact"]
    tool = {r["cause"]: [r["name"].replace("_reported", "").replace("_", " ")]
            for r in facts if r["name"].endswith(("_reported", "_record"))}
    return [
        ("Does the log show a\ndevice assertion?", "its operator names the cause",
         leaves("assert", lambda r: r["op"])),
        ("Does a run with\nCUDA_LAUNCH_BLOCKING=1\ngo through?",
         "then order is the fault", {"race": ["hidden by blocking"]}),
        ("Does a tool name\nthe kernel?", "its record says what it did", tool),
        ("Which error code\nis first?", "it tells the class of fault",
         leaves("error", lambda r: r["code"])),
        ("Only a library's\nstatus?", "a victim, or memory",
         leaves("status", lambda r: r["name"].replace("_STATUS", ""))),
    ]


def wrap(words, width):
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) + 2 > width:
            lines.append(line + ",")
            line = word
        else:
            line = f"{line}, {word}" if line else word
    return lines + [line]


def draw(plt, ink, muted, paper, accent):
    rows = []
    for question, why, causes in questions():
        cells = [(cause, wrap(words, 78)) for cause, words in causes.items()]
        rows.append((question, why, cells,
                     max(4.2, sum(len(c[1]) for c in cells) + 0.8)))
    total = sum(r[3] for r in rows) + len(rows) * 0.9 + 1.2
    fig = plt.figure(figsize=(9, total * 0.165), facecolor=paper)
    ax = fig.add_axes([0, 0, 1, 1])
    ax.set_xlim(0, 100)
    ax.set_ylim(total, 0)
    ax.axis("off")
    y = 0.6
    for i, (question, why, cells, height) in enumerate(rows):
        ax.add_patch(plt.Rectangle((1, y), 24, height, facecolor=paper,
                                   edgecolor=accent, linewidth=1.4))
        ax.text(13, y + height / 2 - 0.5, question, ha="center", va="center",
                color=ink, fontsize=8.5, fontweight="bold")
        ax.text(13, y + height - 0.3, why, ha="center", va="bottom",
                color=muted, fontsize=6.5)
        at = y + 0.5
        for cause, lines in cells:
            ax.plot([25, 28], [at + 0.4, at + 0.4], color=muted, linewidth=0.8)
            ax.text(29, at + 0.4, cause, va="center", color=accent,
                    fontsize=7.2, fontweight="bold")
            for line in lines:
                ax.text(53, at + 0.4, line, va="center", color=ink, fontsize=6)
                at += 1
        y += height
        last = i + 1 == len(rows)
        ax.annotate("", (13, y + 0.85), (13, y),
                    arrowprops={"arrowstyle": "->", "color": muted})
        ax.text(14, y + 0.5, "otherwise the log does not say: ask for the one "
                "thing that would tell" if last else "no", va="center",
                color=muted, fontsize=6.5)
        y += 0.9
    return fig


def pictures(stem):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.family": "DejaVu Sans", "svg.fonttype": "path",
                         "svg.hashsalt": "faultlag"})
    for name, colours in (("light", ("#1a1a1a", "#5f6368", "white", "#0072B2")),
                          ("dark", ("#e8eaed", "#9aa0a6", "#0d1117",
                                    "#56B4E9"))):
        fig = draw(plt, *colours)
        fig.savefig(f"{stem}-{name}.png", dpi=150, metadata={"Software": None})
        fig.savefig(f"{stem}-{name}.svg",
                    metadata={"Date": None, "Creator": "faultlag"})
        plt.close(fig)


if __name__ == "__main__":
    if sys.argv[1:] == ["text"]:
        sys.stdout.write(text())
    elif len(sys.argv) == 3 and sys.argv[1] == "pictures":
        pictures(sys.argv[2])
    else:
        sys.exit(__doc__)
