"""What a launcher, a logger or a terminal puts around the lines of a log must
not change its diagnosis.

    decorate.py FAULTLAG FOLDER... [--show] [--all]

Diagnoses each NAME.log as it is and decorated, and compares all that is said,
except the numbers of lines. Each log meets every tenth decoration, and each
decoration every tenth log; with --all, all do. Exit status 1 if anything
differs; with --show, each difference.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys


def prefix(text):
    return lambda i, line: text.encode() + line


def numbered(form, start):
    return lambda i, line: form.format(start + i % 1000).encode() + line


def colour(i, line):
    return b"\x1b[%dm" % (31 + i % 6) + line + b"\x1b[0m"


# Each takes the number of a line and its bytes, without its end.
DECORATIONS = {
    "crlf": lambda i, line: line + b"\r",
    "ansi": colour,
    "progress": lambda i, line: b" 12%|#2   | 3/25 [00:01<00:08]\r" + line,
    "timestamp": numbered("2025-11-30 09:12:41.{:06d} ", 1000),
    "iso": numbered("2025-11-30T09:12:41.{:07d}Z ", 1234567),
    "bracketed": prefix("[2025-11-30 09:12:41,118] [ERROR] "),
    "logging": prefix("2025-11-30 09:12:41,118 - worker - ERROR - "),
    "rank": prefix("[rank3]: "),
    "torchrun": prefix("[default3]:"),
    "srun": prefix("3: "),
    "srun-padded": prefix(" 3: "),
    "mpirun": prefix("[1,3]<stderr>:"),
    "pdsh": prefix("node07: "),
    "ray": prefix("(TrainWorker pid=5120, ip=10.0.4.2) "),
    "ray-colour": prefix("\x1b[36m(TrainWorker pid=5120)\x1b[0m "),
    "journald": prefix("Nov 30 09:12:41 node07 python3[4711]: "),
    "compose": prefix("trainer-1  | "),
    "kubernetes": prefix("2025-11-30T09:12:41.123456789Z stderr F "),
    "vllm": prefix("(EngineCore_DP0 pid=301) ERROR 11-30 09:12:41 [core.py:710] "),
    "quoted": prefix("> "),
}


def decorate(how, log):
    lines = log.split(b"\n")
    last = lines.pop()
    # a shell's own lines are not the program's
    out = [line if line.startswith((b"$ ", b"> ", b"+ ", b"(", b"PS "))
           else how(i, line) for i, line in enumerate(lines)]
    return b"\n".join(out + [last])


def said(program, log):
    run = subprocess.run([program, "diagnose", "--json", "-"], input=log,
                         capture_output=True)
    if run.returncode not in (0, 1):
        return {"exit": run.returncode, "stderr": run.stderr.decode()}
    text = re.sub(r"\(line \d+\)", "", run.stdout.decode())
    answer = json.loads(text)
    for victim in answer.get("victims", []):
        victim.pop("log_line", None)
    answer.pop("log_lines", None)
    return answer


def check(program, path, names):
    log = path.read_bytes()
    plain, wrong = said(program, log), []
    for name in names:
        how = DECORATIONS[name]
        other = said(program, decorate(how, log))
        keys = [k for k in plain if plain[k] != other.get(k)]
        wrong += [(path.name, name, k, plain[k], other.get(k)) for k in keys]
    return wrong


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    step = 1 if "--all" in sys.argv else 10
    paths = [p for folder in args[1:]
             for p in sorted(pathlib.Path(folder).glob("*.log"))]
    names = list(DECORATIONS)
    work = [(p, names[i % step::step]) for i, p in enumerate(paths)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [w for ws in pool.map(lambda w: check(args[0], *w), work)
                 for w in ws]
    if "--show" in sys.argv:
        for log, name, key, plain, other in wrong:
            print(f"{log}: {name}: {key}: {other!r}, not {plain!r}")
    runs = sum(len(names) for _, names in work)
    bad = len({w[:2] for w in wrong})
    print(f"{runs} decorated logs, {bad} diagnosed otherwise")
    return 1 if wrong or not paths else 0


sys.exit(main())
