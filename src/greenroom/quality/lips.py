"""Do the lips follow the speech: the opening they should have, the one they have, and how alike.

The truth is what the known times of the sounds ask for: each sound pulls the mouth towards its own
shape with a weight that rises and falls in time, and the strongest pull wins (dominance functions,
Cohen and Massaro 1993). An opening is the distance of the lower lip's point from the upper lip's in
the head's own frame, in pixels of the 512 canvas, above that of the resting face.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from greenroom.base.flow import FPS, Motion, Phoneme
from greenroom.engine.pose import rotation
from greenroom.engine.rig import PARAMETERS, Rig
from greenroom.quality.visemes import (
    BILABIALS,
    PRIMARY_STRESS,
    SECONDARY_STRESS,
    VISEME_OF,
    VOWELS,
)

Curve = NDArray[np.float64]

UPPER_LIP, LOWER_LIP = 6, 12
PIXELS_PER_UNIT = 183.0  # of the 512 canvas at the depth of the lips, per world unit
MAX_LAG = 6  # frames
CLOSED_BELOW = 2.0  # pixels above rest
CLOSED_BEFORE, CLOSED_AFTER = 0.060, 0.040  # seconds around a sound in which the lips may close

_REST_PULL = 0.35  # of the resting mouth, against a vowel's 1
_ANTICIPATION = 0.020  # seconds that the lips lead the sound
_CONSONANT_WIDTH = 0.85  # of a vowel's of the same duration
_LEAST_WIDTH = 0.035  # seconds, standard deviation of the shortest sound's pull
_STRESSED, _UNSTRESSED = 1.12, 0.85  # how far a vowel's shape is reached


@dataclass(frozen=True, slots=True)
class Follow:
    """How well lips follow: correlation and lag in frames (positive: the lips come late)."""

    correlation: float
    lag: int


@dataclass(frozen=True, slots=True)
class Closures:
    """Of `count` sounds, how many find the lips closed."""

    closed: int
    count: int

    @property
    def share(self) -> float:
        return self.closed / self.count if self.count else float("nan")

    def __add__(self, other: Closures) -> Closures:
        return Closures(self.closed + other.closed, self.count + other.count)


def truth_params(phonemes: Sequence[Phoneme], frames: int, rig: Rig) -> Tensor:
    """Face units (frames, 60) that the sounds ask for, in the order of the rig's params.

    Stress marks count for the next vowel; symbols that move no lips are passed over.
    """
    middle_of_frame = (np.arange(frames) + 0.5) / FPS
    shapes = np.zeros((frames, rig.width))
    pulls = np.full(frames, _REST_PULL)
    for sound, reach in _voiced(phonemes):
        viseme, vowel = VISEME_OF[sound.symbol], sound.symbol in VOWELS
        width = max((sound.end - sound.start) / 2, _LEAST_WIDTH) * (
            1 if vowel else _CONSONANT_WIDTH
        )
        middle = (sound.start + sound.end) / 2 - _ANTICIPATION
        pull = viseme.dominance_of(sound.symbol) * np.exp(
            -0.5 * ((middle_of_frame - middle) / width) ** 2
        )
        pulls += pull
        for unit, weight in viseme.weights.items():
            shapes[:, rig.column(unit)] += pull * reach * weight
    return torch.from_numpy(shapes / pulls[:, None])


def _voiced(phonemes: Iterable[Phoneme]) -> Iterator[tuple[Phoneme, float]]:
    """The sounds that shape the mouth, and how far each reaches its shape."""
    stressed = False
    for phoneme in phonemes:
        if phoneme.symbol in (PRIMARY_STRESS, SECONDARY_STRESS):
            stressed = phoneme.symbol == PRIMARY_STRESS
        elif phoneme.symbol in VOWELS:
            yield phoneme, _STRESSED if stressed else _UNSTRESSED
            stressed = False
        elif phoneme.symbol in VISEME_OF:
            yield phoneme, 1.0


def truth_opening(phonemes: Sequence[Phoneme], frames: int, rig: Rig) -> Curve:
    """Opening of the lips (frames,) that the sounds ask for, in pixels above rest."""
    units = truth_params(phonemes, frames, rig)[:, len(PARAMETERS) :]
    return opening_of(torch.einsum("nu,upc->npc", units, rig.displacement))


def opening_of(displacement: Tensor) -> Curve:
    """Displacement of the points (N, 21, 3) in the head's frame -> opening (N,) in pixels."""
    apart = displacement[:, LOWER_LIP, 1] - displacement[:, UPPER_LIP, 1]
    pixels: Curve = apart.double().cpu().numpy() * PIXELS_PER_UNIT
    return pixels


def opening(motion: Motion, rest: Motion) -> Curve:
    """Opening (N,) of driven lips in pixels above the resting face `rest`, of 1 or N rows."""
    return opening_of(_in_head(motion) - _in_head(rest))


def _in_head(motion: Motion) -> Tensor:
    """Expression (N, 21, 3) turned back from the picture into the head's own frame."""
    turn = rotation(motion.pitch.double(), motion.yaw.double(), motion.roll.double())
    return motion.exp.double() @ turn.transpose(1, 2)


def follow(driven: Sequence[Curve], truth: Sequence[Curve]) -> Follow:
    """Compare the curves of one or more clips: one correlation over all, the best common lag."""
    pairs = list(zip(driven, truth, strict=True))

    def shifted(lag: int) -> float:
        return float(np.mean([correlation(*_shift(a, b, lag)) for a, b in pairs]))

    best = max(range(-MAX_LAG, MAX_LAG + 1), key=shifted)
    return Follow(correlation(np.concatenate(driven), np.concatenate(truth)), best)


def correlation(a: Curve, b: Curve) -> float:
    """Pearson's correlation of two curves of equal length."""
    return float(np.corrcoef(a, b)[0, 1])


def _shift(driven: Curve, truth: Curve, lag: int) -> tuple[Curve, Curve]:
    """The overlap when `driven` is `lag` frames late."""
    n = len(truth) - abs(lag)
    late, early = max(lag, 0), max(-lag, 0)
    return driven[late : late + n], truth[early : early + n]


def closures(curve: Curve, phonemes: Iterable[Phoneme], symbols: str = BILABIALS) -> Closures:
    """How many of the sounds in `symbols` find the lips closed at their least opening nearby."""
    least = [
        float(near.min())
        for sound in phonemes
        if sound.symbol in symbols and len(near := _around(curve, sound))
    ]
    return Closures(sum(pixels < CLOSED_BELOW for pixels in least), len(least))


def _around(curve: Curve, sound: Phoneme) -> Curve:
    """The frames from 60 ms before a sound to 40 ms after it."""
    first = max(int((sound.start - CLOSED_BEFORE) * FPS), 0)
    last = int((sound.end + CLOSED_AFTER) * FPS)
    return curve[first : last + 1]
