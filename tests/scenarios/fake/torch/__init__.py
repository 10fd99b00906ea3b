"""As much of PyTorch as scenarios/pytorch asks for, to test what runs it where
there is no GPU. A tensor has a shape and the range of its values, no values. A
bad index on "cuda" is found as on a GPU: at once when launches block, else by
whatever waits next. FAKE_TORCH in the environment changes that: `no-device`,
`never-blocks`, `always-right` (no fault is ever found)."""
import os
import sys

from . import cuda

__version__ = "0 (fake)"


class Device:
    pending = None

    @classmethod
    def fault(cls, device):
        how = os.environ.get("FAKE_TORCH")
        if device == "cpu":
            raise IndexError("index out of range")
        if how == "always-right":
            return
        print("fake.cu:1: kernel: block: [0,0,0], thread: [3,0,0] Assertion "
              "`index out of bounds` failed.", file=sys.stderr)
        cls.pending = RuntimeError(
            "CUDA error: device-side assert triggered\nCUDA kernel errors "
            "might be asynchronously reported at some other API call.\n")
        if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1" \
                and how != "never-blocks":
            cls.wait()

    @classmethod
    def wait(cls):
        if cls.pending:
            raise cls.pending


class Tensor:
    def __init__(self, shape, low=0.0, high=1.0, device="cpu"):
        self.shape, self.low, self.high = tuple(shape), low, high
        self.device = device

    def like(self, shape=None, low=None, high=None):
        return Tensor(self.shape if shape is None else shape,
                      self.low if low is None else low,
                      self.high if high is None else high, self.device)

    def to(self, device):
        return Tensor(self.shape, self.low, self.high, device)

    def __matmul__(self, other):
        return self.like(self.shape[:-1] + other.shape[1:])

    def __mul__(self, by):
        return self.like(low=self.low * by, high=self.high * by)

    def __truediv__(self, by):
        return self * (1 / by)

    def __add__(self, other):
        return self.like(low=self.low + other.low, high=self.high + other.high)

    def __gt__(self, than):
        return self.like(low=0, high=int(self.high > than))

    def __setitem__(self, at, value):
        self.low, self.high = min(self.low, value), max(self.high, value)

    def __getitem__(self, at):
        if isinstance(at, tuple):
            if at[1].high >= self.shape[1]:
                Device.fault(self.device)
            return self.like(at[1].shape + self.shape[2:])
        kept = self.shape[0] if at.high else 0
        return self.like((kept,) + self.shape[1:])

    def mean(self):
        return self.like(())

    def item(self):
        if self.device != "cpu":
            Device.wait()
        return float(self.high)


def manual_seed(seed):
    pass


def randint(low, high, shape):
    return Tensor(shape, low, high - 1)


def randn(*shape):
    return Tensor(shape, -1.0, 1.0)


def rand(*shape):
    return Tensor(shape, 0.0, 0.9)


def arange(n, device="cpu"):
    return Tensor((n,), 0, n - 1, device)


def relu(x):
    return x.like(low=0.0)
