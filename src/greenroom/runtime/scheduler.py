"""The heart: gather the steps that are due from all sessions, launch, deliver the turn before."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
import torch

from greenroom.base.flow import Engine, Frames, Motion, Pixels, Turn
from greenroom.engine.pose import blend
from greenroom.runtime.painter import Anchor, Painter, one_thread
from greenroom.runtime.session import Session, Step


@dataclass(frozen=True, slots=True)
class _Flight:
    """A turn that was launched and is not delivered yet."""

    sessions: tuple[Session, ...]
    steps: tuple[Step, ...]
    painted: tuple[tuple[bool, ...], ...]  # per step and frame
    futures: tuple[Future[list[Pixels]], ...]


class Scheduler:
    """Steps all sessions of one engine together. A session is a slot.

    With `bypass` a frame whose alpha is 0 costs no network call: it is the loop's own picture.
    """

    def __init__(
        self, engine: Engine, painter: Painter, *, slots: int = 1, bypass: bool = True
    ) -> None:
        self.engine, self.painter, self.bypass = engine, painter, bypass
        self._state = engine.init_state(slots)
        self._slots: list[Session | None] = [None] * slots
        self._flying: _Flight | None = None

    def join(self, session: Session) -> int:
        """Give the session a slot; its number."""
        assert None in self._slots, "no slot is free"
        slot = self._slots.index(None)
        self._slots[slot] = session
        return slot

    def leave(self, session: Session) -> None:
        """Free the session's slot and make it as new."""
        slot = self._slots.index(session)
        self._slots[slot] = None
        self._state.reset(slot)

    @property
    def idle(self) -> bool:
        """Nothing is due and nothing flies."""
        return self._flying is None and not any(s is not None and s.due for s in self._slots)

    def step(self) -> list[tuple[Session, Frames]]:
        """Launch the turn that is due now; deliver the turn before it."""
        due = [(slot, s) for slot, s in enumerate(self._slots) if s is not None and s.due]
        launched = self._launch(due) if due else None
        landed, self._flying = self._flying, launched
        return self._deliver(landed) if landed is not None else []

    def _launch(self, due: list[tuple[int, Session]]) -> _Flight:
        sessions = tuple(session for _, session in due)
        steps = tuple(session.take() for session in sessions)
        painted = tuple(tuple(bool(a > 0) or not self.bypass for a in step.alpha) for step in steps)
        active = [i for i, rows in enumerate(painted) if any(rows)]
        futures: list[Future[list[Pixels]]] = []
        if active:
            futures = self._paint(
                tuple(due[i][0] for i in active),
                tuple(sessions[i] for i in active),
                tuple(steps[i] for i in active),
                tuple(painted[i] for i in active),
            )
        return _Flight(sessions, steps, painted, tuple(futures))

    def _paint(
        self,
        slots: tuple[int, ...],
        sessions: tuple[Session, ...],
        steps: tuple[Step, ...],
        painted: tuple[tuple[bool, ...], ...],
    ) -> list[Future[list[Pixels]]]:
        turn = Turn(
            slots,
            tuple(step.first for step in steps),
            tuple(session.seed for session in sessions),
            tuple(session.anchor.loop for session in sessions),
        )
        with torch.inference_mode(), one_thread():
            windows = torch.from_numpy(np.stack([step.window for step in steps]))
            features = self.engine.encoder.encode(windows.to(self.engine.device))
            driven = self.engine.predict_motion(features, turn, self._state)
        rows: list[int] = []
        anchors: list[Anchor] = []
        index: list[int] = []
        alpha: list[float] = []
        for b, (session, step) in enumerate(zip(sessions, steps, strict=True)):
            for k in range(step.count):
                if painted[b][k]:
                    rows.append(b * self.engine.step + k)
                    anchors.append(session.anchor)
                    index.append((step.first + k) % len(session.anchor.loop))
                    alpha.append(float(step.alpha[k]))
        motion = blend(_rest(anchors, index), driven[rows], torch.tensor(alpha))
        return self.painter.submit(motion, anchors, index)

    def _deliver(self, flight: _Flight) -> list[tuple[Session, Frames]]:
        faces = iter([picture for future in flight.futures for picture in future.result()])
        out = []
        for session, step, painted in zip(
            flight.sessions, flight.steps, flight.painted, strict=True
        ):
            loop = session.anchor.loop
            pictures = tuple(
                next(faces) if face else loop.pictures[(step.first + k) % len(loop)]
                for k, face in enumerate(painted)
            )
            out.append((session, Frames(step.first, pictures, step.sound, painted.count(False))))
        return out


def _rest(anchors: list[Anchor], index: list[int]) -> Motion:
    """The loops' own motion of those rows."""
    rows = [anchor.loop.motion[[at]] for anchor, at in zip(anchors, index, strict=True)]
    return Motion.joined(rows)
