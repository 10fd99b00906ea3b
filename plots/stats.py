"""Medians and bootstrap intervals, digit for digit those of harness/stats.c
(see harness/stats.h for the definition); tests compare the two."""
from collections import namedtuple

import numpy as np

SEED = 20240229
RESAMPLES = 2000
GAMMA = np.uint64(0x9E3779B97F4A7C15)

Interval = namedtuple("Interval", "median low high")


def _mix(z):
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _draws(n, seed):
    """RESAMPLES rows of n indices below n."""
    with np.errstate(over="ignore"):
        k = np.arange(1, RESAMPLES * n + 1, dtype=np.uint64)
        bits = _mix(np.uint64(seed) + k * GAMMA) >> np.uint64(32)
        index = (bits * np.uint64(n)) >> np.uint64(32)
    return index.astype(np.intp).reshape(RESAMPLES, n)


def median(x, seed=SEED):
    """Median of x with its 95 % percentile bootstrap; None for no samples."""
    x = np.asarray(x, dtype=float)
    if x.size == 0:
        return None
    medians = np.median(x[_draws(x.size, seed)], axis=1)
    low, high = np.quantile(medians, [0.025, 0.975])
    return Interval(float(np.median(x)), float(low), float(high))


def cost(a, b, seed=SEED):
    """1 - median of a/b over pairs measured next to each other."""
    ratios = [x / y for x, y in zip(a, b) if y > 0]
    m = median(ratios, seed)
    return m and Interval(1 - m.median, 1 - m.high, 1 - m.low)


def share(part, whole):
    """part of whole with Wilson's 95 % score interval, which does not end
    outside [0, 1] or collapse at its ends; None for no trials."""
    if not whole:
        return None
    z = 1.959963984540054
    p, n = part / whole, whole
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return Interval(p, max(0.0, middle - half), min(1.0, middle + half))
