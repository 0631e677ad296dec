"""The gate: nothing loud is damped, nothing short is split, nothing jumps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from greenroom.audio.silence import SilenceGate
from greenroom.base.flow import Samples
from greenroom.base.presets import GatePreset

PRESET = GatePreset()


def pcm_of(loud: list[bool]) -> Samples:
    """A tone of RMS 0.1 where loud, of RMS 0.004 (under the threshold) where not."""
    tone = np.sin(2 * np.pi * 200 * np.arange(640) / 16000).astype(np.float32) * np.float32(2**0.5)
    return np.concatenate([tone * (0.1 if x else 0.004) for x in loud])


def alphas(loud: list[bool], cuts: list[int] | None = None) -> Samples:
    gate = SilenceGate(PRESET)
    out = []
    for piece in np.split(np.asarray(loud, bool), sorted(cuts or [])):
        if len(piece):
            gate.push(pcm_of(piece.tolist()))
        out.append(gate.take(max(0, gate.ready)))
    gate.finish()
    out.append(gate.take(gate.ready))
    return np.concatenate(out)


loud_lists = st.lists(st.booleans(), min_size=1, max_size=80)


@given(loud_lists, st.lists(st.integers(0, 80), max_size=5))
def test_chunks_change_nothing(loud: list[bool], cuts: list[int]) -> None:
    assert np.array_equal(alphas(loud), alphas(loud, [min(c, len(loud)) for c in cuts]))


@given(loud_lists)
def test_loud_frames_and_the_hold_after_them_are_whole(loud: list[bool]) -> None:
    alpha = alphas(loud)
    for n in np.flatnonzero(loud):
        assert (alpha[n : n + PRESET.hold + 1] == 1).all()


@given(loud_lists)
def test_alpha_never_jumps_after_the_first_frame(loud: list[bool]) -> None:
    steepest = 1.5 / (min(PRESET.rise, PRESET.release) + 1)  # a smooth step's middle
    assert np.abs(np.diff(alphas(loud))).max(initial=0) <= steepest + 1e-6


def test_a_short_gap_is_not_seen_and_a_long_one_is_silent() -> None:
    alpha = alphas([True] * 5 + [False] * PRESET.hold + [True] * 5)
    assert (alpha == 1).all()
    alpha = alphas([True] * 5 + [False] * 40 + [True] * 5)
    first, last = 5 + PRESET.hold + PRESET.release, 45 - PRESET.rise
    assert (alpha[first:last] == 0).all()
    assert (alpha[5:first] > 0).all()
    assert (alpha[last:] > 0).all()


def test_digital_silence_and_a_constant_offset_are_silence() -> None:
    for level in (0.0, 0.5, -1.0):
        gate = SilenceGate(PRESET)
        gate.push(np.full(640 * 20, level, np.float32))
        gate.finish()
        assert (gate.take(20) == 0).all()


def test_threshold_is_an_rms() -> None:
    tone = np.sin(2 * np.pi * 100 * np.arange(640 * 12) / 16000).astype(np.float32) * 2**0.5
    for level, expected in ((0.0079, 0.0), (0.0081, 1.0)):
        gate = SilenceGate(PRESET)
        gate.push((tone * level).astype(np.float32))
        gate.finish()
        assert (gate.take(12) == expected).all()
