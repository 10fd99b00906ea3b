#!/usr/bin/env python3
"""usage: make_plots.py RUNDIR [NAME...]

Draws the pictures of a run into RUNDIR/plots as PNG and SVG, all of them or
the ones named. A picture whose data the run does not have is left out with a
note on stderr. Exit code: 0 something was drawn,
1 nothing was, 2 bad usage or no run."""
import importlib
import os
import sys

FOLDER = "plots"
PICTURES = {
    "tradeoff": "How often a strategy names the faulting launch, over what it "
                "adds to each launch.",
    "outcomes": "What becomes of every planted fault under every strategy.",
    "latency": "Reporting latency: each point is a trial.",
    "distance": "Distance between the faulting launch and the place blamed.",
    "cost": "Throughput lost on healthy work, over the length of a kernel.",
    "defences": "Throughput lost to a defence in the program and to blocking "
                "every launch.",
    "model": "Throughput lost, as predicted from single calls and as measured.",
    "timeline": "Single trials: host calls above, device work below.",
}


def load():
    """Imports late, so that a missing library is one line for the user."""
    try:
        import data
        import style
    except ImportError as e:
        sys.exit(f"make_plots: {e.name or e} is missing: apt-get install "
                 "python3-matplotlib python3-numpy, or pip install them")
    return data, style


def make(run, style, names):
    """{name: [files]} of the pictures that could be drawn."""
    style.apply()
    made = {}
    for name in names:
        fig = importlib.import_module(name).draw(run)
        if fig is not None:
            made[name] = style.save(fig, os.path.join(run.folder, FOLDER),
                                    name)
    return made


def main(argv):
    names = argv[2:] or list(PICTURES)
    if len(argv) < 2 or argv[1].startswith("-") or set(names) - set(PICTURES):
        print(__doc__.split("\n\n")[0], f"  NAME: {', '.join(PICTURES)}",
              sep="\n", file=sys.stderr)
        return 2
    data, style = load()
    try:
        run = data.Run(argv[1])
    except data.RunError as e:
        print(f"make_plots: {e}", file=sys.stderr)
        return 2
    made = make(run, style, names)
    for note in run.notes:
        print(f"make_plots: note: {note}", file=sys.stderr)
    for name in names:
        if name not in made:
            print(f"make_plots: note: no data for {name}", file=sys.stderr)
    for files in made.values():
        for file in files:
            print(os.path.join(run.folder, FOLDER, file))
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
