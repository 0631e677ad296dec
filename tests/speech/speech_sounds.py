"""Sounds, files and cuts for the tests of speech."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from greenroom.base.flow import Samples, Speech


def talk(seconds: float, rate: int, seed: int = 0) -> Samples:
    """Speech-like sound: a gliding buzz with resonances in syllables, a pause every 3 s."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    pitch = 120 + 25 * np.sin(2 * np.pi * 0.6 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    sound = np.zeros_like(time)
    for harmonic in range(1, 26):
        resonance = sum(
            np.exp(-0.5 * ((harmonic * pitch - centre) / width) ** 2)
            for centre, width in ((600, 150), (1500, 250), (2600, 300))
        )
        sound += resonance * np.sin(harmonic * phase + rng.uniform(0, 6))
    syllables = np.clip(np.sin(2 * np.pi * 3.3 * time) + 0.5, 0, None) * (time % 3 < 2.4)
    return (0.1 * sound * syllables).astype(np.float32)


def tone(count: int, rate: int, frequency: float = 440.0, peak: float = 0.5) -> Samples:
    return (peak * np.sin(2 * np.pi * frequency * np.arange(count) / rate)).astype(np.float32)


def cut(pcm: Samples, rate: int, sizes: Sequence[int]) -> Iterator[Speech]:
    """The sound in pieces of these sizes, over and over."""
    begin, turn = 0, 0
    while begin < len(pcm):
        size = sizes[turn % len(sizes)]
        yield Speech(pcm[begin : begin + size], rate)
        begin, turn = begin + size, turn + 1


def joined(speeches: Sequence[Speech]) -> Samples:
    return np.concatenate([np.zeros(0, np.float32), *(speech.pcm for speech in speeches)])


def write(
    path: Path,
    sound: Samples,
    rate: int,
    codec: str,
    *,
    layout: str = "mono",
    container: str | None = None,
    picture: bool = False,
) -> Path:
    """The sound, alike on all channels, in any container and codec; `picture` adds a video."""
    with av.open(str(path), "w", format=container) as file:
        stream: Any = file.add_stream(codec, rate=rate, layout=layout)
        kind = stream.codec_context.format.name
        video: Any = file.add_stream("mpeg4", rate=25) if picture else None
        if video is not None:
            video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
            for _ in range(5):
                file.mux(video.encode(av.VideoFrame(64, 48, "yuv420p")))
        channels = stream.codec_context.layout.nb_channels
        frame = av.AudioFrame.from_ndarray(_raw(sound, kind, channels), kind, layout)
        frame.sample_rate, frame.pts = rate, 0
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
        if video is not None:
            file.mux(video.encode(None))
    return path


def _raw(sound: Samples, kind: str, channels: int) -> NDArray[Any]:
    """The sound as PyAV wants it for a sample format: (channels, n), or (1, n * channels)."""
    scale, offset, dtype = {
        "u8": (127, 128, "u1"),
        "s16": (2**15 - 1, 0, "i2"),
        "s32": (2**31 - 1, 0, "i4"),
        "flt": (1, 0, "f4"),
        "dbl": (1, 0, "f8"),
    }[kind.removesuffix("p")]
    exact = sound.astype(np.float64) * scale + offset
    values = (exact if dtype[0] == "f" else np.round(exact)).astype(dtype)
    if kind.endswith("p"):
        return np.tile(values, (channels, 1))
    return np.repeat(values, channels)[None]


def wav(sound: NDArray[Any], rate: int, *, declared: int | None = None) -> bytes:
    """A plain mono WAV of int16 or float32 samples, with any size in its data field."""
    data = sound.tobytes()
    width = sound.dtype.itemsize
    code = 3 if sound.dtype.kind == "f" else 1
    size = len(data) if declared is None else declared
    form = struct.pack("<IHHIIHH", 16, code, 1, rate, rate * width, width, 8 * width)
    body = b"WAVEfmt " + form + b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", min(36 + size, 2**32 - 1)) + body
