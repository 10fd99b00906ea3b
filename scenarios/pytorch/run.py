#!/usr/bin/env python3
"""Runs the PyTorch programs beside this file on a GPU, as they are and with
launches that block, and writes rows of trials.csv.

    run.py [--csv FILE] [--trials N] [--seed N] [--only A,B] [--python PYTHON]

The strategy of PyTorch as it is is `async-check`: it asks for errors after
each launch and does not wait. With CUDA_LAUNCH_BLOCKING=1 it is `sync`. The
report is the innermost line of the program in Python's traceback, the truth
the line that ends in `# planted`. Exit: 0 as expected, 1 something deviated, 2
usage, 3 the file exists, 77 no PyTorch or no GPU for it, told on stderr.
"""
import argparse
import ast
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
LIMIT_S = 300           # the first use of a GPU may take a minute

# What must come of the faulty variant, and why one may say so.
REPORTED = {"async-check": ("exact|late", "header"),
            "sync": ("exact", "report")}
SILENT = {"async-check": ("silent", "derived"), "sync": ("silent", "derived")}
PROGRAMS = {"embedding": REPORTED, "empty_mask": SILENT,
            "index_bounds": REPORTED, "label_range": REPORTED}

# PyTorch gives the error's text, not its number.
ERRORS = {
    "invalid configuration argument": (9, "cudaErrorInvalidConfiguration"),
    "an illegal memory access was encountered":
        (700, "cudaErrorIllegalAddress"),
    "device-side assert triggered": (710, "cudaErrorAssert"),
    "misaligned address": (716, "cudaErrorMisalignedAddress"),
    "unspecified launch failure": (719, "cudaErrorLaunchFailure"),
}
FRAME = re.compile(
    r'^  File "(?P<file>.*)", line (?P<line>\d+), in (?P<in>.*)$')


def columns():
    text = (ROOT / "harness/columns.def").read_text()
    return re.findall(r"^COLUMN\((\w+),", text, re.M)


def planted(path):
    """Line and function of a program's planted line."""
    text = path.read_text()
    line, = [n for n, l in enumerate(text.splitlines(), 1)
             if l.endswith("# planted")]
    function, = [f.name for f in ast.walk(ast.parse(text))
                 if isinstance(f, ast.FunctionDef)
                 and f.lineno <= line <= f.end_lineno]
    return line, function


def parse_traceback(text, program):
    """The first traceback in `text`: where the file `program` was (line and
    function, innermost) and the exception's first line; None without one."""
    lines = iter(text.splitlines())
    if not any(l == "Traceback (most recent call last):" for l in lines):
        return None
    at = None
    for line in lines:
        frame = FRAME.match(line)
        if frame and os.path.basename(frame["file"]) == program:
            at = int(frame["line"]), frame["in"]
        if not line.startswith(" "):
            return {"at": at, "what": line}
    return {"at": at, "what": ""}


def error_of(what):
    """Number and name of the CUDA error in an exception's text, or None."""
    return next((code for text, code in ERRORS.items()
                 if "CUDA error: " + text in what), None)


def judge(row, report, data):
    """The outcome, and the reason where it is broken."""
    faulty = row["variant"] == "faulty"
    if report and not row.get("error_code"):
        return "broken", report["what"]
    if report and not faulty:
        return "broken", "an error was reported where no fault is"
    if report and not report["at"]:
        return "broken", "no line of the program in the traceback"
    if report:
        if row["report_line"] == row["launch_line"]:
            return "exact", ""
        return "misattributed" if row["strategy"] == "sync" else "late", ""
    if data not in ("right", "wrong"):
        return "broken", "neither a traceback nor a result"
    if faulty:
        return "benign" if data == "right" else "silent", ""
    return ("clean", "") if data == "right" \
        else ("broken", "wrong results where no fault is")


def start(python, arguments, blocking):
    env = dict(os.environ)
    env.pop("CUDA_LAUNCH_BLOCKING", None)
    if blocking:
        env["CUDA_LAUNCH_BLOCKING"] = "1"
    return subprocess.run([python] + arguments, env=env, timeout=LIMIT_S,
                          capture_output=True, text=True, errors="replace")


def data_of(stdout):
    try:
        return json.loads(stdout.splitlines()[-1])["data"]
    except (IndexError, ValueError, KeyError, TypeError):
        return None


def examine(row, path, done):
    """Fills a row from what its finished process left behind."""
    line, function = planted(path)
    file = str(path.relative_to(ROOT))
    row["exit_status"] = done.returncode
    if done.returncode < 0:
        row["outcome"] = "crash"
        row["reason"] = "signal %d" % -done.returncode
        return
    report = parse_traceback(done.stderr, path.name)
    if row["variant"] == "faulty":
        row.update(launch_file=file, launch_line=line,
                   launch_function=function)
    error = error_of(report["what"]) if report else None
    if error:
        row["error_code"], row["error_name"] = error
    if error and report["at"]:
        at, where = report["at"]
        row.update(report_file=file, report_line=at, report_function=where,
                   line_distance=abs(at - line))
        # An assertion's text names kernel and thread, whoever asks.
        names = ["kernel"] * (error[0] == 710 or row["strategy"] == "sync") \
            + ["launch", "stream"] * (row["strategy"] == "sync") \
            + ["thread"] * (error[0] == 710)
        row["localized"] = "+".join(names) or "nothing"
    row["outcome"], row["reason"] = judge(row, report, data_of(done.stdout))


def trial(python, name, variant, strategy, seed, device_name):
    scenario = "pytorch-" + name.replace("_", "-")
    path = HERE / (name + ".py")
    row = {"schema_version": 1, "scenario": scenario, "variant": variant,
           "strategy": strategy, "device": "cuda", "device_name": device_name,
           "mode": "free", "seed": seed, "trial_id":
           f"{scenario}/{variant}/{strategy}/free/{seed}"}
    began = time.monotonic()
    try:
        done = start(python, [str(path), "--variant", variant, "--seed",
                              str(seed)], strategy == "sync")
        examine(row, path, done)
    except subprocess.TimeoutExpired:
        row["outcome"] = "hang"
        row["reason"] = "killed: no end within the time limit"
    row["wall_ms"] = int((time.monotonic() - began) * 1000)
    expected, basis = PROGRAMS[name][strategy] if variant == "faulty" \
        else ("clean", "")
    good = row["outcome"] in expected.split("|")
    row.update(expected=expected, basis=basis,
               as_expected="yes" if good else "no")
    if not good:
        row["deviation"] = "outcome %s instead of %s" % (row["outcome"],
                                                         expected)
    return row


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--csv", default="-", help="- for stdout (default)")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(sorted(PROGRAMS)))
    parser.add_argument("--python", default=sys.executable,
                        help="the one that has PyTorch")
    o = parser.parse_args()
    unknown = sorted(set(o.only.split(",")) - set(PROGRAMS))
    if unknown:
        parser.error("no program is called %s" % ", ".join(unknown))
    return o


def main():
    o = options()
    probe = start(o.python, [str(HERE / "program.py")], False)
    if probe.returncode:
        said = probe.stderr.strip().splitlines() or ["no answer"]
        print(f"skipped: {o.python}: {said[-1]}", file=sys.stderr)
        return SKIPPED
    device_name = json.loads(probe.stdout)["device_name"]
    try:
        out = sys.stdout if o.csv == "-" else open(o.csv, "x", newline="")
    except FileExistsError:
        print(f"run.py: {o.csv} exists", file=sys.stderr)
        return 3
    writer = csv.DictWriter(out, columns(), lineterminator="\n")
    writer.writeheader()
    deviated = 0
    for seed in range(o.seed, o.seed + o.trials):
        for name in o.only.split(","):
            for strategy in REPORTED:
                for variant in ("faulty", "healthy"):
                    row = trial(o.python, name, variant, strategy, seed,
                                device_name)
                    writer.writerow(row)
                    out.flush()
                    deviated += row["as_expected"] == "no"
                    print("%s: %s%s" % (row["trial_id"], row["outcome"],
                          " DEVIATES: " + row["deviation"]
                          if "deviation" in row else ""), file=sys.stderr)
    return 1 if deviated else 0


if __name__ == "__main__":
    sys.exit(main())
