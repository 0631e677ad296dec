"""Broadcast level: the loudness asked for, by an independent meter, and no sample out of place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyloudnorm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import resample_poly, sosfreqz
from speech_sounds import cut, joined, talk, tone

from greenroom.base.flow import Phoneme, Samples, Speech, Word
from greenroom.speech.loudness import MOST_GAIN, Loudness, level, measure
from greenroom.speech.meter import k_weighting

RATES = (8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000)
CEILING = -1.0


def loudness_of(pcm: Samples, rate: int) -> float:
    return float(pyloudnorm.Meter(rate).integrated_loudness(pcm.astype(np.float64)))


def true_peak(pcm: Samples) -> float:
    fine = resample_poly(pcm.astype(np.float64), 16, 1)
    return float(20 * np.log10(np.abs(fine).max()))


def as_file(pcm: Samples, rate: int, target: float, sizes: Sequence[int]) -> list[Speech]:
    known = measure(cut(pcm, rate, [rate]))
    return list(level(cut(pcm, rate, sizes), target, CEILING, known=known))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("gain", [0.1, 1.0, 6.0])
def test_a_file_comes_out_at_the_level_of_broadcast(rate: int, gain: float) -> None:
    sound = talk(9, rate) * np.float32(gain)
    out = joined(as_file(sound, rate, -23.0, [rate]))
    assert loudness_of(out, rate) == pytest.approx(-23.0, abs=0.5)
    assert true_peak(out) <= CEILING


@pytest.mark.parametrize("rate", [16_000, 24_000, 48_000])
def test_lines_come_out_at_the_level_of_broadcast(rate: int) -> None:
    """Each line is levelled by what was said until then, some louder and some softer."""
    moods = (0.7, 1.0, 1.3, 0.9, 1.1, 0.8)
    lines = [talk(2.4, rate, seed) * np.float32(mood) for seed, mood in enumerate(moods)]
    pause = np.zeros(rate // 2, np.float32)
    spoken = [Speech(np.concatenate([line, pause]), rate) for line in lines]
    out = joined(list(level(iter(spoken), -23.0, CEILING)))
    assert loudness_of(out, rate) == pytest.approx(-23.0, abs=0.5)
    assert true_peak(out) <= CEILING


def test_a_line_does_not_wait_for_the_next() -> None:
    lines = iter([Speech(talk(2, 24_000), 24_000)])
    first = next(level(lines, -23.0, CEILING))
    assert loudness_of(first.pcm, 24_000) == pytest.approx(-23.0, abs=0.5)


def test_the_meter_agrees_with_another() -> None:
    """At any rate; the other one normalises the high-pass, which is 0.04 LU."""
    for rate in RATES:
        sound = talk(6, rate)
        known = measure(cut(sound, rate, [rate])).integrated
        assert known == pytest.approx(loudness_of(sound, rate), abs=0.1)


def test_the_filter_of_the_standard() -> None:
    """The table of BS.1770-5, annex 1, for 48 kHz."""
    shelf = [1.53512485958697, -2.69169618940638, 1.19839281085285]
    shelf += [1.0, -1.69065929318241, 0.73248077421585]
    high_pass = [1.0, -2.0, 1.0, 1.0, -1.99004745483398, 0.99007225036621]
    angles = np.pi * np.arange(4_801) / 4_800
    _, expected = sosfreqz([shelf, high_pass], angles)
    np.testing.assert_allclose(k_weighting(48_000, 4_800), expected, atol=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_a_calibrated_tone(rate: int) -> None:
    """EBU Tech 3341, case 1, in mono: 1 kHz at -23 dBFS is -23 LUFS on two channels, so -26.

    At the lowest rates the bilinear transform bends the shelf of the filter.
    """
    sound = tone(rate * 20, rate, 1_000, 10 ** (-23 / 20))
    known = measure(cut(sound, rate, [rate])).integrated
    assert known == pytest.approx(-26.0, abs=0.1 if rate >= 16_000 else 0.25)


def test_softer_parts_are_gated() -> None:
    """EBU Tech 3341, cases 3 and 4, in mono: what is far softer than the rest does not count."""
    parts = [(2, -72.0), (5, -36.0), (30, -23.0), (5, -36.0), (2, -72.0)]
    sound = np.concatenate(
        [tone(48_000 * seconds, 48_000, 1_000, 10 ** (dbfs / 20)) for seconds, dbfs in parts]
    )
    assert measure(cut(sound, 48_000, [48_000])).integrated == pytest.approx(-26.0, abs=0.1)


def test_silence_between_is_not_counted() -> None:
    """The gates of the standard: pauses of any length leave the loudness of speech alone."""
    sound, rest = talk(15, 24_000), np.zeros(24_000 * 20, np.float32)
    alone = measure(cut(sound, 24_000, [24_000])).integrated
    among = measure(cut(np.concatenate([sound, rest]), 24_000, [24_000])).integrated
    assert alone is not None
    assert among == pytest.approx(alone, abs=0.2)


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60_000), min_size=1, max_size=6),
    gain=st.sampled_from([0.2, 3.0]),
    length=st.integers(1, 40_000),
)
def test_chunk_law(sizes: list[int], gain: float, length: int) -> None:
    """However the sound is cut, it is measured alike and the samples are the same."""
    sound = talk(1.7, 24_000)[:length] * np.float32(gain)
    whole = as_file(sound, 24_000, -16.0, [len(sound)])
    pieces = as_file(sound, 24_000, -16.0, sizes)
    assert measure(cut(sound, 24_000, sizes)) == measure(cut(sound, 24_000, [len(sound)]))
    assert [len(piece.pcm) for piece in pieces] == [
        len(piece.pcm) for piece in cut(sound, 24_000, sizes)
    ]
    np.testing.assert_array_equal(joined(pieces), joined(whole))


@pytest.mark.parametrize("known", [True, False])
def test_times_and_places_stay(known: bool) -> None:
    """A click stays on its sample, and phonemes and words ride on their own piece."""
    clicks = np.zeros(48_000, np.float32)
    clicks[[0, 5, 12_345, 30_000, 47_999]] = 0.9
    spoken = [
        Speech(
            clicks[begin : begin + 16_000],
            24_000,
            (Phoneme(str(begin), 0.1, 0.2),),
            (Word(f"w{begin}", 0.1, 0.2),),
        )
        for begin in (0, 16_000, 32_000)
    ]
    loudness = Loudness(-20.0) if known else None
    out = list(level(iter(spoken), -16.0, CEILING, known=loudness))
    assert [(piece.phonemes, piece.words, piece.rate) for piece in out] == [
        (piece.phonemes, piece.words, piece.rate) for piece in spoken
    ]
    assert [len(piece.pcm) for piece in out] == [16_000] * 3
    assert np.flatnonzero(joined(out)).tolist() == [0, 5, 12_345, 30_000, 47_999]


def test_silence_stays_silence() -> None:
    nothing = np.zeros(100_000, np.float32)
    assert measure(cut(nothing, 16_000, [16_000])) == Loudness(None)
    for out in (
        as_file(nothing, 16_000, -16.0, [7_000]),
        list(level(cut(nothing, 16_000, [7_000]), -16.0, CEILING)),
    ):
        np.testing.assert_array_equal(joined(out), nothing)


def test_a_hiss_below_the_gate_is_not_raised() -> None:
    hiss = 1e-5 * np.random.default_rng(0).standard_normal(48_000).astype(np.float32)
    np.testing.assert_array_equal(joined(as_file(hiss, 24_000, -23.0, [9_999])), hiss)


def test_the_gain_has_an_end_and_says_so() -> None:
    faint = talk(5, 24_000) * np.float32(0.003)
    known = measure(cut(faint, 24_000, [24_000]))
    assert known.integrated is not None
    assert known.integrated < -60
    out = joined(list(level(cut(faint, 24_000, [5_000]), -23.0, CEILING, known=known)))
    np.testing.assert_allclose(out, faint * 10 ** (MOST_GAIN / 20), atol=1e-7)
    assert "the most" in known.describe(-23.0)
    assert "short of -23 LUFS" in known.describe(-23.0)
    assert "the most" not in Loudness(-30.0).describe(-23.0)
    assert Loudness(-30.0).describe(-23.0) == "-30.0 LUFS, gain +7.0 dB"


@pytest.mark.parametrize("count", [1, 10, 640, 4_800, 9_599])
def test_sound_too_short_to_measure_is_measured_as_if_it_went_on(count: int) -> None:
    sound = tone(count, 24_000, 1_000, 0.25)
    out = joined(as_file(sound, 24_000, -23.0, [count]))
    assert len(out) == count
    assert np.isfinite(out).all()
    if count >= 640:
        longer = joined(as_file(tone(48_000, 24_000, 1_000, 0.25), 24_000, -23.0, [24_000]))
        assert np.abs(out).max() == pytest.approx(np.abs(longer).max(), rel=0.15)


def test_without_a_target_nothing_is_touched() -> None:
    loud = Speech(np.full(100, 3.0, np.float32), 24_000)
    assert list(level(iter([loud]), None, CEILING)) == [loud]


def test_nothing_at_all() -> None:
    assert measure(iter(())) == Loudness(None)
    assert list(level(iter(()), -23.0, CEILING)) == []
    assert list(level(iter(()), -23.0, CEILING, known=Loudness(-20.0))) == []


@pytest.mark.parametrize("known", [True, False])
def test_empty_pieces_pass(known: bool) -> None:
    empty = Speech(np.zeros(0, np.float32), 24_000)
    spoken = [empty, Speech(talk(1, 24_000), 24_000), empty]
    loudness = Loudness(-20.0) if known else None
    out = list(level(iter(spoken), -23.0, CEILING, known=loudness))
    assert [len(piece.pcm) for piece in out] == [0, 24_000, 0]


def test_the_gain_moves_without_a_step() -> None:
    """Between two pieces of one steady tone there is no click, though their gains differ."""
    pieces = [tone(24_000, 24_000, 200, peak) for peak in (0.05, 0.1)]
    spoken = [Speech(piece, 24_000) for piece in pieces]
    gain = [
        20 * np.log10(out.pcm[heard] / piece[heard])
        for out, piece in zip(level(iter(spoken), -23.0, CEILING), pieces, strict=True)
        for heard in [np.abs(piece) > 0.01]
    ]
    assert gain[1][0] == pytest.approx(gain[0][-1], abs=0.1)
    assert gain[1][-1] < gain[0][-1] - 3
    assert np.abs(np.diff(gain[1])).max() < 0.1
