"""The truth of the lips and its measures give the values that can be worked out by hand."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch

from greenroom.base.flow import Phoneme
from greenroom.engine.demo import assets
from greenroom.engine.pose import transform
from greenroom.engine.rig import PITCH, ROLL, TX, TZ, YAW, Rig
from greenroom.quality.lips import (
    PIXELS_PER_UNIT,
    Closures,
    Curve,
    closures,
    correlation,
    follow,
    opening,
    truth_opening,
    truth_params,
)
from greenroom.quality.visemes import BILABIALS, VISEME_OF, VISEMES, VOWELS


@cache
def rig() -> Rig:
    return Rig.load(assets() / "rig.safetensors")


def sounds(symbols: str, each: float = 0.12, start: float = 0.0) -> list[Phoneme]:
    """Sounds of equal length, one after the other; stress marks take no time."""
    made: list[Phoneme] = []
    for symbol in symbols:
        end = start if symbol in "ˈˌ" else start + each
        made.append(Phoneme(symbol, start, end))
        start = end
    return made


def wave(frames: int, seed: int) -> Curve:
    noise = np.random.default_rng(seed).normal(size=frames + 4)
    return np.convolve(noise, np.ones(5), "valid")


class TestVisemes:
    def test_every_symbol_makes_one_mouth(self) -> None:
        symbols = "".join(viseme.symbols for viseme in VISEMES)
        assert len(symbols) == len(set(symbols)) == len(VISEME_OF)
        assert set(VOWELS) <= set(symbols)
        assert not set(VOWELS) & set(BILABIALS)

    def test_every_unit_is_the_rigs(self) -> None:
        named = {unit for viseme in VISEMES for unit in viseme.weights}
        assert named <= set(rig().units)
        assert {"mouthPressLeft", "mouthPressRight", "jawOpen"} <= named


class TestTruth:
    def test_no_sound_is_rest(self) -> None:
        assert truth_opening([], 7, rig()).tolist() == [0.0] * 7
        assert not truth_params(sounds(" ,."), 7, rig()).any()

    @pytest.mark.parametrize(("mark", "reach"), [("ˈ", 1.12), ("", 0.85), ("ˌ", 0.85)])
    def test_a_lone_vowel_at_its_height(self, mark: str, reach: float) -> None:
        middle = 10.5 / 25  # of frame 10; the mouth leads the sound by 20 ms
        length = 0.2
        phonemes = sounds(f"{mark}ɑ", each=length, start=middle + 0.020 - length / 2)
        jaw = truth_params(phonemes, 20, rig())[:, rig().column("jawOpen")]
        assert float(jaw[10]) == pytest.approx(0.62 * reach * 1.0 / (1.0 + 0.35), abs=1e-9)
        beside = math.exp(-0.5 * (0.040 / (length / 2)) ** 2)
        assert float(jaw[11]) == pytest.approx(0.62 * reach * beside / (beside + 0.35), abs=1e-9)

    @pytest.mark.parametrize(
        ("symbol", "length", "width", "height", "jaw"),
        [
            ("p", 0.2, 0.085, 3.2, 0.05),  # a consonant's pull is narrower than a vowel's
            ("ɑ", 0.02, 0.035, 1.0, 0.62 * 0.85),  # the shortest sound still takes its time
            ("p", 0.02, 0.035 * 0.85, 3.2, 0.05),
        ],
    )
    def test_how_long_a_sound_pulls(
        self, symbol: str, length: float, width: float, height: float, jaw: float
    ) -> None:
        middle = 10.5 / 25 + 0.020
        phonemes = [Phoneme(symbol, middle - length / 2, middle + length / 2)]
        curve = truth_params(phonemes, 20, rig())[:, rig().column("jawOpen")]
        pull = height * math.exp(-0.5 * (0.040 / width) ** 2)
        assert float(curve[11]) == pytest.approx(jaw * pull / (pull + 0.35), abs=1e-9)

    def test_the_strongest_mouth_wins(self) -> None:
        """A b at 3.2 against a vowel of 1 at the same time."""
        both = [Phoneme("b", 0.32, 0.56), Phoneme("ɑ", 0.32, 0.56)]
        params = truth_params(both, 20, rig())[10]
        press = float(params[rig().column("mouthPressLeft")])
        assert press == pytest.approx(0.45 * 3.2 / (3.2 + 1.0 + 0.35), abs=1e-9)

    def test_stress_holds_for_one_vowel(self) -> None:
        once = truth_opening(sounds("ˈɑɑɑɑ", each=0.3), 30, rig())
        assert once[3] > once[25] + 3

    def test_lips_close_between_vowels(self) -> None:
        curve = truth_opening(sounds("ˈɑbˈɑmˈɑpˈɑ"), 24, rig())
        closed = [round((0.12 * i + 0.06 - 0.020) * 25 - 0.5) for i in (1, 3, 5)]
        opened = [round((0.12 * i + 0.06 - 0.020) * 25 - 0.5) for i in (0, 2, 4, 6)]
        assert max(curve[closed]) < 2.0
        assert min(curve[opened]) > 8.0

    @pytest.mark.parametrize("symbol", BILABIALS)
    def test_truth_closes_every_bilabial(self, symbol: str) -> None:
        phonemes = sounds(f"ˈɑ{symbol}ˈɑ", each=0.08)
        assert closures(truth_opening(phonemes, 10, rig()), phonemes).share == 1.0


class TestOpening:
    def test_it_is_that_of_the_rig_at_any_pose(self) -> None:
        """Turned, moved and smiling, the driven lips show the opening that the sounds asked for."""
        phonemes = sounds("ˈɑbˈɛmˈupˈɔfˈæ")
        frames = 35
        params = rig().neutral(frames) + truth_params(phonemes, frames, rig())
        rng = np.random.default_rng(3)
        for column, size in ((YAW, 15), (PITCH, 8), (ROLL, 6), (TX, 0.1), (TZ, 0.2)):
            params[:, column] = torch.from_numpy(rng.normal(0, size, frames))
        seen = opening(rig().motion(params), rig().motion(rig().neutral()))
        wanted = truth_opening(phonemes, frames, rig())
        assert np.ptp(wanted) > 20
        assert np.abs(seen - wanted).max() < 0.01

    def test_an_open_jaw_in_pixels_of_the_canvas(self) -> None:
        """What the ruler calls a pixel is one in the crop, within the perspective of the head."""
        params = rig().neutral(2)
        params[1, rig().column("jawOpen")] = 0.5
        motion = rig().motion(params)
        points = transform(rig().kp.float(), motion)
        apart = (points[:, 12, 1] - points[:, 6, 1]) * 256
        measured = opening(motion, motion[[0]])
        assert measured[0] == 0.0
        assert float(apart[1] - apart[0]) == pytest.approx(measured[1], rel=0.05)
        assert measured[1] == pytest.approx(0.5 * 57.88, abs=0.01)

    def test_rest_is_zero(self) -> None:
        rest = rig().motion(rig().neutral(3))
        assert not opening(rest, rest[[0]]).any()


class TestFollow:
    @pytest.mark.parametrize("late", [-6, -3, 0, 2, 6])
    def test_lag(self, late: int) -> None:
        truth = [wave(120, 1), wave(90, 2)]
        driven = [np.roll(curve, late) for curve in truth]
        assert follow(driven, truth).lag == late

    def test_correlation_is_over_all_clips_together(self) -> None:
        truth = [wave(50, 1), wave(80, 2)]
        driven = [2 * curve + 3 for curve in truth]
        assert follow(driven, truth).correlation == pytest.approx(1.0)
        driven[1] = driven[1] + 40  # right in each clip, wrong between them
        found = follow(driven, truth)
        assert found.correlation < 0.6
        assert found.lag == 0

    def test_pearson(self) -> None:
        assert correlation(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])) == pytest.approx(0.5)
        assert correlation(np.array([1.0, 2, 3]), np.array([3.0, 2, 1])) == pytest.approx(-1.0)


class TestClosures:
    def test_below_two_pixels_counts(self) -> None:
        curve = np.full(30, 9.0)
        curve[[5, 15, 25]] = 1.99, 2.0, -4.0
        phonemes = [Phoneme(s, t - 0.02, t + 0.02) for s, t in (("p", 0.22), ("b", 0.62))]
        phonemes += [Phoneme("m", 1.0, 1.04), Phoneme("ɑ", 0.2, 0.24)]
        assert closures(curve, phonemes) == Closures(2, 3)
        assert closures(curve, phonemes, VOWELS) == Closures(1, 1)

    @pytest.mark.parametrize(
        ("frame", "closed"), [(8, 0), (9, 1), (10, 1), (11, 1), (12, 1), (13, 1), (14, 0)]
    )
    def test_window_is_60_ms_before_to_40_ms_after(self, frame: int, closed: int) -> None:
        """The sound fills frames 11 and 12 up to 0.5: from 0.38 s (frame 9) to 0.54 s (13)."""
        curve = np.full(30, 9.0)
        curve[frame] = 0.0
        assert closures(curve, [Phoneme("b", 0.44, 0.50)]).closed == closed

    def test_window_at_the_ends_of_the_clip(self) -> None:
        curve = np.array([0.0, 9, 9, 9, 0])
        phonemes = [Phoneme("b", 0.0, 0.02), Phoneme("p", 0.18, 0.2), Phoneme("m", 1.0, 1.1)]
        assert closures(curve, phonemes) == Closures(2, 2)  # the m lies beyond the sound

    def test_shares_add_up(self) -> None:
        total = Closures(1, 2) + Closures(2, 2)
        assert total == Closures(3, 4)
        assert total.share == 0.75
        assert math.isnan(Closures(0, 0).share)


def test_a_ruler_of_the_canvas() -> None:
    """183 px per unit: focal length over the distance of the lips, in half crops of 256 px."""
    depth = rig().camera.distance + float(rig().rest[[6, 12], 2].mean())
    assert rig().camera.focal / depth * 256 == pytest.approx(PIXELS_PER_UNIT, rel=0.04)
