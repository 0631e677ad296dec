"""The clock law and the chunk law of the framer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.audio.window import Framer, frames_of
from greenroom.base.flow import Samples, Sound, Speech


def framed(pcm: Samples, rate: int, cuts: list[int]) -> Sound:
    framer = Framer(rate)
    pieces = [framer.push(Speech(piece, rate)) for piece in np.split(pcm, cuts)]
    pieces.append(framer.finish())
    firsts = np.cumsum([0, *(p.count for p in pieces[:-1])])
    assert [p.first for p in pieces] == firsts.tolist()
    return Sound(
        0, np.concatenate([p.pcm for p in pieces]), np.concatenate([p.sound for p in pieces])
    )


@pytest.mark.parametrize(
    ("samples", "rate", "frames"),
    [(1, 8000, 1), (640, 16000, 1), (641, 16000, 2), (44100, 44100, 25), (44101, 44100, 26),
     (11025 * 2 + 1, 11025, 51), (24000 * 3, 24000, 75), (192000, 192000, 25)],
)  # fmt: skip
def test_frames_follow_from_the_samples_of_the_source(samples: int, rate: int, frames: int) -> None:
    assert frames_of(samples, rate) == frames
    sound = framed(np.full(samples, 0.1, np.float32), rate, [])
    assert sound.count == frames
    assert len(sound.sound) == frames * 1920


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 30_000),
    st.sampled_from([8000, 11025, 16000, 22050, 24000, 44100, 48000, 96000]),
    st.lists(st.integers(0, 30_000), max_size=6),
)
def test_cutting_the_speech_changes_nothing(samples: int, rate: int, cuts: list[int]) -> None:
    pcm = np.random.default_rng(samples).uniform(-0.5, 0.5, samples).astype(np.float32)
    whole = framed(pcm, rate, [])
    cut = framed(pcm, rate, sorted(min(c, samples) for c in cuts))
    assert np.array_equal(whole.pcm, cut.pcm)
    assert np.array_equal(whole.sound, cut.sound)


@pytest.mark.parametrize("rate", [8000, 24000, 44100, 48000, 96000])
def test_a_click_stays_where_it_was(rate: int) -> None:
    pcm = np.zeros(rate, np.float32)
    pcm[rate // 2] = 1.0
    sound = framed(pcm, rate, [100, 7000])
    assert abs(int(np.abs(sound.sound).argmax()) - 24000) <= 3
    assert abs(int(np.abs(sound.pcm).argmax()) - 8000) <= 2
