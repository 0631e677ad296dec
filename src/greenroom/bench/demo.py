"""Speed of the demo engine on this machine: where a frame's time goes, and whole renders.

The voice is left out of the renders: a script is spoken to a sound file first, timed by itself.
"""

from __future__ import annotations

import statistics
import tempfile
import time
import wave
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from greenroom.audio.window import Framer
from greenroom.base.flow import FPS, PCM_PER_FRAME, Frames, Motion, Samples, Speech, Turn
from greenroom.bench.machine import Machine, this_machine
from greenroom.encode.encoder import MediaEncoder
from greenroom.encode.h264 import choose_encoder
from greenroom.runtime.options import RenderOptions
from greenroom.runtime.progress import Progress, no_progress
from greenroom.runtime.render import Production, open_production, render
from greenroom.runtime.sources import SpeechOptions, open_speech

REPEATS = 30  # single calls per stage; the median is reported
ROUNDS = 2  # of both renders in turn: their spread is the noise of the machine
ROWS = 40  # frames encoded for the cost of encoding


@dataclass(frozen=True, slots=True)
class Stage:
    """Core-milliseconds of one frame in one stage, on one thread."""

    name: str
    core_ms: float


@dataclass(frozen=True, slots=True)
class Run:
    """One whole render of the sound, the voice left out."""

    name: str
    frames: int
    bypassed: int
    seconds: float
    fps: float
    times_real_time: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class DemoBench:
    """Everything that `greenroom bench demo` measures."""

    machine: Machine
    source: str
    encoder: str
    lanes: int
    stages: tuple[Stage, ...]
    voice_seconds: float
    voice_times_real_time: float
    runs: tuple[Run, ...]

    def as_dict(self) -> dict[str, object]:
        return {"bench": "demo", **asdict(self)}


def measure(source: Path, progress: Progress = no_progress) -> DemoBench:
    """Speak `source` to a file, measure stages on it, render it without and with bypass."""
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as folder:
        sound = Path(folder) / "speech.wav"
        voice_seconds, length = _speak(source, sound, progress)
        stages, encoder, lanes = _stages(sound, progress)
        runs = tuple(
            _run(name, sound, Path(folder) / "out.mp4", bypass, progress)
            for _ in range(ROUNDS)
            for name, bypass in (("without bypass", False), ("with bypass", True))
        )
        return DemoBench(
            this_machine(),
            source.name,
            encoder,
            lanes,
            stages,
            round(voice_seconds, 2),
            round(length / voice_seconds, 2),
            runs,
        )


def _speak(source: Path, sound: Path, progress: Progress) -> tuple[float, float]:
    """Write the spoken script; seconds it took and seconds it lasts."""
    begin = time.perf_counter()
    samples = 0
    with (
        open_speech(str(source), "file", SpeechOptions()).pieces as pieces,
        wave.open(str(sound), "wb") as file,
    ):
        for piece in pieces:
            if not samples:
                file.setparams((1, 2, piece.rate, 0, "NONE", ""))
            file.writeframes((piece.pcm * 32767).astype("<i2").tobytes())
            samples += len(piece.pcm)
            progress("speaking", samples * FPS // piece.rate, None)
        rate = file.getframerate()
    return time.perf_counter() - begin, samples / rate


def _median_ms(call: Callable[[], object], repeats: int = REPEATS) -> float:
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return statistics.median(times) * 1e3


def _stages(sound: Path, progress: Progress) -> tuple[tuple[Stage, ...], str, int]:
    """Each stage by itself, one thread, on frames of the real sound."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with open_production(str(sound), RenderOptions(kind="file"), progress) as production:
            stages = (*_painting(production), Stage("encode", _encode_ms(sound)))
            rounded = tuple(Stage(s.name, round(s.core_ms, 2)) for s in stages)
            return rounded, production.encoder.description, production.painter.lanes
    finally:
        torch.set_num_threads(threads)


@torch.inference_mode()
def _painting(production: Production) -> tuple[Stage, ...]:
    engine, anchor = production.scheduler.engine, production.session.anchor
    loop, turn, state = anchor.loop, Turn((0,), (0,), (0,), (anchor.loop,)), engine.init_state(1)
    window = (engine.encoder.left + engine.step + engine.encoder.right) * PCM_PER_FRAME
    pcm = torch.from_numpy(_excerpt(production.speech.pieces, window))[None]

    def hear() -> Motion:
        return engine.predict_motion(engine.encoder.encode(pcm), turn, state)

    motion = hear()[[engine.step // 2]]
    faces = engine.render(motion, (loop,), (0,))
    return (
        Stage("sound to motion", _median_ms(hear) / engine.step),
        Stage("networks", _median_ms(lambda: engine.render(motion, (loop,), (0,)))),
        Stage("paste", _median_ms(lambda: anchor.paste_back.paste(faces, loop.plates[0]))),
        Stage("loop frame", _median_ms(lambda: loop.pictures[3])),
    )


def _excerpt(pieces: Iterable[Speech], samples: int) -> Samples:
    """Sound of the programme at 16 kHz, from where she speaks."""
    framer: Framer | None = None
    heard: list[Samples] = []
    for piece in pieces:
        framer = framer or Framer(piece.rate)
        heard.append(framer.push(piece).pcm)
        if sum(len(x) for x in heard) > 2 * samples + 16000:
            break
    pcm = np.concatenate(heard)
    return pcm[16000 : 16000 + samples]


def _encode_ms(sound: Path) -> float:
    """x264 on one thread, pictures and sound, per frame of speech."""
    options = RenderOptions(kind="file", silence_bypass=False)
    blocks: list[Frames] = []
    with open_production(str(sound), options) as production:
        for frames in production.frames():
            blocks.append(frames)
            if sum(len(b) for b in blocks) >= ROWS + 20:
                break
        preset = options.resolved()
        chosen = choose_encoder(replace(preset.video, threads=1))
        width, height = production.size
    encoder = MediaEncoder(chosen, preset.sound, width=width, height=height)
    begin = time.process_time()
    for block in blocks:
        encoder.push(block)
    encoder.close()
    return (time.process_time() - begin) * 1e3 / sum(len(b) for b in blocks)


def _run(name: str, sound: Path, out: Path, bypass: bool, progress: Progress) -> Run:
    options = RenderOptions(kind="file", silence_bypass=bypass)
    report = render(sound, out, options, progress=progress)
    return Run(
        name,
        report.frames,
        report.bypassed,
        round(report.wall_seconds, 2),
        round(report.fps, 2),
        round(report.speed, 3),
        report.cpu_seconds["all"],
    )
