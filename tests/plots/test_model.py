"""The cost model: its arithmetic on numbers worked out by hand, and that it
says what it cannot predict."""
import unittest
from collections import namedtuple

import support  # noqa: F401
import model
import stats
from test_report import FakeRun

Cell = namedtuple("Cell", "kernel host measured")
TIMES = {"launch": 4, "launch_sync": 10, "cudaGetLastError": 1,
         "cudaEventRecord": 2, "cudaEventQuery/complete": 1,
         "drain/cudaEventRecord": 3}


class Step(unittest.TestCase):
    def step(self, strategy, n=4, kernel=100, host=0, measured=102):
        return model.step_ns(strategy, TIMES, Cell(kernel, host, measured), 1,
                             n)

    def test_work_side_by_side(self):
        # Launch, three more kernels back to back, the last, start: 10 - 4.
        self.assertEqual(self.step("async"), 4 + 3 * 102 + 100 + 6)
        # The host is slower: its four launches, the last kernel, start.
        self.assertEqual(self.step("async", host=500),
                         504 + 3 * 504 + 100 + 6)

    def test_one_after_the_other(self):
        self.assertEqual(self.step("sync-unchecked"), 4 * (4 + 100 + 6))
        self.assertEqual(self.step("sync"), 4 * (4 + 1 + 100 + 6))

    def test_every_so_many(self):
        # Of ten launches eight, then the two that the step's end waits for.
        self.assertEqual(self.step("every-8", n=10),
                         4 + 7 * 102 + 106 + 4 + 102 + 106)

    def test_commands_lengthen_the_device(self):
        self.assertEqual(self.step("event-poll"),
                         4 + 1 + 2 + 2 + 3 * 105 + 103 + 6)

    def test_short_kernels_hide_behind_launches(self):
        self.assertEqual(self.step("sync-unchecked", n=1, kernel=0,
                                   measured=4), 10)

    def test_a_graph_is_made_before_it_runs(self):
        times = {"graph/16": 32}
        cell = Cell(100, 50, 102)
        for strategy in ("graph", "graph-sync"):
            self.assertEqual(model.step_ns(strategy, times, cell, 1, 4),
                             4 * (50 + 2 + 100))
        self.assertEqual(model.lacks("graph", TIMES),
                         "micro.json has no graph/16")

    def test_scale(self):
        cells = [Cell(1e5, 0, 1.5e5), Cell(2e5, 0, 3e5), Cell(10, 0, 900),
                 Cell(0, 0, 5), Cell(1e6, 0, None)]
        self.assertEqual(model.kernel_scale(cells), 1.5)
        self.assertEqual(model.kernel_scale(cells[2:]), 1)


class Prediction(unittest.TestCase):
    def run_of(self, sync_rate, micro=TIMES):
        def turn(strategy, rate, repetition):
            return {"strategy": strategy, "workload": "spin",
                    "repetition": str(repetition), "kernel_target_ns": "100",
                    "kernel_measured_ns": "102", "host_work_ns": "0",
                    "steps_per_s": str(rate), "launches_per_step": "4"}
        run = FakeRun(throughput=[
            turn(s, rate, i) for i in range(3)
            for s, rate in (("async", 1e9 / 416), ("sync", sync_rate),
                            ("unheard-of", 1))])
        run.micro = {"benchmarks": [
            {"run_name": k + "/real_time", "aggregate_name": "median",
             "time_unit": "ns", "real_time": v} for k, v in micro.items()]}
        return run

    def test_met_and_missed(self):
        [hit] = model.points(self.run_of(1e9 / 444))
        self.assertAlmostEqual(hit.predicted, 1 - 416 / 444)
        self.assertAlmostEqual(hit.ratio, 1)
        self.assertFalse(model.misses(hit))
        [miss] = model.points(self.run_of(1e9 / 900))
        self.assertTrue(model.misses(miss))
        # Far off, but so is the measurement: not the model's failure.
        vague = miss._replace(cost=stats.Interval(0.5, 0.0, 0.9))
        self.assertFalse(model.misses(vague))

    def test_what_cannot_be_predicted_is_said(self):
        self.assertEqual(model.lacks("unheard-of", TIMES), "not in the model")
        self.assertEqual(model.lacks("breadcrumb", TIMES),
                         "micro.json has no cuStreamWriteValue32, "
                         "drain/cuStreamWriteValue32")
        self.assertEqual(model.points(self.run_of(1, {"launch": 4})), [])
        self.assertIsNone(model.draw(self.run_of(1, {})))


if __name__ == "__main__":
    unittest.main()
