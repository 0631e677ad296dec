"""The silence gate: how much of the speech motion each frame shows, alpha in 0 ... 1."""

from __future__ import annotations

import numpy as np

from greenroom.base.flow import PCM_PER_FRAME, Samples
from greenroom.base.presets import GatePreset

_FAR = 1 << 30


def loudness_of_frames(pcm: Samples) -> Samples:
    """RMS of each frame of 640 samples about its own mean: a constant offset is no sound."""
    frames = pcm.reshape(-1, PCM_PER_FRAME).astype(np.float64)
    rms: Samples = frames.std(axis=1).astype(np.float32)
    return rms


class SilenceGate:
    """Alpha per frame, causal with a fixed look-ahead.

    A frame as loud as the threshold has alpha 1, and so have the `hold` frames after it. Before an
    onset alpha rises over `rise` frames, after the hold it falls over `release` frames, both along
    a smooth step. A gap inside a word is shorter than the hold and does not show.
    """

    def __init__(self, preset: GatePreset) -> None:
        assert preset.rise <= preset.look_ahead
        self._preset = preset
        self._loud: list[bool] = []  # frames self._first ...
        self._first = 0
        self._since = _FAR  # frames since the last loud one, at self._first - 1
        self._ended = False

    def push(self, pcm: Samples) -> None:
        """Hear whole frames (n * 640,)."""
        assert not self._ended
        self._loud.extend((loudness_of_frames(pcm) >= self._preset.threshold).tolist())

    def finish(self) -> None:
        """Nothing comes any more: what lies beyond the end is silence."""
        self._ended = True

    @property
    def ready(self) -> int:
        """How many alphas `take` can give now."""
        return len(self._loud) if self._ended else len(self._loud) - self._preset.look_ahead

    def take(self, count: int) -> Samples:
        """The next `count` alphas (count,)."""
        assert count <= max(0, self.ready)
        ahead = self._preset.look_ahead
        alpha = np.zeros(count, np.float32)
        for i in range(count):
            self._since = 0 if self._loud[i] else self._since + 1
            coming = self._loud[i : i + ahead + 1]
            until = coming.index(True) if True in coming else _FAR
            alpha[i] = max(self._rise(until), self._fall(self._since))
        del self._loud[:count]
        self._first += count
        return alpha

    def _rise(self, until: int) -> float:
        return _smooth(1 - until / (self._preset.rise + 1))

    def _fall(self, since: int) -> float:
        return _smooth(1 - max(0, since - self._preset.hold) / (self._preset.release + 1))


def _smooth(x: float) -> float:
    x = min(1.0, max(0.0, x))
    return x * x * (3 - 2 * x)
