"""The voices there are: bundled, in a folder of the user's, of the system."""

from __future__ import annotations

import importlib.resources
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs

from greenroom.base.errors import AssetError
from greenroom.base.flow import Samples, Voice
from greenroom.speech.espeak import PROGRAM, VARIANT, Espeak, find_espeak
from greenroom.speech.kokoro import STYLE_SHAPE, Kokoro

DEFAULT_VOICE = "af_heart"
_ESPEAK = "espeak"
_SUFFIX = ".bin"
# The first two letters of Kokoro's own names: whose accent, and woman or man.
_ACCENTS = {"a": "American", "b": "British"}
_SPEAKERS = {"f": "woman", "m": "man"}


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """What a voice is, in words; `source` is "bundled", "file" or "system"."""

    name: str
    language: str
    description: str
    source: str
    path: Path | None
    licence: str


def voices_folder() -> Path:
    """Where a user puts voices: $XDG_DATA_HOME/greenroom/voices."""
    return platformdirs.user_data_path("greenroom") / "voices"


def list_voices() -> list[VoiceInfo]:
    """The voices that can be asked for, the default one first. Loads none of them."""
    files = sorted(voices_folder().glob(f"*{_SUFFIX}")) if voices_folder().is_dir() else []
    found = [_bundled()]
    found += [_from_file(path) for path in files if path.stem != DEFAULT_VOICE]
    program = find_espeak()
    if program is not None:
        found.append(_system(Path(program)))
    return found


def open_voice(
    name: str = DEFAULT_VOICE, *, speed: float = 1.0, threads: int | None = None
) -> Voice:
    """The voice of that name, ready to speak.

    A name is `af_heart` (bundled), that of a file NAME.bin in `voices_folder()`, or `espeak` or
    `espeak:VARIANT`. `speed` is 0.5 ... 2 of the voice's own pace; `threads` None = one per core.
    Raises AssetError for an unknown or broken voice, MissingExtraError where the extra `voice` is
    not installed, InputError for the speed.
    """
    kind, _, variant = name.partition(":")
    if kind == _ESPEAK:
        return Espeak(variant or VARIANT, speed=speed)
    return Kokoro(name, read_style(_style_path(name)), speed=speed, threads=threads)


def read_style(path: Path) -> Samples:
    """The style table (510, 256) of a voice file: float32, little-endian, no header."""
    wanted = f"{STYLE_SHAPE[0]} rows of {STYLE_SHAPE[1]} finite float32 values"
    remedy = "take the file from the Kokoro-82M release again"
    size = STYLE_SHAPE[0] * STYLE_SHAPE[1] * 4
    try:
        length = path.stat().st_size
        data = path.read_bytes() if length == size else b""
    except OSError as error:
        raise AssetError(
            f"the voice file {path} cannot be read", got=error.strerror or str(error)
        ) from error
    if len(data) != size:
        raise AssetError(
            f"{path} is not a voice", got=f"{length} bytes", wanted=wanted, remedy=remedy
        )
    style = np.frombuffer(data, "<f4").astype(np.float32).reshape(STYLE_SHAPE)
    if not np.isfinite(style).all():
        raise AssetError(
            f"{path} is not a voice",
            got="values that are not finite",
            wanted=wanted,
            remedy=remedy,
        )
    return style


def _style_path(name: str) -> Path:
    if name == DEFAULT_VOICE:
        return _bundled_path()
    path = voices_folder() / f"{name}{_SUFFIX}"
    # A name is never a way out of the folder.
    is_plain = name and not set(name) & set("/\\\0") and not name.startswith(".")
    if not is_plain or not os.path.isfile(path):
        raise AssetError(
            "no such voice" if is_plain else "a voice is asked for by its name, not by a path",
            got=repr(name),
            wanted=f"one of {', '.join(voice.name for voice in list_voices())}",
            remedy=f"put the file of a Kokoro voice into {voices_folder()} as NAME{_SUFFIX}",
        )
    return path


def _bundled_path() -> Path:
    folder = importlib.resources.files("greenroom") / "assets/voices"
    return Path(str(folder / f"{DEFAULT_VOICE}{_SUFFIX}"))


def _bundled() -> VoiceInfo:
    return VoiceInfo(
        DEFAULT_VOICE,
        "en-US",
        "woman, American, Kokoro-82M",
        "bundled",
        _bundled_path(),
        "Apache-2.0",
    )


def _from_file(path: Path) -> VoiceInfo:
    """Words are read with American sounds whatever the speaker's accent is: so en-US."""
    accent, speaker = _ACCENTS.get(path.stem[:1]), _SPEAKERS.get(path.stem[1:2])
    is_kokoro_name = path.stem[2:3] == "_" and accent and speaker
    words = f"{speaker}, {accent}" if is_kokoro_name else "a voice of yours"
    return VoiceInfo(path.stem, "en-US", words, "file", path, "as you got it")


def _system(program: Path) -> VoiceInfo:
    return VoiceInfo(
        _ESPEAK, "many", f"robotic; {_ESPEAK}:VARIANT chooses one of {PROGRAM}'s", "system",
        program, "GPL-3.0-or-later, a program of its own",
    )  # fmt: skip
