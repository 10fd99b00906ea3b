"""plots/stats.py against harness/stats.c, to the last digit, and against what
any bootstrap must satisfy."""
import os
import random
import re
import subprocess
import unittest

import support
import stats


class Stats(unittest.TestCase):
    def test_same_digits_as_in_c(self):
        tool = support.tool("tests/plots_stats_tool")
        r = random.Random(3)
        for n in (1, 2, 5, 12, 37):
            a = [r.lognormvariate(3, 1) for _ in range(n)]
            b = [r.lognormvariate(3, 1) for _ in range(n)]
            text = " ".join(repr(v) for v in [n] + a + b)
            out = subprocess.run([tool], input=text, capture_output=True,
                                 text=True, check=True).stdout.split()
            here = stats.median(a) + stats.cost(a, b)
            for mine, c in zip(here, map(float, out)):
                self.assertAlmostEqual(mine, c, delta=1e-12 * max(1, abs(c)))

    def test_same_constants_as_in_c(self):
        header = support.read(os.path.join(support.ROOT, "harness/stats.h"))
        for name in ("SEED", "RESAMPLES"):
            c = re.search(rb"STATS_%s (\d+)u" % name.encode(), header)[1]
            self.assertEqual(int(c), getattr(stats, name))

    def test_no_samples(self):
        self.assertIsNone(stats.median([]))
        self.assertIsNone(stats.cost([], []))
        self.assertIsNone(stats.cost([1.0], [0.0]))

    def test_interval_holds_the_median(self):
        m = stats.median([5, 1, 4, 2, 3, 9, 7])
        self.assertEqual(m.median, 4)
        self.assertLessEqual(m.low, m.median)
        self.assertLessEqual(m.median, m.high)

    def test_drift_cancels(self):
        base = [100 * 0.7 ** i for i in range(9)]
        cost = stats.cost([0.4 * b for b in base], base)
        for value in cost:
            self.assertAlmostEqual(value, 0.6)


if __name__ == "__main__":
    unittest.main()
