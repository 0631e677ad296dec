"""Any audio that ffmpeg reads, as mono float32 at its own rate, in constant memory."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greenroom.base.errors import InputError
from greenroom.base.flow import Samples
from greenroom.speech.spool import Spool

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.container import InputContainer

Place = Path | Spool
RATES = (4_000, 768_000)  # Hz; below, nothing of speech is left
_FORMATS = "WAV, FLAC, MP3, M4A, Ogg, Opus or anything else that ffmpeg reads"
_BUFFER = 1 << 16  # bytes of one read
# A file may name others (playlists); nothing but the file itself is ever opened.
_CLOSED = {"protocol_whitelist": "none"}
_FULL_SCALE = {"u8": 2.0**7, "s16": 2.0**15, "s32": 2.0**31, "flt": 1.0, "dbl": 1.0}


@dataclass(slots=True)
class Tally:
    """What came of the packets of one reading."""

    samples: int = 0
    good: int = 0
    bad: int = 0
    fault: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """What a sound file is; `seconds` is what it says of itself, None where it does not."""

    container: str
    codec: str
    rate: int
    channels: int
    seconds: float | None

    def __str__(self) -> str:
        plural = "s" if self.channels > 1 else ""
        return f"{self.container}, {self.codec}, {self.rate} Hz, {self.channels} channel{plural}"


def probe(path: Place) -> Format:
    """Open the file, decode its first samples and say what it is; InputError if it is no sound."""
    with _opened(path) as container:
        stream = container.streams.best("audio")
        assert stream is not None
        for frame in _frames(container, path, Tally()):
            low, high = RATES
            if not low <= frame.sample_rate <= high:
                raise InputError(
                    f"the sound in {path} cannot be used",
                    got=f"{frame.sample_rate} Hz",
                    wanted=f"a sampling rate of {low} to {high} Hz",
                    remedy="resample it first",
                )
            return Format(
                container.format.name.split(",")[0],
                stream.codec_context.name,
                frame.sample_rate,
                frame.layout.nb_channels,
                _seconds(container),
            )
    raise InputError(
        f"there is no sound in {path}",
        got="0 samples",
        wanted="at least one",
        remedy="record or export it again",
    )


def decode(path: Place, rate: int, tally: Tally) -> Iterator[Samples]:
    """Blocks of mono samples (n,), all channels with equal weight; `tally` is kept on the way.

    The samples are those that the decoder gives after its own trimming of encoder delay. Packets
    that cannot be decoded are passed over; where they are the greater part, and where a sample is
    not a number, InputError says so.
    """
    with _opened(path) as container:
        for frame in _frames(container, path, tally):
            if frame.sample_rate != rate:
                raise InputError(
                    f"the sampling rate changes in the middle of {path}",
                    got=f"{frame.sample_rate} Hz at {tally.samples / rate:.3f} s",
                    wanted=f"{rate} Hz throughout",
                    remedy="export it at one rate",
                )
            block = _mono(frame, path)
            _check_finite(block, tally.samples, rate, path)
            tally.samples += len(block)
            yield block


class _File(io.BufferedReader):
    """A file in which ffmpeg may look for what a short one cannot hold, such as tags 128 bytes
    before its end: PyAV makes a failed seek the error of the whole reading.
    """

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        here = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self._size()}[whence]
        return super().seek(max(here + offset, 0))

    def _size(self) -> int:
        return os.fstat(self.fileno()).st_size


@contextmanager
def _opened(path: Place) -> Iterator[InputContainer]:
    """The container; every way in which a path can be no sound file ends in one InputError."""
    import av

    try:
        # Opened here and not by ffmpeg, for which "a:b.wav" is a protocol and not a name.
        with (
            path.open("rb", buffering=0) as raw,
            _File(raw, _BUFFER) as file,
            av.open(file, "r", options=_CLOSED, buffer_size=_BUFFER) as container,
        ):
            stream = container.streams.best("audio")
            if stream is None:
                raise _no_audio(path, container)
            if stream.codec_context is None:
                raise _no_decoder(path, "its codec")
            yield container
    except av.FFmpegError as error:
        raise InputError(
            f"{path} is not a sound file, or is damaged beyond use",
            got=error.strerror or str(error),
            wanted=_FORMATS,
            remedy="play it in another program, and export it again",
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Place, error: OSError) -> InputError:
    wanted, remedy = {
        errno.ENOENT: ("a file that exists", "check the path"),
        errno.EISDIR: ("a file, not a folder", "name one file in it"),
        errno.EACCES: ("a file that may be read", "change its permissions"),
    }.get(error.errno or 0, ("a file that can be read", "check the path"))
    return InputError(
        f"the sound {path} cannot be opened",
        got=os.strerror(error.errno) if error.errno else str(error),
        wanted=wanted,
        remedy=remedy,
    )


def _no_audio(path: Place, container: InputContainer) -> InputError:
    kinds = ", ".join(sorted({stream.type for stream in container.streams})) or "nothing"
    if "audio" in kinds:
        return _no_decoder(path, "an audio track without parameters")
    return InputError(
        f"there is no sound in {path}",
        got=f"{kinds} only",
        wanted="a file with an audio track",
        remedy="export it with its sound",
    )


def _no_decoder(path: Place, kind: str) -> InputError:
    return InputError(
        f"the sound in {path} is of a kind that cannot be decoded",
        got=kind,
        wanted=_FORMATS,
        remedy="export it as 24-bit WAV",
    )


def _frames(container: InputContainer, path: Place, tally: Tally) -> Iterator[AudioFrame]:
    """The frames that hold samples; passes over packets that cannot be decoded."""
    import av

    stream = container.streams.best("audio")
    assert stream is not None
    for packet in container.demux(stream):
        try:
            frames: list[Any] = packet.decode()
        except av.FFmpegError as error:
            tally.bad, tally.fault = tally.bad + 1, error.strerror or str(error)
            continue
        tally.good += bool(frames)
        yield from (frame for frame in frames if frame.samples)
    tally.done = True
    if tally.bad > tally.good:
        raise InputError(
            f"{path} is damaged beyond use",
            got=f"{tally.bad} of {tally.good + tally.bad} packets cannot be decoded: {tally.fault}",
            wanted="a whole file",
            remedy="copy or export it again",
        )


def _mono(frame: AudioFrame, path: Place) -> Samples:
    kind = frame.format.name.removesuffix("p")
    if kind not in _FULL_SCALE:
        raise _no_decoder(path, f"samples of format {kind}")
    values: NDArray[Any] = frame.to_ndarray()
    if not frame.format.is_planar:
        values = values.reshape(-1, frame.layout.nb_channels).T
    # float64 holds 32-bit integers exactly. Not swresample: it adds 3 dB where it mixes stereo.
    with np.errstate(over="ignore", invalid="ignore"):
        mixed: NDArray[np.float64] = values.mean(axis=0, dtype=np.float64)
        if kind == "u8":
            mixed -= _FULL_SCALE["u8"]
        return (mixed / _FULL_SCALE[kind]).astype(np.float32)


def _check_finite(block: Samples, count: int, rate: int, path: Place) -> None:
    finite = np.isfinite(block)
    if finite.all():
        return
    at = int(np.argmin(finite))
    raise InputError(
        f"{path} holds samples that are not numbers",
        got=f"{block[at]} at {(count + at) / rate:.3f} s",
        wanted="finite samples",
        remedy="export it again, as 16 or 24 bit",
    )


def _seconds(container: InputContainer) -> float | None:
    import av

    if container.duration is None:
        return None
    seconds = float(container.duration / av.time_base)
    stream = container.streams.best("audio")
    assert stream is not None
    bits = stream.codec_context.bit_rate
    if stream.codec_context.name.startswith("pcm_") and bits and container.size > 0:
        # A WAV that was written to a pipe has made up its length.
        seconds = min(seconds, container.size * 8 / bits)
    return seconds
