"""A look-ahead limiter for the true peak (ITU-R BS.1770-5, annex 2), in constant memory."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from greenroom.base.flow import Samples

Signal = NDArray[np.float64]

BLOCK_SECONDS = 0.1
LOOK_AHEAD_SECONDS = 0.005  # also the time in which the gain comes down
RELEASE = 60.0  # dB per second in which it comes back
_HEADROOM = 0.1  # dB, for what lies between the points that are looked at
_OVERSAMPLING = 8  # twice the recommendation's, which misses up to 0.7 dB
_TAPS = 16  # of the interpolation on each side of a point
_WINDOW = 8.0  # beta of its Kaiser window


class Limiter:
    """Keeps the true peak of a signal under `ceiling` dBTP; gives each sample back, in place.

    `push` returns the samples that are settled: it needs to see 5 ms and half an interpolation
    filter ahead, and works in blocks that lie fixed in the signal, so that the result does not
    depend on how the signal is cut. `start` and `end_gain`, dB, join signals that follow each
    other without a look ahead.
    """

    def __init__(self, rate: int, ceiling: float, *, start: float = 0.0) -> None:
        self.end_gain = self._start = start
        self._block = round(rate * BLOCK_SECONDS)
        self._look = max(round(rate * LOOK_AHEAD_SECONDS), 1)
        self._release = RELEASE / rate
        self._ceiling = ceiling - _HEADROOM
        self._phases = _interpolators()
        self._signal: Signal = np.zeros(_TAPS)  # from _TAPS samples before the next block on
        self._wanted: Signal = np.zeros(0)  # gain in dB, one per sample from the next block on
        self._held: Signal = np.zeros(0)  # of the last 5 ms before it, once there are such

    def push(self, signal: Signal) -> Samples:
        self._signal = np.concatenate([self._signal, signal])
        done = [np.zeros(0, np.float32)]
        while len(self._signal) >= self._block + self._look + 2 * _TAPS:
            done.append(self._next_block(self._block))
        return np.concatenate(done)

    def finish(self) -> Samples:
        """The samples that are still inside; nothing but silence is ahead of them."""
        left = len(self._signal) - _TAPS
        self._signal = np.pad(self._signal, (0, self._block + self._look + 2 * _TAPS))
        done = [np.zeros(0, np.float32)]
        while left > 0:
            count = min(left, self._block)
            done.append(self._next_block(count))
            left -= count
        return np.concatenate(done)

    def _next_block(self, count: int) -> Samples:
        """Process a block and return its first `count` samples."""
        seen = len(self._wanted)
        fresh = self._signal[seen : self._block + self._look + 2 * _TAPS]
        wanted = np.concatenate([self._wanted, self._wanted_gain(fresh)])
        block = self._signal[_TAPS : _TAPS + self._block]
        gain = self._gain(wanted)
        self._signal = self._signal[self._block :]
        self._wanted = wanted[self._block :]
        self.end_gain = float(gain[count - 1])
        return (block * 10 ** (gain / 20))[:count].astype(np.float32)

    def _wanted_gain(self, signal: Signal) -> Signal:
        """Gain in dB, 0 or less, that brings each sample but the outer _TAPS under the ceiling."""
        inner = np.abs(signal[_TAPS:-_TAPS])
        ceiling = 10 ** (self._ceiling / 20)
        if np.max(np.abs(signal)) * self._phases.highest <= ceiling:
            return np.zeros(len(inner))  # not even the worst interpolation could pass it
        for taps in self._phases.taps:
            between = np.abs(np.convolve(signal, taps, "valid"))  # before each sample, and a last
            inner = np.maximum(inner, np.maximum(between[:-1], between[1:]))
        return np.minimum(self._ceiling - 20 * np.log10(np.maximum(inner, ceiling)), 0)

    def _gain(self, wanted: Signal) -> Signal:
        """The smooth gain in dB of a block, from what it and the look-ahead want.

        Each sample holds the least that is wanted until 5 ms later, comes back slowly, and is then
        averaged over the 5 ms before: so at a peak all that is averaged is low enough for it.
        """
        before = self._held[-1] if len(self._held) else self._start
        if not wanted.any() and not self._held.any() and not before:
            return np.zeros(self._block)
        missing = self._look - len(self._held)  # a first block makes up its own past
        least = _sliding_minimum(np.pad(wanted, (missing, 0)), self._look + 1)
        rise = self._release * np.arange(1, len(least) + 1)
        back = np.minimum(np.minimum.accumulate(least - rise), before) + rise
        held = np.concatenate([self._held, np.minimum(back, least)])
        self._held = held[-self._look :]
        sums = np.cumsum(np.concatenate([[0.0], held]))
        width = self._look + 1
        gain: Signal = np.minimum((sums[width:] - sums[:-width]) / width, 0)
        return gain


class _Interpolators:
    """Filters for the points between two samples, and the most that they can make of a sample."""

    def __init__(self) -> None:
        offsets = np.arange(-_TAPS + 1, _TAPS + 1)
        self.taps: list[Signal] = []
        for phase in range(1, _OVERSAMPLING):
            distance = offsets - phase / _OVERSAMPLING
            window = np.i0(_WINDOW * np.sqrt(np.maximum(1 - (distance / _TAPS) ** 2, 0)))
            taps = np.sinc(distance) * window
            self.taps.append((taps / taps.sum())[::-1])
        self.highest = max(float(np.abs(taps).sum()) for taps in self.taps)


@cache
def _interpolators() -> _Interpolators:
    return _Interpolators()


def _sliding_minimum(values: Signal, width: int) -> Signal:
    """The minimum of each `width` values in a row, by doubling the reach."""
    reach = 1
    while 2 * reach <= width:
        values = np.minimum(values[:-reach], values[reach:])
        reach *= 2
    rest = width - reach
    return np.minimum(values[: len(values) - rest], values[rest:])
