"""The benchmark's command line, and a small run on the software device whose
rows the plots can read."""
import json
import os
import re
import signal
import subprocess
import time
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
            "--repetitions", "12", "--kernels-us", "0,200",
            "--host-work-us", "0", "--strategies", "async-check,sync",
            "--scenarios", "none", "--only", "throughput"]

    def test_rows(self):
        done = bench(*self.ARGS, "--out", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = data.Run(self.folder)
        self.assertEqual(run.notes, [])
        # 12 repetitions x 2 cells x 3 strategies, async among them unasked.
        self.assertEqual(len(run.throughput), 72)
        self.assertEqual(sorted(run.throughput[0]),
                         sorted(synthetic.THROUGHPUT_COLUMNS))
        for r in run.throughput:
            self.assertEqual(r["device"], "sim")
            self.assertGreater(data.number(r["steps_per_s"]), 0)
            self.assertEqual(r["launches_per_step"], "16")
        cells = cost.cells(run)
        self.assertEqual(len(cells), 4)
        # The table that C prints and the one that Python computes.
        for c in cells:
            figures = "{:.1f} [{:.1f}, {:.1f}]".format(
                *(100 * v for v in c.cost))
            self.assertIn(figures, done.stdout)
        self.assertIn("simgpu", run.device_label())
        again = bench(*self.ARGS, "--out", self.folder)
        self.assertEqual(again.returncode, 3)
        self.assertIn("exists", again.stderr)


class Defences(support.FolderTest):
    SCENARIOS = ["bad-gather", "shared-race"]

    def defended(self):
        """Of these, what the catalogue has against the faulty input."""
        done = subprocess.run([support.tool("bin/faultlag"), "list", "--json"],
                              capture_output=True, text=True, check=True)
        return [(s["name"], v) for s in json.loads(done.stdout)["scenarios"]
                if s["name"] in self.SCENARIOS for v in s["variants"]
                if v not in ("faulty", "healthy")]

    def test_where_there_is_one(self):
        done = bench("--device", "sim", "--seconds", "0", "--turn-ms", "0",
                     "--repetitions", "2", "--kernels-us", "0",
                     "--host-work-us", "0", "--strategies", "async",
                     "--scenarios", ",".join(self.SCENARIOS), "--only",
                     "throughput", "--out", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = data.Run(self.folder)
        variants = sorted((r["workload"], r["variant"], r["strategy"])
                          for r in run.throughput)
        defended = self.defended()
        self.assertIn(("bad-gather", "guarded"), defended)
        self.assertIn(("bad-gather", "checked"), defended)
        self.assertEqual(variants, sorted(2 * (
            [(s, v, "async") for s, v in defended] +
            [(s, "healthy", "async") for s in self.SCENARIOS] +
            [("spin", "", "async")])))
        self.assertEqual(sorted((c.workload, c.strategy, c.defence, c.pairs)
                                for c in cost.cells(run)),
                         sorted((s, v, True, 2) for s, v in defended))
        # A turn is whole trials, however short.
        self.assertEqual({int(r["steps"]) % 2 for r in run.throughput
                          if r["workload"] != "spin"}, {0})


class Interrupted(support.FolderTest):
    """What happens to a long run when something ends early."""

    def start(self):
        """A run that would take minutes; returns it and its workers."""
        run = subprocess.Popen(
            [support.tool("bin/faultlag-bench"), "--device", "sim",
             "--seconds", "300", "--turn-ms", "1", "--kernels-us", "0",
             "--host-work-us", "0", "--strategies", "async-check,sync",
             "--scenarios", "none", "--only", "throughput", "--out",
             self.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(run.kill)
        self.wait_for_rows(10)
        return run, self.workers(run.pid)

    def csv(self):
        path = os.path.join(self.folder, "throughput.csv")
        return support.read(path).decode() if os.path.exists(path) else ""

    def wait_for_rows(self, n):
        for _ in range(1000):
            if self.csv().count("\n") > n:
                return
            time.sleep(0.05)
        self.fail("no rows")

    @staticmethod
    def workers(parent):
        """{strategy: pid}"""
        found = {}
        with open(f"/proc/{parent}/task/{parent}/children") as f:
            for pid in f.read().split():
                args = support.read(f"/proc/{pid}/cmdline").decode()
                found[args.split("\0")[1]] = int(pid)
        return found

    @staticmethod
    def runs(pid):
        """Not when it only waits for somebody to reap it."""
        try:
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_a_worker_dies_and_the_rest_goes_on(self):
        run, workers = self.start()
        os.kill(workers["sync"], signal.SIGKILL)
        self.wait_for_rows(self.csv().count("\n") + 40)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertIn("sync: the worker died", err)
        text = self.csv()
        self.assertIn("# sync ended: the worker died", text)
        after = text.split("# sync ended")[1]
        self.assertNotIn(",sync,", after)
        self.assertIn(",async-check,", after)
        self.assertIn("throughput lost", out)
        self.assertEqual(data.Run(self.folder).notes, [])

    def test_no_worker_outlives_the_parent(self):
        run, workers = self.start()
        self.assertEqual(len(workers), 3)
        run.kill()
        run.communicate()
        for _ in range(200):
            left = [p for p in workers.values() if self.runs(p)]
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"still running: {left}")


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
