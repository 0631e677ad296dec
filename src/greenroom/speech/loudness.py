"""Sound at broadcast level: EBU R128 loudness and a limit on the true peak, in constant memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from greenroom.base.flow import Samples, Speech
from greenroom.speech.limiter import Limiter, Signal
from greenroom.speech.meter import Meter

MOST_GAIN = 20.0  # dB: beyond, it is the noise of the room that would be raised
_BLOCK_SECONDS = 0.4  # the shortest sound that the standard can measure
_RAMP_SECONDS = 0.05  # in which the gain moves from that of one piece to that of the next


@dataclass(frozen=True, slots=True)
class Loudness:
    """Integrated loudness in LUFS; None where all is silence (below -70 LUFS)."""

    integrated: float | None

    def gain(self, target: float) -> float:
        """The gain in dB to `target` LUFS: none for silence, and at most +20 dB."""
        return 0.0 if self.integrated is None else min(target - self.integrated, MOST_GAIN)

    def describe(self, target: float) -> str:
        """What is done to the sound, for people."""
        if self.integrated is None:
            return "silence, left as it is"
        short = target - self.integrated - self.gain(target)
        words = f"{self.integrated:.1f} LUFS, gain {self.gain(target):+.1f} dB"
        return words + (f" (the most; {short:.1f} dB short of {target:g} LUFS)" if short else "")


def measure(speeches: Iterable[Speech]) -> Loudness:
    """The integrated loudness of all of it; reads it once, and keeps none of it."""
    meter: _Meter | None = None
    for speech in speeches:
        meter = meter or _Meter(speech.rate)
        meter.push(speech)
    return Loudness(None) if meter is None else meter.loudness


def level(
    speeches: Iterable[Speech],
    target: float | None,
    true_peak: float,
    *,
    known: Loudness | None = None,
) -> Iterator[Speech]:
    """The same pieces at `target` LUFS and at most `true_peak` dBTP; times and lengths stay.

    With the loudness `known` beforehand (a file, measured first) one gain serves all, and pieces
    are cuts of one sound. Without it each piece is a whole utterance, whose gain is that of all
    that was said so far. A target of None leaves the sound untouched.
    """
    if target is None:
        yield from speeches
    elif known is None:
        yield from _level_utterances(speeches, target, true_peak)
    else:
        yield from _level_cuts(speeches, known.gain(target), true_peak)


def _level_cuts(speeches: Iterable[Speech], gain: float, true_peak: float) -> Iterator[Speech]:
    """One gain; a piece leaves when the limiter has seen what follows it."""
    limiter: Limiter | None = None
    waiting: deque[Speech] = deque()
    ready = np.zeros(0, np.float32)
    for speech in speeches:
        limiter = limiter or Limiter(speech.rate, true_peak)
        waiting.append(speech)
        ready = np.concatenate([ready, limiter.push(_amplified(speech.pcm, gain))])
        while waiting and len(waiting[0].pcm) <= len(ready):
            piece, ready = _filled(waiting.popleft(), ready)
            yield piece
    if limiter is not None:
        ready = np.concatenate([ready, limiter.finish()])
    for speech in waiting:
        piece, ready = _filled(speech, ready)
        yield piece
    assert not len(ready)


def _level_utterances(
    speeches: Iterable[Speech], target: float, true_peak: float
) -> Iterator[Speech]:
    """A piece waits for nothing: it is limited to its own end, and the gain moves at its start."""
    meter: _Meter | None = None
    before: float | None = None  # dB; None until something was heard
    reduction = 0.0
    for speech in speeches:
        meter = meter or _Meter(speech.rate)
        meter.push(speech)
        loudness = meter.loudness
        gain = loudness.gain(target)
        ramp = np.full(len(speech.pcm), gain)
        if before is not None:
            moving = min(round(_RAMP_SECONDS * speech.rate), len(ramp))
            ramp[:moving] = np.linspace(before, gain, moving, endpoint=False)
        limiter = Limiter(speech.rate, true_peak, start=reduction)
        settled = limiter.push(_amplified(speech.pcm, ramp))
        yield replace(speech, pcm=np.concatenate([settled, limiter.finish()]))
        reduction = limiter.end_gain
        before = None if loudness.integrated is None else gain


def _filled(speech: Speech, ready: Samples) -> tuple[Speech, Samples]:
    count = len(speech.pcm)
    return replace(speech, pcm=ready[:count]), ready[count:]


def _amplified(pcm: Samples, gain: float | Signal) -> Signal:
    louder: Signal = pcm.astype(np.float64) * 10 ** (np.asarray(gain) / 20)
    return louder


class _Meter:
    """The meter of the standard, and a rule for sound shorter than one of its blocks."""

    def __init__(self, rate: int) -> None:
        self._meter = Meter(rate)
        self._block = round(_BLOCK_SECONDS * rate)
        self._head = np.zeros(0, np.float32)  # the first block

    def push(self, speech: Speech) -> None:
        assert speech.rate == self._meter.rate
        missing = self._block - len(self._head)
        if missing > 0:
            self._head = np.concatenate([self._head, speech.pcm[:missing]])
        self._meter.push(speech.pcm)

    @property
    def loudness(self) -> Loudness:
        """Of a sound too short to be measured: that of the sound said over and over."""
        if 0 < len(self._head) < self._block:
            longer = Meter(self._meter.rate)
            longer.push(np.tile(self._head, 3 * self._block // len(self._head)))
            return Loudness(longer.integrated)
        return Loudness(self._meter.integrated)
