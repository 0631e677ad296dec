"""The limiter: no true peak above the ceiling, whatever comes; no more gain taken than needed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import resample_poly
from speech_sounds import talk, tone

from greenroom.base.flow import Samples
from greenroom.speech.limiter import LOOK_AHEAD_SECONDS, RELEASE, Limiter

Signal = NDArray[np.float64]
CEILING = -1.0


def limited(signal: Signal, rate: int, size: int = 0) -> Samples:
    limiter = Limiter(rate, CEILING)
    size = size or len(signal)
    pieces = [limiter.push(signal[begin : begin + size]) for begin in range(0, len(signal), size)]
    return np.concatenate([*pieces, limiter.finish()])


def true_peak(pcm: Samples) -> float:
    """By other means than the limiter's: 16 points per sample, through a filter of scipy's."""
    fine = resample_poly(pcm.astype(np.float64), 16, 1)
    return float(20 * np.log10(np.abs(fine).max()))


def hostile(kind: str, rate: int) -> Signal:
    rng = np.random.default_rng(7)
    count = rate
    if kind == "clicks":
        return rng.uniform(-6, 6, count) * (rng.random(count) < 0.004)
    if kind == "quarter":  # every sample is 0.7 of the peaks that lie between them
        return np.asarray(1.4 * np.sin(np.pi / 2 * np.arange(count) + np.pi / 4))
    if kind == "square":
        return np.asarray(3 * np.sign(np.sin(2 * np.pi * 217 * np.arange(count) / rate)))
    if kind == "noise":
        return rng.standard_normal(count)
    if kind == "burst":
        return np.where(np.arange(count) % 4_001 < 90, 5.0, 0.01) * rng.uniform(-1, 1, count)
    if kind == "dc":
        return np.full(count, 2.0)
    return 12 * talk(1, rate).astype(np.float64)


@pytest.mark.parametrize("rate", [8_000, 24_000, 48_000, 192_000])
@pytest.mark.parametrize("kind", ["clicks", "quarter", "square", "noise", "burst", "dc", "speech"])
def test_no_peak_passes(kind: str, rate: int) -> None:
    signal = hostile(kind, rate)
    out = limited(signal, rate)
    assert len(out) == len(signal)
    assert true_peak(out) <= CEILING + 0.1
    assert np.abs(out).max() <= 10 ** (CEILING / 20)
    assert np.abs(out).max() > 0.5 * 10 ** (CEILING / 20)  # nor is it crushed


@pytest.mark.parametrize("at", [0, 1, 3, 119, 120, 121, 2_399, 2_400, 4_790, 4_999])
def test_a_peak_anywhere(at: int) -> None:
    """At the start, near and on the borders of blocks, and at the end."""
    signal = np.full(5_000, 0.01)
    signal[at] = 5.0
    out = limited(signal, 24_000)
    assert np.argmax(out) == at
    assert 20 * np.log10(out[at]) == pytest.approx(CEILING - 0.1, abs=0.01)


def test_what_is_under_the_ceiling_is_not_touched() -> None:
    signal = 0.8 * tone(10_000, 24_000, 900, 1.0).astype(np.float64)
    np.testing.assert_array_equal(limited(signal, 24_000), signal.astype(np.float32))


def test_gain_comes_down_before_a_peak_and_back_after_it() -> None:
    rate, at = 24_000, 12_000
    signal = np.full(rate, 0.1)
    signal[at] = 2.0
    gain = limited(signal, rate) / signal
    ahead = round(rate * LOOK_AHEAD_SECONDS)
    assert np.flatnonzero(gain < 0.999)[0] >= at - ahead - 1  # the peak reaches the sample before
    down = 20 * np.log10(2 / 10 ** ((CEILING - 0.1) / 20))
    back = at + ahead + round(down / RELEASE * rate)
    assert gain[back + 1] == pytest.approx(1, abs=1e-6)
    assert np.all(np.diff(gain[at + 1 : back]) >= -1e-7)
    assert np.abs(np.diff(gain)).max() < 0.02  # no step anywhere


@pytest.mark.parametrize("size", [1, 17, 2_399, 2_400, 2_401, 5_000])
def test_cuts_do_not_matter(size: int) -> None:
    signal = hostile("clicks", 24_000)[:12_000]
    np.testing.assert_array_equal(limited(signal, 24_000, size), limited(signal, 24_000))


def test_it_holds_back_no_more_than_it_must() -> None:
    """One block of 100 ms and the look-ahead: the sound of a live source is not late."""
    limiter = Limiter(24_000, CEILING)
    given = returned = late = 0
    for _ in range(100):
        returned += len(limiter.push(np.zeros(240)))
        given += 240
        late = max(late, given - returned)
    assert late <= 24_000 * 0.115


def test_a_follower_starts_where_the_first_ended() -> None:
    loud = 2 * tone(3_000, 24_000, 1_000, 1.0).astype(np.float64)
    first = Limiter(24_000, CEILING)
    before = np.concatenate([first.push(loud), first.finish()])
    second = Limiter(24_000, CEILING, start=first.end_gain)
    after = np.concatenate([second.push(loud * 0.4), second.finish()])
    assert first.end_gain == pytest.approx(CEILING - 0.1 - 20 * np.log10(2), abs=0.3)
    assert after[1] / (0.4 * loud[1]) == pytest.approx(before[-1] / loud[-1], rel=0.02)
    assert after[-1] / (0.4 * loud[-1]) == pytest.approx(1, rel=1e-3)
