"""Compares what `faultlag diagnose --json` says of logs with what is known.

    score.py FAULTLAG FOLDER [--show]

FOLDER holds NAME.log and NAME.json, a sidecar with some keys of the output,
which are compared (`true_cause` is `cause`, and `cause` is `cause_detail`; of
frames, what is given of file and line; of victims, names). Prints a table by
framework, and with --show every difference; exit status 1 if there is one.
"""
import collections
import json
import pathlib
import subprocess
import sys

GROUPS = {
    "assertion": ["assert_file", "assert_line", "assert_expr"],
    "thread": ["kernel", "block", "thread"],
    "frame": ["reported_frame"],
    "blocking": ["blocking"],
    "reliable": ["reliable_trace"],
    "error": ["error_code", "error_name"],
    "cause": ["true_cause", "cause"],
    "other": ["fault", "framework_name", "recoverable", "victims", "user_frame"],
}
RENAMED = {"true_cause": "cause", "cause": "cause_detail",
           "framework_name": "framework"}
# A cause that the thread itself, a maintainer or the reporter stated.
SURE = ("stated", "maintainer", "reporter")


def diagnose(program, log):
    run = subprocess.run([program, "diagnose", "--json", str(log)],
                         capture_output=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{log}: exit {run.returncode}: {run.stderr.decode()}")
    return json.loads(run.stdout)


def wanted(side, key):
    if key == "error_code":     # today's number
        return side.get("extra", {}).get("modern_code", side.get(key))
    if key.endswith("_frame") and side.get(key):
        return {k: side[key].get(k) for k in ("file", "line")}
    return side.get(key)


def given(said, key):
    if key in RENAMED:
        return said[RENAMED[key]]
    if key == "victims":
        return [v["what"] for v in said[key]]
    if key.endswith("_frame") and said[key]:
        return {k: said[key][k] for k in ("file", "line")}
    return said[key]


def framework(side):
    name = side.get("framework") or side.get("framework_name", "")
    for word in ("Paddle", "JAX", "TensorFlow", "Numba", "Caffe", "Warp",
                 "llama", "Spark", "CUDA C++"):
        if word in name:
            return word
    return "PyTorch" if name else "other"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    show = "--show" in sys.argv
    hits = collections.defaultdict(lambda: [0, 0])
    missed = 0
    for log in sorted(folder.glob("*.log")):
        side = json.loads(log.with_suffix(".json").read_text())
        said = diagnose(program, log)
        basis = side.get("extra", {}).get("cause_basis", "")
        for group, keys in GROUPS.items():
            if not any(k in side for k in keys):
                continue
            wrong = [k for k in keys if k in side
                     and wanted(side, k) != given(said, k)]
            names = [group]
            if group == "cause" and basis:
                names.append("cause, sure" if any(w in basis for w in SURE)
                             else "cause, guess")
            for name in names:
                for row in (framework(side), "all"):
                    hits[row, name][0] += not wrong
                    hits[row, name][1] += 1
            missed += bool(wrong)
            if wrong and show:
                for k in wrong:
                    print(f"{log.name}: {k}: {given(said, k)!r}, "
                          f"not {wanted(side, k)!r}"
                          + (f" ({basis})" if group == "cause" else ""))
    columns = [c for c in list(GROUPS) + ["cause, sure", "cause, guess"]
               if ("all", c) in hits]
    rows = sorted({r for r, _ in hits} - {"all"}) + ["all"]
    print("| | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for r in rows:
        print(f"| {r} | " + " | ".join(
            "{}/{}".format(*hits[r, c]) if (r, c) in hits else ""
            for c in columns) + " |")
    return 1 if missed else 0


sys.exit(main())
