"""Gated loudness of mono sound by ITU-R BS.1770-5, streaming and in constant memory."""

from __future__ import annotations

from collections import deque
from functools import cache

import numpy as np
from numpy.typing import NDArray

from greenroom.base.flow import Samples

SILENCE = -70.0  # LUFS, the absolute gate
_RELATIVE_GATE = -10.0  # LU
_OFFSET = -0.691  # LU, of the standard
_HOP_SECONDS = 0.1
_HOPS = 4  # in one block of 0.4 s
_BIN = 0.01  # LU of the histogram of blocks; energies inside a bin are summed exactly
_LOUDEST = 50.0  # LUFS, the last bin


class Meter:
    """Integrated loudness of all samples so far.

    Works in hops of 100 ms that lie fixed in the sound: the result does not depend on how the
    sound is cut.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._hop = round(_HOP_SECONDS * rate)
        self._response = k_weighting(rate, self._hop)
        self._before = np.zeros(self._hop)
        self._rest: Samples = np.zeros(0, np.float32)
        self._energies: deque[float] = deque(maxlen=_HOPS)
        bins = round((_LOUDEST - SILENCE) / _BIN) + 1
        self._sums = np.zeros(bins)
        self._counts = np.zeros(bins, np.int64)

    def push(self, pcm: Samples) -> None:
        samples = np.concatenate([self._rest, pcm])
        whole = len(samples) // self._hop * self._hop
        for begin in range(0, whole, self._hop):
            self._add(samples[begin : begin + self._hop].astype(np.float64))
        self._rest = samples[whole:]

    @property
    def integrated(self) -> float | None:
        """LUFS; None where no block of 0.4 s is above the absolute gate."""
        if not self._counts.any():
            return None
        gate = _loudness(self._sums.sum() / self._counts.sum()) + _RELATIVE_GATE
        kept = slice(_bin_of(gate), None)
        return _loudness(self._sums[kept].sum() / self._counts[kept].sum())

    def _add(self, hop: NDArray[np.float64]) -> None:
        # The filter forgets within a hop, so that two hops in a circle give the second one right.
        circle = np.fft.rfft(np.concatenate([self._before, hop])) * self._response
        weighted = np.fft.irfft(circle, 2 * self._hop)[self._hop :]
        self._before = hop
        self._energies.append(float(np.sum(np.square(weighted))))
        energy = sum(self._energies) / (_HOPS * self._hop)
        if len(self._energies) == _HOPS and energy > 0 and _loudness(energy) > SILENCE:
            self._sums[_bin_of(_loudness(energy))] += energy
            self._counts[_bin_of(_loudness(energy))] += 1


def _loudness(mean_square: float) -> float:
    return float(_OFFSET + 10 * np.log10(mean_square))


def _bin_of(loudness: float) -> int:
    return int((min(max(loudness, SILENCE), _LOUDEST) - SILENCE) / _BIN)


@cache
def k_weighting(rate: int, hop: int) -> NDArray[np.complex128]:
    """The response of the K filter at the frequencies of a transform of two hops.

    The standard gives coefficients for 48 kHz; these are the analogue filters behind them (found
    from the coefficients by the inverse of the bilinear transform), so that any rate will do.
    """
    tangent = 1j * np.tan(np.pi * np.arange(hop + 1) / (2 * hop))
    s = tangent / np.tan(np.pi * 1681.974450955533 / rate)
    q = 0.7071752369554196
    shelf = (1.584864701130855 * s**2 + 1.258720930232562 / q * s + 1) / (s**2 + s / q + 1)
    corner = 38.13547087602444
    s = tangent / np.tan(np.pi * corner / rate)
    q = 0.5003270373238773
    # The numerator 1, -2, 1 of the standard is not normalised: this is its gain at 48 kHz.
    at_48 = np.tan(np.pi * corner / 48_000)
    high_pass = (1 + at_48 / q + at_48**2) * s**2 / (s**2 + s / q + 1)
    return np.asarray(shelf * high_pass, np.complex128)
