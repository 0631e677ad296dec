"""Small films for the tests of the encode room."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np

from greenroom.base.flow import SOUND_PER_FRAME, Frames, Packet, Pixels, Samples
from greenroom.base.presets import SoundPreset, VideoPreset
from greenroom.encode.encoder import MediaEncoder
from greenroom.encode.h264 import ChosenEncoder, choose_encoder
from greenroom.encode.mux import Mp4File

WIDTH, HEIGHT = 64, 96
X264 = VideoPreset(encoder="libx264", x264_preset="veryfast", threads=2)


def flat(luma: int, *, width: int = WIDTH, height: int = HEIGHT) -> Pixels:
    """One grey level, with colours that show a swap of U and V."""
    picture = np.empty((height * 3 // 2, width), np.uint8)
    picture[:height], picture[height:, 0::2], picture[height:, 1::2] = luma, 90, 160
    return picture


def moving(count: int, *, width: int = WIDTH, height: int = HEIGHT) -> tuple[Pixels, ...]:
    """A ramp with a bright square that walks: every picture differs from the one before."""
    ramp = np.linspace(40, 180, height, dtype=np.uint8)[:, None]
    pictures = []
    for i in range(count):
        picture = flat(0, width=width, height=height)
        picture[:height] = ramp
        left = 3 * i % (width - 16)
        picture[20:36, left : left + 16] = 225
        pictures.append(picture)
    return tuple(pictures)


def noisy(count: int, seed: int = 0) -> tuple[Pixels, ...]:
    """Noise, which no encoder makes small."""
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(16, 236, (HEIGHT * 3 // 2, WIDTH), np.uint8) for _ in range(count))


def tone(count: int) -> Samples:
    """A quiet tone as long as `count` frames."""
    time = np.arange(count * SOUND_PER_FRAME) / 48_000
    return (0.1 * np.sin(2 * np.pi * 220 * time)).astype(np.float32)


def film(pictures: tuple[Pixels, ...], sound: Samples | None = None, first: int = 0) -> Frames:
    return Frames(first, pictures, tone(len(pictures)) if sound is None else sound)


def blocks(frames: Frames, size: int) -> Iterator[Frames]:
    for i in range(0, len(frames), size):
        sound = frames.sound[i * SOUND_PER_FRAME : (i + size) * SOUND_PER_FRAME]
        yield Frames(frames.first + i, frames.pictures[i : i + size], sound)


def encoder_for(frames: Frames, chosen: ChosenEncoder | None = None) -> MediaEncoder:
    rows, width = frames.pictures[0].shape
    chosen = chosen or choose_encoder(X264)
    return MediaEncoder(chosen, SoundPreset(), width=width, height=rows * 2 // 3)


def encode(frames: Frames, chosen: ChosenEncoder | None = None, size: int = 10) -> list[Packet]:
    encoder = encoder_for(frames, chosen)
    packets = [packet for block in blocks(frames, size) for packet in encoder.push(block)]
    return packets + encoder.close()


def write(path: Path, frames: Frames, chosen: ChosenEncoder | None = None) -> Path:
    encoder = encoder_for(frames, chosen)
    with Mp4File(path, title="A title") as sink:
        sink.start(encoder.streams)
        for packet in [*encoder.push(frames), *encoder.close()]:
            sink.send(packet)
    return path


def shown(path: Path) -> list[av.VideoFrame]:
    with av.open(str(path)) as container:
        return list(container.decode(video=0))


def heard(path: Path) -> tuple[float, Samples]:
    """Time of the first sample in seconds, and all samples."""
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    assert frames[0].time is not None
    return frames[0].time, np.concatenate([frame.to_ndarray()[0] for frame in frames])


def frame_md5(path: Path) -> list[str]:
    return [hashlib.md5(frame.to_ndarray().tobytes()).hexdigest() for frame in shown(path)]


def boxes(path: Path) -> dict[str, bytes]:
    """The top-level boxes of an mp4 in their order, by type."""
    data, found, at = path.read_bytes(), {}, 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        found[kind.decode()] = data[at + 8 : at + size]
        at += size
    assert at == len(data)
    return found
