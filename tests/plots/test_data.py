"""Damaged, partial and hostile results: data, a note, or one line; never a
traceback."""
import os
import random
import unittest

import support
import synthetic
import cost
import data
import findings
import latency
import report

HEAD = ",".join(synthetic.TRIAL_COLUMNS)


def row(**cells):
    return ",".join(str(cells.get(c, "")) for c in synthetic.TRIAL_COLUMNS)


GOOD = row(scenario="s", variant="faulty", strategy="sync", mode="free",
           device="cuda", outcome="exact", launches_between=0)


class Reading(support.FolderTest):
    def read(self, text):
        self.write("trials.csv", text)
        return data.Run(self.folder)

    def test_comments_quotes_and_line_ends(self):
        quoted = GOOD.replace("cuda", '"cu,\n""da"')
        run = self.read(f"# hello\r\n{HEAD}\r\n# more\n{quoted}\r\n{GOOD}\n"
                        f"{quoted}\n")
        self.assertEqual(len(run.trials), 2)
        self.assertEqual(run.device, 'cu,\n"da')

    def test_truncated_last_line(self):
        run = self.read(f"{HEAD}\n{GOOD}\n{GOOD[:20]}")
        self.assertEqual(len(run.trials), 1)
        self.assertIn("cut short", run.notes[0])

    def test_truncated_in_the_last_cell(self):
        run = self.read(f"{HEAD}\n{GOOD}\n{GOOD}")
        self.assertEqual(len(run.trials), 1)

    def test_damaged_line_is_named(self):
        run = self.read(f"{HEAD}\n{GOOD}\na,b\n{GOOD}\n")
        self.assertEqual(len(run.trials), 2)
        self.assertIn("line 3", run.notes[0])

    def test_open_quote_costs_one_line(self):
        run = self.read(f'{HEAD}\n"{GOOD}\n' + f"{GOOD}\n" * 80)
        self.assertEqual(len(run.trials), 80)

    def test_missing_columns(self):
        run = self.read("scenario,strategy\ns,sync\n")
        self.assertIn("no column variant", run.notes[0])
        report.build(run)

    def test_numbers(self):
        self.assertIsNone(data.number(""))
        self.assertIsNone(data.number("nan"))
        self.assertIsNone(data.number("inf"))
        self.assertIsNone(data.number(None))
        self.assertEqual(data.number(" 7 "), 7)

    def test_nothing_to_read(self):
        for text in ("", "\n\n", "# only\n", HEAD, HEAD + "\n", "\0\0\0"):
            with self.assertRaises(data.RunError):
                self.read(text)
        with self.assertRaises(data.RunError):
            data.Run(os.path.join(self.folder, "absent"))

    def test_bad_json(self):
        self.write("context.json", "{" * 100000)
        self.write("micro.json", "[1]")
        run = self.read(f"{HEAD}\n{GOOD}\n")
        self.assertEqual(len(run.notes), 2)
        report.build(run)

    def test_two_devices_are_not_mixed(self):
        run = self.read(f"{HEAD}\n{GOOD}\n{GOOD}\n" +
                        GOOD.replace("cuda", "sim") + "\n")
        self.assertEqual(len(run.trials), 2)
        self.assertIn("2 devices", run.notes[0])

    def test_simulator_never_shows_a_gpus_name(self):
        self.write("context.json", '{"device_name": "NVIDIA H100"}')
        run = self.read(f"{HEAD}\n" + GOOD.replace("cuda", "sim") + "\n")
        self.assertEqual(run.device_label(), "simgpu (software device)")
        self.assertNotIn("`sync` on NVIDIA", report.build(run))


class Mutations(support.FolderTest):
    """Random damage to good files, repeatable."""

    def test_no_damage_raises(self):
        synthetic.write_run(self.folder)
        names = ("trials.csv", "throughput.csv", "context.json")
        good = {n: support.read(os.path.join(self.folder, n))[:6000]
                for n in names}
        for seed in range(150):
            r = random.Random(seed)
            for n in names:
                self.write(n, synthetic.damage(good[n], r))
            try:
                run = data.Run(self.folder)
            except data.RunError as e:
                self.assertNotIn("\n", str(e))
                continue
            with self.subTest(seed=seed):
                report.build(run)


class Cost(support.FolderTest):
    def test_known_ratio_despite_drift(self):
        rows = []
        for repetition in range(6):
            for strategy, rate in (("async", 100), ("sync", 40)):
                rows.append({"device": "cuda", "repetition": repetition,
                             "strategy": strategy, "workload": "spin",
                             "kernel_target_ns": 0, "host_work_ns": 0,
                             "launches_per_step": 10,
                             "steps_per_s": rate * 0.5 ** repetition})
        synthetic.write_csv(os.path.join(self.folder, "throughput.csv"),
                            synthetic.THROUGHPUT_COLUMNS, rows[:-1])
        [cell] = cost.cells(data.Run(self.folder))
        self.assertEqual((cell.strategy, cell.pairs), ("sync", 5))
        for value in cell.cost:
            self.assertAlmostEqual(value, 0.6)

    def test_without_a_baseline_there_is_no_cost(self):
        self.write("throughput.csv", ",".join(synthetic.THROUGHPUT_COLUMNS) +
                   "\n1,cuda,0,0,sync,,spin,0,,0,16,1,1e9,1.0\n")
        run = data.Run(self.folder)
        self.assertEqual(cost.cells(run), [])
        self.assertIn("no throughput", findings.sentences(run)[2])


class Latency(unittest.TestCase):
    def test_limits_are_whole_decades(self):
        self.assertEqual(latency.limits([]), (1e2, 1e9))
        self.assertEqual(latency.limits([0, -5, 2e3, 3e5]), (1e3, 1e6))


if __name__ == "__main__":
    unittest.main()
