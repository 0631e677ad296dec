"""The one place that picks concrete classes: engine, avatar, voice, source."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import torch

from greenroom import __version__
from greenroom.avatar.cache import PatchedStill, Stills, cached, loop_patches, patch_of
from greenroom.avatar.package import Scene, find_avatar
from greenroom.base.errors import AssetError, DeviceError, InputError
from greenroom.base.flow import FPS, Engine, Loop, Pixels, Placement, Speech
from greenroom.base.prefetch import Prefetch
from greenroom.base.presets import PausePreset, Preset
from greenroom.pixels.colour import compose_still
from greenroom.pixels.paste import PasteBack
from greenroom.runtime.painter import Anchor, Painter

Progress = Callable[[str, int, int | None], None]  # stage, done, total (None = unknown)


def no_progress(stage: str, done: int, total: int | None) -> None:
    """For those who do not watch."""


# --- device and engine ----------------------------------------------------------------------------


def choose_device(name: str) -> torch.device:
    """`auto` takes the first CUDA device if there is one, else the CPU; a wish is held to."""
    if name == "auto":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(
            "no such device", got=repr(name), wanted="auto, cpu, cuda or cuda:N"
        ) from error
    if device.type == "cuda" and not (
        torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    ):
        raise DeviceError(
            f"the device {name} cannot be had",
            got=f"{torch.cuda.device_count()} CUDA devices, torch {torch.__version__}",
            remedy="use --device cpu, or install a driver and a CUDA build of torch",
        )
    if device.type not in ("cpu", "cuda"):
        raise DeviceError("no such device", got=repr(name), wanted="auto, cpu, cuda or cuda:N")
    return device


def open_engine(preset: Preset, device: str) -> Engine:
    """The preset's engine with its weights on the device."""
    from greenroom.audio.logmel import DEMO_AHEAD, LogMel
    from greenroom.engine.demo import DemoEngine

    assert preset.engine == "demo"
    chosen = choose_device(device)
    return DemoEngine.load(chosen, LogMel(chosen, ahead=DEMO_AHEAD), step=preset.step)


# --- avatar ---------------------------------------------------------------------------------------


def open_anchor(
    name: str,
    engine: Engine,
    painter: Painter,
    *,
    use_cache: bool = True,
    progress: Progress = no_progress,
) -> Anchor:
    """An avatar with its loop; the first time on a machine the loop is painted and cached."""
    from greenroom.engine.demo import DemoEngine

    scene = find_avatar(name)
    if scene.card.engine != engine.name:
        raise AssetError(
            f"the avatar {name} was not made for this engine",
            got=f"an avatar for {scene.card.engine}",
            wanted=f"one for {engine.name}",
            remedy="choose another --avatar or --preset",
        )
    assert isinstance(engine, DemoEngine)
    tensors = engine.prepare_avatar(scene.canvas, scene.tensors()["params"])
    still = compose_still(scene.body, scene.background)
    placement = _placement(scene, still)
    loop = Loop(
        card=scene.card,
        motion=engine.loop_motion(tensors),
        pictures=Stills(still, scene.card.loop_frames),
        plates=Stills(still, scene.card.loop_frames),
        placement=placement,
        tensors=tensors,
    )
    size = (scene.card.height, scene.card.width)
    anchor = Anchor(loop, PasteBack(placement, canvas=engine.canvas, picture=size))
    patches = _loop_of(scene, engine, painter, anchor, use_cache=use_cache, progress=progress)
    pictures = PatchedStill(still, scene.box, patches)
    return Anchor(
        Loop(loop.card, loop.motion, pictures, loop.plates, placement, tensors), anchor.paste_back
    )


def _placement(scene: Scene, still: Pixels) -> Placement:
    left, top, side = scene.box
    canvas = scene.canvas.shape[0]
    scale = side / canvas  # pixel centres at whole numbers: x' = (x + 1/2) scale - 1/2 + left
    matrix = torch.tensor(
        [[scale, 0.0, left + scale / 2 - 0.5], [0.0, scale, top + scale / 2 - 0.5]]
    )
    return Placement(
        matrix=matrix,
        mask=torch.from_numpy(feather_mask(side, scene.feather)),
        backdrop=compose_still(np.zeros_like(scene.body), scene.background),
        detail=scene.source,
    )


def feather_mask(side: int, width: int) -> np.ndarray:
    """A square (side, side) of ones that falls to zero at its edge along a smooth step."""
    distance = np.minimum(np.arange(side), np.arange(side)[::-1]) / width
    ramp = np.clip(distance, 0, 1)
    mask = np.outer(ramp, ramp)
    return (mask * mask * (3 - 2 * mask)).astype(np.float32)


def _loop_of(
    scene: Scene,
    engine: Engine,
    painter: Painter,
    anchor: Anchor,
    *,
    use_cache: bool,
    progress: Progress,
) -> Pixels:
    """The patches of the loop, painted by the same painter as speech, so that both join."""
    count = len(anchor.loop)

    def paint() -> Iterator[Pixels]:
        for start in range(0, count, 2 * painter.lanes):
            index = list(range(start, min(start + 2 * painter.lanes, count)))
            futures = painter.submit(anchor.loop.motion[index], [anchor] * len(index), index)
            for future in futures:
                for picture in future.result():
                    yield patch_of(picture, scene.box)
            progress("painting the loop", index[-1] + 1, count)

    # Pixels follow from the package, the weights, the code, and the arithmetic of torch and cv2.
    parts = (__version__, scene.digest(), engine.weights, str(engine.device.type))
    digest = "-".join(
        [scene.name, _short(*parts, str(engine.dtype), torch.__version__, cv2.__version__)]
    )
    if use_cache and cached(digest):
        progress("painting the loop", count, count)
    return loop_patches(digest, count, scene.box[2], paint, use_cache=use_cache)


def _short(*parts: str) -> str:
    import hashlib

    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


# --- speech ---------------------------------------------------------------------------------------

LEAD_IN = 0.4  # seconds of rest before a script
_TEXT_SUFFIXES = {".txt", ".md", ".text", ".script"}


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    """How a script is read and how loud it is."""

    voice: str = "af_heart"
    locale: str = "en-US"
    lexicon: str | None = None
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
    if source == "-":
        return False
    try:
        if Path(source).exists():
            return False
    except OSError:  # too long for a file name
        return True
    looks_like_path = not any(c.isspace() for c in source) and (
        "/" in source or Path(source).suffix != ""
    )
    return not looks_like_path


def open_speech(
    source: str, kind: str, options: SpeechOptions, progress: Progress = no_progress
) -> SpeechInput:
    """Speech from text, a script file, any audio file, or standard input (`-`)."""
    if is_text(source, kind):
        return _spoken(source, options)
    if source == "-":
        return _standard_input(options, progress)
    path = Path(source)
    if not path.exists():
        raise InputError(
            "no such file", got=str(path), remedy="check the path, or say --text to have it read"
        )
    if path.suffix.lower() in _TEXT_SUFFIXES and path.is_file():
        return _spoken(_read_script(path), options)
    return _recorded(path, options, progress)


def _spoken(text: str, options: SpeechOptions) -> SpeechInput:
    from greenroom.speech.loudness import level
    from greenroom.speech.script import load_lexicon, read_script
    from greenroom.speech.voices import open_voice

    lexicon = load_lexicon(Path(options.lexicon)) if options.lexicon else None
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

    pieces = level(speak(), options.loudness, options.true_peak)
    return SpeechInput(
        Prefetch(pieces, depth=4, name="voice", cancel=voice.cancel),
        f"voice {voice.name}, {options.locale}",
        None,
        lambda: said / total,
    )


def _recorded(path: Path | str, options: SpeechOptions, progress: Progress) -> SpeechInput:
    """A recording is heard twice: its loudness is a property of the whole."""
    from greenroom.speech.loudness import level, measure
    from greenroom.speech.source import AudioSource

    source = AudioSource(path)
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
    pieces = level(iter(source), options.loudness, options.true_peak, known=known)
    return SpeechInput(
        Prefetch(pieces, depth=4, name="source"),
        "; ".join((*words, *source.remarks)),
        source.seconds,
        lambda: 0.0,
    )


def _read_script(path: Path) -> str:
    from greenroom.speech.script import decode_script

    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the script {path} cannot be read", got=error.strerror or str(error)
        ) from error
    return decode_script(data)


def _standard_input(options: SpeechOptions, progress: Progress) -> SpeechInput:
    """Text, or sound in any container."""
    from greenroom.speech.script import decode_script

    stream = sys.stdin.buffer
    assert isinstance(stream, io.BufferedReader)
    head = stream.peek(1)
    is_text = b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if is_text:
        return _spoken(decode_script(stream.read()), options)
    return _recorded("-", options, progress)
