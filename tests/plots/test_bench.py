"""The benchmark's command line, and a small run on the software device whose
rows the plots can read."""
import os
import re
import subprocess
import unittest

import support
import synthetic
import cost
import data


def bench(*args, timeout=200):
    return subprocess.run([support.tool("bin/faultlag-bench"), *args],
                          capture_output=True, text=True, timeout=timeout)


class CommandLine(unittest.TestCase):
    def test_wrong_options(self):
        for args, culprit in ((["--device", "tpu"], "tpu"),
                              (["--strategies", "async,nope"], "nope"),
                              (["--kernels-us", "1,x"], "1,x"),
                              (["--seconds", "-1"], "-1"),
                              (["--launches", "0"], "0"),
                              (["--only", "nothing"], "nothing"),
                              (["stray"], "stray"),
                              (["--unknown"], "unknown")):
            with self.subTest(args=args):
                done = bench(*args)
                self.assertEqual(done.returncode, 2)
                self.assertIn(culprit, done.stderr)

    def test_help_names_every_option(self):
        done = bench("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("device", "out", "seconds", "strategies", "kernels-us",
                       "host-work-us", "scenarios", "launches", "seed"):
            self.assertIn(f"--{option}", done.stdout)


class SmallRun(support.FolderTest):
    ARGS = ["--device", "sim", "--seconds", "0", "--turn-ms", "1",
            "--repetitions", "2", "--kernels-us", "0,200",
            "--host-work-us", "0", "--strategies", "async-check,sync",
            "--scenarios", "none", "--only", "throughput"]

    def test_rows(self):
        done = bench(*self.ARGS, "--out", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = data.Run(self.folder)
        self.assertEqual(run.notes, [])
        # 2 repetitions x 2 cells x 3 strategies, async among them unasked.
        self.assertEqual(len(run.throughput), 12)
        self.assertEqual(sorted(run.throughput[0]),
                         sorted(synthetic.THROUGHPUT_COLUMNS))
        for r in run.throughput:
            self.assertEqual(r["device"], "sim")
            self.assertGreater(data.number(r["steps_per_s"]), 0)
            self.assertEqual(r["launches_per_step"], "16")
        self.assertEqual(len(cost.cells(run)), 4)
        self.assertIn("simgpu", run.device_label())
        again = bench(*self.ARGS, "--out", self.folder)
        self.assertEqual(again.returncode, 3)
        self.assertIn("exists", again.stderr)


class Micro(support.FolderTest):
    def test_json(self):
        done = bench("--device", "sim", "--only", "micro", "--out",
                     self.folder, "--", "--benchmark_min_time=0.001",
                     "--benchmark_filter=cudaGetLastError|launch_sync|copy/.*/4$")
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = []
        micro = data.read_json(os.path.join(self.folder, "micro.json"), notes)
        self.assertEqual(notes, [])
        # Only what was put there: no name of this machine, no path.
        self.assertEqual(set(micro["context"]), {"device_name"})
        names = {b["name"] for b in micro["benchmarks"]}
        self.assertTrue(any(n.startswith("launch_sync") for n in names))
        for b in micro["benchmarks"]:
            self.assertNotIn("error_occurred", b)


class Saxpy(support.FolderTest):
    def test_instruction_count(self):
        """SAXPY_INSTRUCTIONS is what nvcc really makes a thread execute:
        straight-line code, every thread takes all of it."""
        nvcc = os.environ.get("FAULTLAG_NVCC", "")
        if not nvcc:
            raise unittest.SkipTest("no nvcc named")
        header = support.read(os.path.join(support.ROOT, "bench/saxpy.h"))
        stated = int(re.search(rb"SAXPY_INSTRUCTIONS (\d+)", header)[1])
        out = os.path.join(self.folder, "saxpy.ptx")
        subprocess.run([nvcc, "-arch=compute_75", "-ptx", "-I", support.ROOT,
                        os.path.join(support.ROOT, "bench/saxpy.cu"),
                        "-o", out], check=True, capture_output=True)
        body = support.read(out).decode().split(".entry", 1)[1]
        body = body[body.index("{"):]
        counted = [line for line in body.splitlines()
                   if line.strip().endswith(";")
                   and not line.strip().startswith((".", "//"))]
        self.assertEqual(len(counted), stated)


if __name__ == "__main__":
    unittest.main()
