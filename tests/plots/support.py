"""Paths and helpers of these tests; importing it makes plots/ importable."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PLOTS = os.path.join(ROOT, "plots")
sys.path.insert(0, PLOTS)
# Where the build put things; empty when a test is run by hand.
BUILD = os.environ.get("FAULTLAG_BUILD", "")


def tool(name):
    """An executable of the build; without a build the test is skipped."""
    if not BUILD:
        raise unittest.SkipTest("FAULTLAG_BUILD names no build folder")
    path = os.path.join(BUILD, name)
    if not os.path.exists(path):
        raise AssertionError(f"{path} was not built")
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def script(name, *args):
    return subprocess.run([sys.executable, os.path.join(PLOTS, name), *args],
                          capture_output=True, text=True, timeout=120)


class FolderTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path
