"""When the anchor blinks and when her motion fades, frame by frame (spec 5.2, 5.4)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice

OPEN_GAP = (60, 100)  # frames with open eyes between two blinks, both ends included


def blink_rows(frames: int, length: int, gaps: Sequence[int] | random.Random) -> tuple[int, ...]:
    """Row of the blink table for each of `frames` frames; 0 = open.

    `length` is the table's number of rows. `gaps` are the open frames before each blink, used in
    turn, none for no blinks at all, or the randomness to draw them from. Eyes stay open in the
    last gap of the list (or one drawn for it), so that the end does not cut a blink.
    """
    rows = [0] * frames
    if isinstance(gaps, random.Random):
        first, last = gaps.randint(*OPEN_GAP), gaps.randint(*OPEN_GAP)
        following = _drawn(gaps)
    elif gaps:
        first, last = gaps[0], gaps[-1]
        following = islice(cycle(gaps), 1, None)
    else:
        return tuple(rows)
    start = first
    while start < frames - max(last, length):
        rows[start : start + length] = range(length)
        start += length + next(following)
    return tuple(rows)


def _drawn(generator: random.Random) -> Iterator[int]:
    while True:
        yield generator.randint(*OPEN_GAP)


def fade_alphas(frames: int, fade_in: int = 0, fade_out: int = 0) -> Mapping[int, float]:
    """Alpha by frame number, for the frames of a fade only: 1 = full motion, 0 = none.

    The motion rises over the first `fade_in` frames and has gone at the last of the `frames`.
    """
    alphas = {frame: frame / fade_in for frame in range(min(fade_in, frames))}
    if fade_out > 0:
        for frame in range(max(0, frames - fade_out - 1), frames):
            alphas[frame] = (frames - 1 - frame) / fade_out
    return alphas
