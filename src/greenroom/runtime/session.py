"""One anchor speaking: sound goes in, in pieces of any size; steps of K frames come out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from greenroom.audio.silence import SilenceGate
from greenroom.audio.window import Framer
from greenroom.base.flow import PCM_PER_FRAME, SOUND_PER_FRAME, AudioEncoder, Samples, Sound, Speech
from greenroom.base.presets import GatePreset
from greenroom.runtime.painter import Anchor


@dataclass(frozen=True, slots=True)
class Step:
    """What one session contributes to one turn of the scheduler."""

    first: int  # number of the first frame
    count: int  # frames, at most K; fewer only at the end
    window: Samples  # ((left + K + right) * 640,) at 16 kHz around the step
    alpha: Samples  # (count,)
    sound: Samples  # (count * 1920,) at 48 kHz


class Session:
    """Keeps the clock of one stream. Steps lie on a fixed grid of K frames from frame 0.

    So frames do not depend on how the speech was cut, nor on when it came.
    """

    def __init__(
        self, anchor: Anchor, encoder: AudioEncoder, gate: GatePreset, *, step: int, seed: int = 0
    ) -> None:
        self.anchor = anchor
        self.seed = seed
        self.step = step
        self._left, self._right = encoder.left, encoder.right
        self._reach = max(encoder.right, gate.look_ahead)
        self._gate = SilenceGate(gate)
        self._framer: Framer | None = None
        self._next = 0  # first frame of the next step
        self._heard = 0  # frames heard so far
        self._pcm = np.zeros(self._left * PCM_PER_FRAME, np.float32)  # from frame next - left
        self._sound = np.zeros(0, np.float32)  # from frame next
        self._ended = False

    def feed(self, speech: Speech) -> None:
        """Hear a piece of speech."""
        assert not self._ended, "nothing follows the end"
        if self._framer is None:
            self._framer = Framer(speech.rate)
        self._hear(self._framer.push(speech))

    def finish(self) -> None:
        """No speech follows: what is left becomes due."""
        if self._framer is not None:
            self._hear(self._framer.finish())
        self._gate.finish()
        self._ended = True

    @property
    def due(self) -> bool:
        """Whether a step can be taken now."""
        if self._ended:
            return self._next < self._heard
        return self._heard >= self._next + self.step + self._reach

    @property
    def done(self) -> bool:
        return self._ended and not self.due

    def take(self) -> Step:
        """The next step, and move on."""
        assert self.due
        count = min(self.step, self._heard - self._next)
        length = (self._left + self.step + self._right) * PCM_PER_FRAME
        window = self._pcm[:length]
        step = Step(
            self._next,
            count,
            np.pad(window, (0, length - len(window))),
            self._gate.take(count),
            self._sound[: count * SOUND_PER_FRAME],
        )
        self._next += count
        self._pcm = self._pcm[count * PCM_PER_FRAME :]
        self._sound = self._sound[count * SOUND_PER_FRAME :]
        return step

    def _hear(self, sound: Sound) -> None:
        self._heard += sound.count
        self._gate.push(sound.pcm)
        self._pcm = np.concatenate([self._pcm, sound.pcm])
        self._sound = np.concatenate([self._sound, sound.sound])
