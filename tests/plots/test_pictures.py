"""The pictures as files: both kinds, the same bytes for the same data, the
device named inside, and drawn from partial data too."""
import glob
import json
import os
import random
import struct
import unittest

import support
import synthetic
import data
import make_plots
import style
import timeline
import tradeoff

style.DPI = 60                      # the size is tested, not the time
# Pictures of an ordinary run; the timeline has a test of its own.
ORDINARY = ["tradeoff", "outcomes", "latency", "distance", "cost", "defences",
            "model"]


def png_size(raw):
    return struct.unpack(">II", raw[16:24])


class Files(support.FolderTest):
    def draw(self, seed=1, names=ORDINARY):
        synthetic.write_run(self.folder, seed,
                            ["bad-gather", "preprocess-race"])
        run = data.Run(self.folder)
        made = make_plots.make(run, style, names)
        return {f: support.read(os.path.join(self.folder, make_plots.FOLDER,
                                             f))
                for files in made.values() for f in files}

    def test_files(self):
        """PNG and SVG that name the device, and what happened where there is
        nothing to draw; the same bytes for the same data, and no others."""
        files, again = self.draw(), self.draw()
        self.assertEqual(len(files), 2 * len(ORDINARY))
        for name, raw in files.items():
            if name.endswith(".png"):
                self.assertEqual(png_size(raw)[0], style.WIDTH * style.DPI)
            else:
                self.assertIn(f"device: {synthetic.DEVICE}", raw.decode())
            self.assertTrue(raw == again[name], name)
        for name in ("latency.svg", "distance.svg"):
            self.assertIn("hidden", files[name].decode())
        for name, raw in self.draw(2, ["latency"]).items():
            self.assertFalse(raw == files[name], name)

    def test_tradeoff_counts(self):
        synthetic.write_run(self.folder)
        run = data.Run(self.folder)
        # Exact in 4 scenarios of 6; the others are hidden, silent or benign.
        self.assertAlmostEqual(tradeoff.found(run, "sync"), 4 / 6)
        self.assertEqual(tradeoff.found(run, "async"), 0)
        self.assertIsNone(tradeoff.found(run, "none"))
        self.assertAlmostEqual(tradeoff.per_launch(run, "sync", "host_waits"),
                               1 / 20)
        cells, cell = tradeoff.typical(run)
        self.assertEqual((cell.kernel, cell.host), (10e3, 10e3))
        self.assertNotIn("async", cells)


class Timeline(support.FolderTest):
    """The trace of a trial, as `faultlag run --trace` writes it."""

    def traces(self, *texts):
        synthetic.write_run(self.folder)
        for path in glob.glob(os.path.join(self.folder, "trace*.json")):
            os.remove(path)
        for i, text in enumerate(texts):
            self.write(f"trace-{i}.json", text if isinstance(text, str)
                       else json.dumps(text))
        run = data.Run(self.folder)
        return timeline.read(run), run

    def test_what_is_read(self):
        [trace], run = self.traces(synthetic.trace("async"))
        self.assertEqual(trace.faulted, 4)
        self.assertEqual(timeline.between(trace), 14)
        self.assertLess(trace.fault, trace.report)
        self.assertEqual(timeline.reporting_slice(trace)["name"],
                         "cudaDeviceSynchronize")
        start, end = trace.window()
        self.assertLess(start, trace.launch_of(4)["from"])
        self.assertGreater(end, trace.report)
        self.assertEqual(run.notes, [])

    def test_labels_say_where(self):
        _, run = self.traces(synthetic.trace("sync"))
        made = make_plots.make(run, style, ["timeline"])["timeline"]
        svg = support.read(os.path.join(self.folder, make_plots.FOLDER,
                                        made[1])).decode()
        self.assertIn("launched here: attention() scenarios/bad-gather.c:44",
                      svg)
        self.assertIn("0 launches later", svg)

    def test_unusable_traces_are_noted(self):
        other = synthetic.trace("async")
        other["otherData"]["device"] = "sim"
        traces, run = self.traces("", "{}", "[]", '{"traceEvents": [1, {}]}',
                                  other)
        self.assertEqual(traces, [])
        self.assertEqual(len(run.notes), 5)
        self.assertIsNone(timeline.draw(run))

    def test_a_trial_without_fault_or_report(self):
        healthy = synthetic.trace("async")
        healthy["traceEvents"] = [e for e in healthy["traceEvents"]
                                  if e["ph"] != "i" and "not finish" not in
                                  e.get("cat", "")]
        [trace], run = self.traces(healthy)
        self.assertIsNone(trace.faulted)
        self.assertIn("timeline", make_plots.make(run, style, ["timeline"]))


class Partial(support.FolderTest):
    def test_damaged_data_draws_or_declines(self):
        synthetic.write_run(self.folder)
        names = ("trials.csv", "throughput.csv")
        good = {n: support.read(os.path.join(self.folder, n))[:5000]
                for n in names}
        for seed in range(2):
            r = random.Random(seed)
            for n in names:
                self.write(n, synthetic.damage(good[n], r))
            try:
                run = data.Run(self.folder)
            except data.RunError:
                continue
            with self.subTest(seed=seed):
                make_plots.make(run, style, ORDINARY)

    def test_latencies_of_zero_and_less(self):
        rows = synthetic.trials(per_cell=3)
        for r in rows[::2]:
            if r.get("latency_fault_to_report_ns"):
                r["latency_fault_to_report_ns"] *= -1
        synthetic.write_csv(os.path.join(self.folder, "trials.csv"),
                            synthetic.TRIAL_COLUMNS, rows)
        made = make_plots.make(data.Run(self.folder), style, ["latency"])
        self.assertIn("latency", made)


class CommandLine(support.FolderTest):
    def test_use(self):
        for args in ([], ["-x"], [self.folder, "nonsense"]):
            done = support.script("make_plots.py", *args)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage", done.stderr)

    def test_no_run_is_one_line(self):
        for name in ("make_plots.py", "report.py"):
            done = support.script(name, self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn("no rows", done.stderr)

    def test_both_scripts(self):
        synthetic.write_run(self.folder)
        done = support.script("make_plots.py", self.folder, "cost")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = support.script("report.py", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = support.read(os.path.join(self.folder, "report.md")).decode()
        self.assertIn("(plots/cost.png)", report)
        self.assertNotIn("(plots/latency.png)", report)


if __name__ == "__main__":
    unittest.main()
