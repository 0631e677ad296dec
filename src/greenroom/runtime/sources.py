"""What she says: text, a script, a recording or a pipe, as levelled speech on its own thread."""

from __future__ import annotations

import math
import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from greenroom.base.errors import InputError
from greenroom.base.flow import FPS, Speech
from greenroom.base.prefetch import Prefetch
from greenroom.base.presets import PausePreset
from greenroom.runtime.progress import Progress, no_progress
from greenroom.speech.loudness import level, measure
from greenroom.speech.script import decode_script, load_lexicon, read_script
from greenroom.speech.source import AudioSource
from greenroom.speech.voices import open_voice

LEAD_IN = 0.4  # seconds of rest before a script
_TEXT_SUFFIXES = {".txt", ".md", ".text", ".script"}
_HEAD = 4096  # bytes that tell text from sound
_MOST_BYTES = 1 << 24  # of a script: a year of news
_STANDARD_INPUT = "standard input"


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    """How a script is read and how loud it is."""

    voice: str = "af_heart"
    locale: str = "en-US"
    lexicon: str | os.PathLike[str] | None = None
    speed: float = 1.0
    loudness: float | None = -23.0
    true_peak: float = -1.0
    pauses: PausePreset = field(default_factory=PausePreset)


@dataclass(frozen=True, slots=True)
class SpeechInput:
    """Levelled speech on its own thread, and what can be said of it beforehand."""

    pieces: Prefetch[Speech]
    description: str
    seconds: float | None  # None where only speaking tells
    said: Callable[[], float]  # share of the script spoken so far, 0 ... 1


def is_text(source: str, kind: str) -> bool:
    """Whether `source` is the text itself: not a path that exists, nor one that looks like it.

    A path has no white space and has a separator or a suffix.
    """
    if kind != "auto":
        return kind == "text"
    if source == "-" or os.path.exists(source):
        return False
    looks_like_path = not any(c.isspace() for c in source) and (
        "/" in source or Path(source).suffix != ""
    )
    return not looks_like_path or len(os.fsencode(source)) > _HEAD  # no path is as long as that


def open_speech(
    source: str, kind: str, options: SpeechOptions, progress: Progress = no_progress
) -> SpeechInput:
    """Speech from text, a script file, any audio file, or standard input (`-`).

    What has no name that tells its kind (a pipe, a file without a suffix) tells it by its content.
    """
    if is_text(source, kind):
        return _spoken(source, options)
    if source == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed", remedy="give a file, or text")
        return _piped(sys.stdin.buffer, _STANDARD_INPUT, options, progress)
    path = Path(source)
    if not os.path.exists(source):
        raise InputError(
            "no such file",
            got=f"{source[:200]}",
            remedy="check the path, or say --text to have it read",
        )
    if stat.S_ISFIFO(path.stat().st_mode):
        with path.open("rb") as pipe:
            return _piped(pipe, source, options, progress)
    suffix = path.suffix.lower()
    if path.is_file() and (suffix in _TEXT_SUFFIXES or (not suffix and _is_script(path))):
        with _readable(path) as file:
            return _spoken(decode_script(_whole(file, source)), options)
    return _recorded(AudioSource(path), options, progress)


def _spoken(text: str, options: SpeechOptions) -> SpeechInput:
    lexicon = None if options.lexicon is None else load_lexicon(Path(options.lexicon))
    lines = read_script(text, locale=options.locale, lexicon=lexicon, pauses=options.pauses)
    voice = open_voice(options.voice, speed=options.speed)
    total = sum(len(line.spoken) for line in lines)
    said = 0

    def speak() -> Iterator[Speech]:
        nonlocal said
        # She is seen at rest before she begins.
        yield Speech(np.zeros(round(LEAD_IN * voice.rate), np.float32), voice.rate)
        for line in lines:
            yield from voice.synthesize(line)
            said += len(line.spoken)

    pieces = _clipped(level(speak(), options.loudness, options.true_peak))
    return SpeechInput(
        Prefetch(pieces, depth=4, name="voice", cancel=voice.cancel),
        f"voice {voice.name}, {options.locale}",
        None,
        lambda: said / total,
    )


def _recorded(source: AudioSource, options: SpeechOptions, progress: Progress) -> SpeechInput:
    """A recording is heard twice: its loudness is a property of the whole."""
    total = None if source.seconds is None else math.ceil(FPS * source.seconds)
    heard = 0

    def watched() -> Iterator[Speech]:
        nonlocal heard
        for piece in source:
            yield piece
            heard += len(piece.pcm)
            progress("measuring loudness", FPS * heard // piece.rate, total)

    known = None if options.loudness is None else measure(watched())
    words = [source.description]
    if known is not None and options.loudness is not None:
        words.append(known.describe(options.loudness))
    pieces = _clipped(level(iter(source), options.loudness, options.true_peak, known=known))
    return SpeechInput(
        Prefetch(pieces, depth=4, name="source"),
        "; ".join((*words, *source.remarks)),
        source.seconds,
        lambda: 0.0,
    )


def _clipped(pieces: Iterator[Speech]) -> Iterator[Speech]:
    """No more than full scale, as every player cuts it: her face hears what the viewer hears."""
    for piece in pieces:
        yield replace(piece, pcm=np.clip(piece.pcm, -1.0, 1.0))


def _piped(stream: BinaryIO, name: str, options: SpeechOptions, progress: Progress) -> SpeechInput:
    head = stream.read(_HEAD)
    if _looks_like_text(head):
        return _spoken(decode_script(head + _whole(stream, name)), options)
    return _recorded(AudioSource.from_pipe(stream, name, head), options, progress)


def _is_script(path: Path) -> bool:
    with _readable(path) as file:
        return _looks_like_text(file.read(_HEAD))


def _looks_like_text(head: bytes) -> bool:
    return b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def _readable(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(
            f"the file {path} cannot be read", got=error.strerror or str(error)
        ) from error


def _whole(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(
            f"the script {name} is too long",
            got=f"over {_MOST_BYTES >> 20} MiB",
            wanted="a text to be read out",
            remedy="cut it into several scripts",
        )
    return data
