"""Frames in, packets of picture and sound out."""

from __future__ import annotations

import os
import weakref

import av
from av.stream import Stream

from greenroom.base.flow import SOUND_PER_FRAME, Frames, Packet
from greenroom.base.presets import SoundPreset
from greenroom.encode.audio import AacEncoder
from greenroom.encode.h264 import ChosenEncoder, H264Encoder


class MediaEncoder:
    """One session's pictures and sound, encoded once for any number of sinks.

    The codecs live in a container that writes nowhere, not in the file they are made for: its
    `streams` carry all that goes into a header (size, colour, parameter sets, priming), and a sink
    takes them as templates. So a file, a stream and a playlist can share one encoder.
    """

    def __init__(
        self, chosen: ChosenEncoder, sound: SoundPreset, *, width: int, height: int
    ) -> None:
        self._host = av.open(os.devnull, "w", format="null")
        self._video = H264Encoder(self._host, chosen, width=width, height=height)
        self._audio = AacEncoder(self._host, sound)
        self._host.start_encoding()  # completes the parameters of the streams
        # Streams and container hold each other; this frees x264's frames without waiting for gc.
        weakref.finalize(self, self._host.close)
        self._next: int | None = None
        self._closed = False

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Templates for a sink, picture first."""
        return self._video.stream, self._audio.stream

    def push(self, frames: Frames) -> list[Packet]:
        """Encode frames that follow the ones before; the pictures are the caller's again after."""
        assert not self._closed, "the encoder is closed"
        assert self._next in (None, frames.first), f"frame {frames.first}, not {self._next}"
        assert len(frames.sound) == len(frames) * SOUND_PER_FRAME, "sound and pictures differ"
        self._next = frames.first + len(frames)
        packets: list[Packet] = []
        for i, picture in enumerate(frames.pictures):
            number = frames.first + i
            sound = frames.sound[i * SOUND_PER_FRAME : (i + 1) * SOUND_PER_FRAME]
            packets += self._video.push(picture, number)
            packets += self._audio.push(sound, number * SOUND_PER_FRAME)
        return packets

    def keyframe(self) -> None:
        """Make the next frame a keyframe, for a viewer who joins or a sink that reconnects."""
        self._video.keyframe()

    def close(self) -> list[Packet]:
        """The packets that were still held back; the encoder is spent."""
        if self._closed:
            return []
        self._closed = True
        return self._video.close() + self._audio.close()
