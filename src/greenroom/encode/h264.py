"""H.264 from NV12: which encoder runs, and one packet a frame whose pts is the frame number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import av
import av.logging
import numpy as np
from av.codec.context import Flags
from av.container import OutputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType
from av.video.stream import VideoStream

from greenroom.base.errors import DeviceError, InputError
from greenroom.base.flow import FPS, Packet, Pixels
from greenroom.base.presets import VideoPreset

ENCODERS = ("h264_nvenc", "libx264")
TICK = Fraction(1, FPS)  # seconds; the time base of video
MOST_THREADS = 16  # each x264 thread holds frames, and the picture is cut no finer by more
BT709 = 1  # ISO/IEC 23091-2: primaries, transfer and matrix of BT.709 are all number 1
LIMITED = 1  # AVCOL_RANGE_MPEG: luma 16 ... 235
# x264's AVX-512 code for the macroblock tree gives other bits from run to run (core 165, sizes such
# as 176 x 168, only with B-frames). Its plain code does not, costs the same, and gives the same
# bits on every processor.
STEADY = "cpu-independent=1"
PROBE_SIZE = 256  # NVENC refuses pictures narrower than about 150 pixels


@dataclass(frozen=True, slots=True)
class ChosenEncoder:
    """An encoder that was seen to work, and how it is opened."""

    name: str  # as libav knows it
    description: str  # for people, such as "libx264 veryfast crf 18"
    threads: int
    gop: int  # frames between two keyframes, at most
    options: tuple[tuple[str, str], ...]  # of that encoder alone
    why: str = ""  # what made the choice, where there was one


def choose_encoder(preset: VideoPreset) -> ChosenEncoder:
    """The encoder that will run: opened, and given a frame, before it is believed.

    `auto` takes NVENC where it works and libx264 elsewhere, and says why; an encoder that was
    asked for by name runs or raises DeviceError with libav's own reason.
    """
    if preset.encoder == "auto":
        return _first_that_works(preset)
    if preset.encoder not in ENCODERS:
        raise DeviceError(
            "no such video encoder",
            got=repr(preset.encoder),
            wanted=f"auto, {' or '.join(ENCODERS)}",
        )
    chosen = _configure(preset.encoder, preset)
    _probe(chosen)
    return chosen


def _first_that_works(preset: VideoPreset) -> ChosenEncoder:
    nvenc, x264 = (_configure(name, preset) for name in ENCODERS)
    try:
        _probe(nvenc)
    except DeviceError as error:
        _probe(x264)
        return replace(x264, why=f"h264_nvenc does not run here: {error.got}")
    return replace(nvenc, why="h264_nvenc encoded a frame")


def _configure(name: str, preset: VideoPreset) -> ChosenEncoder:
    gop = max(1, round(preset.keyframe_seconds * FPS))
    quality = str(preset.crf)
    if name == "libx264":
        effort, threads = preset.x264_preset, min(preset.threads or _cores(), MOST_THREADS)
        params = ":".join(filter(None, (STEADY, preset.x264_params)))
        options = {"preset": effort, "crf": quality, "x264-params": params}
        described = f"{name} {effort} crf {quality}"
    else:
        threads = 1
        options = {"preset": "p5", "tune": "hq", "rc": "vbr", "cq": quality}
        described = f"{name} p5 cq {quality}"
    options["forced-idr"] = "1"  # a keyframe on request is one where a decoder can begin
    return ChosenEncoder(name, described, threads, gop, tuple(options.items()))


def _cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _probe(chosen: ChosenEncoder) -> None:
    """Encode one grey frame, or raise DeviceError with the reason in `got`."""
    grey = np.full((PROBE_SIZE * 3 // 2, PROBE_SIZE), 128, np.uint8)
    with _reasons(chosen.name), av.open(os.devnull, "w", format="null") as host:
        encoder = H264Encoder(host, chosen, width=PROBE_SIZE, height=PROBE_SIZE)
        packets = [*encoder.push(grey, 0), *encoder.close()]
    if len(packets) != 1:
        raise _broken(chosen.name, f"{len(packets)} packets for one frame")


def _broken(name: str, reason: str) -> DeviceError:
    return DeviceError(
        f"the video encoder {name} does not run here",
        got=reason,
        remedy="choose another with --encoder: auto takes what works",
    )


@contextmanager
def _reasons(name: str) -> Iterator[None]:
    """Turn libav's errors into DeviceError that says what libav would only have logged."""
    level = av.logging.get_level()
    av.logging.set_level(av.logging.ERROR)
    try:
        with av.logging.Capture(local=True) as rows:
            yield
    except (av.FFmpegError, ValueError) as error:  # ValueError: libav was built without it
        said = "; ".join(message.strip() for _, _, message in rows)
        raise _broken(name, said or _last_words(error)) from error
    finally:
        av.logging.set_level(level)


def _last_words(error: Exception) -> str:
    """The log line behind an error; libav does not log one twice in a row, but PyAV keeps it."""
    log = getattr(error, "log", None)
    return str(log[-1]).strip() if log else str(error)


class H264Encoder:
    """NV12 pictures in, packets out, in the order of decoding.

    Packets may come some frames late (look-ahead, B-frames); pts is always the frame number.
    A picture is read where it lies, not copied, and is the caller's again when `push` returns.
    """

    def __init__(
        self, host: OutputContainer, chosen: ChosenEncoder, *, width: int, height: int
    ) -> None:
        if width % 2 or height % 2 or min(width, height) < 2:
            raise InputError(
                "pictures of this size cannot be encoded",
                got=f"{width} x {height}",
                wanted="an even width and an even height: two pixels share one colour in 4:2:0",
                remedy="scale or crop the avatar's source by one pixel",
            )
        self._shape = (height * 3 // 2, width)
        self._forced = False
        with _reasons(chosen.name):
            self.stream = _open(host, chosen, width, height)

    def push(self, picture: Pixels, number: int) -> list[Packet]:
        """Encode one picture (H * 3 // 2, W) uint8 as frame `number`, which must rise."""
        assert picture.shape == self._shape, f"a picture of {picture.shape}, not {self._shape}"
        frame = av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(picture), "nv12")
        frame.pts, frame.time_base = number, TICK
        if self._forced:
            frame.pict_type, self._forced = PictureType.I, False
        return self._encode(frame)

    def keyframe(self) -> None:
        """Make the next frame a keyframe."""
        self._forced = True

    def close(self) -> list[Packet]:
        """The packets that were still held back."""
        return self._encode(None)

    def _encode(self, frame: av.VideoFrame | None) -> list[Packet]:
        packets = self.stream.encode(frame)
        for packet in packets:
            packet.duration = 1  # libx264 leaves 0, and the last frame would have no length
        return [Packet("video", packet, packet.is_keyframe) for packet in packets]


def _open(host: OutputContainer, chosen: ChosenEncoder, width: int, height: int) -> VideoStream:
    stream = host.add_stream(chosen.name, rate=FPS, options=dict(chosen.options))
    assert isinstance(stream, VideoStream)
    codec: VideoCodecContext = stream.codec_context
    codec.width, codec.height, codec.pix_fmt = width, height, "nv12"
    codec.time_base, codec.gop_size, codec.thread_count = TICK, chosen.gop, chosen.threads
    codec.color_primaries = codec.color_trc = codec.colorspace = BT709
    codec.color_range = LIMITED
    codec.flags |= Flags.global_header  # mp4 and FLV keep the parameter sets in their header
    codec.open()
    return stream
