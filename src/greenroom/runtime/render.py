"""Offline: one session that is always due, from a script or a sound to a file or an iterator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from greenroom.avatar.package import find_avatar
from greenroom.base.errors import InputError
from greenroom.base.flow import FPS, Frames, Speech
from greenroom.base.presets import Preset, preset_named
from greenroom.encode.encoder import MediaEncoder
from greenroom.encode.h264 import ChosenEncoder, choose_encoder
from greenroom.encode.mux import Mp4File
from greenroom.encode.writer import AsyncWriter
from greenroom.runtime.painter import Painter
from greenroom.runtime.scheduler import Scheduler
from greenroom.runtime.session import Session
from greenroom.runtime.subtitles import SubtitleFile
from greenroom.runtime.wiring import (
    Progress,
    SpeechInput,
    SpeechOptions,
    no_progress,
    open_anchor,
    open_engine,
    open_speech,
)

Kind = Literal["auto", "text", "file"]


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What a person may choose for one render; None leaves it to the preset."""

    kind: Kind = "auto"
    avatar: str = "vera"
    preset: str = "demo"
    voice: str = "af_heart"
    locale: str = "en-US"
    lexicon: str | None = None
    speed: float = 1.0
    loudness: float | None = -23.0  # LUFS; None = as it is
    seed: int = 0
    device: str = "auto"
    batch_size: int = 0  # 0 = what suits the device
    encoder: str = "auto"
    x264_preset: str | None = None
    crf: int | None = None
    silence_bypass: bool = True
    subtitles: str | None = None
    clobber: bool = True
    cache: bool = True

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


@dataclass(frozen=True, slots=True)
class Setup:
    """What runs, in words."""

    avatar: str
    preset: str
    device: str
    precision: str
    lanes: int
    weights: str
    speech: str
    encoder: str
    seed: int


@dataclass(frozen=True, slots=True)
class RenderReport:
    """What a render did. `speed` is seconds of video per second of work."""

    output: str
    frames: int
    seconds: float
    wall_seconds: float  # from the first sound to the finished file; opening is left out
    open_seconds: float
    bypassed: int  # frames that cost no network call
    bytes: int
    cpu_seconds: dict[str, float]  # by stage; `all` is the whole process
    subtitles: str | None
    setup: Setup

    @property
    def fps(self) -> float:
        return self.frames / self.wall_seconds

    @property
    def speed(self) -> float:
        return self.seconds / self.wall_seconds

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "fps": round(self.fps, 2), "speed": round(self.speed, 3)}


@dataclass(frozen=True, slots=True)
class Production:
    """Everything that is open for one render; closed by `open_production`."""

    setup: Setup
    session: Session
    scheduler: Scheduler
    painter: Painter
    speech: SpeechInput
    encoder: ChosenEncoder
    size: tuple[int, int]  # (W, H)

    def frames(self, hear: Callable[[Speech], None] | None = None) -> Iterator[Frames]:
        """All frames in order. Memory does not grow with length: sound is taken as it is needed."""
        for piece in self.speech.pieces:
            if hear is not None:
                hear(piece)
            self.session.feed(piece)
            while self.session.due:
                yield from self._step()
        self.session.finish()
        while not self.scheduler.idle:
            yield from self._step()

    def _step(self) -> Iterator[Frames]:
        for _, frames in self.scheduler.step():
            yield frames

    @property
    def expected(self) -> int | None:
        """Frames to come in all, where the length of the sound is known beforehand."""
        return None if self.speech.seconds is None else -int(-FPS * self.speech.seconds // 1)


@contextmanager
def open_production(
    source: str, options: RenderOptions, progress: Progress = no_progress
) -> Iterator[Production]:
    """Open everything for one render, the cheapest and most likely to fail first."""
    preset = options.resolved()
    card = find_avatar(options.avatar).card
    with ExitStack() as stack:
        chosen = choose_encoder(preset.video)
        speech = open_speech(source, options.kind, _speech_options(options, preset), progress)
        stack.callback(speech.pieces.close)
        engine = open_engine(preset, options.device)
        painter = Painter(engine, batch_size=options.batch_size)
        stack.callback(painter.close)
        anchor = open_anchor(
            options.avatar, engine, painter, use_cache=options.cache, progress=progress
        )
        painter.meter.seconds.clear()
        scheduler = Scheduler(engine, painter, bypass=options.silence_bypass)
        session = Session(anchor, engine.encoder, preset.gate, step=engine.step, seed=options.seed)
        scheduler.join(session)
        setup = Setup(
            avatar=f"{options.avatar} ({card.title}{', virtual' if card.virtual else ''})",
            preset=preset.name,
            device=str(engine.device),
            precision=str(engine.dtype).removeprefix("torch."),
            lanes=painter.lanes,
            weights=engine.weights,
            speech=speech.description,
            encoder=chosen.description + (f" ({chosen.why})" if chosen.why else ""),
            seed=options.seed,
        )
        size = (card.width, card.height)
        yield Production(setup, session, scheduler, painter, speech, chosen, size)


def _speech_options(options: RenderOptions, preset: Preset) -> SpeechOptions:
    return SpeechOptions(
        voice=options.voice,
        locale=options.locale,
        lexicon=options.lexicon,
        speed=options.speed,
        loudness=preset.sound.loudness,
        true_peak=preset.sound.true_peak,
        pauses=preset.pauses,
    )


def render_with(
    source: str,
    output: str | os.PathLike[str],
    options: RenderOptions,
    progress: Progress = no_progress,
    started: Callable[[Setup], None] = lambda setup: None,
) -> RenderReport:
    """Render to a file. It appears whole, under its name, only when all went well."""
    begin = time.monotonic()
    subtitles = SubtitleFile(Path(options.subtitles)) if options.subtitles else None
    title = f"{find_avatar(options.avatar).card.title}, virtual anchor"
    with (
        Mp4File(output, title=title, no_clobber=not options.clobber) as file,
        open_production(source, options, progress) as production,
    ):
        started(production.setup)
        opened, cpu = time.monotonic(), time.process_time()
        width, height = production.size
        encoder = MediaEncoder(
            production.encoder, options.resolved().sound, width=width, height=height
        )
        count = bypassed = 0
        with AsyncWriter(encoder, file) as writer:
            for frames in production.frames(subtitles.hear if subtitles else None):
                writer.put(frames)
                count += len(frames)
                bypassed += frames.bypassed
                progress("rendering", count, _total(production, count))
        if subtitles is not None:
            subtitles.write()
        stages = dict(production.painter.meter.seconds)
        stages["all"] = time.process_time() - cpu
        return RenderReport(
            output=os.fspath(output),
            frames=count,
            seconds=count / FPS,
            wall_seconds=time.monotonic() - opened,
            open_seconds=opened - begin,
            bypassed=bypassed,
            bytes=Path(output).stat().st_size,
            cpu_seconds={name: round(value, 3) for name, value in stages.items()},
            subtitles=options.subtitles,
            setup=production.setup,
        )


def _total(production: Production, count: int) -> int | None:
    """How many frames there will be: known from a sound, guessed from the share of a script."""
    if production.expected is not None:
        return production.expected
    said = production.speech.said()
    return round(count / said) if said > 0.1 else None


def render(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str] = "out.mp4",
    options: RenderOptions | None = None,
    *,
    progress: Progress = no_progress,
) -> RenderReport:
    """Render a script (its text or its file) or a sound file to an mp4.

    `options` are the command line's; `progress(stage, done, total)` is called now and then.
    Raises GreenroomError: what, got, wanted, remedy. An older output survives every failure.
    """
    return render_with(os.fspath(source), output, options or RenderOptions(), progress)


def stream(
    source: str | os.PathLike[str], options: RenderOptions | None = None
) -> Iterator[Frames]:
    """Frames as they are made, for those who want no file: NV12 pictures and 48 kHz sound."""
    chosen = options or RenderOptions()
    if chosen.subtitles is not None:
        raise InputError("a stream writes no subtitles", remedy="use render")
    with open_production(os.fspath(source), chosen) as production:
        yield from production.frames()
