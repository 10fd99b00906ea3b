"""The report says what the rows say: each sentence is computed, and changes
when the rows do."""
import unittest

import support  # noqa: F401
import findings
import report
import stats


class FakeRun:
    """Rows without files."""
    context, micro, notes, folder = {}, {}, [], "."

    def __init__(self, trials=(), throughput=(), device="cuda"):
        self.trials, self.throughput = list(trials), list(throughput)
        self.device = device

    def __getattr__(self, name):
        import data
        return getattr(data.Run, name).__get__(self)


def trial(strategy, outcome, scenario="s", **cells):
    return dict({"scenario": scenario, "strategy": strategy,
                 "variant": "faulty", "mode": "free", "outcome": outcome},
                **{k: str(v) for k, v in cells.items()})


class Sentences(unittest.TestCase):
    def test_place(self):
        rows = [trial("async", "late", launches_between=n, frame_distance=3)
                for n in (5, 9)]
        rows += [trial("async", "misattributed", launches_between=7,
                       frame_distance=3)]
        rows += [trial("sync", "exact", launches_between=0)] * 3
        text = findings.sentence_place(FakeRun(rows))
        self.assertIn("`async` named the launch that faulted in 0 of 3", text)
        self.assertIn("median of 7 launches (up to 9) later, 3 stack frames",
                      text)
        self.assertIn("`sync` named the launch that faulted in 3 of 3", text)

    def test_hidden_only_where_it_strikes_elsewhere(self):
        rows = [trial("async", "late"), trial("async", "hidden"),
                trial("sync", "hidden")]
        text = findings.sentence_unseen(FakeRun(rows))
        self.assertIn("never happened under `sync` (1 trial) but did in "
                      "1 of 2 under `async`", text)
        never = [trial("async", "hidden"), trial("sync", "hidden")]
        self.assertIn("no strategy kept one",
                      findings.sentence_unseen(FakeRun(never)))

    def test_silent(self):
        rows = [trial("async", "silent"), trial("sync", "benign")]
        self.assertIn("`s` corrupted data without any report in 1 of 2",
                      findings.sentence_unseen(FakeRun(rows)))

    def test_cost(self):
        def turn(strategy, kernel, rate):
            return {"strategy": strategy, "workload": "spin", "turn": "0",
                    "repetition": "0", "kernel_target_ns": str(kernel),
                    "host_work_ns": "0", "steps_per_s": str(rate),
                    "launches_per_step": "10"}
        rows = [turn("async", 0, 100), turn("sync", 0, 25),
                turn("async", 1000000, 10), turn("sync", 1000000, 9)]
        text = findings.sentence_cost(FakeRun(throughput=rows, device="sim"))
        self.assertIn("lost 75 % [75, 75] at its worst, with empty kernels",
                      text)
        self.assertIn("lost 10 % [10, 10] with kernels of 1 ms", text)
        self.assertEqual(findings.lost(stats.Interval(.01, -.02, .03)),
                         "lost nothing measurable (1 % [-2, 3])")
        self.assertIn("not of a GPU", text)

    def test_missing_parts_are_named(self):
        text = " ".join(findings.sentences(FakeRun()))
        self.assertIn("no trials with a planted fault", text)
        self.assertIn("no throughput measurements", text)


class Tables(unittest.TestCase):
    def test_deviations_are_marked(self):
        rows = [trial("sync", "late", as_expected="no"),
                trial("async", "late", as_expected="yes")]
        text = report.build(FakeRun(rows))
        self.assertIn("| s | late 1 | late 1 ! |", text)

    def test_seeded_times_are_not_shown(self):
        rows = [trial("sync", "exact", latency_fault_to_report_ns=5000),
                dict(trial("sync", "exact", latency_fault_to_report_ns=9),
                     mode="seeded")]
        self.assertEqual(report.latency_text(rows),
                         "5 µs [5 µs, 5 µs]")

    def test_cells_cannot_break_the_table(self):
        rows = [trial("sy|nc\nx", "exact")]
        self.assertIn("sy\\|nc x", report.build(FakeRun(rows)))

    def test_modes(self):
        rows = [trial("async", "late"),
                dict(trial("async", "hidden"), mode="seeded",
                     schedule="eager")]
        self.assertIn("| s | async | late 1 | - | hidden 1 | - |",
                      report.build(FakeRun(rows)))


class Context(unittest.TestCase):
    def test_lines(self):
        run = FakeRun()
        run.context = {"time": "T", "commit": "abc", "dirty": True,
                       "toolkit": 13000, "cpu": "X", "cpus_online": 2,
                       "environment": {"SECRET": "x"}}
        self.assertEqual(findings.context_lines(run), [
            "- made: T", "- commit: abc with changes not committed",
            "- CUDA: toolkit 13.0", "- processor: X, 2 online", ""])

    def test_strange_values(self):
        run = FakeRun()
        run.context = {"time": [], "commit": 5, "toolkit": "x", "cpu": {}}
        findings.context_lines(run)


class Micro(unittest.TestCase):
    def test_order_and_units(self):
        run = FakeRun()
        run.micro = {"benchmarks": [
            {"run_name": "b/real_time", "aggregate_name": "median",
             "real_time": 2.5, "time_unit": "us", "family_index": 1},
            {"run_name": "a/real_time", "aggregate_name": "median",
             "real_time": 7, "time_unit": "ns", "family_index": 0,
             "bytes_per_second": 2e9},
            {"run_name": "a", "aggregate_name": "mean", "real_time": 1,
             "time_unit": "ns"}, "nonsense", {"aggregate_name": "median"}]}
        rows = [line for line in report.micro_lines(run) if "ns" in line
                or "µs" in line]
        self.assertEqual(rows, ["| a | 7 ns | 2 GB/s |",
                                "| b | 2.5 µs |  |"])


if __name__ == "__main__":
    unittest.main()
