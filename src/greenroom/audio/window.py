"""Speech of any rate and any piece length, cut to whole frames on one clock."""

from __future__ import annotations

import numpy as np
import soxr

from greenroom.base.flow import (
    FPS,
    PCM_PER_FRAME,
    PCM_RATE,
    SOUND_PER_FRAME,
    SOUND_RATE,
    Samples,
    Sound,
    Speech,
)

_NOTHING = np.zeros(0, np.float32)


def frames_of(samples: int, rate: int) -> int:
    """Frames that `samples` at `rate` Hz fill: ceil(25 n / rate), in integers."""
    return -(-FPS * samples // rate)


class _Resampler:
    """A streaming resampler fed in blocks of 40 ms: how its input was cut cannot show."""

    def __init__(self, rate_in: int, rate_out: int) -> None:
        self._block = max(1, rate_in // FPS)
        self._rest = _NOTHING
        self._stream = (
            None if rate_in == rate_out else soxr.ResampleStream(rate_in, rate_out, 1, "float32")
        )

    def push(self, x: Samples, *, last: bool = False) -> Samples:
        if self._stream is None:
            return x
        x = np.concatenate([self._rest, x])
        whole = len(x) // self._block * self._block
        self._rest = x[whole:]
        out = [
            self._stream.resample_chunk(x[i : i + self._block])
            for i in range(0, whole, self._block)
        ]
        if last:
            out.append(self._stream.resample_chunk(self._rest, last=True))
        return np.concatenate(out) if out else _NOTHING


class Framer:
    """Turns Speech into Sound: whole frames, at 48 kHz for the viewer and 16 kHz for the networks.

    The number of frames follows from the source's own samples: ceil(25 n / rate). What the last
    frame lacks is filled with zeros. How the speech is cut into pieces changes nothing.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.samples = 0
        self._next = 0
        self._to_sound = _Resampler(rate, SOUND_RATE)
        self._to_pcm = _Resampler(SOUND_RATE, PCM_RATE)
        self._sound = _NOTHING
        self._pcm = _NOTHING

    def push(self, speech: Speech) -> Sound:
        """The frames that are whole by now; may be none."""
        assert speech.rate == self.rate, "one source, one rate"
        self.samples += len(speech.pcm)
        self._take(speech.pcm, last=False)
        return self._cut(min(len(self._sound) // SOUND_PER_FRAME, len(self._pcm) // PCM_PER_FRAME))

    def finish(self) -> Sound:
        """The frames that are left, the last one filled with zeros."""
        self._take(_NOTHING, last=True)
        count = frames_of(self.samples, self.rate) - self._next
        self._sound = _fitted(self._sound, count * SOUND_PER_FRAME)
        self._pcm = _fitted(self._pcm, count * PCM_PER_FRAME)
        return self._cut(count)

    def _take(self, x: Samples, *, last: bool) -> None:
        sound = self._to_sound.push(x, last=last)
        self._sound = np.concatenate([self._sound, sound])
        self._pcm = np.concatenate([self._pcm, self._to_pcm.push(sound, last=last)])

    def _cut(self, count: int) -> Sound:
        first, self._next = self._next, self._next + count
        pcm, self._pcm = np.split(self._pcm, [count * PCM_PER_FRAME])
        sound, self._sound = np.split(self._sound, [count * SOUND_PER_FRAME])
        return Sound(first, pcm, sound)


def _fitted(x: Samples, length: int) -> Samples:
    return np.pad(x[:length], (0, max(0, length - len(x))))
