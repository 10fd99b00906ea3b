"""docs/throughput.md lists the columns of throughput.csv, word for word."""
import os
import re
import unittest

import support


def text(path):
    return support.read(os.path.join(support.ROOT, path)).decode()


class Columns(unittest.TestCase):
    def test_table_is_the_def_file(self):
        found = re.findall(r'^COLUMN\((\w+), \w+, .*?,\s*((?:"[^"]*"\s*)+)\)',
                           text("bench/columns.def"), re.M | re.S)
        wanted = [f"| `{name}` | " + "".join(re.findall(r'"([^"]*)"', meaning))
                  + " |" for name, meaning in found]
        self.assertGreater(len(wanted), 5)
        page = text("docs/throughput.md").splitlines()
        start = page.index("| column | meaning |") + 2
        self.assertEqual(page[start:start + len(wanted)], wanted)


if __name__ == "__main__":
    unittest.main()
