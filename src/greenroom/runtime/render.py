"""Offline: one session that is always due, from a script or a sound to a file or an iterator."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from greenroom.avatar.package import find_avatar
from greenroom.base.errors import InputError, OutputError
from greenroom.base.flow import FPS, Frames, Speech
from greenroom.base.presets import Preset
from greenroom.encode.encoder import MediaEncoder
from greenroom.encode.h264 import ChosenEncoder, choose_encoder
from greenroom.encode.mux import Mp4File
from greenroom.encode.writer import AsyncWriter
from greenroom.runtime.options import RenderOptions
from greenroom.runtime.painter import Painter
from greenroom.runtime.progress import Progress, no_progress
from greenroom.runtime.scheduler import Scheduler
from greenroom.runtime.session import Session
from greenroom.runtime.sources import SpeechInput, SpeechOptions, open_speech
from greenroom.runtime.subtitles import SubtitleFile
from greenroom.runtime.wiring import open_anchor, open_engine


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
            encoder=chosen.description,
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
    title = f"{find_avatar(options.avatar).card.title}, virtual anchor"
    with (
        Mp4File(output, title=title, no_clobber=not options.clobber) as file,
        _not_its_own_source(source, options, file.target),
        _subtitle_file(options, file.target) as subtitles,
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
            if subtitles:
                subtitles.write()
        if subtitles:
            subtitles.commit()
        stages = dict(production.painter.meter.seconds)
        stages["all"] = time.process_time() - cpu
        return RenderReport(
            output=os.fspath(output),
            frames=count,
            seconds=count / FPS,
            wall_seconds=time.monotonic() - opened,
            open_seconds=opened - begin,
            bypassed=bypassed,
            bytes=file.size,
            cpu_seconds={name: round(value, 3) for name, value in stages.items()},
            subtitles=subtitles.given if subtitles else None,
            setup=production.setup,
        )


@contextmanager
def _not_its_own_source(source: str, options: RenderOptions, target: Path) -> Iterator[None]:
    """A recording is never replaced by what was made of it."""
    with contextlib.suppress(OSError, ValueError):  # not a file name at all: told elsewhere
        if options.kind != "text" and os.path.samefile(source, target):
            raise InputError(
                "the output would replace its own source",
                got=source,
                remedy="choose another name with --output",
            )
    yield


@contextmanager
def _subtitle_file(options: RenderOptions, video: Path) -> Iterator[SubtitleFile | None]:
    if options.subtitles is None:
        yield None
        return
    with SubtitleFile(options.subtitles, no_clobber=not options.clobber) as file:
        if file.target == video:
            raise OutputError(
                "picture and subtitles go to the same file",
                got=f"{file.given!r}, which is {str(video)!r}",
                wanted="two names",
            )
        yield file


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

    A path object is a file; a string is read as the command line reads it.
    `options` are the command line's; `progress(stage, done, total)` is called now and then.
    Raises GreenroomError: what, got, wanted, remedy. An older output survives every failure.
    """
    named, chosen = _named(source, options)
    return render_with(named, os.fsdecode(output), chosen, progress)


def stream(
    source: str | os.PathLike[str], options: RenderOptions | None = None
) -> Iterator[Frames]:
    """Frames as they are made, for those who want no file: NV12 pictures and 48 kHz sound."""
    named, chosen = _named(source, options)
    if chosen.subtitles is not None:
        raise InputError("a stream writes no subtitles", remedy="use render")
    with open_production(named, chosen) as production:
        yield from production.frames()


def _named(
    source: str | os.PathLike[str], options: RenderOptions | None
) -> tuple[str, RenderOptions]:
    """A path object is never the text itself."""
    chosen = options or RenderOptions()
    if not isinstance(source, str) and chosen.kind == "auto":
        chosen = replace(chosen, kind="file")
    return os.fsdecode(source), chosen
