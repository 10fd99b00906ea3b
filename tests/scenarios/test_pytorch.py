"""scenarios/pytorch without PyTorch: what is skipped and why, how tracebacks
are read, what rows come of them. The fake in fake/torch behaves like a GPU."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "scenarios/pytorch"))
import run  # noqa: E402

MODERN = """\
../aten/src/ATen/native/cuda/IndexKernel.cu:92: operator(): block: [0,0,0], \
thread: [64,0,0] Assertion `-sizes[i] <= index` failed.
Traceback (most recent call last):
  File "/some/where/index_bounds.py", line 52, in <module>
    program.run(inputs, train_step)
    ~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^
  File "/some/where/program.py", line 43, in run
    loss = train_step(batch, "cuda")
  File "/some/where/index_bounds.py", line 47, in train_step
    return loss.item()
           ~~~~~~~~~^^
torch.AcceleratorError: CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/some/where/index_bounds.py", line 1, in other
RuntimeError: CUDA error: an illegal memory access was encountered
"""


class Reading(unittest.TestCase):
    def test_first_traceback_innermost_line(self):
        self.assertEqual(
            run.parse_traceback(MODERN, "index_bounds.py"),
            {"at": (47, "train_step"),
             "what": "torch.AcceleratorError: CUDA error: device-side assert "
                     "triggered"})

    def test_no_traceback(self):
        self.assertIsNone(run.parse_traceback("some warning\n", "a.py"))

    def test_not_of_this_program(self):
        report = run.parse_traceback(MODERN, "other.py")
        self.assertIsNone(report["at"])

    def test_cut_off(self):
        report = run.parse_traceback(MODERN[:MODERN.index("torch.Acc")],
                                     "index_bounds.py")
        self.assertEqual(report, {"at": (47, "train_step"), "what": ""})

    def test_errors_by_text(self):
        self.assertEqual(run.error_of("RuntimeError: CUDA error: an illegal "
                                      "memory access was encountered"),
                         (700, "cudaErrorIllegalAddress"))
        self.assertIsNone(run.error_of("IndexError: index out of range"))

    def test_each_program_has_one_planted_line(self):
        for name in run.PROGRAMS:
            line, function = run.planted(run.HERE / (name + ".py"))
            self.assertNotEqual(function, "train_step", name)
            self.assertGreater(line, 1)


class Running(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_all(self, *arguments, how="", fake=HERE / "fake"):
        env = dict(os.environ, PYTHONPATH=str(fake), FAKE_TORCH=how)
        return subprocess.run(
            [sys.executable, str(run.HERE / "run.py"), *arguments], env=env,
            capture_output=True, text=True)

    def rows(self, *arguments, how="", code=0):
        path = self.folder / ("rows%s.csv" % how)
        done = self.run_all("--trials", "1", "--csv", str(path), *arguments,
                            how=how)
        self.assertEqual(done.returncode, code, done.stderr)
        with open(path) as f:
            return {(r["scenario"], r["variant"], r["strategy"]): r
                    for r in csv.DictReader(f)}

    def test_skipped_without_pytorch(self):
        (self.folder / "torch.py").write_text(
            'raise ImportError("none of it here")\n')
        done = self.run_all(fake=self.folder)
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("none of it here", done.stderr)

    def test_skipped_without_a_gpu(self):
        done = self.run_all(how="no-device")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("finds no CUDA device", done.stderr)

    def test_rows(self):
        rows = self.rows()
        self.assertEqual(len(rows), 4 * 2 * 2)
        outcomes = {key: row["outcome"] for key, row in rows.items()}
        for name in run.PROGRAMS:
            s = "pytorch-" + name.replace("_", "-")
            silent = name == "empty_mask"
            line, function = run.planted(run.HERE / (name + ".py"))
            late = rows[s, "faulty", "async-check"]
            exact = rows[s, "faulty", "sync"]
            self.assertEqual(outcomes[s, "healthy", "sync"], "clean")
            self.assertEqual(outcomes[s, "healthy", "async-check"], "clean")
            self.assertEqual(late["outcome"], "silent" if silent else "late")
            self.assertEqual(exact["outcome"], "silent" if silent else "exact")
            for row in (late, exact):
                self.assertEqual((row["launch_line"], row["launch_function"]),
                                 (str(line), function))
                self.assertEqual(row["as_expected"], "yes")
            if silent:
                self.assertEqual(late["error_code"], "")
                continue
            self.assertEqual(late["report_function"], "train_step")
            self.assertEqual(int(late["line_distance"]),
                             int(late["report_line"]) - line)
            self.assertEqual((exact["report_line"], exact["report_function"],
                              exact["line_distance"], exact["error_code"]),
                             (str(line), function, "0", "710"))

    def test_columns_are_those_of_trials_csv(self):
        path = self.folder / "rows.csv"
        self.run_all("--trials", "1", "--only", "embedding", "--csv",
                     str(path))
        text = (ROOT / "docs/schema.md").read_text()
        for name in path.read_text().splitlines()[0].split(","):
            self.assertIn(f"| `{name}` |", text)

    def test_deviations(self):
        rows = self.rows("--only", "embedding", how="never-blocks", code=1)
        row = rows["pytorch-embedding", "faulty", "sync"]
        self.assertEqual((row["outcome"], row["as_expected"],
                          row["deviation"]),
                         ("misattributed", "no",
                          "outcome misattributed instead of exact"))
        rows = self.rows("--only", "embedding", how="always-right", code=1)
        row = rows["pytorch-embedding", "faulty", "async-check"]
        self.assertEqual(row["outcome"], "benign")

    def test_nothing_is_overwritten(self):
        path = self.folder / "rows.csv"
        path.write_text("mine\n")
        done = self.run_all("--csv", str(path))
        self.assertEqual(done.returncode, 3)
        self.assertEqual(path.read_text(), "mine\n")


if __name__ == "__main__":
    unittest.main()
