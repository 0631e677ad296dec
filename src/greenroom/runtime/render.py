"""Offline: one session that is always due, from a script or a sound to a file or an iterator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from greenroom.base.flow import FPS, Frames
from greenroom.base.presets import Preset, VideoPreset, preset_named
from greenroom.runtime.painter import Painter
from greenroom.runtime.scheduler import Scheduler
from greenroom.runtime.session import Session
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
class Setup:
    """What runs, in words."""

    avatar: str
    preset: str
    device: str
    precision: str
    weights: str
    speech: str
    seed: int


@dataclass(frozen=True, slots=True)
class RenderReport:
    """What a render did. `speed` is seconds of video per second of work."""

    output: str
    frames: int
    seconds: float
    wall_seconds: float
    bypassed: int
    encoder: str
    stages: dict[str, float]  # CPU seconds by stage
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
    """Everything that is opened for one render; closed by `open_production`."""

    setup: Setup
    session: Session
    scheduler: Scheduler
    painter: Painter
    speech: SpeechInput
    size: tuple[int, int]  # (W, H)

    def frames(self) -> Iterator[Frames]:
        """All frames in order. Memory does not grow with length: sound is taken as it is needed."""
        for piece in self.speech.pieces:
            self.session.feed(piece)
            while self.session.due:
                yield from self._step()
        self.session.finish()
        while not (self.session.done and self.scheduler.idle):
            yield from self._step()

    def _step(self) -> Iterator[Frames]:
        for _, frames in self.scheduler.step():
            yield frames


@contextmanager
def open_production(
    source: str,
    kind: Kind,
    preset: Preset,
    speech: SpeechOptions,
    *,
    avatar: str,
    seed: int,
    device: str,
    batch_size: int,
    silence_bypass: bool,
    cache: bool,
    progress: Progress,
) -> Iterator[Production]:
    """Open voice, engine and avatar for one render, cheapest and most likely to fail first."""
    with ExitStack() as stack:
        heard = open_speech(source, kind, speech)
        stack.callback(heard.pieces.close)
        engine = open_engine(preset, device)
        painter = Painter(engine, batch_size=batch_size)
        stack.callback(painter.close)
        anchor = open_anchor(avatar, engine, painter, use_cache=cache, progress=progress)
        scheduler = Scheduler(engine, painter, bypass=silence_bypass)
        session = Session(anchor, engine.encoder, preset.gate, step=engine.step, seed=seed)
        scheduler.join(session)
        setup = Setup(
            avatar=avatar,
            preset=preset.name,
            device=str(engine.device),
            precision=str(engine.dtype).removeprefix("torch."),
            weights=engine.weights,
            speech=heard.description,
            seed=seed,
        )
        card = anchor.loop.card
        yield Production(setup, session, scheduler, painter, heard, (card.width, card.height))
