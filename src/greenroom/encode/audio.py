"""AAC-LC from mono float sound: 1024 samples a packet, whatever the length of the blocks."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
from av.audio.stream import AudioStream
from av.codec.context import Flags
from av.container import OutputContainer

from greenroom.base.flow import SOUND_RATE, Packet, Samples
from greenroom.base.presets import SoundPreset

TICK = Fraction(1, SOUND_RATE)  # seconds; the time base of sound
BLOCK = 1024  # samples in one AAC frame


class AacEncoder:
    """Sound (T,) float32 at 48 kHz in, packets out; pts is the number of the first sample.

    One anchor speaks from the middle, so the stream is mono: every player puts it in both
    speakers, and the bits of a second channel would repeat the first.
    The encoder needs 1024 samples to get going and numbers its first packet 1024 early. Containers
    write that down (in mp4 an edit list) and players skip it: sample n sounds at n / 48000 s.
    """

    def __init__(self, host: OutputContainer, preset: SoundPreset) -> None:
        self.stream = _open(host, preset)
        self._rest: Samples = np.empty(0, np.float32)
        self._next: int | None = None  # number of the first sample of `_rest`

    def push(self, sound: Samples, first: int) -> list[Packet]:
        """Take samples `first` ... of any count; each block must follow the one before."""
        start = first if self._next is None else self._next
        assert first == start + len(self._rest), "a gap in the sound"
        self._next, self._rest = start, np.concatenate([self._rest, sound.astype(np.float32)])
        packets: list[Packet] = []
        while len(self._rest) >= BLOCK:
            packets += self._encode_block(BLOCK)
        return packets

    def close(self) -> list[Packet]:
        """The last block, shorter than the others, and what the encoder held back."""
        packets = self._encode_block(len(self._rest)) if len(self._rest) else []
        return packets + _packets(self.stream.encode(None))

    def _encode_block(self, count: int) -> list[Packet]:
        assert self._next is not None
        frame = av.AudioFrame.from_ndarray(self._rest[None, :count], "fltp", "mono")
        frame.sample_rate, frame.pts, frame.time_base = SOUND_RATE, self._next, TICK
        self._next, self._rest = self._next + count, self._rest[count:]
        return _packets(self.stream.encode(frame))


def _packets(encoded: list[av.Packet[AudioStream]]) -> list[Packet]:
    return [Packet("audio", packet, keyframe=True) for packet in encoded]


def _open(host: OutputContainer, preset: SoundPreset) -> AudioStream:
    stream = host.add_stream("aac", rate=SOUND_RATE)
    assert isinstance(stream, AudioStream)
    codec = stream.codec_context
    codec.layout, codec.format, codec.bit_rate = "mono", "fltp", preset.bitrate
    codec.time_base = TICK
    codec.flags |= Flags.global_header
    codec.open()
    return stream
