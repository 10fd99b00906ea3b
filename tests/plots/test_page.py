"""The page of findings: what is committed is what the committed set gives, a
GPU's set gives a GPU's page, and simgpu's gives no time for one's."""
import contextlib
import glob
import io
import os
import random
import re
import unittest

import support
import synthetic
import data
import page
import sets
import stats
import style
import tradeoff
import traps
from test_report import FakeRun, trial

DOCS = os.path.join(support.ROOT, "docs")


def committed_pictures(kind):
    """{name: [files]} in docs/img."""
    out = {}
    for path in glob.glob(os.path.join(DOCS, "img", f"{kind}-*.svg")):
        name = re.match(rf"{kind}-(\w+)-\w+\.svg", os.path.basename(path))[1]
        out.setdefault(name, []).append(path)
    return out


class Committed(unittest.TestCase):
    def test_pages_are_those_of_the_committed_sets(self):
        folders = sorted(glob.glob(os.path.join(support.ROOT, "results",
                                                "reference-*")))
        self.assertTrue(folders)
        for folder in folders:
            others = [f for f in folders if f != folder]
            run = data.Run(folder)
            files = committed_pictures(page.kind(run))
            text = page.build(run, folder, list(files),
                              data.Run(others[-1]) if others else None)
            with self.subTest(folder=folder):
                self.assertEqual(support.read(os.path.join(
                    DOCS, page.page_name(run))).decode(), text,
                    "stale: make plots")
                for path in sum(files.values(), []):
                    self.assertIn(page.digest(folder),
                                  support.read(path).decode(), path)
                for path in re.findall(r'(?:src|srcset)="([^"]*)"', text):
                    self.assertTrue(os.path.exists(os.path.join(DOCS, path)))


class OfAGpu(support.FolderTest):
    """Invented rows that say they are from a GPU."""

    def setUp(self):
        super().setUp()
        self.set = synthetic.write_run(os.path.join(self.folder, "set"))

    def build(self, other=None):
        run = data.Run(self.set)
        return page.build(run, self.set, page.PICTURES, other)

    def test_written_with_pictures(self):
        out = os.path.join(self.folder, "docs")
        os.makedirs(os.path.join(out, "img"))
        self.write("docs/img/gpu-gone-light.svg", "of an older set")
        style.DPI = 60
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(page.main(["page.py", "--out", out, self.set]), 0)
        text = support.read(os.path.join(out, "findings-gpu.md")).decode()
        self.assertTrue(text.startswith(f"# Findings on {synthetic.DEVICE}\n"))
        pictures = os.listdir(os.path.join(out, "img"))
        self.assertNotIn("gpu-gone-light.svg", pictures)
        self.assertEqual(len(pictures), 2 * len(page.PICTURES))
        for name in pictures:
            self.assertIn(f"img/{name}", text)
            svg = support.read(os.path.join(out, "img", name)).decode()
            self.assertIn(f"device: {synthetic.DEVICE}", svg)
            self.assertIn(page.digest(self.set), svg)
            paper = style.THEMES["dark" if "dark" in name else "light"][0]
            self.assertIn(f"fill: {paper}", svg)

    def test_says_times_and_names_its_device(self):
        text = self.build()
        self.assertNotIn("simgpu", text)
        self.assertIn("| lost with kernels of 10 µs and 10 µs of host work "
                      "between launches |", text)
        row = next(line for line in text.splitlines()
                   if line.startswith("| [bad-gather]"))
        self.assertRegex(row, r"\| 9, [\d.]+ [µm]s \|")
        for claim in re.findall(r"^- \*\*.*", text, re.M):
            self.assertIn(f"<sub>{synthetic.DEVICE}; basis: ", claim)
            self.assertIn("; rows `", claim)

    def test_defence_beside_blocking(self):
        text = self.build()
        self.assertRegex(text, r"\| \[bad-gather\]\(scenarios.md#bad-gather\) "
                         r"\| [-\d.]+ % \[.*\] \| 3\d\.\d % \[")

    def test_against_simgpu(self):
        self.other = synthetic.write_run(os.path.join(self.folder, "other"))
        for name, change in (("trials.csv", (",cuda,", ",sim,")),
                             ("throughput.csv", (",cuda,", ",sim,"))):
            path = os.path.join(self.other, name)
            text = support.read(path).decode().replace(",cuda,", ",sim,")
            if name == "trials.csv":        # one cell that ends otherwise
                text = re.sub(r"(\bempty-mask/sync/.*?),exact,", r"\1,silent,",
                              text)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        other = data.Run(self.other)
        self.assertTrue(other.is_simulated())
        text = self.build(other)
        self.assertIn("## Against simgpu (software device)", text)
        self.assertIn("30 cells that both have", text)
        self.assertIn("29 of 30 ended alike, 0 had some outcomes in common "
                      "and 1 none", text)
        self.assertIn("| empty-mask | sync | exact 8 | silent 8 |", text)
        # The other way round, no time of the GPU's comes into simgpu's page.
        back = page.build(other, self.other, page.PICTURES,
                          data.Run(self.set))
        self.assertIn(f"## Against {synthetic.DEVICE}", back)

    def test_parts_that_are_missing(self):
        names = ("trials.csv", "throughput.csv", "micro.json", "context.json")
        for name in names:
            kept = support.read(os.path.join(self.set, name))
            os.remove(os.path.join(self.set, name))
            with self.subTest(missing=name):
                self.build()
            with open(os.path.join(self.set, name), "wb") as f:
                f.write(kept)

    def test_damaged_sets(self):
        names = ("trials.csv", "throughput.csv", "micro.json")
        good = {n: support.read(os.path.join(self.set, n))[:4000]
                for n in names}
        for seed in range(25):
            r = random.Random(seed)
            for n in names:
                with open(os.path.join(self.set, n), "wb") as f:
                    f.write(synthetic.damage(good[n], r))
            with self.subTest(seed=seed):
                try:
                    self.build()
                except data.RunError as e:
                    self.assertNotIn("\n", str(e))


class NoTimeOfSimgpu(unittest.TestCase):
    def test_refused(self):
        run = FakeRun([trial("sync", "exact")], device="sim")
        own = f"## Cost ({page.OWN_TIME})"
        page.refuse_times(run, ["## Places", "12 of 12", own, "5 µs"])
        for claim in ("12 ms later", "a step of 3.5 µs", "| 80 ns |", "9 s."):
            for lines in (["## Places", claim], [own, "## Next", claim]):
                with self.assertRaisesRegex(data.RunError, "refused"):
                    page.refuse_times(run, lines)
        page.refuse_times(FakeRun(device="cuda"), ["## Places", "5 µs"])

    def test_whatever_its_rows_claim(self):
        """Rows that say cuda, on a device whose name is simgpu's."""
        run = FakeRun([trial("sync", "exact", device="cuda",
                             device_name="simgpu (software device)")])
        self.assertTrue(run.is_simulated())
        self.assertEqual(page.page_name(run), "findings.md")

    def test_no_latencies_in_the_table(self):
        rows = [trial("async", "late", launches_between=4,
                      latency_fault_to_report_ns=5000)]
        self.assertIn("4", traps.half_row(FakeRun(rows, device="sim"), "s",
                                          "async"))
        self.assertIn("4, 5 µs", traps.half_row(FakeRun(rows), "s", "async"))


class Claims(unittest.TestCase):
    def test_verdicts(self):
        for outcome, verdict in (("exact", "right"), ("late", "wrong"),
                                 ("misattributed", "wrong"),
                                 ("hidden", "hides"), ("silent", "silent"),
                                 ("benign", "silent"), ("hang", "stops"),
                                 ("skipped", None)):
            run = FakeRun([trial("sync", outcome), trial("async", "late")])
            self.assertEqual(traps.verdict(run, "s"), verdict, outcome)

    def test_hidden_only_where_blocking_hides(self):
        hidden = [trial(s, "hidden") for s in ("sync", "sync", "async")]
        self.assertEqual(traps.verdict(FakeRun(hidden), "s"), "never")
        struck = hidden + [trial("sync", "exact")]
        self.assertEqual(traps.verdict(FakeRun(struck), "s"), "right")
        run = FakeRun(hidden + [trial("async", "late")])
        self.assertEqual(traps.verdict(run, "s"), "hides")

    def test_what_a_claim_says(self):
        run = FakeRun(
            [trial("sync", "exact", launch_function="pool", basis="derived",
                   report_function="pool", launches_between=0)] * 2 +
            [trial("async", "late", launch_function="pool", basis="report",
                   report_function="loss", launches_between=n)
             for n in (7, 9)] + [trial("async", "hidden")])
        self.assertEqual(
            traps.claim(run, "s"),
            "- **s**: under `sync` 2 of 2 trials named the launch in `pool`; "
            "under `async` 2 of 3 trials were told in `loss`, 8 (7 to 9) "
            "launches after the one in `pool` (hidden 1). <sub>cuda; basis: derived, "
            "report; rows `s/faulty/async/`, `s/faulty/sync/` (5)</sub>")

    def test_right_by_luck_is_not_alone(self):
        rows = [trial("x", "exact", suspects=1), trial("x", "exact",
                                                       suspects=3)]
        self.assertEqual(tradeoff.found(FakeRun(rows), "x"), 0.5)

    def test_every_scenario_weighs_the_same(self):
        rows = [trial("x", "exact", suspects=1)] * 9 + \
            [trial("x", "late", scenario="other")]
        self.assertEqual(tradeoff.found(FakeRun(rows), "x"), 0.5)

    def test_crumbs(self):
        rows = [trial("breadcrumb", "exact", suspects=1, error_code=700,
                      host_waits=0),
                trial("breadcrumb", "late", suspects=2, error_code=700,
                      scenario="two-streams"),
                trial("breadcrumb", "misattributed", suspects=1,
                      error_code=719),
                trial("breadcrumb", "misattributed", suspects=1,
                      error_code=9)]
        [text, _] = traps.crumb_lines(FakeRun(rows))
        self.assertIn("Of 3 reports of faults", text)
        self.assertIn("held the launch that faulted in 2 and were exactly it "
                      "in 1 (never alone where streams overlap: "
                      "`two-streams`)", text)
        self.assertIn("wait 0 times", text)

    def test_share(self):
        for value, wanted in zip(stats.share(0, 12), (0, 0, 0.2425)):
            self.assertAlmostEqual(value, wanted, places=4)
        # Agresti and Coull 1998: 5 of 10.
        for value, wanted in zip(stats.share(5, 10), (0.5, 0.2366, 0.7634)):
            self.assertAlmostEqual(value, wanted, places=4)
        self.assertIsNone(stats.share(0, 0))


class Basis(unittest.TestCase):
    def test_cells_are_counted(self):
        rows = [trial("sync", "exact", basis="derived", as_expected="yes"),
                trial("sync", "late", basis="derived", as_expected="no"),
                trial("async", "late", basis="open", as_expected="yes")]
        [text, _] = page.basis_lines(FakeRun(rows))
        self.assertIn("basis: 1 `derived`, 1 `open`. 1 cell came out "
                      "otherwise.", text)


class Sweep(unittest.TestCase):
    def test_bands(self):
        self.assertEqual(sets.bands([1, 2, 3]), [[1], [2], [3]])
        self.assertEqual(sets.bands(list(range(10)), 3),
                         [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]])
        self.assertEqual(sets.rate_text([1000, 20000]), "0.1 to 2 %")

    def test_rows(self):
        rows = [trial("async", "late" if rate > 5000 else "hidden",
                      bad_samples_ppm=rate, launch_index=1 + 20000 // rate)
                for rate in (1000, 5000, 10000, 50000)]
        text = "\n".join(sets.sweep_section(FakeRun(rows)))
        self.assertIn("| s | 0.5 % | 4 | 0/1 [0, 79] % |", text)
        self.assertIn("| s | 5 % | 0 | 1/1 [21, 100] % |", text)
        self.assertEqual(sets.sweep_section(FakeRun(rows[:1])), [])


if __name__ == "__main__":
    unittest.main()
