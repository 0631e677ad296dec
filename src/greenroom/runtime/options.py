"""What a person may choose for one render, checked where it is chosen."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from greenroom.base.errors import InputError
from greenroom.base.presets import X264_PRESETS, Preset, preset_named
from greenroom.speech.kokoro import checked_speed

Kind = Literal["auto", "text", "file"]
LOUDNESS = (-40.0, -10.0)  # LUFS
MOST_ROWS = 64  # of one network call
MOST_CRF = 51  # of 8-bit H.264


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What a person may choose for one render; None leaves it to the preset.

    Raises InputError for a value that no render can have. Names of things (avatar, voice, device,
    …) are looked up when they are opened.
    """

    kind: Kind = "auto"
    avatar: str = "vera"
    preset: str = "demo"
    voice: str = "af_heart"
    locale: str = "en-US"
    lexicon: str | os.PathLike[str] | None = None
    speed: float = 1.0
    loudness: float | None = -23.0  # LUFS; None = as it is
    seed: int = 0
    device: str = "auto"
    batch_size: int = 0  # 0 = what suits the device
    encoder: str = "auto"
    x264_preset: str | None = None
    crf: int | None = None
    silence_bypass: bool = True
    subtitles: str | os.PathLike[str] | None = None
    clobber: bool = True
    cache: bool = True

    def __post_init__(self) -> None:
        _check_one_of("kind", self.kind, get_args(Kind))
        _check_whole("seed", self.seed, -math.inf, math.inf)
        _check_whole("batch_size", self.batch_size, 0, MOST_ROWS)
        checked_speed(self.speed)
        if self.loudness is not None:
            _check_loudness(self.loudness)
        if self.x264_preset is not None:
            _check_one_of("x264_preset", self.x264_preset, X264_PRESETS)
        if self.crf is not None:
            _check_whole("crf", self.crf, 0, MOST_CRF)

    def resolved(self) -> Preset:
        """The named preset with these choices laid over it."""
        preset = preset_named(self.preset)
        video = replace(
            preset.video,
            encoder=self.encoder,
            x264_preset=self.x264_preset or preset.video.x264_preset,
            # made for the preset's own effort
            x264_params="" if self.x264_preset else preset.video.x264_params,
            crf=preset.video.crf if self.crf is None else self.crf,
        )
        sound = replace(preset.sound, loudness=self.loudness)
        return replace(preset, video=video, sound=sound)


def _check_one_of(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"no such {name}", got=repr(value), wanted=f"one of {', '.join(known)}")


def _check_whole(name: str, value: Any, low: float, high: float) -> None:
    """A whole number of any integer type, but no bool."""
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not (is_whole and low <= value <= high):
        limits = f" from {low} to {high}" if math.isfinite(high) else ""
        raise InputError(
            f"{name} cannot be used", got=repr(value), wanted=f"a whole number{limits}"
        )


def _check_loudness(level: float) -> None:
    low, high = LOUDNESS
    if not low <= level <= high:  # not a number is outside too
        raise InputError(
            "the loudness cannot be used",
            got=f"{level:g}",
            wanted=f"off (None), or {low:g} to {high:g} LUFS, such as -23 or -16",
        )
