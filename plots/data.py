"""Reads the folder of a run: trials.csv, throughput.csv, micro.json and
context.json, each of which may be absent, cut short or from an older version.

Guarantee: whatever the files hold, the outcome is data, a note (Run.notes) or
a RunError with one line for the user; never a traceback. A damaged record is
left out and the reader goes on with the next line.
"""
import csv
import json
import math
import os
from collections import Counter

# The order of the design's table of strategies; others follow by name.
STRATEGIES = ["async", "async-check", "sync", "sync-unchecked", "stream-sync",
              "device-sync", "every-8", "event-poll", "graph", "graph-sync",
              "dsa", "breadcrumb", "cupti-log"]

# What the pictures cannot do without.
TRIAL_COLUMNS = ["scenario", "variant", "strategy", "mode", "outcome"]
COST_COLUMNS = ["repetition", "strategy", "kernel_target_ns",
                "host_work_ns", "steps_per_s"]

MAX_BYTES = 1 << 30
MAX_RECORD_LINES = 50


class RunError(Exception):
    """The run cannot be shown at all; the text is one line for the user."""


def number(text):
    """The finite number in a cell, None for an empty or damaged one."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def strategy_key(name):
    known = name in STRATEGIES
    return (not known, STRATEGIES.index(name) if known else 0, name)


def read_text(path):
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise RunError(f"{path}: larger than {MAX_BYTES} bytes")
        with open(path, encoding="utf-8", errors="replace", newline="") as f:
            return f.read()
    except OSError as e:
        raise RunError(f"{path}: {e.strerror}") from e


def parse_record(text):
    try:
        return [c.strip() for c in next(csv.reader([text], strict=True), [])]
    except csv.Error:
        return None


def records(text):
    """(line number, cells) of each record; cells None for a damaged one. A
    quoted cell may hold line ends: a record goes on while quotes are open,
    within reason, or else its first line is the damaged one."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i].rstrip("\r")
        used = 1
        if line.strip() and not line.lstrip().startswith("#"):
            if line.count('"') % 2:
                for n in range(2, MAX_RECORD_LINES):
                    whole = "\n".join(lines[i:i + n])
                    if whole.count('"') % 2 == 0:
                        line, used = whole, n
                        break
            yield i + 1, parse_record(line)
        i += used


def read_csv(path, needed, notes):
    """Rows as dicts of strings; [] with a note when the file is unusable."""
    name = os.path.basename(path)
    text = read_text(path)
    found = list(records(text))
    if not found or not found[0][1]:
        notes.append(f"{name}: no header line, nothing read")
        return []
    header = found[0][1]
    missing = [c for c in needed if c not in header]
    if missing:
        notes.append(f"{name}: no column {', '.join(missing)}")
    rows, bad = [], []
    for line, cells in found[1:]:
        if cells is None or len(cells) != len(header):
            bad.append(line)
        else:
            rows.append(dict(zip(header, cells)))
    if not text.endswith("\n") and len(found) > 1:
        notes.append(f"{name}: the last line was cut short, left out")
        if bad and bad[-1] == found[-1][0]:
            bad.pop()
        elif rows:
            rows.pop()              # its last cell may be half a number
    if bad:
        notes.append(f"{name}: {len(bad)} damaged record(s) left out, the "
                     f"first at line {bad[0]}")
    if not rows:
        notes.append(f"{name}: no rows")
    return rows


def read_json(path, notes):
    """The object in the file, {} with a note when it is none."""
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        notes.append(f"{os.path.basename(path)}: not a JSON object, ignored")
        return {}
    return value


class Run:
    """One folder of results. Rows keep their text; number() reads a cell."""

    def __init__(self, folder):
        if not os.path.isdir(folder):
            raise RunError(f"{folder}: not a folder")
        self.folder, self.notes = folder, []
        self.trials = self._rows("trials.csv", TRIAL_COLUMNS)
        self.throughput = self._rows("throughput.csv", COST_COLUMNS)
        self.context = self._json("context.json")
        self.micro = self._json("micro.json")
        if not self.trials and not self.throughput:
            raise RunError(f"{folder}: no rows in trials.csv or "
                           "throughput.csv" +
                           "".join(f"; {n}" for n in self.notes))
        self._keep_one_device()

    def _path(self, name):
        path = os.path.join(self.folder, name)
        return path if os.path.exists(path) else None

    def _rows(self, name, needed):
        path = self._path(name)
        return read_csv(path, needed, self.notes) if path else []

    def _json(self, name):
        path = self._path(name)
        return read_json(path, self.notes) if path else {}

    def _keep_one_device(self):
        """Figures of two devices never share a picture."""
        seen = Counter(r.get("device", "") for r in
                       self.trials + self.throughput if r.get("device"))
        self.device = seen.most_common(1)[0][0] if seen else ""
        if len(seen) > 1:
            self.notes.append(
                f"rows of {len(seen)} devices in one folder; only those of "
                f"{self.device} are shown")
        for rows in (self.trials, self.throughput):
            rows[:] = [r for r in rows
                       if r.get("device", self.device) in ("", self.device)]

    def _device_name(self):
        named = self.context.get("device_name")
        device = self.context.get("device")
        if not named and isinstance(device, dict):
            named = device.get("name")
        return str(named or self.device or "unknown device")

    def is_simulated(self):
        """Whether any of its files says that the device is simgpu: then it is,
        whatever the others say."""
        named = {self._device_name()} | {r.get("device_name") or ""
                                         for r in self.trials}
        return self.device.startswith("sim") or \
            any("simgpu" in n for n in named)

    def device_label(self):
        """What a picture says it was measured on. Never a GPU's name for a
        run on simgpu, whatever the context file claims."""
        return "simgpu (software device)" if self.is_simulated() \
            else self._device_name()

    def short_name(self):
        return "simgpu" if self.is_simulated() else self._device_name()

    def faulty(self):
        return [r for r in self.trials if r.get("variant") == "faulty"]

    def scenarios(self):
        return sorted({r["scenario"] for r in self.faulty()
                       if r.get("scenario")})

    def strategies(self):
        return sorted({r["strategy"] for r in self.faulty()
                       if r.get("strategy")}, key=strategy_key)

    def cell(self, scenario, strategy):
        return [r for r in self.faulty() if r.get("scenario") == scenario
                and r.get("strategy") == strategy]


def values(rows, column):
    return [v for v in (number(r.get(column)) for r in rows) if v is not None]


def outcome_counts(rows):
    return Counter(r.get("outcome") or "unknown" for r in rows)


def outcome_text(rows):
    """`late 7, silent 3`: what became of a cell's trials."""
    return ", ".join(f"{o} {n}" for o, n in outcome_counts(rows).most_common())


TIME_UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def call_name(benchmark):
    """What an entry of micro.json timed."""
    return str(benchmark.get("run_name", "?")).replace("/real_time", "") \
        .replace("/manual_time", "")


def nanoseconds(ns, digits=3):
    """A time as people read it: 850 ns, 1.24 ms."""
    size = abs(ns)
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if size >= scale * 0.9995:
            return f"{ns / scale:.{digits}g} {unit}" if size < 1e3 * scale \
                else f"{ns / scale:.0f} {unit}"
    return f"{ns:.0f} ns"
